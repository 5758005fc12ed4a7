"""The growth that a report foretells, against reports of the model at these sizes.

Each model is text with {b}, {s} and what follows from them. What is said of twice and
three times a size must be the peak of the model written at that size, to the byte;
the slopes and the size at which they change are those of neighbouring sizes.
"""

import re

import es_opt

STABLEHLO = """
func.func @attention(%x: tensor<{b}x{s}x8xf32> loc("x"), %w: tensor<8x24xf32> loc("params.w"),
                     %o: tensor<8x8xf32> loc("params.o"), %pos: tensor<64x8xf32> loc("params.pos")) -> tensor<{b}x{s1}x8xf32> {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.slice %pos [0:{s}, 0:8] : (tensor<64x8xf32>) -> tensor<{s}x8xf32>
  %pb = stablehlo.broadcast_in_dim %p, dims = [1, 2] : (tensor<{s}x8xf32>) -> tensor<{b}x{s}x8xf32>
  %xp = stablehlo.add %x, %pb : tensor<{b}x{s}x8xf32>
  %rows = stablehlo.reshape %xp : (tensor<{b}x{s}x8xf32>) -> tensor<{bs}x8xf32>
  %qkv = stablehlo.dot_general %rows, %w, contracting_dims = [1] x [0] : (tensor<{bs}x8xf32>, tensor<8x24xf32>) -> tensor<{bs}x24xf32>
  %heads = stablehlo.reshape %qkv : (tensor<{bs}x24xf32>) -> tensor<{b}x{s}x3x2x4xf32>
  %turned = stablehlo.transpose %heads, dims = [2, 0, 3, 1, 4] : (tensor<{b}x{s}x3x2x4xf32>) -> tensor<3x{b}x2x{s}x4xf32>
  %q0 = stablehlo.slice %turned [0:1, 0:{b}, 0:2, 0:{s}, 0:4] : (tensor<3x{b}x2x{s}x4xf32>) -> tensor<1x{b}x2x{s}x4xf32>
  %k0 = stablehlo.slice %turned [1:2, 0:{b}, 0:2, 0:{s}, 0:4] : (tensor<3x{b}x2x{s}x4xf32>) -> tensor<1x{b}x2x{s}x4xf32>
  %v0 = stablehlo.slice %turned [2:3, 0:{b}, 0:2, 0:{s}, 0:4] : (tensor<3x{b}x2x{s}x4xf32>) -> tensor<1x{b}x2x{s}x4xf32>
  %q = stablehlo.reshape %q0 : (tensor<1x{b}x2x{s}x4xf32>) -> tensor<{b}x2x{s}x4xf32>
  %k = stablehlo.reshape %k0 : (tensor<1x{b}x2x{s}x4xf32>) -> tensor<{b}x2x{s}x4xf32>
  %v = stablehlo.reshape %v0 : (tensor<1x{b}x2x{s}x4xf32>) -> tensor<{b}x2x{s}x4xf32>
  %scores = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<{b}x2x{s}x4xf32>, tensor<{b}x2x{s}x4xf32>) -> tensor<{b}x2x{s}x{s}xf32>
  %i = stablehlo.iota dim = 0 : tensor<{s}x{s}xf32>
  %ib = stablehlo.broadcast_in_dim %i, dims = [2, 3] : (tensor<{s}x{s}xf32>) -> tensor<{b}x2x{s}x{s}xf32>
  %biased = stablehlo.add %scores, %ib : tensor<{b}x2x{s}x{s}xf32>
  %e = stablehlo.exponential %biased : tensor<{b}x2x{s}x{s}xf32>
  %mixed = stablehlo.dot_general %e, %v, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<{b}x2x{s}x{s}xf32>, tensor<{b}x2x{s}x4xf32>) -> tensor<{b}x2x{s}x4xf32>
  %back = stablehlo.transpose %mixed, dims = [0, 2, 1, 3] : (tensor<{b}x2x{s}x4xf32>) -> tensor<{b}x{s}x2x4xf32>
  %joined = stablehlo.reshape %back : (tensor<{b}x{s}x2x4xf32>) -> tensor<{bs}x8xf32>
  %out = stablehlo.dot_general %joined, %o, contracting_dims = [1] x [0] : (tensor<{bs}x8xf32>, tensor<8x8xf32>) -> tensor<{bs}x8xf32>
  %y = stablehlo.reshape %out : (tensor<{bs}x8xf32>) -> tensor<{b}x{s}x8xf32>
  %next = stablehlo.slice %y [0:{b}, 1:{s}, 0:8] : (tensor<{b}x{s}x8xf32>) -> tensor<{b}x{s1}x8xf32>
  %r = stablehlo.tanh %next : tensor<{b}x{s1}x8xf32>
  return %r : tensor<{b}x{s1}x8xf32>
}}
"""

LINALG = """
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @attention(%x: tensor<{b}x{s}x8xf32> loc("x"), %w: tensor<8x8xf32> loc("params.w")) -> tensor<{bs}x8xf32> {{
  %zero = arith.constant 0.0 : f32
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<{b}x{s}x8xf32> into tensor<{bs}x8xf32>
  %e0 = tensor.empty() : tensor<{bs}x8xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<{bs}x8xf32>) -> tensor<{bs}x8xf32>
  %h = linalg.matmul ins(%rows, %w : tensor<{bs}x8xf32>, tensor<8x8xf32>) outs(%f0 : tensor<{bs}x8xf32>) -> tensor<{bs}x8xf32>
  %q = tensor.expand_shape %h [[0, 1], [2]] output_shape [{b}, {s}, 8] : tensor<{bs}x8xf32> into tensor<{b}x{s}x8xf32>
  %e1 = tensor.empty() : tensor<{b}x8x{s}xf32>
  %k = linalg.transpose ins(%q : tensor<{b}x{s}x8xf32>) outs(%e1 : tensor<{b}x8x{s}xf32>) permutation = [0, 2, 1]
  %e2 = tensor.empty() : tensor<{b}x{s}x{s}xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<{b}x{s}x{s}xf32>) -> tensor<{b}x{s}x{s}xf32>
  %scores = linalg.batch_matmul ins(%q, %k : tensor<{b}x{s}x8xf32>, tensor<{b}x8x{s}xf32>) outs(%f2 : tensor<{b}x{s}x{s}xf32>) -> tensor<{b}x{s}x{s}xf32>
  %p = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%scores : tensor<{b}x{s}x{s}xf32>) outs(%e2 : tensor<{b}x{s}x{s}xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  }} -> tensor<{b}x{s}x{s}xf32>
  %e3 = tensor.empty() : tensor<{b}x{s}x8xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<{b}x{s}x8xf32>) -> tensor<{b}x{s}x8xf32>
  %y = linalg.batch_matmul ins(%p, %q : tensor<{b}x{s}x{s}xf32>, tensor<{b}x{s}x8xf32>) outs(%f3 : tensor<{b}x{s}x8xf32>) -> tensor<{b}x{s}x8xf32>
  %r = tensor.collapse_shape %y [[0, 1], [2]] : tensor<{b}x{s}x8xf32> into tensor<{bs}x8xf32>
  return %r : tensor<{bs}x8xf32>
}}
"""

TOSA = """
func.func @attention(%x: tensor<{b}x{s}x8xf32> loc("x"), %w: tensor<1x8x8xf32> loc("params.w"),
                     %bias: tensor<1x1x8xf32> loc("params.bias")) -> tensor<{b}x{s}x8xf32> {{
  %z = "tosa.const"() {{values = dense<0.0> : tensor<1xf32>}} : () -> tensor<1xf32>
  %flat = tosa.const_shape {{values = dense<[1, {bs}, 8]> : tensor<3xindex>}} : () -> !tosa.shape<3>
  %full = tosa.const_shape {{values = dense<[{b}, {s}, 8]> : tensor<3xindex>}} : () -> !tosa.shape<3>
  %rows = tosa.reshape %x, %flat : (tensor<{b}x{s}x8xf32>, !tosa.shape<3>) -> tensor<1x{bs}x8xf32>
  %h = tosa.matmul %rows, %w, %z, %z : (tensor<1x{bs}x8xf32>, tensor<1x8x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x{bs}x8xf32>
  %hb = tosa.add %h, %bias : (tensor<1x{bs}x8xf32>, tensor<1x1x8xf32>) -> tensor<1x{bs}x8xf32>
  %q = tosa.reshape %hb, %full : (tensor<1x{bs}x8xf32>, !tosa.shape<3>) -> tensor<{b}x{s}x8xf32>
  %k = tosa.transpose %q {{perms = array<i32: 0, 2, 1>}} : (tensor<{b}x{s}x8xf32>) -> tensor<{b}x8x{s}xf32>
  %scores = tosa.matmul %q, %k, %z, %z : (tensor<{b}x{s}x8xf32>, tensor<{b}x8x{s}xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<{b}x{s}x{s}xf32>
  %e = tosa.exp %scores : (tensor<{b}x{s}x{s}xf32>) -> tensor<{b}x{s}x{s}xf32>
  %sum = tosa.reduce_sum %e {{axis = 2 : i32}} : (tensor<{b}x{s}x{s}xf32>) -> tensor<{b}x{s}x1xf32>
  %inv = tosa.reciprocal %sum : (tensor<{b}x{s}x1xf32>) -> tensor<{b}x{s}x1xf32>
  %shift = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
  %p = tosa.mul %e, %inv, %shift : (tensor<{b}x{s}x{s}xf32>, tensor<{b}x{s}x1xf32>, tensor<1xi8>) -> tensor<{b}x{s}x{s}xf32>
  %y = tosa.matmul %p, %q, %z, %z : (tensor<{b}x{s}x{s}xf32>, tensor<{b}x{s}x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<{b}x{s}x8xf32>
  return %y : tensor<{b}x{s}x8xf32>
}}
"""

# The batch and the length of a sequence are as long as the features are wide.
SQUARE = """
func.func @f(%x: tensor<{b}x{s}x8xf32> loc("x"), %w: tensor<8x8xf32> loc("params.w")) -> tensor<{b}x{s}x8xf32> {{
  %h = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<{b}x{s}x8xf32>, tensor<8x8xf32>) -> tensor<{b}x{s}x8xf32>
  %t = stablehlo.transpose %h, dims = [1, 0, 2] : (tensor<{b}x{s}x8xf32>) -> tensor<{s}x{b}x8xf32>
  %r = stablehlo.tanh %t : tensor<{s}x{b}x8xf32>
  %y = stablehlo.transpose %r, dims = [1, 0, 2] : (tensor<{s}x{b}x8xf32>) -> tensor<{b}x{s}x8xf32>
  return %y : tensor<{b}x{s}x8xf32>
}}
"""

UNITS = {"B": 1, "KiB": 1024, "MiB": 1024**2}


def report(template, b, s):
    text = template.format(b=b, s=s, bs=b * s, s1=s - 1)
    options = dict(graphs="backprop", loss="sum", optimizer="sgd")
    return es_opt.report(text, **options).function.graph("backprop")


def check(name, template, b, s):
    peak = lambda **size: report(template, **{"b": b, "s": s, **size}).peak_bytes
    lines = [n for n in report(template, b, s).notes if n.startswith("growth")]
    assert len(lines) == 2, (name, lines)
    assert lines[0].startswith(f"growth: batch, x.0 = {b}: "), lines[0]
    assert lines[1].startswith(f"growth: x.1 = {s}: "), lines[1]
    for line, key, size in ((lines[0], "b", b), (lines[1], "s", s)):
        said = dict(
            (int(at), int(bytes_))
            for bytes_, at in re.findall(r"(\d+) B \([^)]*\) at (\d+)", line)
        )
        assert sorted(said) == [2 * size, 3 * size], line
        for at, bytes_ in said.items():
            assert peak(**{key: at}) == bytes_, (name, key, at, bytes_)
        # Slopes are printed with one digit behind the point.
        slope = re.search(r"grows by ([\d.]+) (\w+) for", line)
        each = float(slope[1]) * UNITS[slope[2]]
        real = peak(**{key: size + 1}) - peak(**{key: size})
        assert abs(real - each) <= 0.05 * UNITS[slope[2]], (name, key, real, each)
        change = re.search(r"from (\d+) on by ([\d.]+) (\w+)", line)
        if change:
            at, unit = int(change[1]), UNITS[change[3]]
            after = peak(**{key: at + 2}) - peak(**{key: at + 1})
            before = peak(**{key: at - 1}) - peak(**{key: at - 2})
            assert after > before, (name, key, at, before, after)
        print(f"{name} {key}: {len(said)} sizes, slope {real}"
              + (f", change at {change[1]}" if change else ""))


def check_resized(name, template, b, s):
    """Other sizes of text that has one, by --shape, against the text of these sizes."""
    options = dict(loss="sum", optimizer="sgd")

    def peaks(b, s, **more):
        text = template.format(b=b, s=s, bs=b * s, s1=s - 1)
        graphs = es_opt.report(text, **options, **more).function.graphs
        return {graph.kind: (graph.peak_bytes, graph.arena_bytes) for graph in graphs}

    for other_b, other_s in ((1, s), (b + 3, s), (b, 2), (b, s + 5), (2 * b - 1, 3 * s - 1)):
        shape = [f"batch:{other_b}", f"x.1:{other_s}"]
        assert peaks(b, s, shape=shape) == peaks(other_b, other_s), (name, shape)
        print(f"{name} {shape} resized")


check("stablehlo", STABLEHLO, 2, 6)
check("stablehlo", STABLEHLO, 3, 12)
check("linalg", LINALG, 4, 6)
check("tosa", TOSA, 4, 6)
check("square", SQUARE, 8, 8)
for name, template in (("stablehlo", STABLEHLO), ("linalg", LINALG), ("tosa", TOSA)):
    check_resized(name, template, 4, 6)
