"""Sweeps over a dimension, and the largest size that fits a budget."""

import json
import subprocess

FITS, EXCEEDS = 0, 3


def run(path, *flags):
    command = ["es-opt", "--memory-report=json", "--memory-model=eager"]
    command += ["--graphs=inference", *flags, path]
    return subprocess.run(command, capture_output=True, text=True)


def sweep(path, dimension, sizes, *flags):
    """The peak at each size."""
    listed = ",".join(map(str, sizes))
    done = run(path, f"--sweep={dimension}:{listed}", *flags)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["sweep"]["rows"]
    return {row["size"]: row["graphs"][0]["peak_bytes"] for row in rows}


def largest(path, dimension, budget, *flags):
    """What --max answers, having checked that it fits and that one more does not."""
    budget = f"--budget={budget}"
    done = run(path, f"--max={dimension}", budget, *flags)
    assert done.returncode == FITS, done.stderr
    found = json.loads(done.stdout)["max"]
    assert found["limited_by"] == "budget", found
    for size, code in ((found["size"], FITS), (found["size"] + 1, EXCEEDS)):
        done = run(path, f"--shape={dimension}:{size}", budget, *flags)
        assert done.returncode == code, (size, done.returncode, done.stderr)
    return found["size"]


def check_mlp(path, fixed):
    """`fixed` bytes of parameters; for each of the batch x, 8 floats, the product
    and its tanh, 16 each: 160 B. (The second product, of 4, has only the tanh and x
    beside it.)"""
    assert sweep(path, "batch", [2, 3, 64]) == {
        2: fixed + 320, 3: fixed + 480, 64: fixed + 10240,
    }  # fmt: skip
    # 10,000 B beside the parameters, and 62 x 160 = 9920.
    assert largest(path, "batch", fixed + 10000) == 62
    # Exactly 62, and a byte less.
    assert largest(path, "batch", fixed + 9920) == 62
    assert largest(path, "batch", fixed + 9919) == 61


def check_scores(path):
    """x, b x t x 8 floats, and b x t x t of them twice: 32 b t + 8 b t^2."""
    assert sweep(path, "t", [16, 32], "--shape=b:2") == {16: 5120, 32: 18432}
    assert sweep(path, "b", [3, 5], "--shape=t:16") == {3: 7680, 5: 12800}
    # At b = 2, 64 t + 16 t^2: 1,048,512 at 254, of 1,048,576.
    assert largest(path, "t", "1MiB", "--shape=b:2") == 254
    # At t = 16, 2560 for each: 409.6.
    assert largest(path, "b", "1MiB", "--shape=t:16") == 409
