"""--sweep and --max on modules with dynamic shapes: torch_fitting.py folder."""

import json
import pathlib
import sys

import es_opt
import fitting
import torch
from torch import nn
from torch.export import Dim

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


class Scores(nn.Module):
    def forward(self, x):
        return (x @ x.transpose(1, 2)).softmax(-1)


def write(name, module, x, shapes, **options):
    path = folder / name
    path.write_text(es_opt.from_torch(module, (x,), dynamic_shapes=(shapes,), **options))
    return path


mlp = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))
batch = Dim("batch", min=2, max=4096)
for decompose in (None, "functional", "core"):
    path = write("mlp.mlir", mlp, torch.zeros(3, 8), {0: batch}, decompose=decompose)
    # Weights and biases: 8 x 16 + 16 + 16 x 4 + 4 floats.
    fitting.check_mlp(path, 848)
    print(f"mlp: {decompose}")

# 848 + 4096 x 160 is less than 1 MiB: the file allows no more.
found = json.loads(fitting.run(path, "--max=batch", "--budget=1MiB").stdout)["max"]
assert (found["size"], found["limited_by"]) == (4096, "bounds"), found
for size in (1, 4097):
    done = fitting.run(path, f"--sweep=batch:{size}")
    print(done.returncode, done.stderr)

# 848 + 2 x 160 = 1168 at the least size.
for budget in (1168, 1167):
    done = fitting.run(path, "--max=batch", f"--budget={budget}")
    print(done.returncode, done.stderr)

b, t = Dim("b", max=4096), Dim("t", max=4096)
fitting.check_scores(write("scores.mlir", Scores(), torch.zeros(3, 5, 8), {0: b, 1: t}))
print("scores")
