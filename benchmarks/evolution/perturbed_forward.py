#!/usr/bin/env python3
"""What a member of an Evolution Strategies step costs beyond plain inference.

    perturbed_forward.py [--width 1024] [--batch 64] [--layers 3] [--members 16]

An MLP of square layers runs in es-run with a step for each way to perturb, and as
plain inference: the same step with one scalar trained, whose noise is one number. On
one thread, all in turn, the least processor time of a generation over several
rounds. A member's time is the difference between a large and a small population, over
the members between them: its forward pass and its share of the update.
"""

import argparse
import os
import re
import subprocess
import tempfile


def make_model(width, batch, layers):
    """The sum of the outputs, times a scalar."""
    x = f"tensor<{batch}x{width}xf32>"
    w = f"tensor<{width}x{width}xf32>"
    weights = ", ".join(
        f'%w{i}: {w} {{es.param = #es.param<trainable "w{i}">}}' for i in range(layers)
    )
    lines = [
        "#id = affine_map<(i, j) -> (i, j)>",
        "#none = affine_map<(i, j) -> ()>",
        f'func.func @mlp({weights}, %s: tensor<1xf32> {{es.param = #es.param<trainable "s">}}, %x: {x}) -> f32 {{',
        "  %zero = arith.constant 0.0 : f32",
        "  %c0 = arith.constant 0 : index",
    ]
    value = "%x"
    for i in range(layers):
        lines += [
            f"  %e{i} = tensor.empty() : {x}",
            f"  %f{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {x}) -> {x}",
            f"  %m{i} = linalg.matmul ins({value}, %w{i} : {x}, {w}) outs(%f{i} : {x}) -> {x}",
            f"  %r{i} = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ['parallel', 'parallel']}}".replace("'", '"'),
            f"      ins(%m{i} : {x}) outs(%e{i} : {x}) {{",
            "  ^bb0(%in: f32, %out: f32):",
            "    %a = arith.maximumf %in, %zero : f32",
            "    linalg.yield %a : f32",
            f"  }} -> {x}",
        ]
        value = f"%r{i}"
    lines += [
        "  %t0 = tensor.empty() : tensor<f32>",
        "  %t1 = linalg.fill ins(%zero : f32) outs(%t0 : tensor<f32>) -> tensor<f32>",
        '  %t = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]}',
        f"      ins({value} : {x}) outs(%t1 : tensor<f32>) {{",
        "  ^bb0(%in: f32, %acc: f32):",
        "    %a = arith.addf %in, %acc : f32",
        "    linalg.yield %a : f32",
        "  } -> tensor<f32>",
        "  %l = tensor.extract %t[] : tensor<f32>",
        "  %k = tensor.extract %s[%c0] : tensor<1xf32>",
        "  %p = arith.mulf %l, %k : f32",
        "  return %p : f32",
        "}",
        f"func.func @mlp.batch(%seed: i64, %step: i64) -> {x} {{",
        f"  %x = arith.constant dense<0.5> : {x}",
        f"  return %x : {x}",
        "}",
    ]
    return "\n".join(lines) + "\n"


def seconds(model, members, flags):
    """Of the last generation of two: the first warms caches."""
    command = ["es-run", model, f"--population={members}", "--generations=2"]
    output = subprocess.run(
        ["taskset", "-c", "0", *command, "--time", *flags],
        check=True, text=True, stdout=subprocess.PIPE,
    ).stdout
    return float(re.search(r"time: ([0-9.e+-]+) s", output)[1])


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("width", 1024), ("batch", 64), ("layers", 3), ("members", 16), ("rounds", 6)):
        parser.add_argument("--" + name, type=int, default=value)
    args = parser.parse_args()
    modes = {
        "plain inference": ["--freeze=w"],
        "low-rank, rank 1": ["--es-perturb=low-rank"],
        "low-rank, rank 4": ["--es-perturb=low-rank", "--es-rank=4"],
        "sunk": ["--es-perturb=sunk"],
    }
    least = {}
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "mlp.mlir")
        with open(model, "w") as file:
            file.write(make_model(args.width, args.batch, args.layers))
        for _ in range(args.rounds):
            for mode, flags in modes.items():
                for members in (2, 2 + args.members):
                    time = seconds(model, members, flags)
                    key = mode, members
                    least[key] = min(least.get(key, time), time)
    cost = {
        mode: (least[mode, 2 + args.members] - least[mode, 2]) / args.members
        for mode in modes
    }
    for mode, time in cost.items():
        print(f"{mode}: {time * 1e3:.2f} ms a member, {time / cost['plain inference']:.3f} of plain")


main()
