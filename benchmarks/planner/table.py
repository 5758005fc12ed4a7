"""Reads lines of test-es-plan, writes rows of a table with published figures."""

import sys

# Arena above the lower bound in percent, the best heuristic of others and an
# exact search, measured on the same files (docs/Performance.md says where).
PEERS = {
    "G_1.csv": ("0.0001", "0"),
    "S_1.csv": ("1.58", "0.39"),
    "Y_1.csv": ("0.35", "0"),
    "pangu_2.6B.csv": ("0.76", "0.20"),
    "resnet50.csv": ("0.30", "0"),
}
HARD = ("12-41", "0")  # A to K, at most
OPEN = {"D.1048576.csv": "3.84", "J.1048576.csv": "4.04"}

if "--rows" not in sys.argv:
    print("| instance | buffers | bound | above % | best heuristic % | search % | s |")
    print("|---|---|---|---|---|---|---|")
for line in sys.stdin:
    name, count, bound, arena, above, seconds = line.strip().split(",")
    heuristic, search = PEERS.get(name, ("", ""))
    if name.endswith(".1048576.csv"):
        heuristic, search = HARD[0], OPEN.get(name, HARD[1])
    cells = (name, count, bound, above, heuristic, search, seconds)
    print("| " + " | ".join(cells) + " |")
