"""The update as PyTorch users write it: a noise tensor a pair, then an axpy."""

import time

import torch

torch.set_num_threads(1)
N, PAIRS = 1 << 20, 32
theta = torch.full((N,), 0.5)
noise = torch.empty(N)
generator = torch.Generator().manual_seed(7)
coefficients = ((torch.arange(PAIRS) - 15.5) / 31).tolist()


def allocating(c):
    theta.add_(torch.randn(N, generator=generator), alpha=c)


def in_place(c):
    theta.add_(noise.normal_(generator=generator), alpha=c)


def measure(add):
    start = time.thread_time()
    for c in coefficients:
        add(c)
    return time.thread_time() - start


# The better of a new tensor a pair and of one that is filled again.
least = min(measure(add) for _ in range(6) for add in (allocating, in_place))
print(N * PAIRS / least * 1e-9)
