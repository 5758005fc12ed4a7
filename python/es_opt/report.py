"""Runs es-opt and holds what it reports."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import shutil
import subprocess
from typing import Any, Optional, Union

_OVER_BUDGET = 3


class EsOptError(RuntimeError):
    """es-opt refused its input; the message is its diagnostic."""

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status


def format_bytes(count: int) -> str:
    """`13.4 GiB`."""
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"


@dataclasses.dataclass(frozen=True)
class PeakOp:
    """The operation at which the peak is reached first."""

    index: int
    name: str
    location: str


@dataclasses.dataclass(frozen=True)
class Buffer:
    """One buffer that is live at the peak."""

    name: str
    role: str
    type: str
    bytes: int
    first: int
    last: int
    offset: int = 0
    location: str = ""
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Donation:
    """What becomes of a donated argument."""

    argument: str
    bytes: int
    #: `reused` (written again), `freed` (before the function ends) or `unused`.
    outcome: str
    why: str
    #: The result that is in the argument's memory.
    result: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Growth:
    """What a training step takes where dimensions of its inputs are larger."""

    #: Those that run together: `ids.1`, `labels.1`.
    dimensions: list[str]
    size: int
    is_batch: bool
    #: Why nothing is known; then nothing else is.
    unknown: Optional[str] = None
    #: False if equal sizes were taken for the same dimension.
    exact: bool = True
    #: By size: at the size at hand, at twice and three times as much.
    peaks: dict[int, int] = dataclasses.field(default_factory=dict)
    #: Bytes for the next one, and how much of that is for every pair.
    next_bytes: Optional[int] = None
    square_bytes: float = 0.0
    floor_bytes: int = 0
    #: From that size on the next one costs `next_bytes_there`.
    changes_at: Optional[int] = None
    next_bytes_there: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class Parameters:
    """What is known of a function's parameters."""

    count: int
    elements: int
    bytes: int
    roles_source: str
    trainable_elements: int
    trainable_bytes: int
    frozen_elements: int
    frozen_bytes: int


@dataclasses.dataclass(frozen=True)
class Graph:
    """The memory of one graph: inference, backprop, or es."""

    kind: str
    peak_bytes: int
    arena_bytes: int
    argument_bytes: int
    result_bytes: int
    #: Results in the memory of a donated argument.
    aliased_bytes: int
    #: The most that is neither argument, constant nor result at any point.
    temporary_peak_bytes: int
    exact: bool
    peak_op: PeakOp
    breakdown: dict[str, int]
    buffers_at_peak: list[Buffer]
    timeline: list[int]
    notes: list[str]
    #: One for each donated argument; those given away in vain come first.
    donations: list[Donation]
    #: Of a step that was built from the model: its batch, its sequences.
    growth: list[Growth]
    #: Every field of the JSON, those without a name of their own included.
    raw: dict[str, Any] = dataclasses.field(repr=False, compare=False)


@dataclasses.dataclass(frozen=True)
class Function:
    """A function that is reported in full."""

    name: str
    parameters: Parameters
    graphs: list[Graph]

    def graph(self, kind: str) -> Graph:
        for graph in self.graphs:
            if graph.kind == kind:
                return graph
        known = ", ".join(g.kind for g in self.graphs)
        raise KeyError(f"'@{self.name}' has no graph '{kind}', only {known}")

    @property
    def inference(self) -> Graph:
        return self.graph("inference")


@dataclasses.dataclass(frozen=True)
class Report:
    """What es-opt says of a module."""

    schema_version: int
    module: str
    options: dict[str, Any]
    functions: list[Function]
    #: Name and peak of each public function that is not reported in full.
    other_functions: dict[str, int]
    over_budget: bool
    raw: dict[str, Any] = dataclasses.field(repr=False, compare=False)

    @property
    def function(self) -> Function:
        """The one function that is reported in full."""
        if len(self.functions) != 1:
            names = ", ".join("@" + f.name for f in self.functions)
            raise ValueError(f"expects one function, got {names or 'none'}")
        return self.functions[0]

    def rows(self, function: Function) -> list[tuple[str, ...]]:
        """A row a role, a column a graph, with a header and the sums."""
        graphs = function.graphs
        roles = [
            role
            for role in graphs[0].breakdown
            if any(graph.breakdown.get(role, 0) for graph in graphs)
        ]
        rows = [("role", *(graph.kind for graph in graphs))]
        for role in roles:
            rows.append((
                role.replace("_", " "),
                *(_cell(graph.breakdown.get(role, 0)) for graph in graphs),
            ))
        rows.append(("peak", *(_cell(g.peak_bytes) for g in graphs)))
        rows.append(("arena", *(_cell(g.arena_bytes) for g in graphs)))
        return rows

    def __str__(self) -> str:
        lines = []
        for function in self.functions:
            lines.append(f"@{function.name}: {_parameter_line(function)}")
            if not function.graphs:
                continue
            rows = self.rows(function)
            widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
            for index, row in enumerate(rows):
                cells = [row[0].ljust(widths[0])]
                cells += [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
                lines.append("  " + "  ".join(cells).rstrip())
                if index == 0 or index == len(rows) - 3:
                    lines.append("  " + "  ".join("-" * w for w in widths))
            for graph in function.graphs:
                lines.append(f"  {graph.kind}: {_peak_line(graph)}")
                lines += [f"  note: {note}" for note in graph.notes]
        for name, peak in self.other_functions.items():
            lines.append(f"@{name}: peak {_cell(peak)}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = []
        for function in self.functions:
            caption = f"@{function.name}: {_parameter_line(function)}"
            parts.append(f"<table><caption>{html.escape(caption)}</caption>")
            for index, row in enumerate(self.rows(function) if function.graphs else []):
                tag = "th" if index == 0 else "td"
                cells = "".join(
                    f'<{tag} style="text-align:{"right" if i else "left"}">'
                    f"{html.escape(cell)}</{tag}>"
                    for i, cell in enumerate(row)
                )
                parts.append(f"<tr>{cells}</tr>")
            parts.append("</table><ul>")
            for graph in function.graphs:
                lines = [_peak_line(graph), *graph.notes]
                parts += [
                    f"<li>{html.escape(graph.kind)}: {html.escape(line)}</li>"
                    for line in lines
                ]
            parts.append("</ul>")
        return "".join(parts)


def _cell(count: int) -> str:
    return f"{count:,} B" if count < 1024 else f"{count:,} B ({format_bytes(count)})"


def _parameter_line(function: Function) -> str:
    p = function.parameters
    return (
        f"{p.count} parameters, {p.elements:,} elements, {_cell(p.bytes)}, "
        f"{format_bytes(p.trainable_bytes)} trainable (roles from {p.roles_source})"
    )


def _peak_line(graph: Graph) -> str:
    op = graph.peak_op
    exact = "" if graph.exact else " (an op was treated conservatively)"
    where = f" at {op.location}" if op.location else ""
    return f"peak at point {op.index}, {op.name}{where}{exact}"


def _pick(cls: type, data: dict[str, Any], **more: Any) -> Any:
    """A dataclass from JSON; fields that a later es-opt adds are ignored."""
    names = {field.name for field in dataclasses.fields(cls)}
    known = {key: value for key, value in data.items() if key in names}
    return cls(**{**known, **more})


def _make_graph(data: dict[str, Any]) -> Graph:
    return _pick(
        Graph,
        data,
        peak_op=_pick(PeakOp, data["peak_op"]),
        buffers_at_peak=[_pick(Buffer, b) for b in data["buffers_at_peak"]],
        timeline=data.get("timeline", []),
        growth=[
            _pick(
                Growth,
                g,
                peaks={p["size"]: p["peak_bytes"] for p in g.get("peaks", [])},
            )
            for g in data.get("growth", [])
        ],
        donations=[_pick(Donation, d) for d in data.get("donations", [])],
        raw=data,
    )


def _make_function(data: dict[str, Any]) -> Function:
    return Function(
        name=data["name"],
        parameters=_pick(Parameters, data["parameters"]),
        graphs=[_make_graph(graph) for graph in data["graphs"]],
    )


def _make_report(data: dict[str, Any], over_budget: bool) -> Report:
    return Report(
        schema_version=data["schema_version"],
        module=data["module"],
        options=data["options"],
        functions=[_make_function(f) for f in data["functions"]],
        other_functions={
            f["name"]: f["peak_bytes"] for f in data.get("other_functions", [])
        },
        over_budget=over_budget,
        raw=data,
    )


def _find_tool() -> str:
    given = os.environ.get("ES_OPT")
    tool = shutil.which(given or "es-opt")
    if tool is None:
        where = f"ES_OPT={given}" if given else "on PATH (nor is ES_OPT set)"
        raise EsOptError(f"es-opt is not found: {where}", 1)
    return tool


def _make_flags(options: dict[str, Any]) -> list[str]:
    flags = []
    for key, value in options.items():
        flag = "--" + key.rstrip("_").replace("_", "-")
        if value is True:
            flags.append(flag)
        elif isinstance(value, (list, tuple)):
            flags += [f"{flag}={item}" for item in value]
        elif value is not None and value is not False:
            flags.append(f"{flag}={value}")
    return flags


def report(
    text_or_path: Union[str, bytes, os.PathLike],
    *,
    tool: Optional[str] = None,
    **options: Any,
) -> Report:
    """Reports on MLIR text, or on the file at a path.

    Options are the flags of es-opt, with underscores: `memory_model="fused"`,
    `timeline=True`, `freeze=["^layers", "^embed"]`. A trailing underscore is
    dropped. Raises `EsOptError` with es-opt's diagnostic; a budget that is
    exceeded is no error but sets `over_budget`.
    """
    text = None
    path = "-"
    if isinstance(text_or_path, bytes):
        text = text_or_path
    elif isinstance(text_or_path, str) and "\n" in text_or_path:
        text = text_or_path.encode()
    else:
        path = os.fspath(text_or_path)
        if not os.path.exists(path):
            raise FileNotFoundError(f"no such file: {path}")
    command = [tool or _find_tool(), "--memory-report=json"]
    done = subprocess.run(
        command + _make_flags(options) + [path],
        input=text,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    over_budget = done.returncode == _OVER_BUDGET
    if done.returncode != 0 and not over_budget:
        message = done.stderr.decode(errors="replace").strip()
        raise EsOptError(message or f"es-opt ended with {done.returncode}",
                         done.returncode)
    return _make_report(json.loads(done.stdout), over_budget)
