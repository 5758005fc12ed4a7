"""Decreasing budgets for checkpoints: budgets.py es-opt FILE [flag ...].

The peak is within each budget that can be met and no higher than with a larger one, the
work no lower; the smallest peak that the error names can be met, a byte less cannot.
"""

import json
import re
import subprocess
import sys

tool, path, *flags = sys.argv[1:]


def run(checkpoint):
    command = [tool, "--memory-report=json", "--graphs=backprop", f"--checkpoint={checkpoint}", *flags, path]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return None, int(re.search(r"the smallest peak with recomputation is (\d+) bytes", done.stderr).group(1))
    graph = json.loads(done.stdout)["functions"][0]["graphs"][0]
    note = next((n for n in graph["notes"] if n.startswith("checkpoint ")), "recomputes 0 operations")
    return graph["peak_bytes"], int(re.search(r"recomputes (\d+) operations", note).group(1))


most, _ = run("none")
_, least = run("budget=1")
assert run(f"budget={least}")[0] == least and run(f"budget={least - 1}") == (None, least)
assert least <= run("blocks")[0] and least <= run("sqrt")[0]
count, last, work = 24, None, 0
peaks = set()
for i in range(count + 1):
    budget = most - (most - least) * i // count
    peak, needed = run(f"budget={budget}")
    assert peak is not None and peak <= budget, (budget, peak)
    assert last is None or peak <= last, (budget, peak, last)
    assert needed >= work, (budget, needed, work)
    last, work = peak, needed
    peaks.add(peak)
print(f"{count + 1} budgets, {len(peaks)} peaks, {'less' if least < most else 'no less'} than without")
