"""One row: measure.py MLIR_OPT ES_OPT FILE KIND COUNT RUNS"""

import os
import subprocess
import sys

peer, tool, path, kind, count, runs = sys.argv[1:]
commands = [
    [peer, path, "-o", os.devnull],
    [tool, "--memory-report=json", "--graphs=inference", path],
    [tool, "--memory-report=json", path],
]
seconds = [float("inf")] * len(commands)
memory = [0] * len(commands)
for _ in range(int(runs)):
    for index, command in enumerate(commands):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            sys.exit(f"failed: {' '.join(command)}")
        seconds[index] = min(seconds[index], usage.ru_utime + usage.ru_stime)
        memory[index] = usage.ru_maxrss
cells = [kind, count] + [f"{value:.2f}" for value in seconds]
cells += [f"{value / seconds[0]:.2f}" for value in seconds[1:]]
cells += [f"{value / memory[0]:.2f}" for value in memory[1:]]
print("| " + " | ".join(cells) + " |")
