"""What the report of one export says of other sizes, against exports at these sizes."""

import re
import sys
import unittest

import es_opt

BATCH, LENGTH = 8, 32


def jax_gpt(batch, length):
    import jax
    import jax.numpy as jnp

    width, heads, vocabulary = 64, 4, 100

    def normalize(x, scale):
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) / jnp.sqrt(variance + 1e-5) * scale

    def split(t):
        t = t.reshape(batch, length, heads, width // heads)
        return t.transpose(0, 2, 1, 3)

    def loss(params, ids, labels):
        x = params["embedding"][ids] + params["positions"][jnp.arange(length)]
        for layer in params["layers"]:
            q, k, v = jnp.split(normalize(x, layer["n1"]) @ layer["qkv"], 3, -1)
            scores = split(q) @ split(k).transpose(0, 1, 3, 2) / 4.0
            causal = jnp.tril(jnp.ones((length, length), bool))
            weights = jax.nn.softmax(jnp.where(causal, scores, -1e9))
            mixed = (weights @ split(v)).transpose(0, 2, 1, 3)
            mixed = mixed.reshape(batch * length, width) @ layer["out"]
            x = x + mixed.reshape(batch, length, width)
            hidden = jax.nn.gelu(normalize(x, layer["n2"]) @ layer["up"])
            x = x + hidden @ layer["down"]
        logits = jax.nn.log_softmax((x @ params["embedding"].T)[:, :-1])
        return -jnp.mean(jnp.take_along_axis(logits, labels[:, 1:, None], -1))

    def f32(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    layer = {
        "n1": f32(width),
        "n2": f32(width),
        "qkv": f32(width, 3 * width),
        "out": f32(width, width),
        "up": f32(width, 4 * width),
        "down": f32(4 * width, width),
    }
    params = {
        "embedding": f32(vocabulary, width),
        "positions": f32(512, width),
        "layers": [layer, layer],
    }
    ids = jax.ShapeDtypeStruct((batch, length), jnp.int32)
    return es_opt.from_jax(loss, params, ids, ids, params=0)


def torch_gpt(batch, length, fused=False):
    import torch
    from torch import nn
    from torch.nn import functional as F

    width, heads, vocabulary = 64, 4, 100

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv = nn.Linear(width, 3 * width)
            self.out = nn.Linear(width, width)
            self.up = nn.Linear(width, 4 * width)
            self.down = nn.Linear(4 * width, width)

        def forward(self, x):
            def split(t):
                return t.view(batch, length, heads, width // heads).transpose(1, 2)

            q, k, v = map(split, self.qkv(self.n1(x)).chunk(3, -1))
            if fused:
                mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                causal = torch.ones(length, length, dtype=torch.bool).tril()
                scores = q @ k.transpose(-2, -1) / 4
                scores = scores.masked_fill(causal.logical_not(), float("-inf"))
                mixed = scores.softmax(-1) @ v
            mixed = mixed.transpose(1, 2).reshape(batch, length, width)
            x = x + self.out(mixed)
            return x + self.down(F.gelu(self.up(self.n2(x))))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width)
            self.positions = nn.Embedding(512, width)
            self.layers = nn.Sequential(Layer(), Layer())
            self.head = nn.Linear(width, vocabulary, bias=False)

        def forward(self, ids, labels):
            x = self.embedding(ids) + self.positions(torch.arange(ids.shape[1]))
            logits = self.head(self.layers(x))[:, :-1]
            return F.cross_entropy(
                logits.reshape(-1, vocabulary), labels[:, 1:].reshape(-1)
            )

    ids = torch.zeros(batch, length, dtype=torch.long)
    return es_opt.from_torch(Model(), (ids, ids))


def torch_conv(batch, length):
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(
                nn.Conv2d(3, 8, 3, padding=1),
                nn.BatchNorm2d(8),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(8, 16, 3, padding=1, stride=2),
                nn.ReLU(),
                nn.AdaptiveAvgPool2d(1),
                nn.Flatten(),
                nn.Linear(16, 10),
            )

        def forward(self, x, labels):
            return F.cross_entropy(self.layers(x), labels)

    # `length` is the height; the width is none of the other sizes.
    args = torch.zeros(batch, 3, length, 40), torch.zeros(batch, dtype=torch.long)
    return es_opt.from_torch(Model(), args)


def torch_unet(batch, length):
    import torch
    from torch import nn
    from torch.nn import functional as F

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 8, 3, padding=1)
            self.down = nn.Conv2d(8, 16, 3, padding=1)
            self.up = nn.ConvTranspose2d(16, 8, 2, stride=2)
            self.joined = nn.Conv2d(16, 8, 3, padding=1)
            self.last = nn.Conv2d(8, 1, 1)

        def forward(self, x):
            wide = F.relu(self.first(x))
            small = F.relu(self.down(F.max_pool2d(wide, 2)))
            enlarged = F.interpolate(small, scale_factor=2, mode="nearest")
            joined = torch.cat([wide, self.up(small)], 1)
            out = self.last(F.relu(self.joined(joined)))
            return (out + enlarged.mean(1, keepdim=True)).pow(2).mean()

    return es_opt.from_torch(Model(), (torch.zeros(batch, 3, length, 40),))


class GrowthTest(unittest.TestCase):
    def check(self, export, batch_names, length_names):
        def step(batch=BATCH, length=LENGTH):
            text = export(batch, length)
            return es_opt.report(text, graphs="backprop").function.graph("backprop")

        lines = [note for note in step().notes if note.startswith("growth")]
        foretold = {}
        for key, names, size in (
            ("batch", f"batch, {batch_names}", BATCH),
            ("length", length_names, LENGTH),
        ):
            prefix = f"growth: {names} = {size}: "
            line = next((line for line in lines if line.startswith(prefix)), None)
            self.assertIsNotNone(line, (prefix, lines))
            for bytes_, at in re.findall(r"(\d+) B \([^)]*\) at (\d+)", line):
                foretold[key, int(at)] = int(bytes_)
        self.assertEqual(
            sorted(foretold), [("batch", 16), ("batch", 24), ("length", 64), ("length", 96)]
        )
        for (key, size), bytes_ in foretold.items():
            self.assertEqual(step(**{key: size}).peak_bytes, bytes_, (key, size))

    if sys.argv[1:] == ["jax"]:

        def test_gpt(self):
            self.check(jax_gpt, "ids.0, labels.0", "ids.1, labels.1")

    else:

        def test_gpt(self):
            self.check(torch_gpt, "ids.0, labels.0", "ids.1, labels.1")

        def test_gpt_with_fused_attention(self):
            def export(batch, length):
                return torch_gpt(batch, length, fused=True)

            self.check(export, "ids.0, labels.0", "ids.1, labels.1")

        def test_conv(self):
            self.check(torch_conv, "x.0, labels.0", "x.2")

        def test_unet(self):
            self.check(torch_unet, "x.0", "x.2")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
