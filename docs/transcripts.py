#!/usr/bin/env python3
"""Compares the transcripts in Markdown pages with what their commands print.

    docs/transcripts.py [--update] <page> ...

A transcript is a fenced block that begins with "$ ". Each line that begins so is
a command for bash, run in the root of the repository with es-opt on PATH; what
follows it is its output, standard error included, where a last line "..." stands
for any number of lines. --update writes the output of today into the pages.
"""

import difflib
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"(?<=```\n)\$ .*?(?=```)", re.S)


def run(command, status):
    """What a command prints, and its status; `$?` in it is `status`."""
    result = subprocess.run(
        ["bash", "-c", f"(exit {status})\n{command}"],
        cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    return result.stdout.splitlines(), result.returncode


def replay(block):
    """The block with the output of today, as long as the one it has."""
    lines, status = [], 0
    for step in re.split(r"^(?=\$ )", block, flags=re.M)[1:]:
        command, *expected = step.splitlines()
        output, status = run(command[2:], status)
        if expected and expected[-1].strip() == "...":
            output = output[: len(expected) - 1] + expected[-1:]
        lines += [command, *(line.rstrip() for line in output)]
    return "\n".join(lines).rstrip("\n") + "\n"


def main():
    update = sys.argv[1:2] == ["--update"]
    pages = [pathlib.Path(page) for page in sys.argv[1 + update :]]
    if not pages:
        sys.exit(__doc__)
    count, stale = 0, False
    for page in pages:
        text = page.read_text()
        fresh = BLOCK.sub(lambda match: replay(match.group()), text)
        count += len(BLOCK.findall(text))
        if update:
            page.write_text(fresh)
        elif fresh != text:
            stale = True
            name = str(page)
            sys.stdout.writelines(difflib.unified_diff(
                text.splitlines(True), fresh.splitlines(True), name, name + " (today)"))
    print(f"{count} transcripts")
    sys.exit(stale)


if __name__ == "__main__":
    main()
