// RUN: es-opt --memory-report=json --graphs=inference --memory-model=eager --entry=@torch --shape=x:4x8 %s | FileCheck %s --check-prefix=TORCH
// RUN: es-opt --memory-report=json --graphs=inference --memory-model=eager --entry=@heads --shape=q:2x3x4,k:2x5x4 %s | FileCheck %s --check-prefix=HEADS
// RUN: es-opt --memory-report=json --graphs=inference --memory-model=eager --entry=@pixels --shape=x:2x1x4x4 %s | FileCheck %s --check-prefix=PIXELS
// RUN: es-opt --memory-report=json --graphs=inference --memory-model=eager --entry=@onnx --shape=x:4x8 %s | FileCheck %s --check-prefix=ONNX

// Sizes that are bound follow through products, softmax and reshapes of ATen.
// x 4*8*4 = 128, w 8*16*4 = 512, b 64; the product and the sum 256 each, 1216;
// then softmax beside the sum is no more, and its reshape is a view.
// TORCH: "peak_bytes": 1216
func.func @torch(%x: !torch.vtensor<[?,8],f32>, %w: !torch.vtensor<[8,16],f32>, %b: !torch.vtensor<[16],f32>) -> !torch.vtensor<[?],f32> {
  %one = torch.constant.int 1
  %m = torch.aten.mm %x, %w : !torch.vtensor<[?,8],f32>, !torch.vtensor<[8,16],f32> -> !torch.vtensor<[?,16],f32>
  %a = torch.aten.add.Tensor %m, %b, %one : !torch.vtensor<[?,16],f32>, !torch.vtensor<[16],f32>, !torch.int -> !torch.vtensor<[?,16],f32>
  %s = "torch.aten.softmax.int"(%a) {dim = 1} : (!torch.vtensor<[?,16],f32>) -> !torch.vtensor<[?,16],f32>
  %v = "torch.aten.reshape"(%s) {shape = [-1], aliases = true} : (!torch.vtensor<[?,16],f32>) -> !torch.vtensor<[?],f32>
  return %v : !torch.vtensor<[?],f32>
}

// q 2*3*4*4 = 96, k 160, k transposed a view, and scores 2*3*5*4 = 120: 376.
// HEADS: "peak_bytes": 376
func.func @heads(%q: tensor<?x?x4xf32>, %k: tensor<?x?x4xf32>) -> tensor<?x?x?xf32> {
  %t = "torch.aten.permute"(%k) {dims = [0, -1, 1]} : (tensor<?x?x4xf32>) -> tensor<?x4x?xf32>
  %s = "torch.aten.bmm"(%q, %t) : (tensor<?x?x4xf32>, tensor<?x4x?xf32>) -> tensor<?x?x?xf32>
  return %s : tensor<?x?x?xf32>
}

// x 2*16*4 = 128, the filter 4*9*4 = 144, its result 2*4*16*4 = 512, and that of
// pooling 128: 912.
// PIXELS: "peak_bytes": 912
func.func @pixels(%x: tensor<?x1x4x4xf32>, %w: tensor<4x1x3x3xf32>) -> tensor<?x4x2x2xf32> {
  %c = "onnx.Conv"(%x, %w) {pads = [1, 1, 1, 1]} : (tensor<?x1x4x4xf32>, tensor<4x1x3x3xf32>) -> tensor<?x4x4x4xf32>
  %p = "onnx.MaxPool"(%c) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<?x4x4x4xf32>) -> tensor<?x4x2x2xf32>
  return %p : tensor<?x4x2x2xf32>
}

// x 128, w 16*8*4 = 512 transposed, their product 256 and its transpose 256: 1152.
// ONNX: "peak_bytes": 1152
func.func @onnx(%x: tensor<?x8xf32>, %w: tensor<16x8xf32>) -> tensor<16x?xf32> {
  %g = "onnx.Gemm"(%x, %w) {transB = 1 : si64} : (tensor<?x8xf32>, tensor<16x8xf32>) -> tensor<?x16xf32>
  %t = "onnx.Transpose"(%g) {perm = [1, 0]} : (tensor<?x16xf32>) -> tensor<16x?xf32>
  return %t : tensor<16x?xf32>
}
