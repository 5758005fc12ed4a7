//===- Run.cpp - A model trained by Evolution Strategies ------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Next to the model @f the module may have, of the same name with a suffix:
//   @f.init(seed: i64)                 the parameters, in order
//   @f.batch(seed: i64, step: i64)     the other arguments, in order
//   @f.score(parameters) -> f32        what is said at the end
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "Allocator.h"
#include "Arrays.h"

#include "es/Reference/Noise.h"
#include "es/Report/MemoryReport.h"
#include "es/Training/InlineCallees.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/Support/Format.h"
#include <cstring>
#include <ctime>

using namespace mlir;
using namespace mlir::es;

LogicalResult Run::fail(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return failure();
}

static llvm::Error makeError(const llvm::Twine &text) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
}

/// Known from before the module is lowered.
bool Run::has(StringRef suffix) { return functions.contains(getName(suffix)); }

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// The function that is named, or the only public one that is no helper.
LogicalResult Run::findModel() {
  SmallVector<func::FuncOp> found;
  for (auto func : module.getOps<func::FuncOp>()) {
    StringRef name = func.getName();
    bool isHelper = name.ends_with(".init") || name.ends_with(".batch") ||
                    name.ends_with(".score");
    if (options.entry.empty()
            ? func.isPublic() && !func.isExternal() && !isHelper
            : name == options.entry)
      found.push_back(func);
  }
  if (found.size() != 1)
    return module.emitError()
           << (options.entry.empty() ? Twine("expects one public function that "
                                             "is the model, got ") +
                                           Twine(unsigned(found.size())) +
                                           "; name it with --entry"
                                     : "no function '@" + options.entry + "'");
  if (found[0].isExternal())
    return found[0].emitError("expects a model with a body");
  model = found[0];
  entry = found[0].getName().str();
  loc = found[0].getLoc();
  for (auto func : module.getOps<func::FuncOp>())
    functions.insert(func.getName());
  return success();
}

/// Models of StableHLO and TOSA become linalg, as which products have
/// corrections, and slices and gathered rows perturbations of their own. TOSA
/// has no product of matrices but of stacks of them, mostly of one.
static LogicalResult lowerToLinalg(ModuleOp module) {
  bool hasTosa =
      module
          ->walk([](Operation *op) {
            return isa_and_nonnull<tosa::TosaDialect>(op->getDialect())
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
  if (hasTosa && failed(runPipeline(
                     module, "func.func(tosa-to-linalg-named,tosa-to-linalg,"
                             "tosa-to-arith,tosa-to-tensor,"
                             "linalg-generalize-named-ops,"
                             "linalg-fold-unit-extent-dims),canonicalize")))
    return failure();
  return runPipeline(module, "es-stablehlo-to-linalg");
}

LogicalResult Run::buildStep() {
  module.getContext()
      ->loadDialect<ESDialect, arith::ArithDialect, linalg::LinalgDialect,
                    scf::SCFDialect, tensor::TensorDialect>();
  if (failed(lowerToLinalg(module)))
    return failure();
  inlinePrivateCallees(module);
  ModuleParameters parameters(module);
  FailureOr<Inventory> inventory =
      Inventory::compute(model, options.rules, &parameters);
  if (failed(inventory))
    return failure();
  FailureOr<TrainingGraph> built =
      buildEvolutionGraph(model, *inventory, options.evolution);
  if (failed(built))
    return failure();
  step = built->func.getName().str();
  for (BlockArgument argument : built->func.getArguments()) {
    StepStorage storage = built->storages.lookup(argument);
    Type type = argument.getType();
    auto shaped = dyn_cast<ShapedType>(type);
    if (shaped ? !shaped.hasStaticShape() : !type.isIntOrIndexOrFloat())
      return mlir::emitError(argument.getLoc())
             << "'" << storage.name << "' of type " << type
             << " cannot be run: expects a static shape";
    auto param = built->func.getArgAttrOfType<ParamAttr>(
        argument.getArgNumber(), "es.param");
    uint32_t id = param ? param.getEffectiveId()
                        : reference::hashName(storage.name.c_str());
    slots.push_back({storage.name, id, storage.role, storage.stored,
                     Value64{type, nullptr, 0}});
  }
  if (isReplayed() && failed(buildReplay(built->func)))
    return failure();
  return success();
}

/// Signature of a helper, if there is one.
LogicalResult Run::checkHelper(StringRef suffix, unsigned scalars,
                               ArrayRef<Type> arguments,
                               ArrayRef<Type> results) {
  auto func = module.lookupSymbol<func::FuncOp>(getName(suffix));
  if (!func)
    return success();
  SmallVector<Type> expected(scalars, IntegerType::get(func.getContext(), 64));
  llvm::append_range(expected, arguments);
  auto type = FunctionType::get(func.getContext(), expected, results);
  if (func.getFunctionType() == type && !func.isExternal())
    return success();
  return func.emitError() << "expects '@" << func.getName()
                          << "' with a body, of type " << type << ", got "
                          << func.getFunctionType();
}

LogicalResult Run::checkHelpers() {
  SmallVector<Type> parameters, inputs;
  for (auto [index, slot] : llvm::enumerate(slots)) {
    if (slot.isParameter())
      parameters.push_back(slot.value.type);
    else if (slot.role == Role::Input && slot.isShaped())
      inputs.push_back(slot.value.type);
    else if (!slot.isShaped() && slot.name != "seed" && slot.name != "step")
      return model->emitError()
             << "argument " << index << " cannot be run: expects tensors, got "
             << slot.value.type;
  }
  Type f32 = Float32Type::get(module.getContext());
  return failure(failed(checkHelper(".init", 1, {}, parameters)) ||
                 failed(checkHelper(".batch", 2, {}, inputs)) ||
                 failed(checkHelper(".score", 0, parameters, f32)));
}

/// The peak of the step as it will be compiled.
LogicalResult Run::predict() {
  RawReportOptions raw;
  raw.entry = step;
  raw.graphs = "inference";
  raw.alignment = std::to_string(memory::kAlignment);
  llvm::Expected<ReportOptions> reportOptions =
      ReportOptions::parse(raw, module.getContext());
  if (!reportOptions)
    return fail(reportOptions.takeError());
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<MemoryReport> report = buildMemoryReport(*copy, *reportOptions);
  if (failed(report))
    return failure();
  predictedPeak = report->functions.front().graphs.front().peakBytes;
  return success();
}

/// Erases what none of `roots` calls.
static void keepReachable(ModuleOp module, ArrayRef<std::string> roots) {
  llvm::SmallPtrSet<Operation *, 8> reached;
  SmallVector<Operation *> worklist;
  auto reach = [&](StringRef name) {
    Operation *func = module.lookupSymbol(name);
    if (func && reached.insert(func).second)
      worklist.push_back(func);
  };
  for (const std::string &root : roots)
    reach(root);
  while (!worklist.empty())
    worklist.pop_back_val()->walk(
        [&](func::CallOp call) { reach(call.getCallee()); });
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (!reached.contains(func))
      func.erase();
}

LogicalResult Run::compile() {
  std::vector<std::string> entries = {step};
  for (const char *suffix : {".init", ".batch", ".score"})
    if (has(suffix))
      entries.push_back(getName(suffix));
  if (isReplayed())
    entries.push_back(step + ".replay");
  keepReachable(module, entries);
  if (failed(runPipeline(module, "es-expand-vjp,es-strip-annotations")) ||
      failed(predict()))
    return failure();
  // What a run is made of: other options or another model give other bits.
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.lookupSymbol(step)->print(stream);
  checkpoint.program = digest(text);
  program = Program::compile(module, entries, options.threads);
  return success(program != nullptr);
}

//===----------------------------------------------------------------------===//
// Generations
//===----------------------------------------------------------------------===//

FailureOr<std::vector<Value64>> Run::call(StringRef name,
                                          ArrayRef<Value64> arguments) {
  llvm::Expected<std::vector<Value64>> results = program->call(name, arguments);
  if (!results)
    return fail(results.takeError());
  return std::move(*results);
}

std::vector<Value64> Run::getArguments(uint64_t generation) {
  std::vector<Value64> arguments;
  for (const Slot &slot : slots) {
    arguments.push_back(slot.value);
    if (slot.isShaped())
      continue;
    arguments.back().bits =
        int64_t(slot.name == "seed" ? checkpoint.seed : generation);
  }
  return arguments;
}

LogicalResult Run::readCheckpoints() {
  bool isReplay = !options.replay.empty();
  StringRef path = isReplay ? options.replay : options.resume;
  if (path.empty()) {
    checkpoint.seed = options.seed;
    return success();
  }
  llvm::Expected<Checkpoint> read = readCheckpoint(path);
  if (!read)
    return fail(read.takeError());
  for (auto [i, generation] : llvm::enumerate(read->generations))
    if (generation.size() != options.evolution.population)
      return fail(makeError(path + ": expects the fitness of " +
                            Twine(options.evolution.population) +
                            " members (--population), generation " +
                            Twine(i + 1) + " has " + Twine(generation.size())));
  checkpoint.seed = read->seed;
  checkpoint.generations = std::move(read->generations);
  done = checkpoint.generations.size();
  if (read->program != checkpoint.program)
    return fail(makeError(path + ": was written by another model or with other "
                                 "options"));
  if (failed(initialise()))
    return failure();
  if (read->initial != checkpoint.initial)
    return fail(makeError(path + ": was written by a run that started with "
                                 "other parameters"));
  return replay();
}

LogicalResult Run::replay() {
  for (unsigned i = 0; i < done; ++i) {
    setStopContext("generation " + std::to_string(i + 1) + ": ");
    std::vector<Value64> arguments = getArguments(i + 1);
    Value64 recorded;
    recorded.data = checkpoint.generations[i].data();
    arguments.push_back(recorded);
    if (failed(call(step + ".replay", arguments)))
      return failure();
  }
  if (done)
    fitness = checkpoint.generations.back();
  return success();
}

LogicalResult Run::evolve() {
  unsigned last = options.replay.empty() ? options.generations : done;
  CheckpointWriter writer;
  std::string save = options.save.empty() ? options.resume : options.save;
  if (!save.empty())
    if (llvm::Error error = writer.open(save, checkpoint))
      return fail(std::move(error));
  Progress progress(last, done, options.showProgress);
  bool maximize = options.evolution.direction == Direction::maximize;
  for (unsigned generation = done + 1; generation <= last; ++generation) {
    if (failed(takeBatch(generation)))
      return failure();
    setStopContext("generation " + std::to_string(generation) + ": ");
    std::clock_t start = std::clock();
    FailureOr<std::vector<Value64>> results =
        call(step, getArguments(generation));
    if (failed(results))
      return failure();
    seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
    countedPeak = std::max(countedPeak, program->getPeakBytes());
    const auto *bits = static_cast<const float *>(results->back().data);
    fitness.assign(bits, bits + options.evolution.population);
    memory::release(results->back().data);
    if (!save.empty())
      if (llvm::Error error = writer.append(fitness))
        return fail(std::move(error));
    progress.show(generation, FitnessSummary(fitness, maximize));
  }
  done = std::max(done, last);
  return success();
}

LogicalResult Run::report() {
  raw_ostream &os = llvm::outs();
  os << "@" << entry << ": " << done << " generations of "
     << options.evolution.population << " members\n";
  if (!fitness.empty()) {
    FitnessSummary summary(fitness,
                           options.evolution.direction == Direction::maximize);
    os << llvm::format("fitness: mean %.4g, best %.4g\n", summary.mean,
                       double(summary.best));
  }
  if (has(".score")) {
    std::vector<Value64> parameters;
    for (const Slot &slot : slots)
      if (slot.isParameter())
        parameters.push_back(slot.value);
    FailureOr<std::vector<Value64>> score = call(getName(".score"), parameters);
    if (failed(score))
      return failure();
    float value;
    std::memcpy(&value, &score->front().bits, 4);
    os << llvm::format("score: %.4g\n", double(value));
  }
  os << "peak: predicted " << predictedPeak << " B";
  if (countedPeak)
    os << ", counted " << countedPeak << " B";
  os << "\n";
  if (options.showTime)
    os << llvm::format("time: %.6g s\n", seconds);
  if (options.showDigest)
    os << "parameters: " << llvm::format_hex_no_prefix(digestParameters(), 16)
       << "\n";
  return success();
}

LogicalResult Run::run() {
  if (failed(findModel()) || failed(buildStep()) || failed(checkHelpers()) ||
      failed(compile()) || failed(allocate()) || failed(readCheckpoints()))
    return failure();
  // A run from a checkpoint has its parameters already.
  if ((!isReplayed() && failed(initialise())) || failed(evolve()) ||
      failed(writeArrays()))
    return failure();
  return report();
}
