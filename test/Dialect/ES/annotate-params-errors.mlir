// RUN: es-opt --es-annotate-params --split-input-file --verify-diagnostics %s -o /dev/null

// expected-note@+1 {{the other one is here}}
func.func @one_id_twice(%a: tensor<4xf32> {es.param = #es.param<frozen "a", id = 7 : i32>},
                        // expected-error@+1 {{parameters 'a' and 'b' have the same id 7}}
                        %b: tensor<4xf32> {es.param = #es.param<frozen "b", id = 7 : i32>}) { return }

// -----

// expected-note@+1 {{the storage is here}}
func.func @two_annotations(%a: tensor<4xf32> {es.param = #es.param<frozen "a">}) -> tensor<4xf32> {
  // expected-error@+1 {{expects one annotation of a storage, got #es.param<trainable "a"> and #es.param<frozen "a">}}
  %0 = es.param %a <trainable "a"> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @computed(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %a : tensor<4xf32>
  // expected-warning@+1 {{annotates nothing: its operand is computed}}
  %1 = es.param %0 <trainable "a"> : tensor<4xf32>
  return %1 : tensor<4xf32>
}
