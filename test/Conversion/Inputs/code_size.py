"""Of assembly on stdin: how many instructions kernels have, a line a function
(`kernels`); how many their caller @f has (`caller`); or how many kernels of tiles
there are, and the calls in them (`calls`)."""

import re
import sys

sizes, calls, name = {}, [], ""
for line in sys.stdin:
    if label := re.match(r'"?(\w+)"?:', line):
        name = label[1]
    elif re.match(r"\s+[a-z]\w*(\s|$)", line) and name:
        sizes[name] = sizes.get(name, 0) + 1
        if re.match(r"\s+(call|jmp)\w*\s+[a-z_@*]", line):
            calls.append((name, line.strip()))
tiles = [n for n in sizes if re.match("es_update", n) and not re.search("_(row|range|all)$", n)]
if sys.argv[1:] == ["kernels"]:
    for name, size in sizes.items():
        if name.startswith("es_update") and not name.endswith("_row"):
            print(name, size)
elif sys.argv[1:] == ["calls"]:
    print(len(tiles), [call for call in calls if call[0] in tiles])
else:
    print(sizes["f"])
