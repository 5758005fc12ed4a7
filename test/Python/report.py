"""Tests of es_opt.report."""

import os
import pathlib
import tempfile
import unittest

import es_opt

# x 4*8*4 = 128 and w 8*16*4 = 512 stay; y 4*16*4 = 256 and its relu, in place,
# make 896.
TEXT = """
func.func @f(%w: tensor<8x16xf32> {es.param = #es.param<trainable "w">},
             %x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %y = "torch.aten.mm"(%x, %w) : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %z = "torch.aten.relu"(%y) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %z : tensor<4x16xf32>
}
func.func @g(%x: tensor<16xf32>) -> tensor<16xf32> {
  return %x : tensor<16xf32>
}
"""


class ReportTest(unittest.TestCase):
    def test_numbers(self):
        function = es_opt.report(TEXT, entry="@f").function
        self.assertEqual(function.name, "f")
        self.assertEqual(function.parameters.trainable_bytes, 512)
        graph = function.inference
        self.assertEqual(graph.peak_bytes, 896)
        self.assertEqual(sum(graph.breakdown.values()), 896)
        self.assertEqual(graph.buffers_at_peak[0].name, "w")
        self.assertEqual(graph.buffers_at_peak[0].bytes, 512)
        self.assertEqual(graph.peak_op.name, "torch.aten.mm")
        self.assertEqual(graph.timeline, [])

    def test_options(self):
        report = es_opt.report(
            TEXT, entry="@f", memory_model="eager", freeze=["^w$"], timeline=True
        )
        self.assertEqual(report.options["memory_model"], "eager")
        self.assertEqual(report.function.parameters.frozen_bytes, 512)
        # At the relu both its operand and its result: 640 + 2 * 256.
        self.assertEqual(report.function.inference.peak_bytes, 1152)
        self.assertEqual(max(report.function.inference.timeline), 1152)

    def test_other_functions(self):
        report = es_opt.report(TEXT)
        self.assertEqual(report.other_functions, {"g": 64})

    def test_path(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.mlir"
            path.write_text(TEXT)
            self.assertEqual(es_opt.report(path).function.inference.peak_bytes, 896)
            self.assertEqual(
                es_opt.report(str(path)).function.inference.peak_bytes, 896
            )

    def test_table(self):
        lines = str(es_opt.report(TEXT)).splitlines()
        self.assertIn("@f: 1 parameters, 128 elements, 512 B", lines[0])
        self.assertTrue(any(l.split()[:3] == ["peak", "896", "B"] for l in lines), lines)
        self.assertTrue(any(l.split()[:2] == ["trainable", "parameter"] for l in lines))
        self.assertEqual(lines[-1], "@g: peak 64 B")

    def test_html(self):
        page = es_opt.report(TEXT)._repr_html_()
        self.assertIn('<td style="text-align:right">896 B</td>', page)
        self.assertEqual(page.count("<table>"), 1)
        self.assertEqual(page.count("</table>"), 1)

    def test_html_is_escaped(self):
        page = es_opt.report(TEXT.replace("@f", '@"<b>"'))._repr_html_()
        self.assertIn("@&lt;b&gt;", page)
        self.assertNotIn("<b>", page)

    def test_budget(self):
        self.assertTrue(es_opt.report(TEXT, budget="895B").over_budget)
        self.assertFalse(es_opt.report(TEXT, budget="896B").over_budget)

    def test_diagnostic(self):
        with self.assertRaises(es_opt.EsOptError) as caught:
            es_opt.report("func.func @f(\n")
        self.assertIn("error: expected", str(caught.exception))
        self.assertEqual(caught.exception.status, 1)

    def test_bad_option(self):
        with self.assertRaisesRegex(es_opt.EsOptError, "memory-model"):
            es_opt.report(TEXT, memory_model="magic")

    def test_no_file(self):
        with self.assertRaisesRegex(FileNotFoundError, "no such file: nowhere.mlir"):
            es_opt.report("nowhere.mlir")

    def test_no_tool(self):
        before = os.environ.get("ES_OPT")
        os.environ["ES_OPT"] = "/nowhere/es-opt"
        try:
            with self.assertRaisesRegex(es_opt.EsOptError, "es-opt is not found"):
                es_opt.report(TEXT)
        finally:
            os.environ["ES_OPT"] = before

    def test_no_such_graph(self):
        with self.assertRaisesRegex(KeyError, "has no graph 'nothing'"):
            es_opt.report(TEXT).function.graph("nothing")


if __name__ == "__main__":
    unittest.main()
