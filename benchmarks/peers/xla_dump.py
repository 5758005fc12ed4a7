"""What XLA holds in memory and when, read from the files it dumps.

`xla_dump_to` writes the optimised program, the buffer assignment and the order in
which values live. Together they are the same list of buffers that es-opt gives
with `--live-ranges`, so that one allocator (xla_allocation.py) can lay out both.
"""

import dataclasses
import glob
import re

from xla_allocation import Buffer

_INSTRUCTION = re.compile(
    r"^\s+(?P<root>ROOT )?%(?P<name>[\w.-]+) = (?P<type>\(.*?\)|\S+) "
    r"(?P<opcode>[\w-]+)\((?P<operands>.*?)\)(?P<rest>.*)$"
)
_COMPUTATION = re.compile(r"^(?P<entry>ENTRY )?%(?P<name>[\w.-]+) \(.*\{$")
_SHAPE = re.compile(r"^(?P<element>[a-z]\w*)\[(?P<sizes>[\d,]*)\](\{(?P<layout>[\d,]*)\})?")
_ALLOCATION = re.compile(r"^allocation \d+: size \d+, (?P<kind>.*)$")
_VALUE = re.compile(
    r"^ value: <\d+ (?P<name>\S+?)(?P<index>\{[\d,]*\})?(?: \(phi\))? @0> "
    r"\(size=(?P<size>\d+),offset=(?P<offset>\d+)\)"
)
_LIVE = re.compile(r"^    (?P<name>\S+?)(?P<index>\{[\d,]*\}):(?P<first>\d+)-(?P<last>\d+)$")


@dataclasses.dataclass
class Instruction:
    name: str
    element: str
    sizes: tuple
    #: Dimensions longer than one as they are in memory.
    in_memory: tuple
    opcode: str
    operands: list
    computation: str
    called: str
    #: Where the program as written has it, e.g. `jit(f)/jvp()/dot_general`.
    source: str

    @property
    def elements(self) -> int:
        count = 1
        for size in self.sizes:
            count *= size
        return count

    @property
    def key(self):
        """What two copies of one instruction have in common."""
        return (self.opcode, self.element, self.sizes, self.source)


@dataclasses.dataclass
class Value:
    name: str
    bytes: int
    allocation: int
    offset: int
    first: int
    last: int
    kind: str  # "temporary" or "output": where XLA put it

    def touches(self, other: "Value") -> bool:
        return self.first <= other.last and other.first <= self.last


def _integers(shape, group: str) -> tuple:
    text = shape[group] if shape else None
    return tuple(int(part) for part in text.split(",") if part) if text else ()


class Program:
    """Instructions of a module, by name, and the computations they are in."""

    def __init__(self, text: str):
        self.instructions: dict[str, Instruction] = {}
        self.computations: dict[str, list[Instruction]] = {}
        self.roots: dict[str, Instruction] = {}
        self.entry = ""
        self.loops: set[str] = set()
        current = ""
        for line in text.splitlines():
            if header := _COMPUTATION.match(line):
                current = header["name"]
                self.computations[current] = []
                if header["entry"]:
                    self.entry = current
            elif found := _INSTRUCTION.match(line):
                self._add(found, current)
        self.readers: dict[str, list[Instruction]] = {}
        for instruction in self.instructions.values():
            for operand in instruction.operands:
                self.readers.setdefault(operand, []).append(instruction)

    def _add(self, found, computation: str):
        rest = found["rest"]
        shape = _SHAPE.match(found["type"])
        called = re.search(r"calls=%([\w.-]+)", rest)
        source = re.search(r'op_name="([^"]*)"', rest)
        if body := re.search(r"body=%([\w.-]+)", rest):
            self.loops.add(body[1])
        sizes, layout = _integers(shape, "sizes"), _integers(shape, "layout")
        instruction = Instruction(
            found["name"],
            shape["element"] if shape else "",
            sizes,
            tuple(d for d in reversed(layout) if sizes[d] > 1),
            found["opcode"],
            re.findall(r"%([\w.-]+)", found["operands"]),
            computation,
            called[1] if called else "",
            source[1] if source else "",
        )
        if found["opcode"] == "parameter":
            instruction.operands = [found["operands"]]
        self.instructions[instruction.name] = instruction
        self.computations[computation].append(instruction)
        if found["root"]:
            self.roots[computation] = instruction

    def parameter(self, computation: str, index: int) -> Instruction:
        return next(
            i
            for i in self.computations[computation]
            if i.opcode == "parameter" and i.operands == [str(index)]
        )

    def body_root(self, name: str) -> Instruction | None:
        """The last instruction of a fusion; an instruction of its own is itself."""
        instruction = self.instructions.get(name)
        if instruction and instruction.called:
            return self.roots.get(instruction.called)
        return instruction


class Dump:
    def __init__(self, folder: str):
        def read(end):
            (path,) = glob.glob(f"{folder}/*{end}")
            with open(path) as file:
                return file.read()

        self.program = Program(read("cpu_after_optimizations.txt"))
        self.original = Program(read("before_optimizations.txt"))
        lives = {}
        self.order: dict[str, int] = {}
        for line in read("cpu_after_optimizations-live-range.txt").splitlines():
            if found := _LIVE.match(line):
                key = found["name"] + found["index"]
                lives[key] = (int(found["first"]), int(found["last"]))
            elif found := re.match(r"^    (\d+):(\S+)$", line):
                self.order[found[2]] = int(found[1])
        self.values: list[Value] = []
        kind, allocation = "", 0
        assignment = read("cpu_after_optimizations-buffer-assignment.txt")
        for line in assignment.splitlines():
            if found := _ALLOCATION.match(line):
                allocation += 1
                text = found["kind"]
                kind = (
                    "temporary"
                    if "preallocated-temp" in text
                    else "output" if "maybe-live-out" in text else ""
                )
            elif (found := _VALUE.match(line)) and kind:
                key = found["name"] + (found["index"] or "{}")
                if key in lives:
                    self.values.append(
                        Value(
                            found["name"],
                            int(found["size"]),
                            allocation,
                            int(found["offset"]),
                            *lives[key],
                            kind,
                        )
                    )

    def readers(self, name: str) -> list[Instruction]:
        """Instructions that XLA runs, not those inside of fusions."""
        return [r for r in self.program.readers.get(name, []) if r.name in self.order]

    def find(self, name: str) -> Value | None:
        return next((v for v in self.values if v.name == name), None)


def buffers(values: list[Value]) -> list[Buffer]:
    """Values that XLA puts in one place while another lives there are one buffer,
    written in place. A buffer that lasts to the end in memory of a result is it."""
    groups: list[list[Value]] = []
    for value in sorted(values, key=lambda v: (v.first, v.last)):
        for group in groups:
            if any(
                (v.allocation, v.offset) == (value.allocation, value.offset)
                and v.touches(value)
                for v in group
            ):
                group.append(value)
                break
        else:
            groups.append([value])
    end = max((v.last for v in values), default=0)
    result = []
    for group in groups:
        last = max(v.last for v in group)
        is_result = last == end and all(v.kind == "output" for v in group)
        result.append(
            Buffer(
                "output" if is_result else "temporary",
                "",
                max(v.bytes for v in group),
                min(v.first for v in group),
                last,
            )
        )
    return result
