"""Every op that a framework lists has a model: op_coverage.py jax|torch folder."""

import json
import os
import pathlib
import re
import subprocess
import sys

framework, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)

#: Described by their regions, or no op of a function's body.
STRUCTURE = {"return", "while", "if", "case", "func", "mesh"}
STRUCTURE |= {"manual_computation", "named_computation"}


def hlo_ops():
    import importlib
    import inspect

    for dialect in ("stablehlo", "chlo", "mhlo", "sdy"):
        module = importlib.import_module(f"jaxlib.mlir.dialects._{dialect}_ops_gen")
        found = re.findall(r'OPERATION_NAME = "([^"]+)"', inspect.getsource(module))
        names = sorted(set(found))
        yield dialect, [n for n in names if n.split(".")[1] not in STRUCTURE]


def aten_ops():
    import torch

    core, elementwise = set(), set()
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        if not isinstance(packet, torch._ops.OpOverloadPacket):
            continue
        for overload in packet.overloads():
            tags = getattr(packet, overload).tags
            if torch.Tag.core in tags:
                core.add("torch.aten." + name)
            if torch.Tag.pointwise in tags:
                elementwise.add("torch.aten." + name)
    yield "core ATen", sorted(core)
    yield "elementwise ATen", sorted(elementwise)


def unknown(names):
    """Those that the report calls conservative in a function of all of them."""
    t = "tensor<4xf32>"
    body = "".join(
        f'  %{i} = "{name}"(%a, %b) : ({t}, {t}) -> {t}\n'
        for i, name in enumerate(names)
    )
    path = folder / "ops.mlir"
    path.write_text(
        f"func.func @f(%a: {t}, %b: {t}) -> {t} {{\n{body}  return %0 : {t}\n}}\n"
    )
    report = json.loads(
        subprocess.run(
            [os.environ["ES_OPT"], "--memory-report=json", "--graphs=inference", path],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    (graph,) = report["functions"][0]["graphs"]
    notes = " ".join(graph["notes"])
    return re.findall(r"'([^']+)' treated conservatively", notes)


lists = hlo_ops() if framework == "jax" else aten_ops()
for title, names in lists:
    missing = unknown([*names, "no.such_op"])
    if missing != ["no.such_op"]:
        sys.exit(f"{title}: no model for {missing}")
    print(f"{title}: {len(names)} ops known")
