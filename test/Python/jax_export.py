"""Tests of es_opt.from_jax, against the installed JAX."""

import unittest
from typing import NamedTuple

import es_opt
import jax
import jax.numpy as jnp

PARAMS = {
    "w": jax.ShapeDtypeStruct((8, 16), jnp.float32),
    "b": jax.ShapeDtypeStruct((16,), jnp.float32),
    "steps": jax.ShapeDtypeStruct((), jnp.int32),
}


class Moments(NamedTuple):
    mu: dict
    nu: dict


X = jax.ShapeDtypeStruct((4, 8), jnp.float32)


def step(params, x):
    h = jnp.tanh(x @ params["w"] + params["b"])
    new = {k: v + jnp.ones_like(v) for k, v in params.items()}
    return new, h


class FromJaxTest(unittest.TestCase):
    def export(self, fn=step, args=(PARAMS, X), **options):
        return es_opt.from_jax(fn, *args, form="generic", **options)

    def test_names_and_roles(self):
        text = self.export(params=0, frozen="'b'")
        self.assertIn("""es.param = #es.param<trainable "params['w']">""", text)
        self.assertIn("""es.param = #es.param<frozen "params['b']">""", text)
        # Integers are not trained.
        self.assertIn("""es.param = #es.param<frozen "params['steps']">""", text)
        parameters = es_opt.report(text).function.parameters
        self.assertEqual(parameters.roles_source, "es.param")
        self.assertEqual(parameters.trainable_bytes, 8 * 16 * 4)
        self.assertEqual(parameters.frozen_bytes, 16 * 4 + 4)

    def test_params_by_expression_and_function(self):
        for params in ("'w'", lambda name: name.endswith("'w']")):
            text = self.export(params=params)
            self.assertEqual(text.count("#es.param<"), 1)

    def test_donation(self):
        text = self.export(params=0, donate=0)
        self.assertEqual(text.count("tf.aliasing_output"), 3)
        kept = es_opt.report(self.export(params=0)).function.inference
        donated = es_opt.report(text).function.inference
        # The new parameters take the place of the old, so that the peak is no
        # longer at the end, 708 + 256 + 580, but where b is broadcast onto x w.
        self.assertEqual(kept.peak_bytes, 1544)
        self.assertEqual(donated.peak_bytes, 708 + 256 + 256)

    def test_donation_by_name(self):
        text = self.export(donate="'w'")
        self.assertEqual(text.count("jax.buffer_donor = true"), 1)

    def test_donated_without_names(self):
        """Without debug information only the results have names."""

        def adam(params, state, x):
            grads = jax.grad(lambda p: jnp.sum(jnp.tanh(x @ p["w"] + p["b"])))(params)
            mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, state.mu, grads)
            nu = jax.tree.map(lambda n, g: 0.9 * n + 0.1 * g * g, state.nu, grads)
            params = jax.tree.map(
                lambda p, m, n: p - m / jnp.sqrt(n + 1e-8), params, mu, nu
            )
            return params, Moments(mu, nu)

        weights = {name: PARAMS[name] for name in ("w", "b")}
        args = (weights, Moments(weights, weights), X)
        lowered = jax.jit(adam, donate_argnums=(0, 1)).lower(*args)
        text = lowered.as_text()
        self.assertNotIn("loc(", text)
        report = es_opt.report(text, training="@main", print_roles=True)
        roles = {
            role["name"]: role["role"]
            for role in report.raw["functions"][0]["roles"]
        }
        self.assertEqual(
            roles,
            {
                "result[0]['b']": "trainable_parameter",
                "result[0]['w']": "trainable_parameter",
                "result[1].mu['b']": "optimizer_state",
                "result[1].mu['w']": "optimizer_state",
                "result[1].nu['b']": "optimizer_state",
                "result[1].nu['w']": "optimizer_state",
                "arg6": "input",
            },
        )
        graph = report.function.graph("backprop")
        # b 64 and w 512 bytes, three times; every one is made where it was.
        self.assertEqual(
            [(row.outcome, row.bytes) for row in graph.donations],
            [("reused", 512)] * 3 + [("reused", 64)] * 3,
        )
        self.assertEqual(sorted(row.result for row in graph.donations), list(range(6)))
        memory = lowered.compile().memory_analysis()
        self.assertEqual(memory.alias_size_in_bytes, 3 * (512 + 64))
        self.assertEqual(graph.aliased_bytes, memory.alias_size_in_bytes)

    def test_bytes(self):
        # w 512, b 64, steps 4, x 128; h 4*16*4 = 256 with the new parameters 580.
        graph = es_opt.report(self.export(params=0)).function.inference
        self.assertTrue(graph.exact)
        self.assertEqual(graph.breakdown["output"], 256 + 580)
        self.assertEqual(graph.peak_bytes, 708 + 256 + 580)

    def test_unused_arguments_are_dropped_as_jit_does(self):
        def fn(used, unused, also):
            return used + also

        z = jax.ShapeDtypeStruct((3,), jnp.float32)
        args = (z, jax.ShapeDtypeStruct((5,), jnp.float32), z)
        text = self.export(fn, args, params=2)
        self.assertIn('#es.param<trainable "also">', text)
        self.assertNotIn("tensor<5xf32>", text)
        text = self.export(fn, args, params=1, keep_unused=True)
        self.assertIn('#es.param<trainable "unused">', text)
        self.assertIn("tensor<5xf32>", text)

    def test_symbolic_shapes(self):
        (n,) = jax.export.symbolic_shape("n")

        def fn(unused, params, x):
            h = jnp.tanh(x @ params["w"])
            return {"w": params["w"] + 1.0}, h

        params = {"w": PARAMS["w"]}
        args = (X, params, jax.ShapeDtypeStruct((n, 8), jnp.float32))
        for chosen in (1, r"params\['w'\]"):
            text = self.export(fn, args, params=chosen, donate=[1])
            report = es_opt.report(text, shape="n:4", print_roles=True).function
            self.assertEqual(report.parameters.roles_source, "es.param")
            self.assertEqual(report.parameters.bytes, 8 * 16 * 4)
            # jax.export keeps arguments that are not used: 4 x 8 as x has.
            self.assertEqual(report.inference.breakdown["input"], 2 * 128)
            # The new weights are in place of the old.
            self.assertIn("tf.aliasing_output = 0", text)
            self.assertEqual(report.inference.breakdown["output"], 4 * 16 * 4)

    def test_jitted_and_pretty(self):
        text = es_opt.from_jax(jax.jit(step), PARAMS, X, params=0)
        self.assertIn("func.func public @main", text)
        self.assertIn("""#es.param<trainable "params['w']">""", text)

    def test_control_flow(self):
        def fn(x, ts):
            return jax.lax.scan(lambda c, t: (jnp.tanh(c @ t), c.sum()), x, ts)

        x = jax.ShapeDtypeStruct((8, 8), jnp.float32)
        ts = jax.ShapeDtypeStruct((5, 8, 8), jnp.float32)
        graph = es_opt.report(self.export(fn, (x, ts))).function.inference
        self.assertTrue(graph.exact, graph.notes)
        self.assertGreaterEqual(graph.peak_bytes, 256 + 1280 + 256 + 20)

    def test_bad_form(self):
        with self.assertRaisesRegex(ValueError, "form expects"):
            es_opt.from_jax(step, PARAMS, X, form="short")

    def test_bad_selector(self):
        with self.assertRaisesRegex(TypeError, "expects a regular expression"):
            es_opt.from_jax(step, PARAMS, X, params=1.5)


if __name__ == "__main__":
    unittest.main()
