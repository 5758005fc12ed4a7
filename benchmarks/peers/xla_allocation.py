"""What XLA's allocator would reserve for buffers with known lives.

es-opt says when each buffer is live. XLA reserves arguments and results for the
whole run, lets a temporary use the memory of a result that is not live yet (one
at a time, largest first), and packs the others into one heap. This is that
policy, so that its `temp_size_in_bytes` can be compared.
"""

import csv
import dataclasses


@dataclasses.dataclass
class Buffer:
    role: str
    type: str
    bytes: int
    first: int
    last: int

    def meets(self, other: "Buffer") -> bool:
        return self.first <= other.last and other.first <= self.last


def read(path: str) -> list[Buffer]:
    """The buffers of a file that --live-ranges wrote."""
    buffers: dict[str, Buffer] = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            first, last = int(row["first"]), int(row["last"])
            known = buffers.get(row["buffer"])
            if known:
                known.last = max(known.last, last)
            else:
                buffers[row["buffer"]] = Buffer(
                    row["role"], row["type"], int(row["bytes"]), first, last
                )
    return list(buffers.values())


def temporary_bytes(buffers: list[Buffer]) -> int:
    temporaries = [b for b in buffers if b.role == "temporary"]
    results = [b for b in buffers if b.role == "output"]
    allocations = [[r] for r in sorted(results, key=lambda r: -r.bytes)]
    heap = []
    for buffer in sorted(temporaries, key=lambda b: (-b.bytes, b.first)):
        for allocation in allocations:
            if buffer.bytes <= allocation[0].bytes and not any(
                buffer.meets(other) for other in allocation
            ):
                allocation.append(buffer)
                break
        else:
            heap.append(buffer)
    changes: dict[int, int] = {}
    for buffer in heap:
        changes[buffer.first] = changes.get(buffer.first, 0) + buffer.bytes
        changes[buffer.last + 1] = changes.get(buffer.last + 1, 0) - buffer.bytes
    live = peak = 0
    for point in sorted(changes):
        live += changes[point]
        peak = max(peak, live)
    return peak
