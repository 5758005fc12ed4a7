"""Why XLA holds more than the program needs: rules, not a list of functions.

Each rule finds values in XLA's own dump (xla_dump.py) that its passes introduced or
kept, and gives the values as they would be without. Laid out again by the same
allocator, the difference is what the rule accounts for, in bytes.
"""

import dataclasses
from typing import Callable

import xla_allocation
import xla_dump
from xla_dump import Dump, Value

ELEMENTWISE = set(
    "abs add and cbrt ceil clamp compare convert cosine divide exponential "
    "exponential-minus-one floor log log-plus-one logistic maximum minimum multiply "
    "negate not or power remainder rsqrt select sign sine sqrt subtract tan tanh "
    "xor".split()
)
GENERATED = {"constant", "broadcast", "iota", "parameter"}


def _replace(value: Value, **changes) -> Value:
    return dataclasses.replace(value, **changes)


# Widened values.


def _is_widened(dump: Dump, name: str) -> bool:
    """An f32 value that is the conversion of a bf16 one, or that the program as
    written has in bf16."""
    program = dump.program
    root = program.body_root(name)
    while root and root.opcode in ("bitcast", "copy", "transpose"):
        root = program.instructions.get(root.operands[0])
    if root is None or root.element != "f32":
        return False
    if root.opcode == "convert":
        return program.instructions[root.operands[0]].element == "bf16"
    written = {
        i.element
        for i in dump.original.instructions.values()
        if (i.opcode, i.source, i.elements)
        == (root.opcode, root.source, root.elements)
    }
    return "bf16" in written and "f32" not in written


def _copies_argument(dump: Dump, name: str) -> bool:
    """True if a fusion does nothing but convert and move one argument."""
    instruction = dump.program.instructions[name]
    body = dump.program.computations.get(instruction.called, [])
    moves = {"parameter", "convert", "bitcast", "copy", "transpose"}
    sources = [dump.program.instructions.get(o) for o in instruction.operands]
    return (
        all(i.opcode in moves for i in body)
        and bool(sources)
        and all(s and s.opcode == "parameter" for s in sources)
    )


def widened(dump: Dump, before: list[Value]) -> list[Value]:
    values = []
    for value in before:
        if not _is_widened(dump, value.name):
            values.append(value)
        elif not _copies_argument(dump, value.name):
            values.append(_replace(value, bytes=value.bytes // 2))
    return values


# What is written beside an operand that dies.


def _is_elementwise_between_types(dump: Dump, name: str, operand: int) -> bool:
    """True if a fusion computes each element from the one in the same place of
    `operand`, and XLA does not write in place for a reshape or a conversion."""
    program = dump.program
    called = program.instructions[name].called
    if not called:
        return False
    start = program.parameter(called, operand)
    reached = {start.name}
    changes_type = False
    for instruction in program.computations[called]:
        if not reached.intersection(instruction.operands):
            continue
        if instruction.opcode in ("bitcast", "convert"):
            changes_type = True
        elif instruction.opcode == "copy":
            source = program.instructions[instruction.operands[0]]
            if source.in_memory != instruction.in_memory:
                return False
        elif instruction.opcode not in ELEMENTWISE:
            return False
        reached.add(instruction.name)
    return changes_type and program.roots[called].name in reached


def written_beside(dump: Dump, before: list[Value]) -> list[Value]:
    values = list(before)
    for index, value in enumerate(values):
        instruction = dump.program.instructions.get(value.name)
        for number, name in enumerate(instruction.operands if instruction else []):
            operand = next((v for v in values if v.name == name), None)
            if (
                operand
                and operand.bytes == value.bytes
                and operand.last == value.first
                and operand.offset != value.offset
                and _is_elementwise_between_types(dump, value.name, number)
            ):
                values[index] = _replace(
                    value, offset=operand.offset, allocation=operand.allocation
                )
    return values


# Loop state.


def loop_copies(dump: Dump, before: list[Value]) -> list[Value]:
    def is_copy(value: Value) -> bool:
        instruction = dump.program.instructions.get(value.name)
        return bool(
            instruction
            and instruction.opcode == "copy"
            and instruction.computation in dump.program.loops
        )

    return [v for v in before if not is_copy(v)]


# Comparisons.


def _reads_to_compare(dump: Dump, reader: str, name: str) -> bool:
    """True if `reader` uses nothing of `name` but a comparison."""
    program = dump.program
    instruction = program.instructions[reader]
    if not instruction.called or name not in instruction.operands:
        return False
    body = program.computations[instruction.called]
    start = program.parameter(instruction.called, instruction.operands.index(name))
    reached = {start.name}
    for inner in body:
        if not reached.intersection(inner.operands) or inner.opcode == "compare":
            continue
        if inner.opcode not in ELEMENTWISE or inner is program.roots[instruction.called]:
            return False
        reached.add(inner.name)
    return True


def compared_again(dump: Dump, before: list[Value]) -> list[Value]:
    values = []
    for value in before:
        readers = dump.readers(value.name)
        others = [r for r in readers if not _reads_to_compare(dump, r.name, value.name)]
        if len(others) in (0, len(readers)):
            values.append(value)
            continue
        last = max(dump.order[r.name] for r in others)
        if last >= value.last:
            values.append(value)
            continue
        elements = dump.program.instructions[value.name].elements
        values.append(_replace(value, last=last))
        # A byte an element, in a place of its own.
        values.append(
            _replace(value, bytes=elements, offset=-elements, first=last, allocation=-1)
        )
    return values


# Terms of what is computed in several fusions.


def terms_of_shared_values(dump: Dump, before: list[Value]) -> list[Value]:
    program = dump.program
    places: dict[tuple, list] = {}
    for computation, body in program.computations.items():
        for instruction in body:
            if instruction.opcode in ELEMENTWISE and instruction.source:
                places.setdefault(instruction.key, []).append(instruction)
    callers = {i.called: i for i in program.instructions.values() if i.called}
    dropped: set[str] = set()
    for copies in places.values():
        users = [callers.get(i.computation) for i in copies]
        if len(copies) < 2 or None in users or len({u.name for u in users}) < 2:
            continue
        terms = _terms(dump, copies[0], users[0])
        size = 4 * copies[0].elements
        if (
            len(terms) < 2
            or any(_terms(dump, c, u) != terms for c, u in zip(copies, users))
            or any(v.bytes != size or v.name in dropped for v in terms.values())
            or any(
                {r.name for r in dump.readers(name)} != {u.name for u in users}
                for name in terms
            )
        ):
            continue
        # The value itself is in the place of one of them.
        dropped.update(sorted(terms)[1:])
    return [v for v in before if v.name not in dropped]


def _terms(dump: Dump, instruction, caller) -> dict[str, Value]:
    """Temporaries that an instruction of a fusion is computed from."""
    program = dump.program
    found: dict[str, Value] = {}
    work = [instruction.name]
    seen = set(work)
    while work:
        inner = program.instructions[work.pop()]
        if inner.opcode == "parameter":
            value = dump.find(caller.operands[int(inner.operands[0])])
            if value and value.kind == "temporary":
                found[value.name] = value
            continue
        for operand in inner.operands:
            if operand not in seen:
                seen.add(operand)
                work.append(operand)
    return found


# Recomputation that is undone.


def _is_recomputed(source: str) -> bool:
    return "/rematted_computation/" in source or "/checkpoint/" in source


def undone_recomputation(dump: Dump, before: list[Value]) -> list[Value]:
    original = dump.original.instructions
    again = {
        (i.opcode, i.element, i.sizes)
        for i in original.values()
        if "/rematted_computation/" in i.source
    }
    kept = {
        original[operand].key
        for i in original.values()
        if i.opcode == "opt-barrier"
        for tuple_ in i.operands
        for operand in original[tuple_].operands
    }
    values = []
    for value in before:
        root = dump.program.body_root(value.name)
        if (
            root is None
            or (root.opcode, root.element, root.sizes) not in again
            or root.key in kept
            or _is_recomputed(root.source)
        ):
            values.append(value)
            continue
        forward = [value.first]
        late = []
        for reader in dump.readers(value.name):
            source = dump.program.body_root(reader.name).source
            (late if _is_recomputed(source) else forward).append(
                dump.order[reader.name]
            )
        values.append(_replace(value, last=max(forward)))
        values += [
            _replace(value, first=point - 1, last=point, allocation=-1, offset=-point)
            for point in late
        ]
    return values


@dataclasses.dataclass
class Cause:
    what: str
    rule: Callable[[Dump, list[Value]], list[Value]]


CAUSES = [
    Cause(
        "XLA:CPU computes bf16 products in f32: f32 copies of weights and activations",
        widened,
    ),
    Cause(
        "the places of XLA's loop state are fixed: what moves from one to another is "
        "copied",
        loop_copies,
    ),
    Cause(
        "XLA compares again and keeps the operand, four bytes an element, where "
        "es-opt keeps the comparison, one byte",
        compared_again,
    ),
    Cause(
        "a sum for several fusions is computed in each: XLA keeps its terms, es-opt "
        "the sum",
        terms_of_shared_values,
    ),
    Cause(
        "XLA:CPU drops optimization barriers and undoes the recomputation as common "
        "subexpressions: values of the forward pass are kept",
        undone_recomputation,
    ),
    Cause(
        "XLA reshapes products that are no matrices to matrices, fuses the reshape, "
        "and does not write in place through one: second buffers",
        written_beside,
    ),
]


@dataclasses.dataclass
class Account:
    """XLA's temporaries in parts that add up to them."""

    xla: int
    #: Of each cause, what it holds.
    named: list[tuple[str, int]]
    #: What its allocator loses between buffers.
    fragmentation: int

    @property
    def rest(self) -> int:
        return self.xla - self.fragmentation - sum(held for _, held in self.named)


def _temporary_bytes(values: list[Value]) -> int:
    return xla_allocation.temporary_bytes(xla_dump.buffers(values))


def account(folder: str, xla: int) -> Account:
    """What the causes hold of `xla` bytes of temporaries, one after the other."""
    dump = Dump(folder)
    values = dump.values
    bytes_now = _temporary_bytes(values)
    result = Account(xla, [], xla - bytes_now)
    for cause in CAUSES:
        without = cause.rule(dump, values)
        bytes_without = _temporary_bytes(without)
        if bytes_without < bytes_now:
            result.named.append((cause.what, bytes_now - bytes_without))
            values, bytes_now = without, bytes_without
    return result
