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
        self.assertIn('min_val = 2 : i64, symbol_name = "batch"', text)
        # Weights 128 + 16; x 32 and y 16 for each of the batch, which is 2 at least.
        self.assertEqual(self.graph(text).peak_bytes, 144 + 2 * 48)
        self.assertEqual(es_opt.report(text).raw["functions"][0]["assumed_batch"], 2)
        self.assertEqual(self.graph(text, shape="batch:64").peak_bytes, 144 + 64 * 48)
        for shape in ("batch:1", "batch:65", "input.0:1", "input:65x8"):
            got = "65" if "65" in shape else "1"
            message = f"'batch' is at least 2 and at most 64, got {got}"
            with self.assertRaisesRegex(es_opt.EsOptError, message):
                self.graph(text, shape=shape)

    def test_dimensions_that_follow_from_others(self):
        class Join(nn.Module):
            def forward(self, x, y):
                return torch.cat([x, y]).reshape(-1).exp()

        b = torch.export.Dim("b", max=100)
        s = torch.export.Dim("s", min=3)
        shapes = ({0: b, 2: s}, {0: 2 * b + 1, 2: s})
        args = (torch.zeros(3, 8, 6), torch.zeros(7, 8, 6))
        program = torch.export.export(Join(), args, dynamic_shapes=shapes)
        # An exported program knows the names of its dimensions.
        text = es_opt.from_torch(program, ())
        # At b = 4, s = 5: x 4 x 8 x 5, y 9 x 8 x 5, and twice the sum, as the
        # join and its exponential: 4 B x 3 x 13 x 40.
        for shape in (["b:4", "s:5"], ["x:4x8x5"], ["x.0:4", "y.2:5"], ["y.0:9", "s:5"]):
            self.assertEqual(self.graph(text, shape=shape).peak_bytes, 6240, shape)
        for shape, message in [
            ("y.0:8", "no 'b' makes dimension 0 8, which is 2 x 'b' . 1: bind 'b'"),
            ("y:9x8x2", "'s' is at least 3, got 2"),
            # The leading dimensions cannot all be 3.
            ("batch:3", "dimension 0 is 3 already, got 7"),
        ]:
            with self.assertRaisesRegex(es_opt.EsOptError, message):
                self.graph(text, shape=shape)

    def test_a_dimension_called_batch_that_does_not_lead(self):
        batch = torch.export.Dim("batch", max=64)
        time = torch.export.Dim("time", max=64)
        text = es_opt.from_torch(
            nn.Tanh(), (torch.zeros(5, 3),), dynamic_shapes=({0: time, 1: batch},)
        )
        # x and its tanh: 2 x 4 B x 4 x 2.
        peak = self.graph(text, shape=["batch:2", "time:4"]).peak_bytes
        self.assertEqual(peak, 64)
        # Of time, the least: 2 x 4 B x 1 x 2.
        self.assertEqual(self.graph(text, shape="batch:2").peak_bytes, 16)

    def test_sizes_by_division(self):
        class Thirds(nn.Module):
            def forward(self, x):
                return x[:, ::3].exp()

        n = torch.export.Dim("n", min=9, max=64)
        text = es_opt.from_torch(
            Thirds(), (torch.zeros(8, 10),), dynamic_shapes=({1: n},)
        )
        self.assertIn("floordiv 3", text)
        # x, 8 x 11, a view of it, and exp of 8 x 4, as 0, 3, 6 and 9 are below 11.
        self.assertEqual(self.graph(text, shape="n:11").peak_bytes, 352 + 128)

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
