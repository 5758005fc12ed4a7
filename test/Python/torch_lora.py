"""Low-rank adapters on a transformer, exported from PyTorch: what they save, and what not."""

import csv
import os
import sys
import tempfile
import unittest

import es_opt
import torch
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../benchmarks/peers"))
from torch_memory import measure  # noqa: E402

D, HEADS, HIDDEN, RANK, BATCH, SEQUENCE, LAYERS = 32, 4, 128, 4, 2, 16, 2
ROWS = BATCH * SEQUENCE
#: Elements of the matrices that get adapters, of all layers.
MATRICES = LAYERS * (4 * D * D + 2 * D * HIDDEN)
#: Biases and norms: 4 + 1 biases of D, one of HIDDEN, 2 norms of 2 D.
REST = LAYERS * (5 * D + HIDDEN + 4 * D)
LINEARS = ("q", "k", "v", "o", "up", "down")


class Block(nn.Module):
    def __init__(self, wrap):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.q, self.k, self.v, self.o = (wrap(nn.Linear(D, D)) for _ in range(4))
        self.up, self.down = wrap(nn.Linear(D, HIDDEN)), wrap(nn.Linear(HIDDEN, D))

    def forward(self, x):
        b, s, d = x.shape
        h = self.norm1(x)
        q, k, v = (f(h).view(b, s, HEADS, d // HEADS).transpose(1, 2) for f in (self.q, self.k, self.v))
        p = torch.softmax(q @ k.transpose(-1, -2) * (d // HEADS) ** -0.5, -1)
        x = x + self.o((p @ v).transpose(1, 2).reshape(b, s, d))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Adapted(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base
        self.lora_a = nn.Linear(base.in_features, RANK, bias=False)
        self.lora_b = nn.Linear(RANK, base.out_features, bias=False)

    def forward(self, x):
        return self.base(x) + self.lora_b(self.lora_a(x)) * 2.0


class Dequantised(nn.Module):
    """A linear layer with its weight in int8, one scale for each row."""

    def __init__(self, base):
        super().__init__()
        self.in_features, self.out_features = base.in_features, base.out_features
        self.weight = nn.Parameter(torch.zeros(base.weight.shape, dtype=torch.int8), requires_grad=False)
        self.scale = nn.Parameter(torch.ones(base.out_features, 1))
        self.bias = base.bias

    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.dtype) * self.scale, self.bias)


def export(wrap=lambda base: base, frozen=None):
    model = nn.Sequential(*(Block(wrap) for _ in range(LAYERS)))
    return es_opt.from_torch(model, (torch.zeros(BATCH, SEQUENCE, D),), frozen=frozen)


def not_adapter(name):
    return "lora_" not in name


FULL = export()
LORA = export(Adapted, not_adapter)
DEQUANTISED = export(lambda base: Adapted(Dequantised(base)), not_adapter)
INT8, INT4 = {"stored_as": r"base\.weight:i8"}, {"stored_as": r"base\.weight:i4"}


def backprop(text, **options):
    """The training graph, and the bytes of activations that are kept in it."""
    options = {"loss": "sum", "optimizer": "adamw", **options}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "ranges.csv")
        graph = es_opt.report(text, graphs="backprop", live_ranges=path, **options).function.graph("backprop")
        with open(path) as file:
            saved = {r["buffer"]: int(r["bytes"]) for r in csv.DictReader(file) if r["role"] == "saved_activation"}
    return graph, sum(saved.values())


def measure_step(wrap, optimizer):
    """What PyTorch allocates in a step beside parameters, input and states."""
    torch.manual_seed(0)
    model = nn.Sequential(*(Block(wrap) for _ in range(LAYERS)))
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(wrap is not Adapted or "lora_" in name)
    x, trained = torch.randn(BATCH, SEQUENCE, D), [p for p in model.parameters() if p.requires_grad]
    if optimizer == "sgd":
        update = torch.optim.SGD(trained, lr=0.1)
    else:
        update = torch.optim.AdamW(trained, lr=1e-3, foreach=False)

    def step():
        update.zero_grad(set_to_none=True)
        loss = model(x).sum()
        loss.backward()
        update.step()
        update.zero_grad(set_to_none=True)

    return measure(step).peak


class TorchLoRATest(unittest.TestCase):
    def peaks(self, **options):
        variants = [(LORA, INT4), (LORA, INT8), (LORA, {}), (FULL, {})]
        return [backprop(text, **stored, **options)[0].peak_bytes for text, stored in variants]

    def test_order(self):
        # QLoRA <= LoRA <= full, whatever the model of memory.
        for model in ("eager", "inplace", "fused"):
            for optimizer in ("adamw", "adamw8bit"):
                with self.subTest(model=model, optimizer=optimizer):
                    peaks = self.peaks(memory_model=model, optimizer=optimizer)
                    self.assertEqual(peaks, sorted(peaks))
                    # What int8 saves on LoRA, and int4 on int8, is there at every point.
                    self.assertEqual(peaks[2] - peaks[1], MATRICES * 3)
                    self.assertEqual(peaks[1] - peaks[0], MATRICES // 2)

    def test_no_state_to_save(self):
        # Plain gradient descent has no state, and adapters add activations: on a model this small
        # LoRA needs more than training all of it. So it does in PyTorch: of the transformer blocks
        # that peers-torch-training.test measures, that with adapters needs more.
        for model in ("eager", "inplace", "fused"):
            with self.subTest(model=model):
                int4, int8, lora, full = self.peaks(memory_model=model, optimizer="sgd")
                self.assertLess(int4, int8)
                self.assertLess(int8, lora)
                self.assertGreater(lora, full)

    def test_measured(self):
        # PyTorch writes out the gradient of the sum, a number repeated, for each of the products that
        # read it in turn; here it is written out once and lives as long as they do. Nothing else differs
        # by more than scalars and the gradient of a bias.
        torch.set_num_threads(1)
        for wrap, text in ((lambda base: base, FULL), (Adapted, LORA)):
            for name in ("sgd", "adamw"):
                with self.subTest(adapted=wrap is Adapted, optimizer=name):
                    measured = measure_step(wrap, name)
                    graph, _ = backprop(text, memory_model="eager", optimizer=name, optimizer_impl="loop")
                    roles = ("frozen_parameter", "trainable_parameter", "input", "optimizer_state")
                    predicted = graph.peak_bytes - sum(graph.breakdown.get(role, 0) for role in roles)
                    self.assertGreaterEqual(predicted, measured)
                    self.assertLessEqual(predicted, measured + ROWS * D * 4)

    def test_weights_in_the_graph(self):
        # Where a weight is multiplied out before its use, the gradient does it again: that is
        # kept nowhere and LoRA on f32 weights needs more.
        lora, _ = backprop(LORA, memory_model="inplace")
        quantised, saved = backprop(DEQUANTISED, memory_model="inplace")
        self.assertLess(quantised.peak_bytes, lora.peak_bytes)
        scales = LAYERS * (5 * D + HIDDEN) * 4
        self.assertEqual(quantised.breakdown["frozen_parameter"], MATRICES + REST * 4 + scales)
        self.assertEqual(saved, backprop(LORA, memory_model="inplace")[1])
        # PyTorch keeps the f32 copies from the forward pass on for the gradients of what they are
        # multiplied with; nothing before the first q, k and v needs one.
        copies = (MATRICES - 3 * D * D) * 4
        self.assertEqual(backprop(DEQUANTISED)[1], saved)
        self.assertEqual(backprop(DEQUANTISED, memory_model="eager")[1],
                         backprop(LORA, memory_model="eager")[1] + copies)  # fmt: skip

    def test_parts(self):
        full, _ = backprop(FULL)
        lora, _ = backprop(LORA)
        adapters = LAYERS * RANK * (4 * 2 * D + 2 * (D + HIDDEN)) * 4
        self.assertEqual(full.breakdown["trainable_parameter"], (MATRICES + REST) * 4)
        self.assertEqual(lora.breakdown["frozen_parameter"], (MATRICES + REST) * 4)
        self.assertEqual(lora.breakdown["trainable_parameter"], adapters)
        self.assertEqual(lora.breakdown["optimizer_state"], 2 * adapters)
        quantised, _ = backprop(LORA, **INT4)
        self.assertEqual(quantised.breakdown["frozen_parameter"], MATRICES // 2 + REST * 4)

    def test_activations_do_not_shrink(self):
        # The gradient of an adapter's first matrix reads what that of the full one does, and that
        # of the second what the first gives: RANK elements a row. Not needed any more are only the
        # two statistics of the very first norm, which no gradient goes through.
        _, full = backprop(FULL, memory_model="eager")
        _, lora = backprop(LORA, memory_model="eager")
        down = LAYERS * len(LINEARS) * ROWS * RANK * 4
        self.assertEqual(lora, full + down - 2 * ROWS * 4)
        # A floor in any model and policy: the inputs of the adapters, those of q, k and v one and
        # that of the first layer's included, and what is between their matrices.
        inputs = LAYERS * ROWS * (D + D + D + HIDDEN) * 4
        for model in ("inplace", "fused"):
            for policy in ("all", "mincut"):
                with self.subTest(model=model, policy=policy):
                    saved = backprop(LORA, memory_model=model, save_policy=policy)[1]
                    self.assertGreaterEqual(saved, inputs + down)


if __name__ == "__main__":
    unittest.main()
