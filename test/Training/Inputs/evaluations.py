"""Counts how often the layers of a uniform stack are evaluated again in an emitted step.

    evaluations.py es-opt MODEL LAYERS [--budgets]

With so many states kept (checkpoint=states=c, as a pass on the text of a step), or for all
budgets between those of keeping everything and of the smallest peak there is. A budget that
keeping the state in front of each layer does not meet (LAYERS - 1 repetitions) is met with c
states kept at a time, and then with the least number of repetitions that there is for c:
t(1, c) = 0, t(l, 1) = l (l - 1) / 2, t(l, c) = min over k of k + t(l - k, c - 1) + t(k, c).
"""

import functools
import re
import subprocess
import sys

# Griewank and Walther's counts for l steps and c states.
PUBLISHED = {
    (10, 1): 45, (10, 2): 20, (10, 3): 15, (10, 5): 13, (10, 8): 10,
    (20, 1): 190, (20, 2): 65, (20, 3): 45, (20, 5): 33, (20, 8): 30,
}  # fmt: skip


@functools.cache
def least(steps, states):
    if steps == 1:
        return 0
    if states == 1:
        return steps * (steps - 1) // 2
    return min(k + least(steps - k, states - 1) + least(k, states) for k in range(1, steps))


def run(tool, passes, model):
    return subprocess.run([tool, f"--pass-pipeline=builtin.module({passes})", "-"], input=model,
                          capture_output=True, text=True)  # fmt: skip


def count_layers(text, layers):
    step = text[text.index(".training_step") :]
    # One in each layer; gradients name the op in quotes.
    return len(re.findall(r"= math\.tanh ", step)) - layers


def count_with_states(tool, model, layers, states):
    step = run(tool, "es-build-training-graph{optimizer=sgd save-policy=all}", model)
    assert count_layers(step.stdout, layers) == 0
    return count_layers(run(tool, f"es-checkpoint{{checkpoint=states={states}}}", step.stdout).stdout, layers)


def count_with_budget(tool, model, layers, budget):
    """None if no plan meets the budget."""
    done = run(tool, f"es-build-training-graph{{optimizer=sgd grad-lifetime=update checkpoint=budget={budget}}}", model)
    if done.returncode:
        assert "cannot be met" in done.stderr, done.stderr[:2000]
        return None
    return count_layers(done.stdout, layers)


def sweep_budgets(tool, model, layers):
    """The numbers of repetitions that any budget leads to."""
    counts = {}

    def count(budget):
        if budget not in counts:
            counts[budget] = count_with_budget(tool, model, layers, budget)
        return counts[budget]

    # Counts only grow as the budget shrinks: where they differ between two
    # budgets, look between them.
    worklist = [(0, 1 << 22)]
    while worklist:
        low, high = worklist.pop()
        if count(low) == count(high) or high - low <= 64:
            continue
        middle = (low + high) // 2
        worklist += [(low, middle), (middle, high)]
    seen = sorted({n for n in counts.values() if n is not None})
    assert seen[0] == 0, "with enough memory nothing is evaluated again"
    assert layers - 1 in seen, "each layer but the last once"
    revolve = {least(layers, c) for c in range(1, layers)}
    for n in seen:
        assert n < layers or n in revolve, f"{n} repetitions is the minimum for no number of states"
    return seen


def main():
    tool, path, layers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    model = open(path).read()
    published = {c: n for (l, c), n in PUBLISHED.items() if l == layers}
    seen = sweep_budgets(tool, model, layers) if "--budgets" in sys.argv else None
    for c, n in published.items():
        assert least(layers, c) == n
        if seen is None:
            found = count_with_states(tool, model, layers, c)
            assert found == n, f"{found} repetitions with {c} states"
        else:
            assert n in seen, f"{n} repetitions for {c} states not seen: {seen}"
    print(f"{layers} layers: " + ", ".join(f"{n} repetitions with {c}" for c, n in published.items()) + " states")


main()
