// Bytes of every element type, as the size of an argument: 24 elements each.
// RUN: es-opt --memory-report=json --top=60 --memory-model=fused %s | FileCheck %s
// RUN: es-opt --memory-report=json --top=60 --memory-model=fused --sub-byte=byte %s | FileCheck %s --check-prefix=BYTE
// RUN: es-opt --memory-report=json --top=60 --memory-model=fused --pack-i1 %s | FileCheck %s --check-prefix=PACK
// RUN: es-opt --memory-report=json --top=60 --memory-model=fused --alignment=512 %s | FileCheck %s --check-prefix=ALIGN
// RUN: es-opt --memory-report=json --top=60 --memory-model=inplace %s | FileCheck %s --check-prefix=LLVM

// 24 * bits / 8, rounded up once:
// complex<f64> 384, f128 384, f80 240, f64 192, i64 192, index 192,
// complex<f32> 192, f32 96, i32 96, i24 72, tf32 57 (24 * 19 = 456 bits),
// f16 48, bf16 48, i16 48, i8 24, f8 24, i1 24 (a byte each), f6 18, i4 12, f4 12,
// i2 6, and 0 for a dimension of 0. In all:
//   2*384 + 240 + 4*192 + 2*96 + 72 + 57 + 3*48 + 4*24 + 18 + 2*12 + 6 = 2385
// CHECK: "peak_bytes": 2385
// Bytes for f6, i4, f4, i2: 2385 + (24-18) + 2*(24-12) + (24-6) = 2433
// BYTE: "peak_bytes": 2433
// Bits for i1: 2385 - 24 + 3 = 2364
// PACK: "peak_bytes": 2364
// 22 buffers that are not empty, of at most 512 bytes each: 22 * 512 = 11264
// ALIGN: "peak_bytes": 11264
// LLVM keeps f80 in 16 bytes, i24 in 4, tf32 in 4, and sub-bytes in one:
//   2433 + (384-240) + (96-72) + (96-57) = 2640
// LLVM: "peak_bytes": 2640
func.func @sizes(
    %a: tensor<24xcomplex<f64>>, %b: tensor<24xf128>, %c: tensor<24xf80>,
    %d: tensor<24xf64>, %e: tensor<24xi64>, %f: tensor<24xindex>,
    %g: tensor<24xcomplex<f32>>, %h: tensor<24xf32>, %i: tensor<24xi32>,
    %j: tensor<24xi24>, %k: tensor<24xtf32>, %l: tensor<24xf16>,
    %m: tensor<24xbf16>, %n: tensor<24xi16>, %o: tensor<24xi8>,
    %p: tensor<24xf8E4M3FN>, %p2: tensor<24xf8E5M2>, %q: tensor<24xi1>,
    %r: tensor<24xf6E2M3FN>, %s: tensor<24xi4>, %t: tensor<24xf4E2M1FN>,
    %u: tensor<24xi2>, %v: tensor<0x24xf32>) {
  return
}
