"""Compares es-opt with PyTorch on architectures of Hugging Face Transformers.

Models that nobody wrote for this: small configurations with random weights, exported
as they are by `es_opt.from_torch`, at most two layers each. Three things are held
against PyTorch on the CPU:

* the number of trainable parameters, tied ones once: equal;
* inference, `eager`: what the exported graph allocates at most, equal to the byte
  without the scratch memory of oneDNN and of the attention kernel;
* a training step (cross entropy, plain gradient descent) of the module as its author
  wrote it, without and with dropout: within `MOST`, and each larger deviation is that
  of `CAUSES`.

Exit status 1 if one of them does not hold.
"""

import argparse
import dataclasses
import json
import os
import sys
import warnings

os.environ["HF_HUB_OFFLINE"] = "1"

import es_opt
import torch
import transformers as hf
from torch.nn import functional as F
from torch_memory import LIBRARY_OPERATORS, measure

#: The kernel of attention on the CPU has blocks of scores and, of a mask of booleans,
#: one of floats.
LIBRARY_OPERATORS |= {
    "aten::scaled_dot_product_attention",
    "aten::conv1d",
    "autograd::engine::evaluate_function: ConvolutionBackward0",
    "autograd::engine::evaluate_function: ScaledDotProductFlashAttentionForCpuBackward0",
}

#: How far the prediction of a training step may be off.
MOST = 0.02
#: Why a model is further off: what it does when it is exported, or PyTorch when a
#: gradient is wanted, that the exported graph does not do.
CAUSES = {
    "llama": (0.06, "exported, keys and values are repeated for each head; run, the "
                    "attention kernel reads them as they are"),
    "mixtral": (0.06, "as for llama"),
    "t5": (0.05, "exported, the decoder's attention to the encoder has masks that let "
                 "everything through; run, it has none"),
    "gpt2": (0.05, "with dropout attention multiplies stacks of matrices, for which it "
                   "copies the values, a third of a product, and lets go of that; es-opt "
                   "knows no strides and keeps the product"),
}  # fmt: skip


class Output(torch.nn.Module):
    """A model that returns logits, or else hidden states."""

    def __init__(self, model, inputs=("input_ids",), **fixed):
        super().__init__()
        self.model, self.inputs, self.fixed = model, inputs, fixed

    def forward(self, *args):
        out = self.model(**dict(zip(self.inputs, args)), **self.fixed)
        return out.logits if hasattr(out, "logits") else out.last_hidden_state


class WithLoss(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *args):
        return F.cross_entropy(self.model(*args[:-1]).flatten(0, -2), args[-1].flatten())


def tokens(length=64):
    return torch.randint(3, 500, (2, length))


def gpt2():
    config = hf.GPT2Config(n_layer=2, vocab_size=512, n_embd=128, n_head=4, n_positions=64,
                           bos_token_id=1, eos_token_id=2)  # fmt: skip
    return Output(hf.GPT2LMHeadModel(config), use_cache=False), (tokens(),)


def llama():
    config = hf.LlamaConfig(num_hidden_layers=2, vocab_size=512, hidden_size=128,
                            intermediate_size=256, num_attention_heads=4,
                            num_key_value_heads=2)  # fmt: skip
    return Output(hf.LlamaForCausalLM(config), use_cache=False), (tokens(),)


def bert():
    config = hf.BertConfig(num_hidden_layers=2, vocab_size=512, hidden_size=128,
                           intermediate_size=256, num_attention_heads=4)  # fmt: skip
    return Output(hf.BertForMaskedLM(config)), (tokens(),)


def t5():
    config = hf.T5Config(num_layers=2, vocab_size=512, d_model=128, d_kv=32, d_ff=256, num_heads=4)
    model = hf.T5ForConditionalGeneration(config)
    return Output(model, ("input_ids", "decoder_input_ids"), use_cache=False), (tokens(), tokens())


def vit():
    config = hf.ViTConfig(num_hidden_layers=2, hidden_size=128, intermediate_size=256,
                          num_attention_heads=4, image_size=64, patch_size=16)  # fmt: skip
    return Output(hf.ViTForImageClassification(config), ("pixel_values",)), (torch.randn(2, 3, 64, 64),)


def resnet():
    config = hf.ResNetConfig(embedding_size=16, hidden_sizes=[16, 32, 64, 128],
                             depths=[1, 1, 1, 1], layer_type="basic")  # fmt: skip
    return Output(hf.ResNetForImageClassification(config), ("pixel_values",)), (torch.randn(2, 3, 64, 64),)


def mamba():
    config = hf.MambaConfig(num_hidden_layers=2, vocab_size=512, hidden_size=64)
    return Output(hf.MambaForCausalLM(config), use_cache=False), (tokens(),)


def mixtral():
    config = hf.MixtralConfig(num_hidden_layers=1, vocab_size=512, hidden_size=64,
                              intermediate_size=128, num_attention_heads=4,
                              num_key_value_heads=2, num_local_experts=4)  # fmt: skip
    return Output(hf.MixtralForCausalLM(config), use_cache=False), (tokens(),)


def whisper():
    config = hf.WhisperConfig(vocab_size=512, encoder_layers=1, decoder_layers=1, d_model=64,
                              encoder_attention_heads=2, decoder_attention_heads=2,
                              encoder_ffn_dim=128, decoder_ffn_dim=128, num_mel_bins=16,
                              max_source_positions=64, pad_token_id=0, bos_token_id=1,
                              eos_token_id=2, decoder_start_token_id=1)  # fmt: skip
    model = hf.WhisperForConditionalGeneration(config)
    names = ("input_features", "decoder_input_ids")
    return Output(model, names, use_cache=False), (torch.randn(2, 16, 128), tokens(32))


def clip():
    config = hf.CLIPTextConfig(num_hidden_layers=2, vocab_size=512, hidden_size=64,
                               intermediate_size=128, num_attention_heads=4,
                               max_position_embeddings=64, bos_token_id=1, eos_token_id=2)  # fmt: skip
    return Output(hf.CLIPTextModel(config)), (tokens(),)


MODELS = {f.__name__: f for f in (gpt2, llama, bert, t5, vit, resnet, mamba, mixtral, whisper, clip)}


@dataclasses.dataclass
class Row:
    name: str
    parameters: int
    counted_parameters: int
    inference: int
    measured_inference: int
    measured_inference_with_scratch: int
    training: int
    measured_training: int
    dropout: int
    measured_dropout: int
    notes: list[str]

    @property
    def deviation(self) -> float:
        return self.training / self.measured_training - 1

    @property
    def dropout_deviation(self) -> float:
        return self.dropout / self.measured_dropout - 1

    @property
    def largest_deviation(self) -> float:
        return max(abs(self.deviation), abs(self.dropout_deviation))

    @property
    def cause(self) -> str:
        return CAUSES[self.name][1] if self.largest_deviation > MOST and self.name in CAUSES else ""

    @property
    def holds(self) -> bool:
        return (
            self.parameters == self.counted_parameters
            and self.inference == self.measured_inference
            and self.largest_deviation <= CAUSES.get(self.name, (MOST, ""))[0]
        )


def inference_peaks(model, args):
    program = torch.export.export(model, args)
    report = es_opt.report(
        es_opt.from_torch(program, args), memory_model="eager", graphs="inference"
    )
    graph = report.function.inference
    run = program.module()
    with torch.no_grad():
        return graph, graph.peak_bytes - graph.argument_bytes, measure(lambda: run(*args))


def training_peaks(model, args):
    logits = model(*args)
    labels = torch.randint(0, logits.shape[-1], logits.shape[:-1])
    logits = None
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=0.1, foreach=False)
    with_loss = WithLoss(model)

    def step():
        optimizer.zero_grad(set_to_none=True)
        with_loss(*args, labels).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    usage = measure(step)
    report = es_opt.report(
        es_opt.from_torch(with_loss, (*args, labels)),
        memory_model="eager", graphs="backprop", optimizer="sgd", optimizer_impl="loop",
    )  # fmt: skip
    graph = report.function.graphs[0]
    resident = ("frozen_parameter", "trainable_parameter", "input", "optimizer_state")
    return report, graph, graph.peak_bytes - sum(graph.breakdown[r] for r in resident), usage


def compare(name: str) -> Row:
    torch.manual_seed(0)
    model, args = MODELS[name]()
    model.eval()
    _, inference, measured = inference_peaks(model, args)
    report, graph, training, step = training_peaks(model, args)
    model.train()
    _, _, dropout, dropout_step = training_peaks(model, args)
    return Row(
        name,
        parameters=sum(p.numel() for p in model.parameters() if p.requires_grad),
        counted_parameters=report.function.parameters.trainable_elements,
        inference=inference,
        measured_inference=measured.peak_without_scratch,
        measured_inference_with_scratch=measured.peak,
        training=training,
        measured_training=step.peak_without_scratch,
        dropout=dropout,
        measured_dropout=dropout_step.peak_without_scratch,
        notes=[note for note in graph.notes if "no known derivative" in note],
    )


def main() -> int:
    warnings.filterwarnings("ignore")
    hf.logging.set_verbosity_error()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="models (default: all)")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [compare(name) for name in options.names or MODELS]
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
    else:
        for row in rows:
            print(f"{row.name:8} parameters {row.parameters:9,}"
                  f" {'equal' if row.parameters == row.counted_parameters else row.counted_parameters}"
                  f", inference {row.inference:10,}"
                  f" {'equal' if row.inference == row.measured_inference else f'{row.measured_inference:,}'}"
                  f", training {row.training:11,} of {row.measured_training:11,} ({row.deviation:+.1%})"
                  f", with dropout {row.dropout:11,} of {row.measured_dropout:11,} ({row.dropout_deviation:+.1%})"
                  f"{'' if row.holds else '  DIFFERENT'}")
            for text in [row.cause, *row.notes]:
                if text:
                    print(f"    {text}")
        print(f"{len(rows)} models, {sum(not row.holds for row in rows)} different")
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
