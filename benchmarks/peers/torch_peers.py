"""Compares the `eager` memory model with what PyTorch allocates on the CPU.

Each module of torch_models.py is exported; es-opt says what its forward pass
needs beside arguments, and PyTorch's profiler says what the same graph, and the
module as it is written, allocate at most. Convolutions run in oneDNN, which
copies operands and results into layouts of its own; what it frees again before
the operator returns is listed, and the peak without it must be equal too.

Exit status 1 if a module differs by anything else.
"""

import argparse
import dataclasses
import json
import sys
import warnings

import es_opt
import torch
from torch_memory import Usage, measure
from torch_models import MODULES


@dataclasses.dataclass
class Row:
    name: str
    eager: int
    graph: Usage
    module: int

    @property
    def is_equal(self) -> bool:
        return self.eager == self.graph.peak

    @property
    def is_explained(self) -> bool:
        return self.is_equal or self.eager == self.graph.peak_without_scratch

    @property
    def explanation(self) -> str:
        if self.is_equal:
            return ""
        parts = [
            f"{s.operator} {s.bytes:,} B" for s in self.graph.scratch if s.bytes > 0
        ]
        return (
            f"without the scratch of oneDNN ({', '.join(parts)}) "
            f"{self.graph.peak_without_scratch:,} B"
        )


def compare(name: str) -> Row:
    torch.manual_seed(0)
    module, args = MODULES[name]()
    program = torch.export.export(module, args)
    report = es_opt.report(
        es_opt.from_torch(program, args), memory_model="eager", graphs="inference"
    )
    graph = report.function.inference
    if not graph.exact:
        raise SystemExit(f"{name}: {graph.notes}")
    exported = program.module()
    with torch.no_grad():
        return Row(
            name,
            eager=graph.peak_bytes - graph.argument_bytes,
            graph=measure(lambda: exported(*args)),
            module=measure(lambda: module(*args)).peak,
        )


def summary(rows: list[Row]) -> str:
    return (
        f"{len(rows)} modules: equal to the byte in {sum(r.is_equal for r in rows)}, "
        f"equal without oneDNN's scratch in "
        f"{sum(r.is_explained and not r.is_equal for r in rows)}, "
        f"different in {sum(not r.is_explained for r in rows)}"
    )


def main() -> int:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="modules (default: all)")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [compare(name) for name in options.names or MODULES]
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
    else:
        print(f"{'module':28} {'es-opt':>11} {'graph':>11} {'module':>11}")
        for row in rows:
            print(f"{row.name:28} {row.eager:11,} {row.graph.peak:11,} "
                  f"{row.module:11,}  {'equal' if row.is_equal else ''}")
            if row.explanation:
                print(f"    {row.explanation}")
        print(summary(rows))
    return 0 if all(row.is_explained for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
