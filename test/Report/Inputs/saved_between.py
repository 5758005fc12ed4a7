"""What BertTiny's forward saves for its backward, added up twice.

    saved_between.py forward.mlir live-ranges.csv

Once from the text of the forward function: what it returns beside its first two
results (the logits in two shapes), each value once, without arguments of its own
and without values that are another one reshaped. Once from the live ranges that
es-opt writes: the saved activations that are live between the two functions.
"""

import csv
import math
import re
import sys

text = open(sys.argv[1]).read()
values, types = re.search(r'"func.return"\((.*?)\) : \((.*?)\) -> \(\)', text).groups()
values = [value.strip() for value in values.split(",")]
types = re.findall(r"tensor<([^>]*)>", types)
views = dict(re.findall(r'(%\d+) = "mhlo.reshape"\((%[\w#]+)\)', text))


def root(value):
    while value in views:
        value = views[value]
    return value


def size(type):
    *dims, element = type.split("x")
    return math.prod(map(int, dims)) * {"f32": 4, "i64": 8}[element]


saved = {
    root(value): size(type)
    for value, type in zip(values[2:], types[2:])
    if not value.startswith("%arg")
}
rows = list(csv.DictReader(open(sys.argv[2])))
point = next(int(row["first"]) for row in rows if row["name"] == "between the two")
live = sum(
    int(row["bytes"])
    for row in rows
    if row["role"] == "saved_activation"
    and int(row["first"]) <= point <= int(row["last"])
)
print(f"{len(saved)} buffers, {sum(saved.values())} B in the text, {live} B live")
