"""Feeds every ```mlir block of the generated pages to es-opt."""

import pathlib
import re
import subprocess
import sys

tool, folder = sys.argv[1:]
count = 0
for page in sorted(pathlib.Path(folder).glob("*.md")):
    for block in re.findall(r"```mlir\n(.*?)```", page.read_text(), re.S):
        result = subprocess.run([tool, "-"], input=block, capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"{page.name}:\n{block}\n{result.stderr}")
        count += 1
print(count, "examples parse")
