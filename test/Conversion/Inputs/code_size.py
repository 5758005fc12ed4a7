"""Instructions of every function of assembly on stdin, a line a function."""

import re
import sys

sizes = {}
name = ""
for line in sys.stdin:
    if label := re.match(r'"?(\w+)"?:', line):
        name = label[1]
    elif re.match(r"\s+[a-z]\w*(\s|$)", line) and name:
        sizes[name] = sizes.get(name, 0) + 1
if sys.argv[1:] == ["kernels"]:
    for name, size in sizes.items():
        if name.startswith("es_update") and not name.endswith("_row"):
            print(name, size)
else:
    print(sizes["f"])
