// RUN: es-opt --memory-report=json %s --entry=@torch | FileCheck %s --check-prefix=TORCH
// RUN: es-opt --memory-report=json %s --entry=@vhlo | FileCheck %s --check-prefix=VHLO
// RUN: es-opt --memory-report=json %s --entry=@mpmd | FileCheck %s --check-prefix=MPMD
// RUN: not es-opt --memory-report %s --entry=@dynamic 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not es-opt --memory-report %s --entry=@unknown 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Types with a syntax of their own are sized from their text. Each function
// returns its first argument, so that all there is are the arguments.

// [2,3] x si64 = 48; [4] x bf16 = 8; [] x i1 = 1; [5] x !torch.qint8 = 5;
// [3] x complex<f32> = 24; [8] x f8E4M3FN = 8; the list, the int and the none
// are no memory. 48 + 8 + 1 + 5 + 24 + 8 = 94.
// TORCH: "peak_bytes": 94,
func.func @torch(%a: !torch.vtensor<[2,3],si64>, %b: !torch.tensor<[4],bf16>, %c: !torch.vtensor<[],i1>, %d: !torch.vtensor<[5],!torch.qint8>, %e: !torch.vtensor<[3],complex<f32>>, %f: !torch.vtensor<[8],f8E4M3FN>, %g: !torch.list<int>, %h: !torch.int, %i: !torch.none) -> !torch.vtensor<[2,3],si64> {
  return %a : !torch.vtensor<[2,3],si64>
}

// 2x3 x f32 = 24; i64 = 8; 5 x ui8 = 5; 4 x bool = 4; 2 x complex<f64> = 32; the
// token is no memory. 24 + 8 + 5 + 4 + 32 = 73.
// VHLO: "peak_bytes": 73,
func.func @vhlo(%a: !vhlo.tensor_v1<2x3x!vhlo.f32_v1>, %b: !vhlo.tensor_v1<!vhlo.i64_v1>, %c: !vhlo.tensor_v1<5x!vhlo.ui8_v1>, %d: !vhlo.tensor_v1<4x!vhlo.bool_v1>, %e: !vhlo.tensor_v1<2x!vhlo.complex_v1<!vhlo.f64_v1>>, %f: !vhlo.token_v1) -> !vhlo.tensor_v1<2x3x!vhlo.f32_v1> {
  return %a : !vhlo.tensor_v1<2x3x!vhlo.f32_v1>
}

// The tensor inside: 4x8 x f32 = 128; 16 x i16 = 32. 128 + 32 = 160.
// MPMD: "peak_bytes": 160,
func.func @mpmd(%a: !mpmd.mesh_tensor<"m", tensor<4x8xf32>, sharding=<@m, [{"x"}, {}]>>, %b: !secret.secret<tensor<16xi16>>) -> !mpmd.mesh_tensor<"m", tensor<4x8xf32>, sharding=<@m, [{"x"}, {}]>> {
  return %a : !mpmd.mesh_tensor<"m", tensor<4x8xf32>, sharding=<@m, [{"x"}, {}]>>
}

// DYNAMIC: error: {{.*}}'tensor<2x?xf32>' has no static size: dimension 1 is dynamic
func.func @dynamic(%a: !torch.vtensor<[2,?],f32>) -> !torch.vtensor<[2,?],f32> {
  return %a : !torch.vtensor<[2,?],f32>
}

// UNKNOWN: error: {{.*}}has no static size: it is unranked
func.func @unknown(%a: !torch.tensor) -> !torch.tensor {
  return %a : !torch.tensor
}
