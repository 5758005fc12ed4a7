"""Freezing more never costs more: freezing.py es-opt SEED RUNS MODEL... [FLAG...]

Random chains of growing sets of frozen parameters; the peak, the gradients and
the optimizer's states may only fall. Prints how many steps were compared.
"""

import csv
import json
import random
import re
import subprocess
import sys
import tempfile

TOOL, SEED, RUNS = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
MODELS = [argument for argument in sys.argv[4:] if not argument.startswith("-")]
FLAGS = [argument for argument in sys.argv[4:] if argument.startswith("-")]


def run(path, frozen, model):
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as file:
        flags = [f"--freeze=^({'|'.join(map(re.escape, frozen))})$"] if frozen else []
        text = subprocess.run(
            [TOOL, "--memory-report=json", "--graphs=backprop", f"--memory-model={model}",
             f"--live-ranges={file.name}", *flags, *FLAGS, path],
            capture_output=True, text=True,
        )  # fmt: skip
        if text.returncode:
            assert "no trainable parameter" in text.stderr, text.stderr
            return None
        peak = json.loads(text.stdout)["functions"][0]["graphs"][0]["peak_bytes"]
        sums = {"gradient": 0, "optimizer_state": 0}
        for row in {r["buffer"]: r for r in csv.DictReader(file)}.values():
            if row["role"] in sums:
                sums[row["role"]] += int(row["bytes"])
        return peak, sums["gradient"], sums["optimizer_state"]


def names(path):
    text = subprocess.run([TOOL, "--memory-report", "--graphs=inference", "--print-roles", path],
                          capture_output=True, text=True, check=True).stdout  # fmt: skip
    return re.findall(r"^  trainable parameter +(\S+) ", text, re.M)


def main():
    random.seed(SEED)
    steps = 0
    for path in MODELS:
        parameters = names(path)
        assert len(parameters) > 1, path
        for _ in range(RUNS):
            model = random.choice(["eager", "inplace", "fused"])
            random.shuffle(parameters)
            sizes = sorted(random.sample(range(len(parameters)), min(3, len(parameters) - 1)))
            before = None
            for size in sizes:
                found = run(path, parameters[:size], model)
                if found is None:
                    break
                if before:
                    for what, a, b in zip(("peak", "gradients", "states"), before, found):
                        assert b <= a, f"{path} {model}: {what} rises from {a} to {b} with {parameters[:size]}"
                    steps += 1
                before = found
    print(f"{steps} steps compared")


main()
