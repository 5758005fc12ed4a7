func.func private @f(tensor<4x!quant.uniform<i8:f32, 2.0:1>>)
