"""PyTorch modules of many kinds, to compare memory on.

Each entry: name -> a function that makes (module, arguments).
"""

import torch
from torch import nn
from torch.nn import functional as F


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(3, 32, 3, padding=1)
        self.c2 = nn.Conv2d(32, 64, 3, padding=1)
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc(x.mean((2, 3)))


class ResidualBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(32, 32, 3, padding=1, bias=False)
        self.n1 = nn.BatchNorm2d(32)
        self.c2 = nn.Conv2d(32, 32, 3, padding=1, bias=False)
        self.n2 = nn.BatchNorm2d(32)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        h = self.relu(self.n1(self.c1(x)))
        h = self.n2(self.c2(h))
        h += x
        return self.relu(h)


class Attention(nn.Module):
    """Softmax attention, written out."""

    def __init__(self, dim=256, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = (
            t.view(b, s, self.heads, d // self.heads).transpose(1, 2) for t in (q, k, v)
        )
        scores = q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5
        out = scores.softmax(-1) @ v
        return self.proj(out.transpose(1, 2).reshape(b, s, d))


class Block(nn.Module):
    """A transformer block around scaled_dot_product_attention."""

    def __init__(self, dim=256, heads=4):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        b, s, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).chunk(3, -1)
        q, k, v = (
            t.view(b, s, self.heads, d // self.heads).transpose(1, 2) for t in (q, k, v)
        )
        h = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(h.transpose(1, 2).reshape(b, s, d))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Gated(nn.Module):
    """A gated MLP, as Llama has them."""

    def __init__(self, dim=256, hidden=688):
        super().__init__()
        self.gate = nn.Linear(dim, hidden, bias=False)
        self.up = nn.Linear(dim, hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Recurrent(nn.Module):
    """A recurrent cell, applied step by step."""

    def __init__(self):
        super().__init__()
        self.wx = nn.Linear(64, 256)
        self.wh = nn.Linear(256, 256)

    def forward(self, xs, h):
        outputs = []
        for x in xs.unbind(0):
            h = torch.tanh(self.wx(x) + self.wh(h))
            outputs.append(h)
        return torch.stack(outputs), h


class Classifier(nn.Module):
    """Embedding, mean over the sequence, classes, their loss."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 128)
        self.fc = nn.Linear(128, 1000)

    def forward(self, tokens, labels):
        return F.cross_entropy(self.fc(self.embed(tokens).mean(1)), labels)


class Cache(nn.Module):
    """One token into a key-value cache, and attention over it."""

    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(2, 4, 256, 64))
        self.register_buffer("values", torch.zeros(2, 4, 256, 64))

    def forward(self, q, k, v):
        self.keys[:, :, 17:18].copy_(k)
        self.values[:, :, 17:18].copy_(v)
        scores = (q @ self.keys.transpose(-2, -1)) / 8.0
        return scores.softmax(-1) @ self.values


def mlp():
    return nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(),
        nn.Linear(512, 512), nn.ReLU(),
        nn.Linear(512, 10),
    )  # fmt: skip


def autoencoder():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.ReLU(),
        nn.ConvTranspose2d(32, 16, 2, stride=2), nn.ReLU(),
        nn.ConvTranspose2d(16, 1, 2, stride=2), nn.Sigmoid(),
    )  # fmt: skip


def normalised():
    return nn.Sequential(
        nn.LayerNorm(512), nn.GELU(), nn.LayerNorm(512), nn.Softmax(-1), nn.GroupNorm(8, 64)
    )


def rand(*shape, dtype=torch.float32):
    return torch.randn(*shape).to(dtype)


def tokens(high, *shape):
    return torch.randint(0, high, shape)


MODULES = {
    "mlp": lambda: (mlp(), (rand(128, 784),)),
    "mlp bf16": lambda: (mlp().bfloat16(), (rand(128, 784, dtype=torch.bfloat16),)),
    "conv net": lambda: (ConvNet(), (rand(8, 3, 32, 32),)),
    "residual block, evaluation": lambda: (ResidualBlock().eval(), (rand(4, 32, 32, 32),)),
    "residual block, training": lambda: (ResidualBlock(), (rand(4, 32, 32, 32),)),
    "autoencoder": lambda: (autoencoder(), (rand(16, 1, 28, 28),)),
    "attention": lambda: (Attention(), (rand(4, 128, 256),)),
    "transformer block": lambda: (Block(), (rand(4, 128, 256),)),
    "gated mlp": lambda: (Gated(), (rand(4, 128, 256),)),
    "recurrent": lambda: (Recurrent(), (rand(20, 32, 64), rand(32, 256))),
    "classifier and loss": lambda: (
        Classifier(),
        (tokens(1000, 64, 32), tokens(1000, 64)),
    ),
    "decode with cache": lambda: (Cache(), tuple(rand(2, 4, 1, 64) for _ in range(3))),
    "normalisations": lambda: (normalised(), (rand(16, 64, 512),)),
}
