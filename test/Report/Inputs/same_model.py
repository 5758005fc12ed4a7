"""Compares the reports of two forms of one model: same_model.py first second.

Arguments, results and parameters have to agree to the byte; the rest is printed.
"""

import json
import subprocess
import sys

graphs, parameters = [], []
for path in sys.argv[1:3]:
    flags = ["--memory-report=json", "--graphs=inference", "--top=0"]
    report = json.loads(subprocess.check_output(["es-opt", *flags, path]))
    (function,) = report["functions"]
    graphs.append(function["graphs"][0])
    parameters.append(function["parameters"])
for name in ("argument_bytes", "result_bytes"):
    print(name, "equal" if graphs[0][name] == graphs[1][name] else "differ", graphs[0][name])
for name in ("count", "elements", "bytes"):
    values = [p[name] for p in parameters]
    print("parameters", name, "equal" if values[0] == values[1] else "differ", *values)
for name in ("temporary_peak_bytes", "peak_bytes"):
    print(name, *(graph[name] for graph in graphs))
print("peak at", *(graph["peak_op"]["name"] for graph in graphs))
