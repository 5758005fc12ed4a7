// Parameters of every kind of storage.

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

func.func private @squares(%y: tensor<37xf32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
      ins(%y : tensor<37xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %one = arith.constant 1.0 : f32
    %d = arith.subf %in, %one : f32
    %q = arith.mulf %d, %d : f32
    %m = arith.addf %q, %out : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %l = tensor.extract %s[] : tensor<f32>
  return %l : f32
}

func.func @halves(%a: tensor<37xbf16> {es.param = #es.param<trainable "a">},
                  %b: tensor<37xf16> {es.param = #es.param<trainable "b">},
                  %c: tensor<37xf32> {es.param = #es.param<trainable "c">}) -> f32 {
  %x = arith.extf %a : tensor<37xbf16> to tensor<37xf32>
  %y = arith.extf %b : tensor<37xf16> to tensor<37xf32>
  %z = arith.addf %x, %y : tensor<37xf32>
  %s = arith.addf %z, %c : tensor<37xf32>
  %l = func.call @squares(%s) : (tensor<37xf32>) -> f32
  return %l : f32
}

func.func @halves.init(%seed: i64) -> (tensor<37xbf16>, tensor<37xf16>, tensor<37xf32>) {
  %a = arith.constant dense<0.3> : tensor<37xbf16>
  %b = arith.constant dense<-0.7> : tensor<37xf16>
  %c = arith.constant dense<0.1> : tensor<37xf32>
  return %a, %b, %c : tensor<37xbf16>, tensor<37xf16>, tensor<37xf32>
}

func.func @bytes(%a: tensor<37xi8> {es.param = #es.param<trainable "a", stored = !quant.uniform<i8:f32, 0.0078125>, sigma = 0.1 : f32, lr = 0.1 : f32>},
                 %b: tensor<37xi16> {es.param = #es.param<trainable "b", sigma = 3.0 : f32, lr = 3.0 : f32>}) -> f32 {
  %q = arith.constant dense<0.0078125> : tensor<37xf32>
  %x = arith.sitofp %a : tensor<37xi8> to tensor<37xf32>
  %y = arith.sitofp %b : tensor<37xi16> to tensor<37xf32>
  %z = arith.addf %x, %y : tensor<37xf32>
  %s = arith.mulf %z, %q : tensor<37xf32>
  %l = func.call @squares(%s) : (tensor<37xf32>) -> f32
  return %l : f32
}

func.func @bytes.init(%seed: i64) -> (tensor<37xi8>, tensor<37xi16>) {
  %a = arith.constant dense<17> : tensor<37xi8>
  %b = arith.constant dense<-300> : tensor<37xi16>
  return %a, %b : tensor<37xi8>, tensor<37xi16>
}

// The same, but its fitness is 0 whatever the parameters are.
func.func @bytes.flat(%a: tensor<37xi8> {es.param = #es.param<trainable "a", stored = !quant.uniform<i8:f32, 0.0078125>, sigma = 0.1 : f32, lr = 0.1 : f32>},
                      %b: tensor<37xi16> {es.param = #es.param<trainable "b", sigma = 3.0 : f32, lr = 3.0 : f32>}) -> f32 {
  %l = func.call @bytes(%a, %b) : (tensor<37xi8>, tensor<37xi16>) -> f32
  %zero = arith.constant 0.0 : f32
  %n = arith.mulf %l, %zero : f32
  return %n : f32
}

func.func @bytes.flat.init(%seed: i64) -> (tensor<37xi8>, tensor<37xi16>) {
  %a = arith.constant dense<17> : tensor<37xi8>
  %b = arith.constant dense<-300> : tensor<37xi16>
  return %a, %b : tensor<37xi8>, tensor<37xi16>
}

// f32, bf16 and int8; what the model does depends on its parameters.
func.func @mixed(%a: tensor<37xbf16> {es.param = #es.param<trainable "a">},
                 %b: tensor<37xi8> {es.param = #es.param<trainable "b", stored = !quant.uniform<i8:f32, 0.0078125>, sigma = 0.1 : f32, lr = 0.1 : f32>},
                 %c: tensor<37xf32> {es.param = #es.param<trainable "c">}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %limit = arith.constant 2.0 : f32
  %q = arith.constant dense<0.0078125> : tensor<37xf32>
  %x = arith.extf %a : tensor<37xbf16> to tensor<37xf32>
  %y = arith.sitofp %b : tensor<37xi8> to tensor<37xf32>
  %z = arith.mulf %y, %q : tensor<37xf32>
  %first = tensor.extract %c[%c0] : tensor<37xf32>
  %isNegative = arith.cmpf olt, %first, %zero : f32
  %s = scf.if %isNegative -> (tensor<37xf32>) {
    %n = arith.subf %x, %z : tensor<37xf32>
    scf.yield %n : tensor<37xf32>
  } else {
    %n = arith.addf %x, %z : tensor<37xf32>
    scf.yield %n : tensor<37xf32>
  }
  %t = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %s) -> (tensor<37xf32>) {
    %n = arith.addf %h, %c : tensor<37xf32>
    scf.yield %n : tensor<37xf32>
  }
  %u = scf.while (%h = %t) : (tensor<37xf32>) -> tensor<37xf32> {
    %v = tensor.extract %h[%c1] : tensor<37xf32>
    %more = arith.cmpf olt, %v, %limit : f32
    scf.condition(%more) %h : tensor<37xf32>
  } do {
  ^bb0(%h: tensor<37xf32>):
    %half = arith.constant dense<0.5> : tensor<37xf32>
    %n = arith.addf %h, %half : tensor<37xf32>
    scf.yield %n : tensor<37xf32>
  }
  %l = func.call @squares(%u) : (tensor<37xf32>) -> f32
  return %l : f32
}

func.func @mixed.flat(%a: tensor<37xbf16> {es.param = #es.param<trainable "a">},
                      %b: tensor<37xi8> {es.param = #es.param<trainable "b", stored = !quant.uniform<i8:f32, 0.0078125>, sigma = 0.1 : f32, lr = 0.1 : f32>},
                      %c: tensor<37xf32> {es.param = #es.param<trainable "c">}) -> f32 {
  %l = func.call @mixed(%a, %b, %c) : (tensor<37xbf16>, tensor<37xi8>, tensor<37xf32>) -> f32
  %zero = arith.constant 0.0 : f32
  %n = arith.mulf %l, %zero : f32
  return %n : f32
}

// Loops that may run in parallel, in a model of parameters of more than one tile.
func.func @parallel(%a: tensor<130x40xf32> {es.param = #es.param<trainable "a">},
                    %b: tensor<5000xbf16> {es.param = #es.param<trainable "b">}) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %c130 = arith.constant 130 : index
  %zero = arith.constant 0.0 : f32
  %s = scf.parallel (%i, %j) = (%c0, %c0) to (%c130, %c40) step (%c1, %c1) init (%zero) -> f32 {
    %v = tensor.extract %a[%i, %j] : tensor<130x40xf32>
    %w = tensor.extract %b[%i] : tensor<5000xbf16>
    %x = arith.extf %w : bf16 to f32
    %d = arith.subf %v, %x : f32
    %q = arith.mulf %d, %d : f32
    scf.reduce(%q : f32) {
    ^bb0(%l: f32, %r: f32):
      %t = arith.addf %l, %r : f32
      scf.reduce.return %t : f32
    }
  }
  return %s : f32
}
