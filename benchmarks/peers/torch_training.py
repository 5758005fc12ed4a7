"""Compares the report's training step with what PyTorch allocates for it.

Each model runs a step on the CPU: forward, loss, backward, update. What is
allocated at most beside parameters, inputs, labels and optimizer state is
measured by the profiler's allocation events, and predicted by es-opt from the
exported forward pass (`eager` model, the same trainable set and optimizer).

Exit status 1 if a case differs by anything that its note does not account for.
"""

import argparse
import dataclasses
import json
import sys
import warnings
from typing import Callable

import es_opt
import torch
from torch import nn
from torch.nn import functional as F
from torch_memory import measure
from torch_models import Block, ConvNet

#: PyTorch holds these beside what is in any graph, when the peak is in Adam: the
#: step counts as tensors, and the previous parameter's quotient until the
#: Python variable is assigned again.
ADAM_LOCALS = "a Python local, the last parameter's quotient, and step counts"


class Lora(nn.Module):
    """A linear layer whose weight is frozen, with a trainable rank-r product."""

    def __init__(self, base: nn.Linear, rank: int = 4):
        super().__init__()
        self.base = base
        self.lora_a = nn.Linear(base.in_features, rank, bias=False)
        self.lora_b = nn.Linear(rank, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.lora_b(self.lora_a(x))


def mlp() -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(256, 512), nn.ReLU(),
        nn.Linear(512, 512), nn.ReLU(),
        nn.Linear(512, 10),
    )  # fmt: skip


def lora_mlp() -> nn.Sequential:
    model = mlp()
    for index in (0, 2, 4):
        model[index] = Lora(model[index])
    return model


class BlockWithHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()
        self.head = nn.Linear(256, 32)

    def forward(self, x):
        return self.head(self.block(x).flatten(0, 1))


def lora_block() -> nn.Module:
    """Every product of the block with a low-rank one beside it."""
    model = BlockWithHead()
    for module in list(model.block.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, nn.Linear):
                setattr(module, name, Lora(child))
    return model


def train_only(model: nn.Module, keep: Callable[[str], bool]) -> nn.Module:
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(keep(name))
    return model


@dataclasses.dataclass
class Case:
    name: str
    make: Callable[[], nn.Module]
    shape: tuple
    classes: int
    optimizer: str = "sgd"
    #: Bytes that PyTorch holds and no graph has, and why.
    slack: int = 0
    note: str = ""


def cases() -> list[Case]:
    head = lambda name: name.startswith("4.")
    bias = lambda name: name.endswith("bias")
    lora = lambda name: "lora" in name
    x = (64, 256)
    return [
        Case("inference", mlp, x, 10, "none"),
        Case("sgd", mlp, x, 10),
        # The largest tensor but one in the order of updates is a bias of 512.
        Case("adam, one tensor at a time", mlp, x, 10, "adam",
             slack=2048 + 12, note=ADAM_LOCALS),
        Case("sgd, last layer only", lambda: train_only(mlp(), head), x, 10),
        Case("sgd, biases only", lambda: train_only(mlp(), bias), x, 10),
        Case("sgd, low rank", lambda: train_only(lora_mlp(), lora), x, 10),
        Case("conv net, sgd", ConvNet, (8, 3, 32, 32), 10),
        Case("transformer block, sgd", BlockWithHead, (4, 128, 256), 32),
        Case("transformer block, low rank, sgd",
             lambda: train_only(lora_block(), lora), (4, 128, 256), 32),
        Case("transformer block, low rank, adam",
             lambda: train_only(lora_block(), lora), (4, 128, 256), 32, "adam"),
    ]


def make_step(case: Case):
    torch.manual_seed(0)
    model, x = case.make(), torch.randn(*case.shape)
    if case.optimizer == "none":

        def forward():
            with torch.no_grad():
                model(x)

        return model, x, forward
    rows = model(x).shape[0]
    labels = torch.randint(0, case.classes, (rows,))
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = (
        torch.optim.SGD(trained, lr=0.1)
        if case.optimizer == "sgd"
        else torch.optim.Adam(trained, lr=1e-3, foreach=False)
    )

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return model, x, step


def predict(case: Case, model, x) -> int:
    graph = "inference" if case.optimizer == "none" else "backprop"
    flags = {"memory_model": "eager", "graphs": graph}
    if graph == "backprop":
        flags.update(optimizer=case.optimizer, optimizer_impl="loop", loss="xent")
    report = es_opt.report(es_opt.from_torch(model, (x,)), **flags)
    found = report.function.graphs[0]
    resident = sum(
        found.breakdown[role]
        for role in ("frozen_parameter", "trainable_parameter", "input", "optimizer_state")
    )
    return found.peak_bytes - resident


@dataclasses.dataclass
class Row:
    name: str
    measured: int
    #: Without what oneDNN frees again before its operators return.
    measured_without_scratch: int
    predicted: int
    slack: int
    note: str

    @property
    def is_explained(self) -> bool:
        return self.predicted + self.slack in (
            self.measured,
            self.measured_without_scratch,
        )


def compare(case: Case) -> Row:
    model, x, step = make_step(case)
    usage = measure(step)
    return Row(case.name, usage.peak, usage.peak_without_scratch,
               predict(case, model, x), case.slack, case.note)


def main() -> int:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="cases (default: all)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [compare(c) for c in cases() if not options.names or c.name in options.names]
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
        return 0
    for row in rows:
        print(f"{row.name:28} measured {row.measured:11,} B"
              + (f" ({row.measured_without_scratch:,} B without oneDNN's scratch)"
                 if row.measured_without_scratch != row.measured else "")
              + f", es-opt {row.predicted:11,} B"
              + (f" + {row.slack:,} B: {row.note}" if row.slack else "")
              + ("" if row.is_explained else "  DIFFERENT"))
    return 0 if all(row.is_explained for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
