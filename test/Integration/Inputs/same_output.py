"""Runs every pass on every file six times and says where
two outputs differ: same_output.py ES_OPT FOLDER..."""

import collections
import pathlib
import subprocess
import sys

PASSES = [
    ["--es-bufferize"],
    ["--es-build-training-graph"],
    ["--es-build-training-graph", "--es-expand-vjp", "--es-bufferize"],
    ["--es-build-es-step"],
    ["--es-annotate-memory"],
    ["--memory-report=json"],
]

tool, *folders = sys.argv[1:]
runs = written = 0
for file in sorted(f for folder in folders for f in pathlib.Path(folder).glob("*.mlir")):
    for flags in PASSES:
        outputs = collections.Counter()
        for _ in range(6):
            run = subprocess.run([tool, *flags, str(file)], capture_output=True)
            outputs[run.stdout + run.stderr] += 1
            written += run.returncode == 0
        runs += 1
        if len(outputs) > 1:
            print("differs:", *flags, file)
print(f"{runs} pairs of passes and files, {'some' if written > runs else 'no'} output")
