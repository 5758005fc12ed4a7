"""Counts how often the layers of a uniform stack are evaluated again in an emitted step.

    evaluations.py es-opt MODEL LAYERS STATE_BYTES

With c states kept at a time the step needs c - 1 states more than with one, which is the
smallest peak that there is. So each such budget is met by the least number of repetitions
that there is for c states: t(1, c) = 0, t(l, 1) = l (l - 1) / 2,
t(l, c) = min over k of k + t(l - k, c - 1) + t(k, c); and a byte less by no fewer than
for c - 1 states.
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
}


@functools.cache
def least(steps, states):
    if steps == 1:
        return 0
    if states == 1:
        return steps * (steps - 1) // 2
    return min(k + least(steps - k, states - 1) + least(k, states) for k in range(1, steps))


def run(tool, model, budget):
    options = f"optimizer=sgd grad-lifetime=update checkpoint=budget={budget}"
    return subprocess.run([tool, f"--pass-pipeline=builtin.module(es-build-training-graph{{{options}}})", model],
                          capture_output=True, text=True)  # fmt: skip


def count_repetitions(tool, model, layers, budget):
    done = run(tool, model, budget)
    if done.returncode:
        sys.exit(done.stderr[:2000])
    step = done.stdout[done.stdout.index(".training_step") :]
    # One in each layer; gradients name the op in quotes.
    return len(re.findall(r"= math\.tanh ", step)) - layers


def main():
    tool, model, layers, state = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    smallest = int(re.search(r"the smallest peak with recomputation is (\d+) bytes", run(tool, model, 1).stderr)[1])
    assert count_repetitions(tool, model, layers, 1 << 40) == 0, "with enough memory nothing is evaluated again"
    counted = {}
    for states, published in PUBLISHED[layers].items():
        assert least(layers, states) == published
        budget = smallest + (states - 1) * state
        counted[states] = count_repetitions(tool, model, layers, budget)
        if states > 1:
            below = count_repetitions(tool, model, layers, budget - 1)
            assert below >= least(layers, states - 1), f"{below} repetitions for less than {states} states"
        # Where keeping the state in front of each layer does not meet the budget.
        if published >= layers - 1:
            assert counted[states] == published, f"{counted[states]} repetitions for {states} states, not {published}"
    print(f"{layers} layers: " + ", ".join(f"{n} repetitions with {c}" for c, n in counted.items()) + " states")


if __name__ == "__main__":
    main()
