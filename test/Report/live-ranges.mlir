// RUN: es-opt --memory-report=json --live-ranges=%t.csv %s > /dev/null
// RUN: FileCheck %s < %t.csv
// RUN: not es-opt --memory-report --live-ranges=%t.none/x.csv %s 2>&1 | FileCheck %s --check-prefix=NOFILE
// RUN: not es-opt --pass-pipeline='builtin.module(es-print-memory-report{live-ranges=%t.none/x.csv})' %s 2>&1 | FileCheck %s --check-prefix=NOFILE

// x is the caller's, points 0 to 3; the product lives from its own point to the
// sign, 2, which takes it over; its conversion, which cannot, from 1 to the
// return, 3.
// CHECK: function,graph,buffer,name,role,type,bytes,first,last,offset
// CHECK-NEXT: "f",inference,0,"x",input,"tensor<4x4xf32>",64,0,3,0
// CHECK-NEXT: "f",inference,1,"%0",temporary,"tensor<4x4xf32>",64,0,2,64
// CHECK-NEXT: "f",inference,2,"%1",output,"tensor<4x4xf16>",32,1,3,128
// CHECK-NOT: {{.}}
// NOFILE: error: cannot write '{{.*}}x.csv': {{[Nn]}}o such file or directory
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf16> {
  %y = "stablehlo.dot"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = "stablehlo.convert"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %w = "stablehlo.sign"(%y) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %z : tensor<4x4xf16>
}
