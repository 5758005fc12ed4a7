//===- Run.cpp - A case compiled and compared -----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "es/Conversion/Passes.h"
#include "es/Reference/Update.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include <cstring>

#ifndef ES_OPENMP_LIBRARY
#define ES_OPENMP_LIBRARY ""
#endif

using namespace mlir;
using namespace mlir::es;
namespace ref = mlir::es::reference;

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

bool mlir::es::canRun(const Case &c) {
  return c.threads == 1 || !StringRef(ES_OPENMP_LIBRARY).empty();
}

std::unique_ptr<ExecutionEngine> mlir::es::compile(ModuleOp module,
                                                   const Case &c) {
  PassManager manager(module.getContext());
  if (c.path == "gpu") {
    PassManager device(module.getContext());
    ConvertESToGPUOptions block;
    block.blockSize = c.width * 16;
    device.addPass(createConvertESToGPU(block));
    if (failed(device.run(module)))
      return nullptr;
    emulateKernels(module);
  }
  if (c.path == "linalg") {
    manager.addPass(createConvertESToLinalg());
    manager.addPass(bufferization::createOneShotBufferizePass());
  }
  ToLLVMOptions options;
  options.vectorWidth = c.width;
  options.tileSize = c.tile;
  options.threads = c.threads;
  buildToLLVMPipeline(manager, options);
  if (failed(manager.run(module)))
    return nullptr;
  auto builder =
      llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
  auto codegen =
      c.level ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None;
  builder.setCodeGenOptLevel(codegen);
  std::unique_ptr<llvm::TargetMachine> machine =
      llvm::cantFail(builder.createTargetMachine());
  auto optimize = makeOptimizingTransformer(c.level, 0, machine.get());
  ExecutionEngineOptions engineOptions;
  engineOptions.transformer = optimize;
  engineOptions.jitCodeGenOptLevel = codegen;
  StringRef libraries[] = {ES_OPENMP_LIBRARY};
  if (c.threads > 1)
    engineOptions.sharedLibPaths = libraries;
  auto engine =
      ExecutionEngine::create(module, engineOptions, std::move(machine));
  if (!engine) {
    llvm::errs() << llvm::toString(engine.takeError()) << "\n";
    return nullptr;
  }
  return std::move(*engine);
}

Descriptor::Descriptor(void *data, const std::vector<int64_t> &shape) {
  words = {reinterpret_cast<int64_t>(data), reinterpret_cast<int64_t>(data), 0};
  words.insert(words.end(), shape.begin(), shape.end());
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t stride = 1;
    for (size_t j = i + 1; j < shape.size(); ++j)
      stride *= shape[j];
    words.push_back(stride);
  }
}

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

namespace {
/// A parameter with its states, twice: for the kernel and for the reference.
struct Tensor {
  ref::Parameter parameter;
  std::vector<char> data, out, states[3];
};

struct Problem {
  explicit Problem(const Case &c);
  std::string getText() const;
  std::vector<Tensor> makeTensors() const;
  ref::UpdateOptions getOptions() const;

  const Case &c;
  ref::Storage storage;
  std::vector<float> coefficients;
  std::vector<std::vector<int64_t>> shapes = {
      {},           {1},    {0},    {7},      {5, 3},    {33, 4},
      {2, 3, 5, 7}, {2049}, {3, 0}, {64, 65}, {4, 1, 3}, {250, 520}};
};
} // namespace

template <typename T>
static T parse(const std::string &text,
               std::initializer_list<const char *> names) {
  int index = 0;
  for (const char *name : names) {
    if (text == name)
      return T(index);
    ++index;
  }
  llvm_unreachable("a name that is not listed");
}

Problem::Problem(const Case &c) : c(c) {
  storage = parse<ref::Storage>(
      c.element, {"f32", "f64", "bf16", "f16", "i8", "i16", "i32"});
  // One pair is left out, two have opposite signs.
  coefficients = c.order == "exact" ? std::vector<float>{3, -1, 0, 2, -2, 7, -5}
                                    : std::vector<float>{0.5f,  -0.25f, 0, 1.1f,
                                                         -1.1f, 0.01f,  3};
}

static std::string list(size_t count,
                        llvm::function_ref<std::string(size_t)> f) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + f(i);
  return text;
}

static std::string getType(const std::vector<int64_t> &shape,
                           const std::string &element) {
  std::string text = "memref<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// Element types of a parameter's states, in order.
static std::vector<std::string> getStateTypes(const Case &c) {
  std::vector<std::string> types;
  if (c.optimizer != "sgd")
    types.assign(c.optimizer == "momentum" ? 1 : 2,
                 c.element == "f64" ? "f64" : c.moment);
  if (c.rounding == "compensated")
    types.push_back(c.element);
  if (c.rounding == "master" || c.fixed == "error_feedback")
    types.push_back("f32");
  return types;
}

/// Of shapes with more than one axis, one scale an index of the second.
static bool hasAxis(const Case &c, const std::vector<int64_t> &shape) {
  return c.quantum == "axis" && shape.size() > 1 && shape[1] > 0;
}

/// 0.25, 0.5, 0.75, 1, 1.25 and again.
static double getAxisScale(size_t index) { return 0.25 * (1 + index % 5); }

static std::string getAnnotation(const Case &c, size_t i,
                                 const std::vector<int64_t> &shape) {
  std::string text = "<trainable \"p" + std::to_string(i) + "\"";
  if (i == 3)
    text += ", sigma = 0.5 : f32, lr = 0.75 : f32";
  else if (hasAxis(c, shape))
    text += ", stored = !quant.uniform<" + c.element + ":f32:1, {" +
            list(shape[1],
                 [](size_t j) { return std::to_string(getAxisScale(j)); }) +
            "}>";
  else if (c.element[0] == 'i' && i == 4)
    text += ", stored = !quant.uniform<" + c.element + ":f32, 0.25>";
  return text + ">";
}

/// func @run(parameters, states or outs, coefficients, seed, step).
std::string Problem::getText() const {
  std::vector<std::string> states = getStateTypes(c);
  auto name = [](const char *prefix, size_t i) {
    return prefix + std::to_string(i);
  };
  size_t n = shapes.size(), s = states.size();
  std::string arguments = list(n, [&](size_t i) {
    return name("%p", i) + ": " + getType(shapes[i], c.element);
  });
  auto stateType = [&](size_t i) {
    return getType(shapes[i / s], states[i % s]);
  };
  if (c.op == "perturb")
    arguments += ", " + list(n, [&](size_t i) {
                   return name("%o", i) + ": " + getType(shapes[i], c.element);
                 });
  else if (s)
    arguments += ", " + list(n * s, [&](size_t i) {
                   return name("%s", i) + ": " + stateType(i);
                 });
  std::string count = std::to_string(coefficients.size());
  std::string text = "func.func @run(" + arguments + ", %c: memref<" + count +
                     "xf32>, %seed: i64, %step: i64) attributes "
                     "{llvm.emit_c_interface} {\n"
                     "%key = es.step_key %seed, %step\n";
  bool tensors = c.path == "linalg";
  auto use = [&](const char *prefix, size_t i) {
    return (tensors ? "%t" : "%") + std::string(prefix + 1) + std::to_string(i);
  };
  auto shapedAs = [&](std::string memref) {
    return tensors ? "tensor" + memref.substr(6) : memref;
  };
  auto toTensor = [&](const char *prefix, size_t i, const std::string &type) {
    text += use(prefix, i) + " = bufferization.to_tensor " + name(prefix, i) +
            " restrict writable : " + type + " to " + shapedAs(type) + "\n";
  };
  auto toMemref = [&](const std::string &value, const char *prefix, size_t i,
                      const std::string &type) {
    text += "bufferization.materialize_in_destination " + value +
            " in restrict writable " + name(prefix, i) + " : (" +
            shapedAs(type) + ", " + type + ") -> ()\n";
  };
  auto parameterType = [&](size_t i) { return getType(shapes[i], c.element); };
  std::string weights = "memref<" + count + "xf32>";
  if (tensors) {
    for (size_t i = 0; i < n; ++i) {
      toTensor("%p", i, parameterType(i));
      if (c.op == "perturb")
        toTensor("%o", i, parameterType(i));
    }
    for (size_t i = 0; c.op == "update" && i < n * s; ++i)
      toTensor("%s", i, stateType(i));
    text += "%tc = bufferization.to_tensor %c restrict writable : " + weights +
            " to " + shapedAs(weights) + "\n";
  }
  std::string rank = "rank = " + std::to_string(c.rank);
  if (c.op == "perturb") {
    // Member 3 of antithetic pairs: pair 1, minus.
    text += "%m = arith.constant 3 : index\n";
    for (size_t i = 0; i < n; ++i) {
      std::string type = shapedAs(parameterType(i));
      if (tensors)
        text += name("%r", i) + " = ";
      text += "es.perturb " + c.noise + " " + use("%p", i) + " " +
              getAnnotation(c, i, shapes[i]) + " into " + use("%o", i) +
              " key(%key) member(%m) {antithetic, sigma = 3.0, " + rank +
              "} : " + type + " into " + type + "\n";
      if (tensors)
        toMemref(name("%r", i), "%o", i, parameterType(i));
    }
    return text + "return\n}\n";
  }
  text += "%n = arith.constant 14 : i64\n%u = arith.constant 0.5 : f64\n";
  if (tensors)
    text += "%r:" + std::to_string(n + n * s) + " = ";
  text += "es.update " + c.optimizer + " " + c.direction + " " + c.noise +
          " key(%key) weights(" + (tensors ? "%tc" : "%c") +
          ", %n, %u : " + shapedAs(weights) + ") ";
  if (c.optimizer[0] == 'a')
    text += "step(%step) ";
  text += "params(" + list(n, [&](size_t i) { return use("%p", i); }) + " : " +
          list(n, [&](size_t i) { return shapedAs(parameterType(i)); }) +
          ") as [" +
          list(n,
               [&](size_t i) {
                 return "#es.param" + getAnnotation(c, i, shapes[i]);
               }) +
          "] ";
  if (s)
    text += "states(" + list(n * s, [&](size_t i) { return use("%s", i); }) +
            " : " +
            list(n * s, [&](size_t i) { return shapedAs(stateType(i)); }) +
            ") ";
  text += "{sigma = 0.3, lr = 0.4, " + rank + ", scale = #es.scale<" + c.scale +
          ">, order = #es.order<" + c.order + ">, rounding = #es.rounding<" +
          c.rounding + ">, fixed = #es.fixed<" + c.fixed + ">";
  if (c.order == "chunk")
    text += ", chunk = 3";
  if (c.order == "exact")
    text += ", max_coefficient = 7, accumulator = #es.accumulator<" +
            c.accumulator + ">";
  if (c.decay != "none")
    text += ", weight_decay = 0.125, decay = #es.decay_kind<" + c.decay + ">";
  text += "}\n";
  for (size_t i = 0; tensors && i < n + n * s; ++i) {
    std::string result = "%r#" + std::to_string(i);
    if (i < n)
      toMemref(result, "%p", i, parameterType(i));
    else
      toMemref(result, "%s", i - n, stateType(i - n));
  }
  return text + "return\n}\n";
}

/// Values that spread over a few binades, and the ends of integer types.
static void fill(ref::Storage storage, std::vector<char> &data, size_t count,
                 uint32_t salt) {
  unsigned bytes = ref::getBytes(storage);
  data.assign(count * bytes + 8, 0);
  for (size_t e = 0; e < count; ++e) {
    uint32_t random = ref::philox({uint32_t(e), salt, 0, 0}, {1, 2})[0];
    float value =
        (float(random >> 8) * 0x1p-24f - 0.5f) * (random & 1 ? 1.0f : 0x1p-16f);
    char *at = data.data() + e * bytes;
    if (storage == ref::Storage::f32) {
      std::memcpy(at, &value, 4);
    } else if (storage == ref::Storage::f64) {
      double wide = value * 1.000000001;
      std::memcpy(at, &wide, 8);
    } else if (ref::isInteger(storage)) {
      if (e % 5 == 0)
        random = e % 2 ? 0x7f7fffff : 0x80808080;
      std::memcpy(at, &random, bytes);
      if (e % 5 == 0)
        at[bytes - 1] = e % 2 ? 0x7f : char(0x80);
    } else {
      uint16_t half = storage == ref::Storage::bf16 ? ref::toBf16(value)
                                                    : ref::toF16(value);
      std::memcpy(at, &half, 2);
    }
  }
}

static size_t getBytes(const std::string &type) {
  return type == "f64" ? 8 : type == "f32" ? 4 : 2;
}

std::vector<Tensor> Problem::makeTensors() const {
  std::vector<Tensor> tensors(shapes.size());
  std::vector<std::string> states = getStateTypes(c);
  for (size_t i = 0; i < shapes.size(); ++i) {
    Tensor &tensor = tensors[i];
    ref::Parameter &p = tensor.parameter;
    p.id = ref::hashName(("p" + std::to_string(i)).c_str());
    p.storage = storage;
    p.shape = shapes[i];
    p.sigma = i == 3 ? 0.5 : c.op == "perturb" ? 3.0 : 0.3;
    p.lr = i == 3 ? 0.75 : 0.4;
    p.quantum = ref::isInteger(storage) && i == 4 ? 0.25 : 1.0;
    if (hasAxis(c, p.shape)) {
      p.axis = 1;
      for (int64_t j = 0; j < p.shape[1]; ++j)
        p.quanta.push_back(getAxisScale(j));
    }
    p.rounding =
        parse<ref::Rounding>(ref::isInteger(storage) ? c.fixed : c.rounding,
                             {"nearest", "stochastic", "compensated", "master",
                              "threshold", "error_feedback"});
    size_t count = p.getNumElements();
    fill(storage, tensor.data, count, i);
    fill(storage, tensor.out, count, i);
    p.data = tensor.data.data();
    for (size_t s = 0; s < states.size(); ++s) {
      fill(parse<ref::Storage>(states[s], {"f32", "f64", "bf16", "f16"}),
           tensor.states[s], count, 100 + 10 * i + s);
      // A second moment is not negative.
      if (s == 1 && states.size() > 1 && c.optimizer[0] == 'a')
        for (size_t e = 0; e < count; ++e)
          tensor.states[s][(e + 1) * getBytes(states[s]) - 1] &= 0x7f;
    }
    size_t moments = c.optimizer == "sgd"        ? 0
                     : c.optimizer == "momentum" ? 1
                                                 : 2;
    if (moments)
      p.momentStorage =
          parse<ref::Storage>(states[0], {"f32", "f64", "bf16", "f16"});
    for (size_t m = 0; m < moments; ++m)
      p.moments[m] = tensor.states[m].data();
    if (states.size() > moments)
      p.companion = tensor.states[moments].data();
  }
  return tensors;
}

static constexpr uint64_t kSeed = 0x0123456789abcdef, kStep = 5;

ref::UpdateOptions Problem::getOptions() const {
  ref::UpdateOptions options;
  options.noise.key = ref::getStepKey(kSeed, kStep);
  options.noise.noise = parse<ref::Noise>(
      c.noise, {"normal16", "normal32", "rademacher", "int8", "uniform"});
  options.noise.rank = c.rank;
  options.order = parse<ref::Order>(c.order, {"seq", "chunk", "exact"});
  options.chunk = 3;
  options.scale = parse<ref::Scale>(c.scale, {"exact", "mean", "root"});
  options.maximize = c.direction == "maximize";
  options.coefficients.values = coefficients;
  options.coefficients.members = 14;
  options.coefficients.unit = 0.5;
  options.rule.optimizer =
      c.optimizer[0] == 'a'
          ? ref::Optimizer::adam
          : parse<ref::Optimizer>(c.optimizer, {"sgd", "momentum"});
  options.rule.decay =
      parse<ref::Decay>(c.decay, {"none", "coupled", "decoupled"});
  options.rule.weightDecay = c.decay == "none" ? 0 : 0.125;
  options.rule.step = kStep;
  return options;
}

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

static std::string compare(const char *what, size_t tensor, size_t bytes,
                           const std::vector<char> &expected,
                           const std::vector<char> &actual) {
  if (expected == actual)
    return "";
  size_t at = 0, differ = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i] != actual[i]) {
      if (!differ)
        at = i;
      ++differ;
    }
  uint64_t words[2] = {0, 0};
  size_t element = at / bytes * bytes;
  std::memcpy(&words[0], expected.data() + element, bytes);
  std::memcpy(&words[1], actual.data() + element, bytes);
  std::string text;
  llvm::raw_string_ostream(text)
      << what << " of parameter " << tensor << " differs in " << differ
      << " bytes, first element " << at / bytes << ": expected "
      << llvm::format_hex(words[0], 2 + 2 * bytes) << ", got "
      << llvm::format_hex(words[1], 2 + 2 * bytes);
  return text;
}

static std::string invoke(ExecutionEngine &engine, const Case &c,
                          std::vector<Tensor> &tensors,
                          std::vector<float> coefficients) {
  std::vector<Descriptor> descriptors;
  for (Tensor &tensor : tensors)
    descriptors.emplace_back(tensor.data.data(), tensor.parameter.shape);
  for (Tensor &tensor : tensors) {
    if (c.op == "perturb")
      descriptors.emplace_back(tensor.out.data(), tensor.parameter.shape);
    for (std::vector<char> &state : tensor.states)
      if (!state.empty())
        descriptors.emplace_back(state.data(), tensor.parameter.shape);
  }
  descriptors.emplace_back(coefficients.data(),
                           std::vector<int64_t>{int64_t(coefficients.size())});
  std::vector<void *> pointers;
  for (Descriptor &descriptor : descriptors)
    pointers.push_back(descriptor.words.data());
  SmallVector<void *> packed;
  for (void *&pointer : pointers)
    packed.push_back(&pointer);
  uint64_t seed = kSeed, step = kStep;
  packed.push_back(&seed);
  packed.push_back(&step);
  if (llvm::Error error = engine.invokePacked("_mlir_ciface_run", packed))
    return llvm::toString(std::move(error));
  return "";
}

std::string mlir::es::runCase(MLIRContext &context, const Case &c) {
  Problem problem(c);
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(problem.getText(), &context);
  if (!module)
    return "does not parse:\n" + problem.getText();
  std::unique_ptr<ExecutionEngine> engine = compile(*module, c);
  if (!engine)
    return "does not compile";
  std::vector<Tensor> actual = problem.makeTensors(),
                      expected = problem.makeTensors();
  if (std::string error = invoke(*engine, c, actual, problem.coefficients);
      !error.empty())
    return error;
  ref::UpdateOptions options = problem.getOptions();
  bool changed = false;
  for (size_t i = 0; i < expected.size(); ++i) {
    Tensor &e = expected[i], &a = actual[i];
    const std::vector<char> before = c.op == "perturb" ? e.out : e.data;
    if (c.op == "perturb")
      ref::perturb(options.noise, e.parameter, 1, true, e.out.data());
    else
      ref::update(options, e.parameter);
    size_t bytes = ref::getBytes(problem.storage);
    std::string error = compare("data", i, bytes, e.data, a.data);
    if (error.empty())
      error = compare("out", i, bytes, e.out, a.out);
    changed |= before != (c.op == "perturb" ? e.out : e.data);
    std::vector<std::string> states = getStateTypes(c);
    for (size_t s = 0; s < states.size() && error.empty(); ++s)
      error =
          compare("state", i, getBytes(states[s]), e.states[s], a.states[s]);
    if (!error.empty())
      return error;
  }
  return changed ? "" : "changes nothing, and so shows nothing";
}
