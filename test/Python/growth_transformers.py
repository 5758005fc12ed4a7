"""What is foretold of twice a batch or a sequence, against exports at that size.

The models are those of Hugging Face Transformers that are peers in
benchmarks/peers/transformers_peers.py.
"""

import re
import sys
import warnings

import es_opt
import torch
import transformers_peers as peers

warnings.filterwarnings("ignore")

#: Dimensions of inputs by model: the batch of all but one, the sequences of those
#: whose positions are no table of just that length, images of no fixed size. Mamba
#: is exported with a loop over the sequence unrolled, and Mixtral with an operator of
#: its own: that is said.
EXPECTED = {
    "gpt2": {0, 1},
    "llama": {0, 1},
    "bert": {0, 1},
    "t5": {0, 1},
    "vit": {0},
    "resnet": {0, 2, 3},
    "mamba": {0},
    "mixtral": set(),
    "whisper": {0, 1},
    "clip": {0},
}
SAID = {
    "mamba": "is one of many that take it apart",
    "mixtral": "is not described",
}


def report(model, args):
    text = es_opt.from_torch(model, args)
    return es_opt.report(text, graphs="backprop", loss="sum").function.graph("backprop")


def twice(args, names, size):
    """The arguments `args_I.D` of `names`, twice as long."""
    longer = list(args)
    for index, dim in names:
        assert longer[index].shape[dim] == size
        longer[index] = torch.cat([longer[index]] * 2, dim)
    return tuple(longer)


def check(name):
    model, args = peers.MODELS[name]()
    model = model.eval()
    found = set()
    lines = [n for n in report(model, args).notes if n.startswith("growth")]
    for line in lines:
        match = re.match(r"growth: (?:batch, )?((?:args_[\d.]+(?:, )?)+) = (\d+): ", line)
        foretold = re.search(r"(\d+) B \([^)]*\) at (\d+)", line)
        if not match or not foretold:
            continue
        names = [tuple(map(int, n)) for n in re.findall(r"args_(\d+)\.(\d+)", match[1])]
        # Mel features have a fixed length.
        if name == "whisper" and names[0] == (0, 2):
            continue
        size = int(match[2])
        assert int(foretold[2]) == 2 * size, line
        peak = report(model, twice(args, names, size)).peak_bytes
        assert peak == int(foretold[1]), (name, line, peak)
        found.add(names[0][1])
        print(f"{name}: {match[1]} = {2 * size} takes {peak}, as foretold")
    assert found == EXPECTED[name], (name, found, lines)
    if name in SAID:
        assert any("not known" in n and SAID[name] in n for n in lines), lines


for name in sys.argv[1:] or EXPECTED:
    check(name)
