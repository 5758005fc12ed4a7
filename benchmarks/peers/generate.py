"""Writes docs/Peers.md: es-opt beside XLA and PyTorch, measured now.

    python benchmarks/peers/generate.py [file]

Needs JAX, PyTorch and Transformers, and es-opt on PATH or in ES_OPT.
"""

import pathlib
import sys
import warnings

import jax
import jax_peers
import torch
import torch_peers
import torch_training
import transformers_peers

ROOT = pathlib.Path(__file__).resolve().parents[2]


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |"]
    lines.append("|---|" + "---:|" * (len(header) - 1))
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def jax_section():
    rows = [jax_peers.compare(name) for name in jax_peers.FUNCTIONS]
    cells = [
        (
            row.name,
            f"{row.borders['arguments']:,}",
            f"{row.borders['results']:,}",
            f"{row.borders['aliased']:,}",
            "yes" if row.same_borders else "**no**",
            f"{row.by_default:,}",
            f"{row.for_memory:,}",
            f"{row.fused:,}",
            f"{row.deviation:+.1%}",
        )
        for row in rows
    ]
    explained = [f"* **{r.name}**: {r.explanation}." for r in rows if r.explanation]
    return f"""## JAX: the `fused` model and XLA's memory analysis

JAX {jax.__version__}, XLA for CPU. The StableHLO that `es_opt.from_jax` writes is what XLA
compiles. Arguments, results and results in donated memory must be equal (XLA adds
8 bytes to its output size for each of several results, the table of their
pointers; they are taken off). Temporaries are compared as XLA reserves them:
es-opt says when each buffer is live (`--live-ranges`), and
`benchmarks/peers/xla_allocation.py` lets them use the memory of results that
are not live yet, as XLA does.

XLA reorders the program. It is compiled with its default scheduler, which favours
concurrency, and with the one that favours memory; es-opt follows the program as
it is written. The deviation is the distance to the range between the two. Library
fusions, whose scratch memory XLA does not count, and the splitting of reductions
are switched off.

{table(("function", "arguments", "results", "aliased", "equal", "XLA temporaries, default", "for memory", "es-opt", "deviation"), cells)}

{jax_peers.summary(rows)}.

Where it is more than 25%, XLA's own buffers say what for. Rules
(`benchmarks/peers/xla_causes.py`) find, in the optimised program and the buffer
assignment that XLA dumps, the values that one of its passes introduced or kept; laid
out again without them, by the same allocator, the difference is what the pass holds.
No rule knows a function, and the script fails where what is left is further from
es-opt than 25% of XLA's temporaries. What is left and still larger is due to the order.

{chr(10).join(explained)}
"""


def torch_section():
    rows = [torch_peers.compare(name) for name in torch_peers.MODULES]
    cells = [
        (
            row.name,
            f"{row.eager:,}",
            f"{row.graph.peak:,}",
            f"{row.module:,}",
            "equal" if row.is_equal else f"{row.eager - row.graph.peak:+,}",
        )
        for row in rows
    ]
    explained = [f"* **{r.name}**: {r.explanation}." for r in rows if r.explanation]
    return f"""## PyTorch: the `eager` model and measured allocations

PyTorch {torch.__version__}, one thread, without gradients. `es_opt.from_torch` exports the
module; the bytes are what its forward pass allocates at most beside arguments.
`graph` is the exported graph, run, with the profiler's allocation events added
up; `module` is the module as written, whose local variables keep tensors until
the function ends or names something else.

{table(("module", "es-opt", "graph", "module", "difference to graph"), cells)}

{torch_peers.summary(rows)}.

oneDNN copies operands and results of convolutions into layouts of its own and
frees them before the operator returns; es-opt does not count the workspaces of
libraries. What each convolution uses beyond its operands and its result:

{chr(10).join(explained)}
"""


def transformers_section():
    rows = [transformers_peers.compare(name) for name in transformers_peers.MODELS]
    cells = [
        (
            row.name,
            f"{row.parameters:,}",
            f"{row.inference:,}",
            f"{row.measured_inference:,}",
            f"{row.measured_inference_with_scratch - row.measured_inference:,}",
            f"{row.training:,}",
            f"{row.measured_training:,}",
            f"{row.deviation:+.1%}",
            f"{row.dropout:,}",
            f"{row.measured_dropout:,}",
            f"{row.dropout_deviation:+.1%}",
        )
        for row in rows
    ]
    equal = sum(row.inference == row.measured_inference for row in rows)
    counted = sum(row.parameters == row.counted_parameters for row in rows)
    causes = [f"* **{row.name}**: {row.cause}." for row in rows if row.cause]
    return f"""## Hugging Face Transformers

Architectures as their authors wrote them, with random weights and at most two layers,
exported as they are (`benchmarks/peers/transformers_peers.py`, Transformers
{transformers_peers.hf.__version__}). Trainable parameters, tied ones once, are equal in {counted} of {len(rows)}.
Inference is the exported graph's, without the scratch memory of oneDNN and of the attention
kernel (its own column): equal to the byte in {equal} of {len(rows)}. Training is a step of the module,
cross entropy and plain gradient descent, beside parameters, inputs and labels, first in
evaluation mode, then with dropout.

{table(("model", "parameters", "es-opt, inference", "measured", "scratch", "es-opt, training", "measured", "deviation", "es-opt, with dropout", "measured", "deviation"), cells)}

Where it is more than 2 %, the module does what the exported graph does not:

{chr(10).join(causes)}

An operator of Transformers' own, `grouped_mm_fallback` (mixtral), is counted conservatively
and named in the report.
"""


def training_section():
    rows = [torch_training.compare(case) for case in torch_training.cases()]
    cells = [
        (
            row.name,
            f"{row.measured:,}",
            f"{row.measured_without_scratch:,}",
            f"{row.predicted:,}",
            f"{row.slack:,}" if row.slack else "",
        )
        for row in rows
    ]
    return f"""## PyTorch: training steps

Steps as PyTorch runs them, and the `backprop` column of the report with `eager`
and the same optimizer; bytes beside parameters, inputs, labels and the optimizer's
state (`benchmarks/peers/torch_training.py`). The first six are an MLP
256-512-512-10, f32, batch 64, cross entropy: P = 1,597,480 B of parameters, H = 131,072 B
one hidden activation.

{table(("step", "measured", "without oneDNN's scratch", "es-opt", "in no graph"), cells)}

* Inference holds a relu and its operand, 2 H.
* SGD holds at the last weight gradient every gradient, P, the cotangent of that
  layer's result, H, the loss and the seed of the gradients, 8.
* Adam over one tensor at a time holds every gradient, two temporaries of the
  largest tensor, 2 x {512 * 512 * 4:,}, and the loss, 4. In no graph: a Python
  variable that keeps the last parameter's quotient, {512 * 4:,}, and step counts, 12.
* With all but the last layer frozen nothing is more than the forward pass: no
  activation is kept, and no gradient is as large as a relu.
* The conv net keeps the places of its maxima (8 B each), and the block the means
  and deviations of layer norm and the logarithms of attention's sums.
"""


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/Peers.md"
    target.write_text(
        "# Peers\n\n"
        "es-opt's numbers beside those of XLA and PyTorch for the same graphs, in "
        "bytes.\nWritten by `benchmarks/peers/generate.py`, which measures them "
        "again.\n\n"
        + "\n".join([jax_section(), torch_section(), training_section(), transformers_section()])
    )
    print(f"wrote {target}")


if __name__ == "__main__":
    main()
