"""Tests of es_opt.from_torch, against the installed PyTorch."""

import unittest

import es_opt
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 10)
        self.fc.bias.requires_grad_(False)
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls.add_(1)
        h = torch.relu(self.bn(self.conv(x))).mean((2, 3))
        a, b = self.fc(h).split(5, -1)
        values, positions = a.max(-1)
        return values + b.sum(-1), positions, torch.cat([a, b], 0)


IMAGE = torch.zeros(2, 3, 8, 8)


class FromTorchTest(unittest.TestCase):
    def graph(self, text, **options):
        options.setdefault("memory_model", "eager")
        return es_opt.report(text, **options).function.inference

    def test_tied(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(50, 16)
                self.head = nn.Linear(16, 50, bias=False)
                self.head.weight = self.embed.weight

            def forward(self, ids):
                return self.head(self.embed(ids))

        ids = torch.zeros(4, 8, dtype=torch.int64)
        text = es_opt.from_torch(Tied(), (ids,))
        self.assertIn('#es.param<trainable "embed.weight">', text)
        self.assertNotIn("head.weight", text)
        report = es_opt.report(text, graphs="inference,backprop", loss="xent")
        # 50 x 16 elements, once, and read: a gradient of both uses reaches it.
        self.assertEqual(report.function.parameters.elements, 800)
        self.assertFalse(any("no gradient" in note for note in report.function.graphs[1].notes))
        for name in ("embed", "head"):
            frozen = es_opt.from_torch(Tied(), (ids,), frozen=name)
            self.assertIn('#es.param<frozen "embed.weight">', frozen)

    def test_dropout_without_training_is_its_input(self):
        class Dropped(nn.Module):
            def forward(self, x):
                return torch.relu(nn.functional.dropout(torch.relu(x), 0.5, self.training))

        x = torch.zeros(64, 64)
        text = es_opt.from_torch(Dropped().eval(), (x,))
        # Two relus of 64 x 64 f32: the second reads the first.
        self.assertEqual(self.graph(text).peak_bytes, 3 * 64 * 64 * 4)

    def test_cross_entropy(self):
        class Loss(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = nn.Linear(16, 1000, bias=False)

            def forward(self, x, labels):
                return nn.functional.cross_entropy(self.head(x), labels)

        x, labels = torch.zeros(64, 16), torch.zeros(64, dtype=torch.int64)
        text = es_opt.from_torch(Loss(), (x, labels))
        report = es_opt.report(text, graphs="backprop", memory_model="eager", optimizer="sgd",
                               optimizer_impl="loop")  # fmt: skip
        graph = report.function.graphs[0]
        self.assertEqual(graph.notes and [n for n in graph.notes if "no known derivative" in n], [])
        # At the gradient of the softmax: the logarithms of the probabilities, what the
        # gradient of the negative logarithm made, and the result, 64 x 1000 f32 each, and
        # the loss and its seed, 4 each: what PyTorch 2.13 allocates.
        resident = sum(graph.breakdown[role] for role in ("trainable_parameter", "input"))
        self.assertEqual(graph.peak_bytes - resident, 3 * 64 * 1000 * 4 + 8)
        self.assertIn("es.vjp", graph.peak_op.name)

    def test_roles(self):
        text = es_opt.from_torch(Net(), (IMAGE,))
        self.assertIn('#es.param<trainable "conv.weight">', text)
        self.assertIn('#es.param<frozen "fc.bias">', text)
        self.assertIn('torch.name = "calls", torch.kind = "buffer"', text)
        self.assertIn('torch.name = "bn.running_mean", torch.kind = "buffer"', text)
        self.assertIn('torch.name = "x", torch.kind = "input"', text)
        function = es_opt.report(text).function
        self.assertEqual(function.parameters.roles_source, "es.param")
        self.assertEqual(function.parameters.frozen_bytes, 40)
        # Two running statistics of 8, the count of batches, the count of calls.
        self.assertEqual(function.inference.breakdown["state"], 64 + 8 + 4)
        self.assertTrue(function.inference.exact, function.inference.notes)

    def test_statistics_are_frozen_in_evaluation(self):
        text = es_opt.from_torch(Net().eval(), (IMAGE,))
        self.assertIn('#es.param<frozen "bn.running_mean">', text)
        self.assertIn('torch.name = "calls", torch.kind = "buffer"', text)

    def test_frozen(self):
        text = es_opt.from_torch(Net(), (IMAGE,), frozen="^conv")
        self.assertIn('#es.param<frozen "conv.weight">', text)
        self.assertIn('#es.param<trainable "fc.weight">', text)

    def test_operators(self):
        text = es_opt.from_torch(Net(), (IMAGE,))
        self.assertIn('%split:2 = "torch.aten.split.Tensor"(%linear)', text)
        self.assertIn('"torch.aten.cat"(%split#0, %split#1)', text)
        self.assertIn('arguments = ["tensors.0", "tensors.1"]', text)
        self.assertIn('"torch.aten.max.dim"(%split#0) {dim = -1', text)
        self.assertIn('loc("fc/linear")', text)

    def test_functional(self):
        text = es_opt.from_torch(Net(), (IMAGE,), decompose="functional")
        self.assertNotIn("add_.Tensor", text)
        self.assertEqual(text.count("tf.aliasing_output"), 4)
        self.assertTrue(self.graph(text).exact)

    def test_core(self):
        text = es_opt.from_torch(Net(), (IMAGE,), decompose="core")
        self.assertIn('"torch.aten.addmm"', text)
        self.assertTrue(self.graph(text).exact)

    def test_views_and_copies(self):
        class Views(nn.Module):
            def forward(self, x):
                y = x.exp()
                return y.t().reshape(32) * 2, y.reshape(32).expand(2, 32)

        text = es_opt.from_torch(Views(), (torch.zeros(4, 8),))
        self.assertIn("aliases = true", text)
        self.assertIn("aliases = false", text)
        # x, y, the copy that the transposed strides force, its double: 4 * 128,
        # and the number 2 as a tensor, 8 + 4.
        self.assertEqual(self.graph(text).peak_bytes, 524)

    def test_mutation_reaches_later_uses(self):
        class Mutate(nn.Module):
            def forward(self, x):
                y = x + 1
                y.mul_(2)
                return y.relu()

        text = es_opt.from_torch(Mutate(), (torch.zeros(16),))
        self.assertIn('"torch.aten.relu"(%mul_)', text)
        # x, y and its relu: 3 * 64.
        self.assertEqual(self.graph(text).peak_bytes, 192)

    def test_no_grad_region(self):
        class NoGrad(nn.Module):
            def forward(self, x):
                with torch.no_grad():
                    y = x.exp()
                return y + x

        text = es_opt.from_torch(NoGrad(), (torch.zeros(16),))
        self.assertIn('"torch.aten.exp"(%x)', text)
        self.assertTrue(self.graph(text).exact)

    def test_dynamic_batch(self):
        batch = torch.export.Dim("batch", min=2, max=64)
        text = es_opt.from_torch(
            nn.Linear(8, 4), (torch.zeros(3, 8),), dynamic_shapes=({0: batch},)
        )
        self.assertIn("tensor<?x8xf32>", text)
        # Weights 128 + 16; at batch 1, x 32 and y 16.
        self.assertEqual(self.graph(text).peak_bytes, 192)

    def test_types(self):
        class Types(nn.Module):
            def forward(self, x):
                return x.bfloat16(), x > 0, x.to(torch.uint8), x.argmax()

        text = es_opt.from_torch(Types(), (torch.zeros(16),))
        for type_ in ("tensor<16xbf16>", "tensor<16xi1>", "tensor<16xui8>", "tensor<i64>"):
            self.assertIn(type_, text)
        # 64 + 32 + 16 + 16 + 8.
        self.assertEqual(self.graph(text).peak_bytes, 136)

    def test_higher_order_is_refused(self):
        class Branch(nn.Module):
            def forward(self, x):
                return torch.cond(
                    x.sum() > 0, lambda y: y.exp(), lambda y: y.relu(), (x,)
                )

        with self.assertRaisesRegex(NotImplementedError, "higher-order operator"):
            es_opt.from_torch(Branch(), (torch.zeros(16),))

    def test_bad_decompose(self):
        with self.assertRaisesRegex(ValueError, "decompose expects"):
            es_opt.from_torch(Net(), (IMAGE,), decompose="all")


if __name__ == "__main__":
    unittest.main()
