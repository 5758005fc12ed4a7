"""PyTorch modules as ATen operators in MLIR's generic form."""

from __future__ import annotations

import operator
import re
from typing import Any, Optional

from .names import Selector, make_predicate, param_attribute, quote

_ELEMENT_TYPES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN", "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2", "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8",
    "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
    "bool": "i1", "complex64": "complex<f32>", "complex128": "complex<f64>",
    "quint8": "ui8", "qint8": "i8", "qint32": "i32",
}  # fmt: skip

#: Operators that return a view or a copy, depending on strides and types.
_MAYBE_VIEWS = {
    "reshape", "flatten", "contiguous", "to", "type_as", "ravel", "reshape_as",
    "_to_copy", "dropout", "unflatten", "clone", "expand_as", "float", "half",
}  # fmt: skip

#: What torch-mlir writes for a dimension without an upper bound.
_LARGEST = 2**63 - 1


def _tensor_type(value: Any) -> str:
    name = str(value.dtype).removeprefix("torch.")
    if name not in _ELEMENT_TYPES:
        raise NotImplementedError(f"no MLIR type for {value.dtype}")
    dims = "".join(f"{size}x" if isinstance(size, int) else "?x" for size in value.shape)
    return f"tensor<{dims}{_ELEMENT_TYPES[name]}>"


def _affine(expr: Any, symbols: dict[str, int]) -> Optional[str]:
    """`expr` of the symbols `s0`, `s1`, ... in affine syntax, if it has one.

    Symbols are numbered in the order in which they are met.
    """
    if expr.is_Integer:
        return str(int(expr)) if expr >= 0 else f"({int(expr)})"
    if expr.is_Symbol:
        return f"s{symbols.setdefault(expr.name, len(symbols))}"
    operands = [_affine(operand, symbols) for operand in expr.args]
    if None in operands:
        return None
    kind = type(expr).__name__
    if kind == "Pow" and expr.args[1].is_Integer and expr.args[1] > 0:
        return "(" + " * ".join([operands[0]] * int(expr.args[1])) + ")"
    sign = {"Add": "+", "Mul": "*", "FloorDiv": "floordiv", "CeilDiv": "ceildiv"}
    sign.update({"Mod": "mod", "PythonMod": "mod", "CleanDiv": "floordiv"})
    return "(" + f" {sign[kind]} ".join(operands) + ")" if kind in sign else None


class _Printer:
    """Prints one exported graph."""

    def __init__(self, torch: Any, program: Any, frozen: Selector, name: str):
        self.torch = torch
        self.program = program
        self.frozen = make_predicate(frozen)
        self.name = name
        self.lines: list[str] = []
        self.taken: set[str] = set()
        #: What each node of a graph is: a value name, or a tuple of them.
        self.values: dict[Any, Any] = {}
        #: The type of each value name.
        self.types: dict[str, str] = {}
        #: All names of a parameter by each of them, and its value by the first.
        self.ties: dict[str, list[str]] = {}
        self.tied: dict[str, str] = {}
        #: The value of each symbol that shapes are made of, and what defines them.
        self.symbols: dict[str, str] = {}
        self.symbol_lines: list[str] = []

    # Names and types.

    def fresh(self, name: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_$.]", "_", name)
        unique, count = base, 0
        while unique in self.taken:
            count += 1
            unique = f"{base}.{count}"
        self.taken.add(unique)
        return "%" + unique

    def type_of(self, value: Any) -> Optional[str]:
        torch = self.torch
        if isinstance(value, torch.Tensor):
            return _tensor_type(value)
        if isinstance(value, (bool, torch.SymBool)):
            return "i1"
        if isinstance(value, (int, torch.SymInt)):
            return "i64"
        if isinstance(value, (float, torch.SymFloat)):
            return "f64"
        return None

    def location(self, node: Any) -> str:
        stack = node.meta.get("nn_module_stack") or {}
        path = next((entry[0] for entry in reversed(list(stack.values()))), "")
        path = re.sub(r"^L\['self'\]\.?", "", path)
        label = f"{path}/{node.name}" if path else node.name
        return f" loc({quote(label)})"

    # Dynamic shapes.

    def symbol(self, name: str, env: Any) -> str:
        """The value of a symbol, defined with its bounds and under the name of its
        `torch.export.Dim`."""
        if name in self.symbols:
            return self.symbols[name]
        sources = {
            symbol.name: [s.name if isinstance(s.name, str) else s.name() for s in found]
            for symbol, found in getattr(env, "var_to_sources", {}).items()
        }
        names = getattr(env, "source_name_to_debug_name", {})
        given = [names.get(source, "") for source in sources.get(name, [])]
        label = next((n for n in given if n.isidentifier()), name)
        ranges = {str(s): r for s, r in self.program.range_constraints.items()}
        low, high = 0, _LARGEST
        if name in ranges:
            # Infinity is no number of Python's.
            low = int(max(ranges[name].lower, 0))
            high = int(ranges[name].upper) if ranges[name].upper < _LARGEST else high
        value = self.symbols[name] = self.fresh(label)
        self.symbol_lines.append(
            f'    {value} = "torch.symbolic_int"() {{max_val = {high} : i64, '
            f"min_val = {low} : i64, symbol_name = {quote(label)}}} : () -> !torch.int"
        )
        return value

    def bind(self, name: str, value: Any) -> None:
        """Says what the dynamic dimensions of a tensor are, in terms of symbols."""
        if not isinstance(value, self.torch.Tensor):
            return
        dynamic = [size for size in value.shape if not isinstance(size, int)]
        if not dynamic:
            return
        symbols: dict[str, int] = {}
        sizes = [
            str(size) if isinstance(size, int) else _affine(size.node.expr, symbols)
            for size in value.shape
        ]
        if None in sizes:
            return
        env = dynamic[0].node.shape_env
        operands = [name, *(self.symbol(symbol, env) for symbol in symbols)]
        formal = ", ".join(f"s{index}" for index in range(len(symbols)))
        types = ", ".join([self.types[name]] + ["!torch.int"] * len(symbols))
        self.lines.append(
            f'    "torch.bind_symbolic_shape"({", ".join(operands)}) '
            f"{{shape_expressions = affine_map<()[{formal}] -> ({', '.join(sizes)})>}} "
            f": ({types}) -> ()"
        )

    # Attributes.

    def attribute(self, value: Any) -> Optional[str]:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int):
            return str(value)
        if isinstance(value, float):
            return self.float_attribute(value)
        if isinstance(value, str):
            return quote(value)
        if isinstance(value, (list, tuple)):
            items = [self.attribute(item) for item in value]
            return "[" + ", ".join(i for i in items if i is not None) + "]"
        if value is None:
            return None
        return quote(str(value).removeprefix("torch."))

    @staticmethod
    def float_attribute(value: float) -> str:
        if value != value or value in (float("inf"), float("-inf")):
            bits = {"inf": "0x7FF0000000000000", "-inf": "0xFFF0000000000000"}
            return f"{bits.get(str(value), '0x7FF8000000000000')} : f64"
        mantissa, _, exponent = repr(value).partition("e")
        if "." not in mantissa:
            mantissa += ".0"
        return f"{mantissa}e{exponent}" if exponent else mantissa

    # Operators.

    def arguments(self, node: Any) -> tuple[list[str], list[str], list[str]]:
        """Operands, the schema's names of them, and attributes."""
        schema = getattr(node.target, "_schema", None)
        formal = [a.name for a in schema.arguments] if schema else []
        given = [
            (formal[i] if i < len(formal) else f"arg{i}", value)
            for i, value in enumerate(node.args)
        ] + list(node.kwargs.items())
        operands, names, attributes = [], [], []
        for name, value in given:
            if self.is_node(value):
                operands.append(self.operand(value))
                names.append(name)
            elif isinstance(value, (list, tuple)) and any(map(self.is_node, value)):
                for index, item in enumerate(value):
                    if self.is_node(item):
                        operands.append(self.operand(item))
                        names.append(f"{name}.{index}")
                rest = [None if self.is_node(v) else v for v in value]
                if any(item is not None for item in rest):
                    sizes = [-1 if v is None else v for v in rest]
                    attributes.append(f"{name} = {self.attribute(sizes)}")
            else:
                text = self.attribute(value)
                if text is not None:
                    attributes.append(f"{name} = {text}")
        if names != formal[: len(names)]:
            quoted = ", ".join(quote(name) for name in names)
            attributes.append(f"arguments = [{quoted}]")
        return operands, names, attributes

    def is_node(self, value: Any) -> bool:
        return isinstance(value, self.torch.fx.Node)

    def operand(self, node: Any) -> str:
        value = self.values[node]
        if isinstance(value, tuple):
            raise NotImplementedError(f"'{node.name}' is a list and used as a value")
        return value

    def shares_storage(self, node: Any) -> Optional[bool]:
        """Whether the result is memory of the first operand, if known."""
        if "dropout" in str(node.target) and len(node.args) > 2:
            if node.args[1] == 0 or node.args[2] is False:
                return True  # the input itself, which tracing hides
        result = node.meta.get("val")
        first = node.args[0] if node.args else None
        source = first.meta.get("val") if self.is_node(first) else None
        tensor = self.torch.Tensor
        if not isinstance(result, tensor) or not isinstance(source, tensor):
            return None
        return result.untyped_storage()._cdata == source.untyped_storage()._cdata

    def operator_name(self, target: Any) -> str:
        if isinstance(target, self.torch._ops.OpOverload):
            space, _, name = target._schema.name.partition("::")
            overload = target._overloadname
            suffix = "" if overload == "default" else f".{overload}"
            return f"torch.{space}.{name}{suffix}"
        return f"torch.python.{getattr(target, '__name__', str(target))}"

    def call(self, node: Any) -> None:
        target = node.target
        if target is operator.getitem:
            self.values[node] = self.values[node.args[0]][node.args[1]]
            return
        if isinstance(target, self.torch._ops.HigherOrderOperator):
            self.call_higher_order(node)
            return
        operands, _, attributes = self.arguments(node)
        name = self.operator_name(target)
        base = name.split(".")[2] if name.count(".") >= 2 else ""
        if base in _MAYBE_VIEWS:
            shares = self.shares_storage(node)
            if shares is not None:
                attributes.append(f"aliases = {'true' if shares else 'false'}")
        self.emit(node, name, operands, attributes)
        self.follow_mutation(node)

    def emit(self, node: Any, name: str, operands: list, attributes: list) -> None:
        value = node.meta.get("val")
        is_list = isinstance(value, (list, tuple))
        typed = [(v, self.type_of(v)) for v in (value if is_list else [value])]
        types = [t for _, t in typed if t is not None]
        result = self.fresh(node.name) if types else ""
        pack = f"{result}:{len(types)}" if len(types) > 1 else result
        names = []
        for _, type_ in typed:
            if type_ is None:
                names.append(None)
                continue
            at = len([n for n in names if n is not None])
            names.append(f"{result}#{at}" if len(types) > 1 else result)
            self.types[names[-1]] = type_
        self.values[node] = tuple(names) if is_list else names[0]
        text = f'{pack} = "{name}"' if types else f'"{name}"'
        text += f"({', '.join(operands)})"
        if attributes:
            text += " {" + ", ".join(attributes) + "}"
        inputs = ", ".join(self.types[operand] for operand in operands)
        outputs = types[0] if len(types) == 1 else f"({', '.join(types)})"
        self.lines.append(
            f"    {text} : ({inputs}) -> {outputs}{self.location(node)}"
        )
        for name, (item, _) in zip(names, typed):
            if name is not None:
                self.bind(name, item)

    def follow_mutation(self, node: Any) -> None:
        """After `x.add_(y)`, later uses of x read the result."""
        schema = getattr(node.target, "_schema", None)
        if schema is None or not isinstance(self.values[node], str):
            return
        for formal, actual in zip(schema.arguments, node.args):
            info = formal.alias_info
            if info is not None and info.is_write and self.is_node(actual):
                self.values[actual] = self.values[node]

    def call_higher_order(self, node: Any) -> None:
        """Regions that only set a mode are part of the graph around them."""
        modes = ("wrap_with_set_grad_enabled", "wrap_with_autocast")
        name = node.target.name() if callable(node.target.name) else node.target.name
        body = next(
            (a for a in node.args if self.is_node(a) and a.op == "get_attr"), None
        )
        if name not in modes or body is None:
            raise NotImplementedError(
                f"'{node.name}' is a higher-order operator ({name}); "
                "only gradient and autocast modes are exported"
            )
        submodule = getattr(body.graph.owning_module, body.target)
        actual = node.args[node.args.index(body) + 1 :]
        formal = [n for n in submodule.graph.nodes if n.op == "placeholder"]
        for inner, outer in zip(formal, actual):
            self.values[inner] = self.values[outer]
        self.values[node] = self.run(submodule.graph)

    def run(self, graph: Any) -> Any:
        """Prints the operators of a graph; what it returns."""
        for node in graph.nodes:
            if node.op == "call_function":
                self.call(node)
            elif node.op == "output":
                returned = node.args[0]
                if isinstance(returned, (list, tuple)):
                    return tuple(
                        self.values[n] if self.is_node(n) else None for n in returned
                    )
                return self.values[returned]
        return ()

    # The function.

    def argument(self, node: Any, spec: Any, aliased: dict[str, int]) -> Optional[str]:
        value = node.meta.get("val")
        type_ = self.type_of(value)
        tensor = isinstance(value, self.torch.Tensor)
        # Numbers that were fixed at export are no arguments.
        if type_ is None or (not tensor and isinstance(value, (bool, int, float))):
            return None
        kind = spec.kind.name
        name = spec.target or node.name
        names = self.ties.get(name, [name])
        if name != names[0]:
            # Tied to a parameter that is an argument already.
            self.values[node] = self.tied[names[0]]
            return None
        entries = []
        if kind == "PARAMETER":
            entries.append("es.param = " + param_attribute(name, self.trains(names)))
        elif kind == "BUFFER" and name not in self.mutated:
            entries.append("es.param = " + param_attribute(name, False))
        elif kind == "CONSTANT_TENSOR":
            entries.append("es.param = " + param_attribute(name, False))
        else:
            entries.append(f"torch.name = {quote(name)}")
        if kind == "BUFFER" and name in self.mutated:
            entries.append('torch.kind = "buffer"')
        elif kind == "USER_INPUT":
            entries.append('torch.kind = "input"')
        if node.name in aliased:
            entries.append(f"tf.aliasing_output = {aliased[node.name]} : i32")
        value_name = self.fresh(node.name)
        self.values[node], self.types[value_name] = value_name, type_
        self.tied[name] = value_name
        self.bind(value_name, value)
        return f"      {value_name}: {type_} {{{', '.join(entries)}}} loc({quote(name)})"

    def trains(self, names: list[str]) -> bool:
        """Whether a parameter is trained, which any of its names can prevent."""
        value = self.program.state_dict.get(names[0])
        required = value.requires_grad if value is not None else True
        return bool(required) and not any(self.frozen(name, None) for name in names)

    def find_ties(self, signature: Any) -> None:
        """The names of each tensor that has several, as embeddings that are also
        the last layer's weights do. Each is one argument, under its first name."""
        first: dict[Any, list[str]] = {}
        for spec in signature.input_specs:
            value = self.program.state_dict.get(spec.target)
            if value is None or not value.numel():
                continue
            storage = value.untyped_storage()._cdata
            layout = (storage, value.storage_offset(), value.shape, value.stride())
            names = first.setdefault((layout, value.dtype), [])
            names.append(spec.target)
            self.ties[spec.target] = names

    def find_mutated(self, signature: Any) -> None:
        """Buffers that the graph writes, in place or as results."""
        buffers = dict(signature.inputs_to_buffers)
        self.mutated = set(signature.buffers_to_mutate.values())
        for node in self.program.graph.nodes:
            schema = getattr(node.target, "_schema", None)
            arguments = schema.arguments if schema else ()
            for formal, actual in zip(arguments, node.args):
                writes = formal.alias_info is not None and formal.alias_info.is_write
                # Training batch norm updates its statistics; its schema is silent.
                hidden = formal.name in ("running_mean", "running_var") and (
                    node.args[5] is True if len(node.args) > 5 else False
                )
                if (writes or hidden) and self.is_node(actual):
                    if actual.name in buffers:
                        self.mutated.add(buffers[actual.name])

    def print_function(self) -> str:
        graph, signature = self.program.graph, self.program.graph_signature
        self.find_mutated(signature)
        self.find_ties(signature)
        targets = {spec.target: spec.arg.name for spec in signature.input_specs}
        aliased: dict[str, int] = {}
        for index, spec in enumerate(signature.output_specs):
            if spec.kind.name in ("BUFFER_MUTATION", "USER_INPUT_MUTATION"):
                aliased[targets.get(spec.target, spec.target)] = index
        placeholders = [n for n in graph.nodes if n.op == "placeholder"]
        arguments = [
            self.argument(node, spec, aliased)
            for node, spec in zip(placeholders, signature.input_specs)
        ]
        returned = [v for v in self.run(graph) if isinstance(v, str)]
        types = [self.types[value] for value in returned]
        results = f"({', '.join(types)})"
        tail = f" {', '.join(returned)} : {', '.join(types)}" if returned else ""
        return "\n".join(
            [
                "module {",
                f"  func.func @{self.name}(",
                ",\n".join(a for a in arguments if a) + f") -> {results} {{",
                *self.symbol_lines,
                *self.lines,
                f"    return{tail}",
                "  }",
                "}",
                "",
            ]
        )


def from_torch(
    module: Any,
    args: tuple,
    kwargs: Optional[dict] = None,
    *,
    decompose: Optional[str] = None,
    frozen: Selector = None,
    dynamic_shapes: Any = None,
    name: str = "forward",
) -> str:
    """The ATen text of `module(*args, **kwargs)`.

    `module` is an `nn.Module` or a `torch.export.ExportedProgram`. Parameters
    are trainable where `requires_grad` says so and `frozen` (a regular
    expression, a function of the name, or a list) does not match.

    `decompose` is None for the operators the module calls, in-place ones
    included; `functional` for a graph without mutation, whose updated buffers
    are results that alias their argument; `core` for PyTorch's core ATen set.
    """
    import torch

    if decompose not in (None, "functional", "core"):
        raise ValueError(
            f"decompose expects None, 'functional' or 'core', got {decompose!r}"
        )
    if isinstance(module, torch.export.ExportedProgram):
        program = module
    else:
        program = torch.export.export(
            module, tuple(args), kwargs, dynamic_shapes=dynamic_shapes
        )
    if decompose == "functional":
        program = program.run_decompositions({})
    elif decompose == "core":
        program = program.run_decompositions()
    return _Printer(torch, program, frozen, name).print_function()
