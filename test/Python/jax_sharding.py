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


def free(shape, dtype=jnp.float32):
    """No sharding is stated: it follows from how the argument is used."""
    return jax.ShapeDtypeStruct(shape, dtype)


def loop(w, n):
    """The state starts from nothing and is split because the weights are."""
    h = jnp.zeros((16, 64))
    return jax.lax.fori_loop(0, n, lambda i, h: jnp.tanh(h @ w + 1.0), h)


def masked(x):
    """Table and mask are made inside."""
    rows = jax.lax.broadcasted_iota(jnp.float32, x.shape, 0)
    columns = jax.lax.broadcasted_iota(jnp.float32, x.shape, 1)
    return jnp.where(rows >= columns, x, -1e9)


def scanned(weights, x):
    def layer(h, w):
        return jax.nn.relu(h @ w[0]) @ w[1], None

    return jax.lax.scan(layer, x, weights)[0]


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
    # Only the weights are split; the rest follows, to both sides.
    "backward from weights": (
        mlp,
        (arg((64, 128), None, "model"), free((128, 32)), free((16, 64))),
        None,
        (),
    ),
    "backward from the result": (
        mlp, (free((64, 128)), free((128, 32)), free((16, 64))), s("data"), ()
    ),
    "loop state": (loop, (arg((64, 64), "model"), free((), jnp.int32)), None, ()),
    "mask": (masked, (arg((64, 64), "data", "model"),), s("data", "model"), ()),
    "scan over layers": (
        scanned,
        (
            (arg((3, 64, 128), None, None, "model"), arg((3, 128, 64), None, "model")),
            arg((16, 64), "data"),
        ),
        s("data"),
        (),
    ),
    "sharded parameters": (
        step,
        ([arg((64, 128), "data"), arg((128, 32), "data")], arg((16, 64), "data")),
        [s("data"), s("data")],
        (),
    ),
}

#: As in benchmarks/peers: no scratch memory of libraries.
XLA_OPTIONS = {
    "xla_cpu_experimental_ynn_fusion_type": "",
    "xla_disable_hlo_passes": "tree_reduction_rewriter",
}

#: What XLA:CPU holds beyond the program, in bytes of a device.
BEYOND = {
    # q and k with the batch dimensions in front: 2 x 2 x 2 x 16 x 32 x 4.
    "attention heads": 2 * 2 * 2 * 16 * 32 * 4,
    # It adds up all of h, 16 x 64 x 4, on each device and slices then, where es-opt
    # has the slice.
    "loop state": 16 * 64 * 4,
}

for shardy in (True, False):
    jax.config.update("jax_use_shardy_partitioner", shardy)
    for name, (fn, args, out, donate) in FUNCTIONS.items():
        options = {"out_shardings": out} if out is not None else {}
        jitted = jax.jit(lambda *a, fn=fn: fn(*a), donate_argnums=donate, **options)
        lowered = jitted.lower(*args)
        compiled = lowered.compile(compiler_options=XLA_OPTIONS)
        stats = compiled.memory_analysis()
        report = es_opt.report(
            lowered.as_text(), graphs="inference", memory_model="fused"
        )
        device = report.function.inference.raw["per_device"]
        # XLA counts a table of pointers for several results.
        results = len(jax.tree_util.tree_leaves(compiled.out_info))
        output = stats.output_size_in_bytes - (8 * results if results > 1 else 0)
        ours = (device["argument_bytes"], device["result_bytes"], device["aliased_bytes"])
        xla = (stats.argument_size_in_bytes, output, stats.alias_size_in_bytes)
        label = f"{'shardy' if shardy else 'xla'}, {name}"
        # XLA puts temporaries into results that are not live yet: what both hold
        # beside the arguments is compared.
        held = device["peak_bytes"] - device["argument_bytes"] + BEYOND.get(name, 0)
        theirs = stats.temp_size_in_bytes + output - stats.alias_size_in_bytes
        print(
            f"{label}: {'equal' if ours == xla else f'{ours} {xla}'};"
            f" {'close' if abs(held / theirs - 1) <= 0.25 else 'far'} {held}, XLA {theirs}"
        )
sys.exit(0)
