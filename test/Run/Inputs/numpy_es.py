"""Generations of Evolution Strategies in NumPy, against es-run.

    numpy_es.py <folder> <rank>

Written from the definition of the noise alone: a generator, its addresses, and
Box-Muller in double precision. Rank 0 is OpenAI-ES: mirrored normal noise, centered
ranks, gradient descent. Rank r > 0 perturbs matrices by A B^T / sqrt(r), as EGGROLL
does, and vectors as before.

es-run's own sine, cosine and logarithm are off by at most 8.8e-5 and 2.9e-6, its
sums are f32: parameters may differ by 1e-4 of how far they moved.
"""

import os
import subprocess
import sys

import numpy as np

N, SIGMA, LR, SEED, GENERATIONS = 16, 0.1, 0.1, 7, 3
SHAPES = {"W1": (24, 20), "b1": (20,), "W2": (20, 3)}
MODEL = os.path.join(os.path.dirname(__file__), "mlp.mlir")


def philox(counter, key):
    """philox4x32-10 of four arrays of words under two."""
    c = [np.asarray(word, np.uint64) for word in np.broadcast_arrays(*counter)]
    k = [int(word) for word in key]
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(k[0]),
            p1 & np.uint64(0xFFFFFFFF),
            (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(k[1]),
            p0 & np.uint64(0xFFFFFFFF),
        ]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return np.stack(np.broadcast_arrays(*c), -1)


def step_key(seed, step):
    words = philox(
        [step % 2**32, step >> 32, 0x45534F50, 1], [seed % 2**32, seed >> 32]
    )
    return words[..., 0], words[..., 1]


def fnv1a(name):
    value = 0x811C9DC5
    for byte in name.encode():
        value = (value ^ byte) * 0x01000193 % 2**32
    return value


def normal(count, key, name, pair, purpose):
    """normal16 noise of elements 0, 1, ..."""
    e = np.arange(count, dtype=np.uint64)
    block, sample = (e >> 7) * 16 + (e & 15), (e >> 4) & 7
    words = philox([block, purpose << 24, pair, fnv1a(name)], key)
    word = np.take_along_axis(words, (sample >> 1)[:, None].astype(int), 1)[:, 0]
    radius = np.sqrt(-2 * np.log(((word >> 16) + 0.5) / 2**16))
    angle = 2 * np.pi * ((word & 0xFFFF) + 0.5) / 2**16
    return radius * np.where(sample & 1, np.cos(angle), np.sin(angle))


def noise(shape, key, name, pair, rank):
    if rank == 0 or len(shape) != 2:
        return normal(np.prod(shape), key, name, pair, 0).reshape(shape)
    m, n = shape
    a = normal(rank * m, key, name, pair, 1).reshape(rank, m)
    b = normal(rank * n, key, name, pair, 2).reshape(rank, n)
    return a.T @ b / np.sqrt(rank)


def loss(p, x, target):
    hidden = np.maximum(x @ p["W1"] + p["b1"], 0)
    return np.mean((hidden @ p["W2"] - target) ** 2)


def evolve(parameters, x, target, step, rank):
    key = step_key(SEED, step)
    fitness, eps = [], []
    for member in range(N):
        sign = -1 if member % 2 else 1
        eps.append(
            {
                name: sign * noise(shape, key, name, member // 2, rank)
                for name, shape in SHAPES.items()
            }
        )
        fitness.append(
            loss(
                {name: p + SIGMA * eps[-1][name] for name, p in parameters.items()},
                x,
                target,
            )
        )
    gaps = np.diff(np.sort(fitness))
    assert gaps.min() > 1e-5 * np.mean(fitness), "ranks hang on a rounding"
    weights = np.argsort(np.argsort(fitness)) / (N - 1) - 0.5
    return {
        name: p - LR / (N * SIGMA) * sum(w * e[name] for w, e in zip(weights, eps))
        for name, p in parameters.items()
    }


def main():
    folder, rank = sys.argv[1], int(sys.argv[2])
    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(5)
    parameters = {
        name: random.normal(size=shape) / np.sqrt(shape[0])
        for name, shape in SHAPES.items()
    }
    x, target = random.normal(size=(11, 24)), random.normal(size=(11, 3))
    arrays = {**parameters, "arg3": x, "arg4": target}
    for name, array in arrays.items():
        np.save(os.path.join(folder, name), array.astype(np.float32))
    flags = ["--es-perturb=low-rank", f"--es-rank={rank}"] if rank else []
    out = os.path.join(folder, "out")
    subprocess.run(
        ["es-run", MODEL, f"--population={N}", f"--es-sigma={SIGMA}"]
        + [f"--es-lr={LR}", f"--seed={SEED}", f"--generations={GENERATIONS}"]
        + [f"--load={folder}", f"--out={out}", *flags],
        check=True,
    )
    first = parameters
    for step in range(1, GENERATIONS + 1):
        parameters = evolve(parameters, x, target, step, rank)
    for name, expected in parameters.items():
        found = np.load(os.path.join(out, name + ".npy"))
        moved = np.abs(expected - first[name]).max()
        error = np.abs(found - expected).max() / moved
        print(f"{name}: moved {moved:.3g}, off by {error:.1e} of it")
        assert moved > 0.05 and error < 1e-4, name
    print("equal")


main()
