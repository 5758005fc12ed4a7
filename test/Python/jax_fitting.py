"""--sweep and --max on functions with symbolic shapes: jax_fitting.py folder."""

import pathlib
import sys

import es_opt
import fitting
import jax
import jax.numpy as jnp
from jax import export

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def shape(*dims):
    return jax.ShapeDtypeStruct(dims, jnp.float32)


def mlp(params, x):
    return jnp.tanh(x @ params["w1"]) @ params["w2"]


def scores(x):
    return jnp.tanh(jnp.einsum("btd,bsd->bts", x, x))


def models(fn, *args, **options):
    """As jax.export writes it, and as from_jax does."""
    exported = folder / "exported.mlir"
    exported.write_text(str(export.export(jax.jit(fn))(*args).mlir_module()))
    written = folder / "from_jax.mlir"
    written.write_text(es_opt.from_jax(fn, *args, **options))
    generic = folder / "generic.mlir"
    generic.write_text(es_opt.from_jax(fn, *args, form="generic", **options))
    return [exported, written, generic]


(batch,) = export.symbolic_shape("batch")
weights = {"w1": shape(8, 16), "w2": shape(16, 4)}
for path in models(mlp, weights, shape(batch, 8), params=0):
    # w1 8 x 16 and w2 16 x 4 floats.
    fitting.check_mlp(path, 512 + 256)
    print(f"mlp: {path.name}")

b, t = export.symbolic_shape("b, t")
for path in models(scores, shape(b, t, 8)):
    fitting.check_scores(path)
    print(f"scores: {path.name}")
