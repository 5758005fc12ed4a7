"""JAX functions as StableHLO text."""

from __future__ import annotations

from typing import Any, Callable

from .names import Selector, make_predicate, param_attribute


def _flat_arguments(lowered: Any, jax: Any) -> list[tuple[str, int, Any]]:
    """Path, positional index and description of every leaf of the arguments.

    The path begins at the argument's own name where the signature is known.
    """
    args, kwargs = lowered.args_info
    leaves = []
    for index, arg in enumerate(args):
        for path, leaf in jax.tree_util.tree_flatten_with_path(arg)[0]:
            leaves.append((f"args[{index}]" + jax.tree_util.keystr(path), index, leaf))
    for name, arg in sorted(kwargs.items()):
        for path, leaf in jax.tree_util.tree_flatten_with_path(arg)[0]:
            leaves.append((name + jax.tree_util.keystr(path), -1, leaf))
    return leaves


def _location_name(argument: Any) -> str:
    """The name JAX gives an argument: its location, `loc("params['w']")`."""
    text = str(argument.location)
    first = text.find('"')
    last = text.rfind('"')
    return text[first + 1 : last] if 0 <= first < last else ""


def _kept_indices(lowered: Any, count: int, kept: int) -> list[int]:
    """Which leaves are arguments of the module: jit drops those unused."""
    used = getattr(lowered._lowering, "compile_args", {}).get("kept_var_idx")
    if used is not None and len(used) == kept:
        return sorted(used)
    if count != kept:
        raise ValueError(
            f"expects {count} arguments in the module, got {kept}: "
            "pass keep_unused=True"
        )
    return list(range(count))


def _export_symbolic(fn: Any, args: tuple, kwargs: dict, jax: Any, ir: Any) -> Any:
    """The module of `jax.export`, which takes symbolic shapes, and the arguments
    it keeps."""
    from jax import export
    from jax._src.interpreters import mlir

    exported = export.export(fn)(*args, **kwargs)
    with mlir.make_ir_context():
        module = ir.Module.parse(exported.mlir_module()).operation
    return module, exported.module_kept_var_idx


def _find_function(module: Any, name: str) -> Any:
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "func.func" and op.name.value == name:
            return op
    return None


def from_jax(
    fn: Callable,
    *args: Any,
    params: Selector = None,
    frozen: Selector = None,
    donate: Selector = None,
    form: str = "pretty",
    kwargs: dict | None = None,
    **jit_options: Any,
) -> str:
    """The StableHLO text of `fn(*args)`.

    `args` may be arrays or `jax.ShapeDtypeStruct`s, with symbolic dimensions
    (`jax.export.symbolic_shape`), too. `params` says which
    arguments are parameters: an index (`params=0`), a regular expression over
    the names JAX gives (`params['layers'][0]['w']`), a function of the name, or a list
    of these; `frozen` which of them are not trained. Without `params` es-opt infers the
    roles from names and uses. `donate` lists positional arguments whose memory
    the function may reuse (`donate_argnums`), or chooses leaves by name, which
    are then marked in the text.

    `form` is `pretty`, as JAX prints, or `generic`, which every MLIR tool
    reads. Other keywords go to `jax.jit`; a function that is jitted already is lowered
    as it is.
    """
    import jax
    from jax._src.lib.mlir import ir

    if form not in ("pretty", "generic"):
        raise ValueError(f"form expects 'pretty' or 'generic', got {form!r}")
    indices = donate if isinstance(donate, (list, tuple)) else [donate]
    by_index = bool(indices) and all(type(item) is int for item in indices)
    if by_index:
        jit_options["donate_argnums"] = tuple(indices)
    if not hasattr(fn, "lower") or jit_options:
        fn = jax.jit(fn, **jit_options)
    lowered = fn.lower(*args, **(kwargs or {}))
    leaves = _flat_arguments(lowered, jax)
    if all(isinstance(size, int) for _, _, leaf in leaves for size in leaf.shape):
        # JAX keeps what it lowers: change a copy.
        module = lowered.compiler_ir("stablehlo").operation.clone()
        main = named = _find_function(module, "main")
        kept = _kept_indices(lowered, len(leaves), len(main.arguments))
    else:
        module, kept = _export_symbolic(fn, args, kwargs or {}, jax, ir)
        main = _find_function(module, "main")
        # Names are where the arguments arrive, after the sizes.
        named = _find_function(module, "_wrapped_jax_export_main") or main
    names = [
        _location_name(argument)
        for argument in list(named.arguments)[-len(main.arguments) :]
    ]
    is_param, is_frozen = make_predicate(params), make_predicate(frozen)
    is_donated = make_predicate(None if by_index else donate)
    with module.context as context:
        allowed = context.allow_unregistered_dialects
        context.allow_unregistered_dialects = True
        attributes = []
        for name, leaf in zip(names, kept):
            path, index, info = leaves[leaf]
            name = name or path
            entries = {}
            current = main.arg_attrs[len(attributes)] if main.arg_attrs else None
            for item in current or []:
                entries[item.name] = item.attr
            if is_param(name, index):
                floating = jax.numpy.issubdtype(info.dtype, jax.numpy.inexact)
                trainable = bool(floating) and not is_frozen(name, index)
                entries["es.param"] = ir.Attribute.parse(
                    param_attribute(name, trainable)
                )
            if is_donated(name, index) and "tf.aliasing_output" not in entries:
                entries["jax.buffer_donor"] = ir.BoolAttr.get(True)
            attributes.append(ir.DictAttr.get(entries))
        main.arg_attrs = ir.ArrayAttr.get(attributes)
        text = module.get_asm(
            enable_debug_info=True,
            print_generic_op_form=form == "generic",
            large_elements_limit=None,
        )
        context.allow_unregistered_dialects = allowed
    return text
