"""Counts how often the layers of a uniform stack are evaluated again in an emitted step.

    evaluations.py es-opt MODEL LAYERS [STATE_BYTES]

With c states kept at a time that is the least number of repetitions that there is:
t(1, c) = 0, t(l, 1) = l (l - 1) / 2, t(l, c) = min over k of k + t(l - k, c - 1) + t(k, c).

Without STATE_BYTES c is given (checkpoint=states=c, to the pass es-checkpoint on the text
of a step). With it a budget is: c states need c - 1 more than one, which is the smallest
peak that there is, so that each such budget is met by the repetitions for c states, and a
byte less by no fewer than for c - 1.
"""

import functools
import re
import subprocess
import sys

# Griewank and Walther's counts for l steps and c states.
PUBLISHED = {
    10: {1: 45, 2: 20, 3: 15, 5: 13, 8: 10},
    20: {1: 190, 2: 65, 3: 45, 5: 33, 8: 30},
    56: {1: 1540, 2: 340, 3: 210, 5: 140, 8: 113},
    100: {1: 4950, 2: 845, 3: 490, 5: 316, 8: 245},
}


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


def count_layers(done, layers):
    if done.returncode:
        sys.exit(done.stderr[:2000])
    step = done.stdout[done.stdout.index(".training_step") :]
    # One in each layer; gradients name the op in quotes.
    return len(re.findall(r"= math\.tanh ", step)) - layers


def count_with_states(tool, model, layers):
    counted = {}
    step = run(tool, "es-build-training-graph{optimizer=sgd save-policy=all}", model)
    assert count_layers(step, layers) == 0
    for states, published in PUBLISHED[layers].items():
        found = count_layers(run(tool, f"es-checkpoint{{checkpoint=states={states}}}", step.stdout), layers)
        assert found == published, f"{found} repetitions for {states} states, not {published}"
        counted[states] = found
    return counted


def count_with_budgets(tool, model, layers, state):
    def build(budget):
        options = f"optimizer=sgd grad-lifetime=update checkpoint=budget={budget}"
        return run(tool, f"es-build-training-graph{{{options}}}", model)

    smallest = int(re.search(r"the smallest peak with recomputation is (\d+) bytes", build(1).stderr)[1])
    assert count_layers(build(1 << 40), layers) == 0, "with enough memory nothing is evaluated again"
    counted = {}
    for states, published in PUBLISHED[layers].items():
        budget = smallest + (states - 1) * state
        counted[states] = count_layers(build(budget), layers)
        if states > 1:
            below = count_layers(build(budget - 1), layers)
            assert below >= least(layers, states - 1), f"{below} repetitions for less than {states} states"
        # Where keeping the state in front of each layer does not meet the budget.
        if published >= layers - 1:
            assert counted[states] == published, f"{counted[states]} repetitions for {states} states, not {published}"
    return counted


def main():
    tool, path, layers = sys.argv[1], sys.argv[2], int(sys.argv[3])
    for states, published in PUBLISHED[layers].items():
        assert least(layers, states) == published
    with open(path) as file:
        model = file.read()
    if len(sys.argv) > 4:
        counted = count_with_budgets(tool, model, layers, int(sys.argv[4]))
    else:
        counted = count_with_states(tool, model, layers)
    print(f"{layers} layers: " + ", ".join(f"{n} repetitions with {c}" for c, n in counted.items()) + " states")


if __name__ == "__main__":
    main()
