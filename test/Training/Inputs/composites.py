"""Composites that are recognised in models, and what they save: TOOL MODEL..."""

import json
import subprocess
import sys

tool, models = sys.argv[1], sys.argv[2:]
fits = less = 0
for path in models:
    text = subprocess.run(
        [tool, "--memory-report=json", "--graphs=backprop", "--save-policy=attention-fused", path],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    graph = json.loads(text)["functions"][0]["graphs"][0]
    policies = graph["save_policies"]
    name = path.removesuffix(".mlir").split("__", 2)[-1].replace("exports__", "").replace("verified_mlir__", "")
    name = name.replace("sharktank_models__", "")
    print(f"{name}: " + ", ".join(f"{kind} {count}" for kind, count in sorted(policies["composites"].items())))
    assert policies["attentions_left"] == {}, policies
    fits += policies["attention_fused_bytes"] <= policies["all_bytes"]
    less += policies["attention_fused_bytes"] < policies["mincut_bytes"]
    assert graph["peak_bytes"] == min(policies[f"{key}_bytes"] for key in ("all", "mincut", "attention_fused"))
print(f"{fits} models need no more than with everything kept, {less} need less than with a minimum cut")
