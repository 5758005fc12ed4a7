"""Per-device bytes of sharded JAX functions, against XLA's memory analysis."""

import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import es_opt
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))


def s(*spec):
    return NamedSharding(mesh, P(*spec))


def arg(shape, *spec, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=s(*spec))


def mlp(w1, w2, x):
    h = jax.nn.relu(x @ w1)
    return h @ w2


def attention(q, k, v):
    scores = jnp.einsum("bthd,bshd->bhts", q, k)
    return jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)


def step(params, x):
    gradients = jax.grad(lambda p: jnp.mean(mlp(*p, x) ** 2))(params)
    return [p - 0.1 * g for p, g in zip(params, gradients)]


def mapped(x, w):
    def body(x, w):
        return jax.lax.psum(x @ w, "model")

    specs = dict(in_specs=(P("data", "model"), P("model", None)), out_specs=P("data", None))
    return jax.shard_map(body, mesh=mesh, **specs)(x, w)


head = arg((4, 16, 8, 32), "data", None, "model", None)
FUNCTIONS = {
    "data parallel": (
        mlp, (arg((64, 128)), arg((128, 32)), arg((16, 64), "data")), s("data"), ()
    ),
    "tensor parallel": (
        mlp,
        (arg((64, 128), None, "model"), arg((128, 32), "model"), arg((16, 64), "data")),
        s("data"),
        (),
    ),
    "attention heads": (attention, (head, head, head), head.sharding, ()),
    # XLA only takes even splits at the border.
    "uneven rows": (
        lambda x: jax.lax.with_sharding_constraint(jnp.tanh(x), s("data"))[:3],
        (arg((6, 40), "data"),),
        None,
        (),
    ),
    "shard_map": (mapped, (arg((8, 64), "data", "model"), arg((64, 16), "model")), s("data"), ()),
    "donated step": (
        step,
        ([arg((64, 128), None, "model"), arg((128, 32), "model")], arg((16, 64), "data")),
        [s(None, "model"), s("model")],
        (0,),
    ),
}

for shardy in (True, False):
    jax.config.update("jax_use_shardy_partitioner", shardy)
    for name, (fn, args, out, donate) in FUNCTIONS.items():
        options = {"out_shardings": out} if out is not None else {}
        jitted = jax.jit(lambda *a, fn=fn: fn(*a), donate_argnums=donate, **options)
        lowered = jitted.lower(*args)
        compiled = lowered.compile()
        stats = compiled.memory_analysis()
        report = es_opt.report(lowered.as_text(), graphs="inference")
        device = report.function.inference.raw["per_device"]
        # XLA counts a table of pointers for several results.
        results = len(jax.tree_util.tree_leaves(compiled.out_info))
        output = stats.output_size_in_bytes - (8 * results if results > 1 else 0)
        ours = (device["argument_bytes"], device["result_bytes"], device["aliased_bytes"])
        xla = (stats.argument_size_in_bytes, output, stats.alias_size_in_bytes)
        label = f"{'shardy' if shardy else 'xla'}, {name}"
        print(
            f"{label}: {'equal' if ours == xla else f'{ours} {xla}'};"
            f" temporaries {device['temporary_peak_bytes']}, XLA {stats.temp_size_in_bytes}"
        )
sys.exit(0)
