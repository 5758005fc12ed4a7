"""Adds up the buffers of some roles in a file of live ranges: FILE ROLE..."""

import csv
import sys

with open(sys.argv[1]) as file:
    rows = list(csv.DictReader(file))
seen = {row["buffer"]: int(row["bytes"]) for row in rows if row["role"] in sys.argv[2:]}
print(sum(seen.values()))
