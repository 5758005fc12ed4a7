"""Checks what must hold of every report, and its JSON schema.

    invariants.py es-opt schema.json model.mlir...
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


def check(tool, schema, path):
    """False if the file cannot be analysed."""
    peaks = {}
    for model in ["eager", "inplace", "fused"]:
        flags = ["--memory-report=json", f"--memory-model={model}", "--timeline"]
        status, text = run(tool, *flags, path)
        if status:
            return False
        assert run(tool, *flags, path) == (status, text), "two runs differ"
        report = json.loads(text)
        validate(schema, report, schema)
        for function in report["functions"]:
            graph = function["graphs"][0]
            peaks[model] = peak = graph["peak_bytes"]
            assert sum(graph["breakdown"].values()) == peak, "roles do not sum to the peak"
            assert max(graph["timeline"]) == peak
            assert graph["timeline"][graph["peak_op"]["index"]] == peak
            assert peak >= graph["largest_op_bytes"], "an op needs more than the peak"
            assert peak <= graph["arena_bytes"] <= graph["naive_bytes"], "peak <= arena <= naive"
        arena = graph["arena_bytes"]
        budget = [*flags, f"--budget={arena}"]
        assert run(tool, *budget, path)[0] == 0, "a budget of the arena must pass"
        if arena:
            budget[-1] = f"--budget={arena - 1}"
            assert run(tool, *budget, path)[0] == 3, "a byte less must fail"
    assert peaks["fused"] <= peaks["inplace"] <= peaks["eager"], peaks
    return True


def main():
    tool, schema = sys.argv[1], json.load(open(sys.argv[2]))
    checked = 0
    for path in sys.argv[3:]:
        try:
            checked += check(tool, schema, path)
        except AssertionError as error:
            sys.exit(f"{path}: {error}")
    print(checked, "models hold")


main()
