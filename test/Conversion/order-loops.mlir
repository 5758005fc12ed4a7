// RUN: es-opt --es-order-loops --split-input-file %s | FileCheck %s

// i, j, k becomes i, k, j: both j-indexed operands are read along their rows.
// CHECK: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: @product
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "reduction", "parallel"]}
func.func @product(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
  return
}

// -----

// Rows of the right factor: its columns would be read along n. Left as it is.
// CHECK-LABEL: @rows
// CHECK: linalg.matmul
func.func @rows(%a: memref<4x8xf32>, %b: memref<16x8xf32>, %c: memref<4x16xf32>) {
  linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : memref<4x8xf32>, memref<16x8xf32>) outs(%c : memref<4x16xf32>)
  return
}

// -----

// A scalar has no neighbours, an elementwise op no sum.
// CHECK-LABEL: @others
// CHECK: linalg.dot
// CHECK: linalg.add
func.func @others(%a: memref<8xf32>, %b: memref<8xf32>, %s: memref<f32>) {
  linalg.dot ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%s : memref<f32>)
  linalg.add ins(%a, %b : memref<8xf32>, memref<8xf32>) outs(%a : memref<8xf32>)
  return
}

// -----

// Channels last: the filters f of n, h, w, f, kh, kw, c go inside.
// CHECK-LABEL: @convolution
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "parallel"]
func.func @convolution(%x: memref<1x8x8x3xf32>, %k: memref<3x3x3x16xf32>, %y: memref<1x6x6x16xf32>) {
  linalg.conv_2d_nhwc_hwcf ins(%x, %k : memref<1x8x8x3xf32>, memref<3x3x3x16xf32>) outs(%y : memref<1x6x6x16xf32>)
  return
}
