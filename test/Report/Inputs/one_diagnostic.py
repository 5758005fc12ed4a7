"""Every kind of bad input gives one diagnostic, status 1 and nothing on stdout,
whichever graphs are asked for.

    one_diagnostic.py <es-opt> <folder with the files of bad-input.test>
"""

import pathlib
import re
import subprocess
import sys

TOOL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])

# Files that cannot be reported on; those with a second half are read from bytes.
FILES = ["parse", "recursive", "chain", "unranked", "dynamic", "inside", "sparse",
         "overflow", "total", "empty", "absent"]
FLAGS = ["--no-such-flag", "--budget=lots", "--budget=-1", "--budget=1e3",
         "--budget=99999999999999999999", "--budget=nothing:1GiB",
         "--reserve=18446744073709551615", "--reserve=x", "--top=x", "--alignment=3",
         "--memory-model=lazy", "--device=abacus", "--freeze=(", "--stored-as=w",
         "--stored-as=w:what", "--shape=arg0:4xq", "--shape=nobody:4",
         "--params=#9-1", "--entry=@nobody", "--entry=@f,@nobody",
         "--training=@nobody", "--forward=@f", "--forward=@f --backward=@nobody",
         "--loss=what", "--optimizer=what", "--optimizer-impl=what",
         "--optimizer-temporaries=x", "--grad-dtype=i8", "--state-dtype=what",
         "--grad-lifetime=what", "--save-policy=what", "--accumulate=0", "--zero=4",
         "--devices=0", "--compare-freeze=(", "--sweep=x", "--sweep=arg0.9:1",
         "--max=batch", "--unknown-sizes=what", "--sub-byte=what",
         "--live-ranges=/nowhere/x.csv", "--memory-report=xml", "second.mlir",
         "-o /nowhere/x"]
GRAPHS = [[], ["--graphs=inference"], ["--graphs=backprop"]]


def check(*arguments):
    run = subprocess.run([TOOL, "--memory-report", *arguments], capture_output=True)
    errors = run.stderr.decode(errors="replace")
    # The command line library writes "<tool>: for the --x option: ...".
    count = len(re.findall(r"(?:error|warning): ", errors)) or len(
        re.findall(rf"^{re.escape(TOOL)}: (?!Did you mean)", errors, re.M))
    if run.returncode != 1 or count != 1 or run.stdout:
        sys.exit(f"{arguments}: status {run.returncode}, {count} diagnostics, "
                 f"{len(run.stdout)} bytes on stdout\n{errors}")


def main():
    whole = (FOLDER / "whole.mlirbc").read_bytes()
    cases = [[str(FOLDER / f"{name}.mlir")] for name in FILES] + [[str(FOLDER)]]
    for size in range(4, len(whole), 7):
        (FOLDER / "cut.mlirbc").write_bytes(whole[:size])
        check(str(FOLDER / "cut.mlirbc"))
    for name, content in {
        "cut.mlirbc": whole[: len(whole) // 2],
        "binary.mlir": bytes(range(256)) * 8,
        "nothing.mlir": b"",
        "elf.mlir": pathlib.Path(sys.executable).read_bytes()[:4096],
    }.items():
        (FOLDER / name).write_bytes(content)
        cases.append([str(FOLDER / name)])
    for case in cases:
        for graphs in GRAPHS:
            check(*case, *graphs)
    for flags in FLAGS:
        check(str(FOLDER / "ok.mlir"), *flags.split())
    check(str(FOLDER / "untrained.mlir"), "--budget=backprop:1GiB")
    print(f"{len(cases)} inputs, {len(FLAGS)} flags")


if __name__ == "__main__":
    main()
