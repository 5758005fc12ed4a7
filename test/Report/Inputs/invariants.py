"""Checks what must hold of every report, and its JSON schema.

    invariants.py es-opt schema.json [--entry=*] model.mlir...
"""

import json
import subprocess
import sys

KINDS = {"object": dict, "array": list, "string": str, "boolean": bool}


def validate(schema, value, root, where="report"):
    """The part of JSON Schema that our schema uses."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    kind = schema.get("type")
    if kind == "integer":
        assert isinstance(value, int) and not isinstance(value, bool), where
        assert value >= schema.get("minimum", value), where
    elif kind == "number":
        assert isinstance(value, (int, float)) and not isinstance(value, bool), where
    elif kind:
        assert isinstance(value, KINDS[kind]), where
    assert value == schema.get("const", value), where
    assert value in schema.get("enum", [value]), (where, value)
    for name in schema.get("required", []):
        assert name in value, f"{where} has no {name}"
    if kind == "object":
        known = schema.get("properties", {})
        for name, item in value.items():
            rest = schema.get("additionalProperties")
            assert name in known or rest is not None, f"{where}.{name} is not in the schema"
            validate(known.get(name, rest), item, root, f"{where}.{name}")
    if kind == "array":
        for index, item in enumerate(value):
            validate(schema["items"], item, root, f"{where}[{index}]")


def run(tool, *arguments):
    result = subprocess.run([tool, *arguments], capture_output=True, text=True)
    return result.returncode, result.stdout


def check_function(name, graph, peaks):
    peak = graph["peak_bytes"]
    peaks.setdefault((name, graph["kind"]), []).append(peak)
    assert sum(graph["breakdown"].values()) == peak, "roles do not sum to the peak"
    if "timeline" in graph:  # absent where nothing is ever live
        assert max(graph["timeline"]) == peak
        assert graph["timeline"][graph["peak_op"]["index"]] == peak
    if policies := graph.get("save_policies"):
        assert peak == policies[policies["reported"].replace("-", "_") + "_bytes"]
        assert peak <= policies["all_bytes"], "less is kept, and more needed"
    assert peak >= graph["largest_op_bytes"], "an op needs more than the peak"
    assert peak <= graph["arena_bytes"] <= graph["naive_bytes"], "peak <= arena <= naive"


def check_budgets(tool, flags, path, functions):
    """The budget is for the function that needs most."""
    for kind in ["inference", "backprop"]:
        arenas = [graph["arena_bytes"] for function in functions
                  for graph in function["graphs"] if graph["kind"] == kind]
        if len(arenas) < len(functions):  # a graph that cannot be built is an error
            continue
        fits, less = (run(tool, *flags, f"--budget={kind}:{max(arenas) - d}", path)[0] for d in (0, 1))
        assert fits == 0, f"{kind}: a budget of the arena must pass"
        assert less == 3 or not max(arenas), f"{kind}: a byte less must fail"


def check(tool, schema, path, entry):
    """The functions that hold; 0 if the file cannot be analysed."""
    peaks = {}
    for model in ["fused", "inplace", "eager"]:
        flags = ["--memory-report=json", f"--memory-model={model}", "--timeline", *entry]
        status, text = run(tool, *flags, path)
        if status:
            return 0
        assert run(tool, *flags, path) == (status, text), "two runs differ"
        report = json.loads(text)
        validate(schema, report, schema)
        for function in report["functions"]:
            for graph in function["graphs"]:
                check_function(function["name"], graph, peaks)
        check_budgets(tool, flags, path, report["functions"])
    for (name, kind), found in peaks.items():
        assert len(found) == 3 and found == sorted(found), f"@{name} {kind}: fused, inplace, eager are {found}"
    return len({name for name, _ in peaks})


def main():
    tool, schema = sys.argv[1], json.load(open(sys.argv[2]))
    # Every function of our own files; the largest of a model's.
    entry = [a for a in sys.argv[3:] if a.startswith("--")]
    models = functions = 0
    for path in sys.argv[3:]:
        if path.startswith("--"):
            continue
        try:
            held = check(tool, schema, path, entry)
        except AssertionError as error:
            sys.exit(f"{path}: {error}")
        models += held > 0
        functions += held
    print(f"{models} models hold, {functions} functions")


main()
