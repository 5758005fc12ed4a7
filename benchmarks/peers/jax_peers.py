"""Compares the `fused` memory model with XLA's own memory analysis.

For each function of jax_models.py the same StableHLO goes to XLA, whose
`compiled.memory_analysis()` is the reference, and to es-opt.
"""

import argparse
import dataclasses
import json
import statistics
import sys

import es_opt
import jax
from jax_models import FUNCTIONS


@dataclasses.dataclass
class Row:
    name: str
    xla: dict
    ours: dict

    @property
    def ratio(self) -> float:
        theirs = self.xla["temporary"]
        return self.ours["temporary"] / theirs if theirs else float("nan")

    @property
    def same_borders(self) -> bool:
        return all(
            self.ours[key] == self.xla[key] for key in ("argument", "output", "alias")
        )


def tuple_table_bytes(lowered) -> int:
    """XLA counts the pointers of a tuple of results as output."""
    count = len(jax.tree.leaves(lowered.out_info))
    return 8 * count if count > 1 else 0


def compare(name: str) -> Row:
    fn, args, donated = FUNCTIONS[name]
    lowered = jax.jit(fn, donate_argnums=donated).lower(*args)
    stats = lowered.compile().memory_analysis()
    table = tuple_table_bytes(lowered)
    text = es_opt.from_jax(fn, *args, donate=list(donated) or None, form="generic")
    graph = es_opt.report(text, memory_model="fused").function.inference
    assert graph.exact, graph.notes
    return Row(
        name,
        xla={
            "argument": stats.argument_size_in_bytes,
            "output": stats.output_size_in_bytes - table,
            "alias": stats.alias_size_in_bytes,
            "temporary": stats.temp_size_in_bytes,
        },
        ours={
            "argument": graph.argument_bytes,
            "output": graph.result_bytes,
            "alias": graph.aliased_bytes,
            "temporary": graph.temporary_peak_bytes,
        },
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="functions (default: all)")
    parser.add_argument("--json", action="store_true", help="rows as JSON")
    options = parser.parse_args()
    rows = [compare(name) for name in options.names or FUNCTIONS]
    if options.json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=1))
        return 0
    print(f"{'function':26} {'arguments':>12} {'output':>12} {'alias':>12} same "
          f"{'XLA temp':>12} {'fused':>12} ratio")
    for row in rows:
        print(
            f"{row.name:26} {row.xla['argument']:12,} {row.xla['output']:12,} "
            f"{row.xla['alias']:12,} {'yes ' if row.same_borders else 'NO  '} "
            f"{row.xla['temporary']:12,} {row.ours['temporary']:12,} "
            f"{row.ratio:5.2f}"
        )
        if not row.same_borders:
            print("   ours:", row.ours)
    ratios = [r.ratio for r in rows if r.ratio == r.ratio]
    deviations = sorted(abs(r - 1) for r in ratios)
    print(f"median deviation {statistics.median(deviations):.1%}, "
          f"within 25%: {sum(d <= 0.25 for d in deviations)} of {len(deviations)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
