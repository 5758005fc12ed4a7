"""Random programs, and a reference interpreter of the memory model.

    random_programs.py emit SEED COUNT      MLIR text, to stdout
    random_programs.py check SEED COUNT FILE.json
                                            compares a report of that module

The interpreter executes a program statement by statement on storages that it
adds and removes: loops run, every combination of branches is tried, and the most
bytes ever held is the peak. It shares no code with es-opt and works differently:
names that are live come from backward dataflow over sets, ownership from the
objects at hand.
"""

import itertools
import json
import random
import sys

# Types: a square matrix, its flat view, and a larger matrix.
BYTES = {"m": 64, "v": 64, "b": 256}
TEXT = {"m": "tensor<4x4xf32>", "v": "tensor<16xf32>", "b": "tensor<8x8xf32>"}
SIDE = {"m": 4, "b": 8}


class Op:
    """kind, results [(name, type)], operands [name], and what the kind needs."""

    def __init__(self, kind, results, operands, **more):
        self.kind, self.results, self.operands = kind, results, operands
        self.__dict__.update(more)


class Function:
    def __init__(self, name, args, donated, body, returned):
        self.name, self.args, self.donated = name, args, donated
        self.body, self.returned = body, returned


# ---------------------------------------------------------------- generation


class Generator:
    def __init__(self, rng):
        self.rng, self.counter, self.branches = rng, 0, 0

    def fresh(self):
        self.counter += 1
        return f"t{self.counter}"

    def pick(self, scope, type):
        # Recent values more often: chains make in-place writes likely.
        names = [n for n, t in scope if t == type]
        if not names:
            return None
        return names[-1] if self.rng.random() < 0.5 else self.rng.choice(names)

    def simple(self, scope):
        kind = self.rng.choice(["add", "add", "abs", "matmul", "insert", "view"])
        type = self.rng.choice(["m", "m", "v", "b"])
        a, b = self.pick(scope, type), self.pick(scope, type)
        if a is None:
            return None
        result = self.fresh()
        if kind == "add":
            return Op("add", [(result, type)], [a, b])
        if kind == "abs":
            return Op("abs", [(result, type)], [a])
        if kind == "insert":
            return Op("insert", [(result, type)], [a])
        if kind == "matmul" and type != "v":
            return Op("matmul", [(result, type)], [a, b])
        if kind == "view" and type != "b":
            return Op("view", [(result, "v" if type == "m" else "m")], [a])
        return Op("abs", [(result, type)], [a])

    def loop(self, scope, depth):
        inits = []
        for _ in range(self.rng.randint(1, 3)):
            type = self.rng.choice(["m", "v", "b"])
            init = self.pick(scope, type)
            if init:
                inits.append((init, type))
        if not inits:
            return None
        args = [(self.fresh(), t) for _, t in inits]
        body, inner = self.block(scope + args, depth + 1)
        yields = [self.pick(inner, t) for _, t in inits]
        results = [(self.fresh(), t) for _, t in inits]
        return Op("for", results, [n for n, _ in inits], args=args, body=body,
                  yields=yields, trips=self.rng.randint(1, 3))

    def branch(self, scope, depth):
        if self.branches == 3:
            return None
        self.branches += 1
        index = self.branches - 1
        types = [t for t in ["m", "v", "b"] if self.pick(scope, t) and self.rng.random() < 0.6]
        bodies, yields = [], []
        for _ in range(2):
            body, inner = self.block(scope, depth + 1)
            bodies.append(body)
            yields.append([self.pick(inner, t) for t in types])
        results = [(self.fresh(), t) for t in types]
        return Op("if", results, [], bodies=bodies, yields=yields, index=index)

    def block(self, scope, depth):
        scope, ops = list(scope), []
        for _ in range(self.rng.randint(1, 8 if depth == 0 else 3)):
            roll = self.rng.random()
            op = None
            if depth < 2 and roll < 0.15:
                op = self.loop(scope, depth)
            elif depth < 2 and roll < 0.3:
                op = self.branch(scope, depth)
            op = op or self.simple(scope)
            if op:
                ops.append(op)
                scope += op.results
        return ops, scope

    def function(self, index):
        args = [(f"a{i}", self.rng.choice(["m", "v", "b"])) for i in range(self.rng.randint(1, 3))]
        donated = {n for n, _ in args if self.rng.random() < 0.25}
        body, scope = self.block(args, 0)
        returned = [self.rng.choice(scope) for _ in range(self.rng.randint(1, 3))]
        return Function(f"f{index}", args, donated, body, returned)


def generate(seed, count):
    return [Generator(random.Random(f"{seed}-{i}")).function(i) for i in range(count)]


# ---------------------------------------------------------------------- text


def print_ops(ops, indent, types, out):
    pad = "  " * indent
    for op in ops:
        types.update(dict(op.results))
        names = ", ".join("%" + n for n, _ in op.results)
        if op.kind in ("add", "abs"):
            arith = "arith.addf" if op.kind == "add" else "math.absf"
            operands = ", ".join("%" + n for n in op.operands)
            out.append(f"{pad}{names} = {arith} {operands} : {TEXT[op.results[0][1]]}")
        elif op.kind == "matmul":
            t = TEXT[op.results[0][1]]
            a, b = op.operands
            zero = "%zero_" + op.results[0][1]
            out.append(f"{pad}{names} = linalg.matmul ins(%{a}, %{b} : {t}, {t}) outs({zero} : {t}) -> {t}")
        elif op.kind == "insert":
            t = op.results[0][1]
            at = "%one" if t == "v" else "%one, %one"
            out.append(f"{pad}{names} = tensor.insert %scalar into %{op.operands[0]}[{at}] : {TEXT[t]}")
        elif op.kind == "view":
            t = op.results[0][1]
            source = op.operands[0]
            if t == "v":
                out.append(f"{pad}{names} = tensor.collapse_shape %{source} [[0, 1]] : {TEXT['m']} into {TEXT['v']}")
            else:
                out.append(f"{pad}{names} = tensor.expand_shape %{source} [[0, 1]] output_shape [4, 4] : {TEXT['v']} into {TEXT['m']}")
        elif op.kind == "for":
            types.update(dict(op.args))
            args = ", ".join(f"%{a} = %{i}" for (a, _), i in zip(op.args, op.operands))
            result = ", ".join(TEXT[t] for _, t in op.results)
            out.append(f"{pad}{names} = scf.for %i_{op.results[0][0]} = %zero to %trips{op.trips} step %one iter_args({args}) -> ({result}) {{")
            print_ops(op.body, indent + 1, types, out)
            out.append(f"{pad}  scf.yield {', '.join('%' + y for y in op.yields)} : {result}")
            out.append(pad + "}")
        elif op.kind == "if":
            result = ", ".join(TEXT[t] for _, t in op.results)
            head = f"{names} = " if names else ""
            arrow = f" -> ({result})" if names else ""
            out.append(f"{pad}{head}scf.if %c{op.index}{arrow} {{")
            for number, (body, yields) in enumerate(zip(op.bodies, op.yields)):
                if number:
                    out.append(pad + "} else {")
                print_ops(body, indent + 1, types, out)
                if yields:
                    out.append(f"{pad}  scf.yield {', '.join('%' + y for y in yields)} : {result}")
            out.append(pad + "}")


def print_function(function, run):
    out = []
    args = [
        f"%{n}: {TEXT[t]}" + (" {bufferization.writable = true}" if n in function.donated else "")
        for n, t in function.args
    ]
    args += [f"%c{i}: i1 {{test.value = {(len(function.name) + i) % 2} : i1}}" for i in range(3)]
    args.append("%scalar: f32")
    results = ", ".join(TEXT[t] for _, t in function.returned)
    attributes = " attributes {test.run}" if run else ""
    out.append(f"func.func @{function.name}({', '.join(args)}) -> ({results}){attributes} {{")
    out.append("  %zero = arith.constant 0 : index")
    out.append("  %one = arith.constant 1 : index")
    for i in range(1, 4):
        out.append(f"  %trips{i} = arith.constant {i} : index")
    for t in "mb":
        out.append(f"  %zero_{t} = arith.constant dense<0.0> : {TEXT[t]}")
    print_ops(function.body, 1, dict(function.args), out)
    out.append(f"  return {', '.join('%' + n for n, _ in function.returned)} : {results}")
    out.append("}")
    return "\n".join(out)


# ---------------------------------------------------------------- liveness


def uses_in(ops):
    """Names read anywhere in a list of ops (definitions inside included)."""
    used = set()
    for op in ops:
        used |= set(op.operands)
        if op.kind == "for":
            used |= uses_in(op.body) | set(op.yields)
        if op.kind == "if":
            for body, yields in zip(op.bodies, op.yields):
                used |= uses_in(body) | set(yields)
    return used


def defined_in(ops):
    """Names defined anywhere in a list of ops."""
    names = set()
    for op in ops:
        names |= {n for n, _ in op.results}
        if op.kind == "for":
            names |= {n for n, _ in op.args} | defined_in(op.body)
        if op.kind == "if":
            names |= set().union(*map(defined_in, op.bodies))
    return names


def annotate(ops, live):
    """Gives every op `after`: the names that may be read once it is done."""
    for op in reversed(ops):
        op.after = frozenset(live)
        live = live - {n for n, _ in op.results}
        if op.kind == "for":
            # The next iteration reads what this one reads.
            own = defined_in(op.body) | {n for n, _ in op.args}
            again = (uses_in(op.body) | set(op.yields)) - own
            op.kept = frozenset(live | again)
            op.head = annotate(op.body, set(op.kept) | set(op.yields))
            live |= again | set(op.operands)
        elif op.kind == "if":
            op.heads = []
            for body, yields in zip(op.bodies, op.yields):
                op.heads.append(annotate(body, set(live) | set(yields)))
            for head in op.heads:
                live = live | head
        else:
            live = live | set(op.operands)
    return frozenset(live)


# ------------------------------------------------------------- interpretation


class Storage:
    def __init__(self, bytes, owned):
        self.bytes, self.owned = bytes, owned


class Machine:
    """Holds storages; env maps a name to the storages it may be."""

    def __init__(self, choices):
        self.choices, self.env, self.held, self.peak = choices, {}, [], 0
        self.types = {}

    def clone(self):
        other = Machine(self.choices)
        other.env = {n: list(s) for n, s in self.env.items()}
        other.held, other.types = list(self.held), self.types
        return other

    def add(self, bytes, owned=True):
        storage = Storage(bytes, owned)
        self.held.append(storage)
        self.peak = max(self.peak, sum(s.bytes for s in self.held))
        return storage

    def sweep(self, live):
        """Frees what no live name may be."""
        needed = {id(s) for n, ss in self.env.items() if n in live for s in ss}
        self.held = [s for s in self.held if not s.owned or id(s) in needed]
        self.env = {n: ss for n, ss in self.env.items() if n in live}

    def only(self, name):
        storages = self.env[name]
        return storages[0] if len(storages) == 1 else None

    def dies(self, storage, live):
        return not any(storage in ss for n, ss in self.env.items() if n in live)

    def may_take(self, name, live):
        storage = self.only(name)
        return storage if storage and storage.owned and self.dies(storage, live) else None

    def classify(self, names, live):
        """For each name handed on: the storage that moves, or why not."""
        moved, result = [], []
        for name in names:
            storage = self.may_take(name, live)
            if not storage:
                result.append("borrowed")
            elif storage in moved:
                result.append("again")
            else:
                moved.append(storage)
                result.append(storage)
        return result

    def run(self, ops):
        for op in ops:
            getattr(self, "run_" + op.kind)(op)
            self.sweep(op.after)

    def define(self, op, storages):
        for (name, _), storage in zip(op.results, storages):
            self.env[name] = storage if isinstance(storage, list) else [storage]

    def elementwise(self, op):
        bytes = BYTES[op.results[0][1]]
        for name in op.operands:
            storage = self.may_take(name, op.after)
            if storage and all(
                other == name or storage not in self.env[other] for other in op.operands
            ):
                return self.define(op, [storage])
        self.define(op, [self.add(bytes)])

    run_add = run_abs = elementwise

    def run_matmul(self, op):
        self.define(op, [self.add(BYTES[op.results[0][1]])])

    def run_insert(self, op):
        storage = self.may_take(op.operands[0], op.after)
        self.define(op, [storage or self.add(BYTES[op.results[0][1]])])

    def run_view(self, op):
        self.define(op, [list(self.env[op.operands[0]])])

    def hand_on(self, names, types, live):
        kinds = self.classify(names, live)
        return [
            k if isinstance(k, Storage) else self.add(BYTES[t]) for k, t in zip(kinds, types)
        ]

    def run_for(self, op):
        types = [t for _, t in op.results]
        # An init that the body reads as well does not die at the loop.
        carried = self.hand_on(op.operands, types, op.kept)
        for _ in range(op.trips):
            for (name, _), storage in zip(op.args, carried):
                self.env[name] = [storage]
            self.sweep(op.head)
            self.run(op.body)
            carried = self.hand_on(op.yields, types, op.kept)
            self.held = [s for s in self.held if not s.owned or s in carried
                         or any(s in ss for n, ss in self.env.items() if n in op.kept)]
        self.define(op, carried)

    def run_if(self, op):
        # What a branch hands on depends on the other one too: try both aside.
        kinds, aliases = [], []
        for head, body, yields in zip(op.heads, op.bodies, op.yields):
            trial = self.clone()
            trial.sweep(head)
            trial.run(body)
            kinds.append(trial.classify(yields, op.after))
            aliases.append([trial.env[y] for y in yields])
        chosen = self.choices[op.index]
        self.sweep(op.heads[chosen])
        self.run(op.bodies[chosen])
        mine = self.classify(op.yields[chosen], op.after)
        results = []
        for i, (name, type) in enumerate(op.results):
            if all(k[i] == "borrowed" for k in kinds):
                merged = []
                for a in [self.env[op.yields[chosen][i]]] + [b[i] for b in aliases]:
                    merged += [s for s in a if s not in merged and s in self.held]
                results.append(merged)
            elif isinstance(mine[i], Storage):
                results.append(mine[i])
            else:
                results.append(self.add(BYTES[type]))
        self.define(op, results)


def peak_of(function):
    annotate(function.body, {n for n, _ in function.returned})
    best = 0
    for choices in itertools.product([0, 1], repeat=3):
        machine = Machine(choices)
        for name, type in function.args:
            machine.env[name] = [machine.add(BYTES[type], name in function.donated)]
        first = annotate(function.body, {n for n, _ in function.returned})
        machine.sweep(first)
        machine.run(function.body)
        arguments = {id(s) for s in machine.held if not s.owned}
        moved = []
        for name, type in function.returned:
            storages = machine.env[name]
            single = storages[0] if len(storages) == 1 else None
            if single and not single.owned:
                continue  # an argument is returned as it is
            if single and single not in moved:
                moved.append(single)
                continue
            machine.add(BYTES[type])
        best = max(best, machine.peak)
    return best


# ----------------------------------------------------------------------- main


def main():
    command, seed, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    functions = generate(seed, count)
    if command == "emit":
        print("\n".join(print_function(f, run=True) for f in functions))
        return
    with open(sys.argv[4]) as file:
        report = json.load(file)
    found = {f["name"]: f["graphs"][0]["peak_bytes"] for f in report["functions"]}
    wrong = 0
    for function in functions:
        expected = peak_of(function)
        if found[function.name] != expected:
            wrong += 1
            if wrong <= 5:
                print(f"@{function.name}: reported {found[function.name]}, interpreted {expected}")
                print(print_function(function, run=False))
    print(f"{count - wrong} of {count} agree")
    sys.exit(wrong > 0)


main()
