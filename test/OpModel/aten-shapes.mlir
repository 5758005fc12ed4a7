// RUN: es-opt --memory-report --graphs=inference --entry='*' --memory-model=eager --top=40 --shape=x:4x6x5 %s | FileCheck %s

// Sizes that depend on integers among the operands, as torch-mlir writes them, or
// among the attributes, as es_opt.from_torch does. Every type is left open, and the
// type of the result is what follows from x, 4 x 6 x 5.

// Dimensions 1 and -1 change places.
// CHECK-LABEL: @transposed
// CHECK: output {{.*}} !torch.vtensor<[4,5,6],f32>
func.func @transposed(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %v = torch.aten.transpose.int %x, %int1, %int-1 : !torch.vtensor<[?,?,?],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// [:, 1:-1:2] of 6: 1 and 3, (5 - 1 + 1) / 2 = 2.
// CHECK-LABEL: @sliced
// CHECK: output {{.*}} !torch.vtensor<[4,2,5],f32>
func.func @sliced(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %v = torch.aten.slice.Tensor %x, %int1, %int1, %int-1, %int2 : !torch.vtensor<[?,?,?],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// [:, 2:] with an end beyond: 6 - 2. No step is one.
// CHECK-LABEL: @sliced_to_end
// CHECK: output {{.*}} !torch.vtensor<[4,4,5],f32>
func.func @sliced_to_end(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %end = torch.constant.int 9223372036854775807
  %v = torch.aten.slice.Tensor %x, %int1, %int2, %end, %int1 : !torch.vtensor<[?,?,?],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// The same by attributes, as exported.
// CHECK-LABEL: @sliced_by_attribute
// CHECK: output {{.*}} !torch.vtensor<[4,4,5],f32>
func.func @sliced_by_attribute(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %v = "torch.aten.slice.Tensor"(%x) {dim = 1, start = 2, end = 9223372036854775807} : (!torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// None as an end is the end.
// CHECK-LABEL: @sliced_without_end
// CHECK: output {{.*}} !torch.vtensor<[4,5,5],f32>
func.func @sliced_without_end(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %none = torch.constant.none
  %v = torch.aten.slice.Tensor %x, %int1, %int1, %none, %int1 : !torch.vtensor<[?,?,?],f32>, !torch.int, !torch.int, !torch.none, !torch.int -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// Two side by side along the last dimension.
// CHECK-LABEL: @joined
// CHECK: output {{.*}} !torch.vtensor<[4,6,10],f32>
func.func @joined(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[?,?,?],f32>, !torch.vtensor<[?,?,?],f32>) -> !torch.list<vtensor>
  %v = torch.aten.cat %l, %int-1 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// Two in a dimension of their own.
// CHECK-LABEL: @stacked
// CHECK: output {{.*}} !torch.vtensor<[2,4,6,5],f32>
func.func @stacked(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %x, %x : (!torch.vtensor<[?,?,?],f32>, !torch.vtensor<[?,?,?],f32>) -> !torch.list<vtensor>
  %v = torch.aten.stack %l, %int0 : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[?,?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?,?],f32> -> !torch.vtensor<[?,?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?,?],f32>
}

// 120 elements in rows of 8: -1 is 15.
// CHECK-LABEL: @viewed
// CHECK: output {{.*}} !torch.vtensor<[15,8],f32>
func.func @viewed(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %int8 = torch.constant.int 8
  %l = torch.prim.ListConstruct %int-1, %int8 : (!torch.int, !torch.int) -> !torch.list<int>
  %v = torch.aten.view %x, %l : !torch.vtensor<[?,?,?],f32>, !torch.list<int> -> !torch.vtensor<[?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
  return %r : !torch.vtensor<[?,?],f32>
}

// Sizes that are computed: 4 rows of 6 x 5.
// CHECK-LABEL: @viewed_by_size
// CHECK: output {{.*}} !torch.vtensor<[4,30],f32>
func.func @viewed_by_size(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %n = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,?,?],f32>, !torch.int -> !torch.int
  %h = torch.aten.size.int %x, %int1 : !torch.vtensor<[?,?,?],f32>, !torch.int -> !torch.int
  %int5 = torch.constant.int 5
  %m = torch.aten.mul.int %h, %int5 : !torch.int, !torch.int -> !torch.int
  %l = torch.prim.ListConstruct %n, %m : (!torch.int, !torch.int) -> !torch.list<int>
  %v = torch.aten.reshape %x, %l : !torch.vtensor<[?,?,?],f32>, !torch.list<int> -> !torch.vtensor<[?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
  return %r : !torch.vtensor<[?,?],f32>
}

// As exported: the first size is an operand, the others attributes.
// CHECK-LABEL: @viewed_as_exported
// CHECK: output {{.*}} !torch.vtensor<[4,15,2],f32>
func.func @viewed_as_exported(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %n = "torch.aten.sym_size.int"(%x) {dim = 0} : (!torch.vtensor<[?,?,?],f32>) -> i64
  %v = "torch.aten.view"(%x, %n) {size = [-1, -1, 2], arguments = ["self", "size.0"]} : (!torch.vtensor<[?,?,?],f32>, i64) -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// 6 x 5 become 30.
// CHECK-LABEL: @flattened
// CHECK: output {{.*}} !torch.vtensor<[4,30],f32>
func.func @flattened(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %v = torch.aten.flatten.using_ints %x, %int1, %int-1 : !torch.vtensor<[?,?,?],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
  return %r : !torch.vtensor<[?,?],f32>
}

// A dimension of one before the last.
// CHECK-LABEL: @unsqueezed
// CHECK: output {{.*}} !torch.vtensor<[4,6,1,5],f32>
func.func @unsqueezed(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %int-2 = torch.constant.int -2
  %v = torch.aten.unsqueeze %x, %int-2 : !torch.vtensor<[?,?,?],f32>, !torch.int -> !torch.vtensor<[?,?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?,?],f32> -> !torch.vtensor<[?,?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?,?],f32>
}

// [:1] and then without it.
// CHECK-LABEL: @squeezed
// CHECK: output {{.*}} !torch.vtensor<[6,5],f32>
func.func @squeezed(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %0 = torch.aten.slice.Tensor %x, %int0, %int0, %int1, %int1 : !torch.vtensor<[?,?,?],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[?,?,?],f32>
  %v = torch.aten.squeeze.dim %0, %int0 : !torch.vtensor<[?,?,?],f32>, !torch.int -> !torch.vtensor<[?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
  return %r : !torch.vtensor<[?,?],f32>
}

// The last dimension first.
// CHECK-LABEL: @permuted
// CHECK: output {{.*}} !torch.vtensor<[5,4,6],f32>
func.func @permuted(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %int2, %int0, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %v = torch.aten.permute %x, %l : !torch.vtensor<[?,?,?],f32>, !torch.list<int> -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// -1 keeps a size; 2 come first.
// CHECK-LABEL: @expanded
// CHECK: output {{.*}} !torch.vtensor<[2,4,6,5],f32>
func.func @expanded(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %int2, %int-1, %int-1, %int-1 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %v = torch.aten.expand %x, %l, %int0 : !torch.vtensor<[?,?,?],f32>, !torch.list<int>, !torch.int -> !torch.vtensor<[?,?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?,?],f32> -> !torch.vtensor<[?,?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?,?],f32>
}

// Twice in rows, once in between.
// CHECK-LABEL: @repeated
// CHECK: output {{.*}} !torch.vtensor<[8,6,5],f32>
func.func @repeated(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %l = torch.prim.ListConstruct %int2, %int1, %int1 : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %v = torch.aten.repeat %x, %l : !torch.vtensor<[?,?,?],f32>, !torch.list<int> -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// One row.
// CHECK-LABEL: @selected
// CHECK: output {{.*}} !torch.vtensor<[6,5],f32>
func.func @selected(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %v = torch.aten.select.int %x, %int0, %int1 : !torch.vtensor<[?,?,?],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
  return %r : !torch.vtensor<[?,?],f32>
}

// Parts of 4 of 6 rows: the second has 2.
// CHECK-LABEL: @split
// CHECK: output {{.*}} !torch.vtensor<[4,2,5],f32>
func.func @split(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %s:2 = "torch.aten.split.Tensor"(%x) {split_size = 4, dim = 1} : (!torch.vtensor<[?,?,?],f32>) -> (!torch.vtensor<[?,?,?],f32>, !torch.vtensor<[?,?,?],f32>)
  %v = torch.aten.clone %s#1 : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// The same as a list; parts are views, so that nothing else is there but the clone
// and the result, 4 x 2 x 5 x 4 = 160 B each: with x 480 + 320.
// CHECK-LABEL: @split_list
// CHECK: output {{.*}} !torch.vtensor<[4,2,5],f32>
// CHECK-NOT: temporary {{.*}}[4,4,5]
func.func @split_list(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %int4 = torch.constant.int 4
  %s = torch.aten.split.Tensor %x, %int4, %int1 : !torch.vtensor<[?,?,?],f32>, !torch.int, !torch.int -> !torch.list<vtensor>
  %p:2 = torch.prim.ListUnpack %s : !torch.list<vtensor> -> !torch.vtensor<[?,?,?],f32>, !torch.vtensor<[?,?,?],f32>
  %v = torch.aten.clone %p#1 : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// Parts as listed: 1 and 5.
// CHECK-LABEL: @split_with_sizes
// CHECK: output {{.*}} !torch.vtensor<[4,5,5],f32>
func.func @split_with_sizes(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %s:2 = "torch.aten.split_with_sizes"(%x) {split_sizes = [1, 5], dim = 1} : (!torch.vtensor<[?,?,?],f32>) -> (!torch.vtensor<[?,?,?],f32>, !torch.vtensor<[?,?,?],f32>)
  %v = torch.aten.clone %s#1 : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// 3 chunks of 5: 2, 2, 1.
// CHECK-LABEL: @chunks
// CHECK: output {{.*}} !torch.vtensor<[4,6,1],f32>
func.func @chunks(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %s:3 = "torch.aten.chunk"(%x) {chunks = 3, dim = 2} : (!torch.vtensor<[?,?,?],f32>) -> (!torch.vtensor<[?,?,?],f32>, !torch.vtensor<[?,?,?],f32>, !torch.vtensor<[?,?,?],f32>)
  %v = torch.aten.clone %s#2 : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}

// 1, 3 and 5: from 1 in steps of 2 below 6.
// CHECK-LABEL: @counted
// CHECK: output {{.*}} !torch.vtensor<[3],f32>
func.func @counted(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %h = torch.aten.size.int %x, %int1 : !torch.vtensor<[?,?,?],f32>, !torch.int -> !torch.int
  %none = torch.constant.none
  %v = torch.aten.arange.start_step %int1, %h, %int2, %none, %none, %none, %none : !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?],f32> -> !torch.vtensor<[?],f32>
  return %r : !torch.vtensor<[?],f32>
}

// A state of as many rows as the batch.
// CHECK-LABEL: @zeros
// CHECK: output {{.*}} !torch.vtensor<[4,8],f32>
func.func @zeros(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %n = torch.aten.size.int %x, %int0 : !torch.vtensor<[?,?,?],f32>, !torch.int -> !torch.int
  %int8 = torch.constant.int 8
  %l = torch.prim.ListConstruct %n, %int8 : (!torch.int, !torch.int) -> !torch.list<int>
  %none = torch.constant.none
  %v = torch.aten.zeros %l, %none, %none, %none, %none : !torch.list<int>, !torch.none, !torch.none, !torch.none, !torch.none -> !torch.vtensor<[?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?],f32> -> !torch.vtensor<[?,?],f32>
  return %r : !torch.vtensor<[?,?],f32>
}

// Over dimension 1, which stays as one.
// CHECK-LABEL: @summed
// CHECK: output {{.*}} !torch.vtensor<[4,1,5],f32>
func.func @summed(%x: !torch.vtensor<[?,?,?],f32>) -> !torch.vtensor<[?,?,?],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %int2 = torch.constant.int 2
  %int-1 = torch.constant.int -1
  %true = torch.constant.bool true
  %none = torch.constant.none
  %l = torch.prim.ListConstruct %int1 : (!torch.int) -> !torch.list<int>
  %v = torch.aten.sum.dim_IntList %x, %l, %true, %none : !torch.vtensor<[?,?,?],f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<[?,?,?],f32>
  %r = torch.aten.neg %v : !torch.vtensor<[?,?,?],f32> -> !torch.vtensor<[?,?,?],f32>
  return %r : !torch.vtensor<[?,?,?],f32>
}
