// RUN: es-opt --memory-report=json --memory-model=eager --entry=@views %s | FileCheck %s --check-prefix=VIEWS
// RUN: es-opt --memory-report=json --memory-model=eager --entry=@mutation %s | FileCheck %s --check-prefix=MUTATION
// RUN: es-opt --memory-report=json --memory-model=eager --entry=@workspace %s | FileCheck %s --check-prefix=WORKSPACE
// RUN: es-opt --memory-report=json --memory-model=eager --entry=@training %s | FileCheck %s --check-prefix=TRAINING
// RUN: es-opt --memory-report=json --memory-model=eager --entry=@numbers %s | FileCheck %s --check-prefix=NUMBERS
// RUN: es-opt --memory-report=json --memory-model=eager --entry=@composites %s | FileCheck %s --check-prefix=COMPOSITES
// RUN: es-opt --memory-report=json --memory-model=eager --entry=@conversion %s | FileCheck %s --check-prefix=CONVERSION
// RUN: es-opt --memory-report=json --memory-model=inplace --entry=@takeover %s | FileCheck %s --check-prefix=TAKEOVER
// RUN: es-opt --memory-report=json --memory-model=eager --entry=@takeover %s | FileCheck %s --check-prefix=EAGER
// RUN: es-opt --memory-report=json --memory-model=eager --entry=@unknown %s | FileCheck %s --check-prefix=UNKNOWN

// x 256, relu 256; its transposed halves, expanded, are views. A reshape whose
// strides force a copy says so: 128 more, 640.
// VIEWS: "peak_bytes": 640
// VIEWS: "exact": true
func.func @views(%x: tensor<8x8xf32>) -> tensor<32xf32> {
  %r = "torch.aten.relu"(%x) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = "torch.aten.t"(%r) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %s:2 = "torch.aten.split.Tensor"(%t) {split_size = 4, dim = 1} : (tensor<8x8xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
  %e = "torch.aten.expand"(%s#1) {size = [3, 8, 4]} : (tensor<8x4xf32>) -> tensor<3x8x4xf32>
  %h = "torch.aten.select.int"(%e) {dim = 0, index = 0} : (tensor<3x8x4xf32>) -> tensor<8x4xf32>
  %y = "torch.aten.reshape"(%h) {shape = [32], aliases = false} : (tensor<8x4xf32>) -> tensor<32xf32>
  return %y : tensor<32xf32>
}

// x 256 and the sigmoid 256, which add_ writes: 512. `__and__` is no mutation:
// two masks of 64 bytes and a third, while the sigmoid lives, 704.
// MUTATION: "peak_bytes": 704
func.func @mutation(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xi1>) {
  %s = "torch.aten.sigmoid"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %a = "torch.aten.add_.Tensor"(%s, %x) {alpha = 1} : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %m = "torch.aten.gt.Scalar"(%a) {other = 0.0} : (tensor<64xf32>) -> tensor<64xi1>
  %n = "torch.aten.lt.Scalar"(%a) {other = 9.0} : (tensor<64xf32>) -> tensor<64xi1>
  %o = "torch.aten.__and__.Tensor"(%m, %n) : (tensor<64xi1>, tensor<64xi1>) -> tensor<64xi1>
  return %a, %o : tensor<64xf32>, tensor<64xi1>
}

// x 2*4*8*4 = 256; layer norm's result 256, and 2 x 8 statistics of 4 bytes,
// 64, that die with it: 576. Pooling then takes 64 + 128 for positions: 704.
// WORKSPACE: "peak_bytes": 704
func.func @workspace(%x: tensor<2x4x8xf32>) -> tensor<2x2x4xf32> {
  %n = "torch.aten.layer_norm"(%x) {normalized_shape = [8]} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %p = "torch.aten.max_pool2d"(%n) {kernel_size = [2, 2]} : (tensor<2x4x8xf32>) -> tensor<2x2x4xf32>
  return %p : tensor<2x2x4xf32>
}

// x 256; `to` with another element type makes 128, with the same one nothing.
// CONVERSION: "peak_bytes": 384
func.func @conversion(%x: tensor<64xf32>) -> tensor<64xf16> {
  %a = "torch.aten.to.dtype"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = "torch.aten.to.dtype"(%a) : (tensor<64xf32>) -> tensor<64xf16>
  %c = "torch.aten.dropout"(%b) {p = 0.5, train = false} : (tensor<64xf16>) -> tensor<64xf16>
  return %c : tensor<64xf16>
}

// x 256, the product 256, and relu in place of it, 512; eagerly all three, 768.
// TAKEOVER: "peak_bytes": 512
// EAGER: "peak_bytes": 768
func.func @takeover(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = "torch.aten.mm"(%x, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %z = "torch.aten.relu"(%y) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %z : tensor<8x8xf32>
}

// x 64 * 4 = 256; the sum 256, and the number as a tensor of f64 and of f32: 12.
// A mean divides by a number as well: x, the sum, and 4 + 12.
// NUMBERS: "peak_bytes": 528
func.func @numbers(%x: tensor<64xf32>) -> tensor<f32> {
  %a = "torch.aten.add.Tensor"(%x) {other = 1} : (tensor<64xf32>) -> tensor<64xf32>
  %m = "torch.aten.mean"(%a) : (tensor<64xf32>) -> tensor<f32>
  return %m : tensor<f32>
}

// Arguments x 2*4*8*4 = 256 and labels 64; group norm's result 256 and, for 2
// samples of 2 groups, 2 * 4 statistics of 4 bytes, 608; then dropout, with its
// mask, 256 + 256 beside 256: 1088. The loss of its 8 x 8 view needs less.
// COMPOSITES: "peak_bytes": 1088
func.func @composites(%x: tensor<2x4x8xf32>, %y: tensor<8xi64>) -> tensor<f32> {
  %n = "torch.aten.group_norm"(%x) {num_groups = 2} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %d = "torch.aten.dropout"(%n) {p = 0.5, train = true} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %v = "torch.aten.view"(%d) {size = [8, 8]} : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  %l = "torch.aten.cross_entropy_loss"(%v, %y) : (tensor<8x8xf32>, tensor<8xi64>) -> tensor<f32>
  return %l : tensor<f32>
}

// x 2*4*8*4 = 256 and the result 256; 4 statistics for each of 4 channels, 64.
// TRAINING: "peak_bytes": 576
func.func @training(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %n = "torch.aten.batch_norm"(%x) {training = true} : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %n : tensor<2x4x8xf32>
}

// UNKNOWN: "exact": false
// UNKNOWN: 1 x 'torch.aten.no_such_op' treated conservatively
func.func @unknown(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = "torch.aten.no_such_op"(%x) : (tensor<64xf32>) -> tensor<64xf32>
  return %y : tensor<64xf32>
}
