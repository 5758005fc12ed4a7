"""An update of every noise and storage, of full and low rank, with rules in turn."""

NOISES = ["normal16", "normal32", "rademacher", "int8", "uniform"]
FLOATS = ["f32", "f64", "bf16", "f16"]
ROUNDINGS = ["nearest", "stochastic"]
RULES = ["sgd", "momentum", "adam"]
FIXED = ["nearest", "stochastic", "threshold"]

count = 0


def emit(element, noise, rank, rule, stored, attributes):
    global count
    matrix = f"memref<30x50x{element}>"
    moment = f"memref<30x50x{'f64' if element == 'f64' else 'f32'}>"
    states = {"sgd": 0, "momentum": 1, "adam": 2}[rule]
    names = ["%m", "%v"][:states]
    arguments = "".join(f", {name}: {moment}" for name in names)
    text = f"states({', '.join(names)} : {', '.join([moment] * states)})" if states else ""
    step = "step(%t)" if rule == "adam" else ""
    print(f"""func.func @f{count}(%w: {matrix}{arguments}, %t: i64, %key: i64, %c: memref<8xf32>, %n: i64, %u: f64) {{
  es.update {rule} maximize {noise} key(%key) weights(%c, %n, %u : memref<8xf32>) {step}
      params(%w : {matrix}) as [#es.param<trainable "w"{stored}>] {text} {{rank = {rank}, {attributes}}}
  return
}}""")
    count += 1


for index, noise in enumerate(NOISES):
    for rank in (0, 2):
        for element in FLOATS:
            rounding = ROUNDINGS[count % 2] if element in ("bf16", "f16") else "nearest"
            emit(element, noise, rank, RULES[count % 3], "", f"rounding = #es.rounding<{rounding}>")
        fixed = FIXED[count % 3]
        scales = ", ".join(["0.5", "0.25"] * 25)
        stored = f", stored = !quant.uniform<i8:f32:1, {{{scales}}}>"
        emit("i8", noise, rank, "sgd", stored, f"fixed = #es.fixed<{fixed}>")
    if noise in ("int8", "rademacher"):
        emit("i32", noise, 0, "sgd", "", "order = #es.order<exact>, max_coefficient = 7")
