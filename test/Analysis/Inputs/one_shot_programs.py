"""Programs whose in-place decisions are compared with One-Shot analysis.

    one_shot_programs.py SEED COUNT OPS     MLIR text, to stdout

COUNT functions of about OPS ops each: linalg in all its forms of destination,
inserts into and slices of tensors, views, constants, elementwise arith, loops and
branches. Values are picked with a preference for recent ones, so that chains of
writes in place are as common as reads that forbid them.
"""

import random
import sys

TEXT = {"m": "tensor<8x8xf32>", "v": "tensor<64xf32>", "s": "tensor<4x8xf32>"}
RANK = {"m": 2, "v": 1, "s": 2}


class Generator:
    def __init__(self, rng, limit):
        self.rng, self.limit, self.count, self.out = rng, limit, 0, []

    def fresh(self):
        self.count += 1
        return f"%t{self.count}"

    def emit(self, depth, text):
        self.out.append("  " * (depth + 1) + text)

    def pick(self, scope, type):
        names = [n for n, t in scope if t == type]
        roll = self.rng.random()
        if roll < 0.6:
            return names[-1]
        return self.rng.choice(names[-6:] if roll < 0.9 else names)

    # ------------------------------------------------------------ single ops

    def destination(self, scope, type, depth):
        """What a structured op writes over: any tensor, an empty one, a fill."""
        roll = self.rng.random()
        t = TEXT[type]
        if roll < 0.45:
            return self.pick(scope, type)
        name = self.fresh()
        self.emit(depth, f"{name} = tensor.empty() : {t}")
        if roll < 0.75:
            return name
        filled = self.fresh()
        self.emit(depth, f"{filled} = linalg.fill ins(%scalar : f32) outs({name} : {t}) -> {t}")
        return filled

    def simple(self, scope, depth):
        kind = self.rng.choice(
            ["arith", "arith", "map", "accumulate", "matmul", "fill", "insert",
             "insert", "extract", "slice", "paste", "view", "constant", "empty", "copy"])
        type = self.rng.choice("mmmvs")
        t, result = TEXT[type], self.fresh()
        a, b = self.pick(scope, type), self.pick(scope, type)
        ids = ", ".join("ij"[: RANK[type]])
        identity = f"affine_map<({ids}) -> ({ids})>"
        loops = ", ".join(['"parallel"'] * RANK[type])
        at = ", ".join(["%at"] * RANK[type])
        if kind == "arith":
            op = self.rng.choice(["addf", "mulf", "subf"])
            self.emit(depth, f"{result} = arith.{op} {a}, {b} : {t}")
        elif kind in ("map", "accumulate"):
            d = self.destination(scope, type, depth)
            old = "%out" if kind == "accumulate" else "%in"
            self.emit(depth, f"{result} = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = [{loops}]}} ins({a} : {t}) outs({d} : {t}) {{")
            self.emit(depth, "^bb0(%in: f32, %out: f32):")
            self.emit(depth + 1, f"%sum = arith.addf %in, {old} : f32")
            self.emit(depth + 1, "linalg.yield %sum : f32")
            self.emit(depth, f"}} -> {t}")
        elif kind == "matmul" and type == "m":
            d = self.destination(scope, type, depth)
            self.emit(depth, f"{result} = linalg.matmul ins({a}, {b} : {t}, {t}) outs({d} : {t}) -> {t}")
        elif kind == "fill":
            d = self.destination(scope, type, depth)
            self.emit(depth, f"{result} = linalg.fill ins(%scalar : f32) outs({d} : {t}) -> {t}")
        elif kind == "copy":
            d = self.destination(scope, type, depth)
            self.emit(depth, f"{result} = linalg.copy ins({a} : {t}) outs({d} : {t}) -> {t}")
        elif kind == "extract":
            self.emit(depth, f"{result} = tensor.extract {a}[{at}] : {t}")
            return
        elif kind == "slice":
            row = self.rng.choice([0, 4])
            self.emit(depth, f"{result} = tensor.extract_slice {self.pick(scope, 'm')}[{row}, 0] [4, 8] [1, 1] : {TEXT['m']} to {TEXT['s']}")
            type = "s"
        elif kind == "paste":
            row = self.rng.choice([0, 4])
            self.emit(depth, f"{result} = tensor.insert_slice {self.pick(scope, 's')} into {self.pick(scope, 'm')}[{row}, 0] [4, 8] [1, 1] : {TEXT['s']} into {TEXT['m']}")
            type = "m"
        elif kind == "view" and type == "m":
            self.emit(depth, f"{result} = tensor.collapse_shape {a} [[0, 1]] : {t} into {TEXT['v']}")
            type = "v"
        elif kind == "view" and type == "v":
            self.emit(depth, f"{result} = tensor.expand_shape {a} [[0, 1]] output_shape [8, 8] : {t} into {TEXT['m']}")
            type = "m"
        elif kind == "constant":
            value = self.rng.choice(["0.0", "splat", "data"])
            if value == "data":
                size = 64 if type == "m" else 32 if type == "s" else 64
                value = '"0x' + "0000803F" * (size - 1) + '00000040"'
            self.emit(depth, f"{result} = arith.constant dense<{'1.0' if value == 'splat' else value}> : {t}")
        elif kind == "empty":
            self.emit(depth, f"{result} = tensor.empty() : {t}")
        else:
            self.emit(depth, f"{result} = tensor.insert %scalar into {a}[{at}] : {t}")
        scope.append((result, type))

    # ---------------------------------------------------------- control flow

    def loop(self, scope, depth):
        types = [self.rng.choice("mmvs") for _ in range(self.rng.randint(1, 2))]
        inits = [self.pick(scope, t) for t in types]
        args = [self.fresh() for _ in types]
        results = self.fresh()
        text = ", ".join(TEXT[t] for t in types)
        carried = ", ".join(f"{a} = {i}" for a, i in zip(args, inits))
        self.emit(depth, f"{results}:{len(types)} = scf.for %i{results[2:]} = %zero to %trips step %one iter_args({carried}) -> ({text}) {{")
        inner = scope + list(zip(args, types))
        self.block(inner, depth + 1, self.rng.randint(1, 6))
        yields = ", ".join(self.pick(inner, t) for t in types)
        self.emit(depth + 1, f"scf.yield {yields} : {text}")
        self.emit(depth, "}")
        scope += [(f"{results}#{i}", t) for i, t in enumerate(types)]

    def branch(self, scope, depth):
        types = [self.rng.choice("mmvs") for _ in range(self.rng.randint(1, 2))]
        results = self.fresh()
        text = ", ".join(TEXT[t] for t in types)
        self.emit(depth, f"{results}:{len(types)} = scf.if %flag -> ({text}) {{")
        for side in range(2):
            if side:
                self.emit(depth, "} else {")
            inner = list(scope)
            self.block(inner, depth + 1, self.rng.randint(0, 5))
            yields = ", ".join(self.pick(inner, t) for t in types)
            self.emit(depth + 1, f"scf.yield {yields} : {text}")
        self.emit(depth, "}")
        scope += [(f"{results}#{i}", t) for i, t in enumerate(types)]

    def block(self, scope, depth, size):
        target = self.count + size
        while self.count < target:
            roll = self.rng.random()
            if depth < 2 and roll < 0.06:
                self.loop(scope, depth)
            elif depth < 2 and roll < 0.12:
                self.branch(scope, depth)
            else:
                self.simple(scope, depth)

    def function(self, index):
        args = [(f"%a{i}", t) for i, t in enumerate("mmvs")]
        scope = list(args)
        self.block(scope, 0, self.limit)
        returned = [self.rng.choice(scope) for _ in range(self.rng.randint(1, 3))]
        heads = [
            f"{n}: {TEXT[t]}" + (" {bufferization.writable = true}" if self.rng.random() < 0.4 else "")
            for n, t in args
        ] + ["%scalar: f32", "%flag: i1", "%at: index"]
        types = ", ".join(TEXT[t] for _, t in returned)
        print(f"func.func @f{index}({', '.join(heads)}) -> ({types}) {{")
        for name, value in (("zero", 0), ("one", 1), ("trips", 3)):
            print(f"  %{name} = arith.constant {value} : index")
        print("\n".join(self.out))
        print(f"  return {', '.join(n for n, _ in returned)} : {types}")
        print("}")


def main():
    seed, count, ops = map(int, sys.argv[1:])
    for index in range(count):
        rng = random.Random(f"{seed}-{index}")
        Generator(rng, rng.randint(ops // 2, ops)).function(index)


if __name__ == "__main__":
    main()
