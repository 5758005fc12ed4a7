// A two-layer classifier as torch-mlir prints one (linalg on tensors), with the
// first layer frozen: what `es-annotate-params` would write is written by hand.
//
//   es-opt --memory-report mlp.mlir
//   es-opt --memory-report --memory-model=eager --timeline mlp.mlir
//   es-opt --memory-report=json --budget=4MiB mlp.mlir

#row = affine_map<(i, j) -> (i, j)>
#bias = affine_map<(i, j) -> (j)>

func.func @mlp(
    %w1: tensor<784x512xf32> {es.param = #es.param<frozen "fc1.weight">},
    %b1: tensor<512xf32> {es.param = #es.param<frozen "fc1.bias">},
    %w2: tensor<512x10xf32> {es.param = #es.param<trainable "fc2.weight">},
    %b2: tensor<10xf32> {es.param = #es.param<trainable "fc2.bias">},
    %image: tensor<64x784xf32>) -> tensor<64x10xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<64x512xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x512xf32>) -> tensor<64x512xf32>
  %h1 = linalg.matmul
      ins(%image, %w1 : tensor<64x784xf32>, tensor<784x512xf32>)
      outs(%i1 : tensor<64x512xf32>) -> tensor<64x512xf32>
  %a1 = linalg.generic {indexing_maps = [#row, #bias, #row],
                        iterator_types = ["parallel", "parallel"]}
      ins(%h1, %b1 : tensor<64x512xf32>, tensor<512xf32>)
      outs(%e1 : tensor<64x512xf32>) {
  ^bb0(%x: f32, %b: f32, %out: f32):
    %sum = arith.addf %x, %b : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<64x512xf32>
  %e2 = tensor.empty() : tensor<64x10xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x10xf32>) -> tensor<64x10xf32>
  %h2 = linalg.matmul
      ins(%a1, %w2 : tensor<64x512xf32>, tensor<512x10xf32>)
      outs(%i2 : tensor<64x10xf32>) -> tensor<64x10xf32>
  %logits = linalg.generic {indexing_maps = [#row, #bias, #row],
                            iterator_types = ["parallel", "parallel"]}
      ins(%h2, %b2 : tensor<64x10xf32>, tensor<10xf32>)
      outs(%e2 : tensor<64x10xf32>) {
  ^bb0(%x: f32, %b: f32, %out: f32):
    %sum = arith.addf %x, %b : f32
    linalg.yield %sum : f32
  } -> tensor<64x10xf32>
  return %logits : tensor<64x10xf32>
}
