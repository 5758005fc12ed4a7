"""Writes a JAX model as StableHLO, and its input: jax_model.py FOLDER

An embedding, a scan over a stack of layers, a layer as PyTorch has it (`x W^T`).
"""

import os
import sys

import jax
import jax.numpy as jnp
import numpy as np

from es_opt import from_jax


def model(params, ids):
    h = jnp.take(params["table"], ids, axis=0)
    h, _ = jax.lax.scan(lambda h, w: (jnp.tanh(h @ w), None), h, params["stack"])
    h = jnp.tanh(h @ params["first"])
    y = h @ params["last"].T
    return jnp.mean((y - 1.0) ** 2)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    shapes = {"table": (100, 6), "stack": (4, 6, 6), "first": (6, 8), "last": (3, 8)}
    params = {k: jax.ShapeDtypeStruct(v, jnp.float32) for k, v in shapes.items()}
    ids = np.array([3, 99, 3, 0, 42], np.int32)
    text = from_jax(model, params, jax.ShapeDtypeStruct(ids.shape, ids.dtype), params=0)
    with open(os.path.join(folder, "model.mlir"), "w") as file:
        file.write(text)
    np.save(os.path.join(folder, "ids.npy"), ids)


main(sys.argv[1])
