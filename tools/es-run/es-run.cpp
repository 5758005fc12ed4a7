//===- es-run.cpp - Run a model's Evolution Strategies --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the step of a model, compiles it for this machine, and runs
// generations of it.
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "es/InitAll.h"
#include "es/Training/Options.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace mlir::es;

namespace cl = llvm::cl;

static cl::OptionCategory category("es-run");

namespace {
struct Flags {
  cl::opt<std::string> file{cl::Positional, cl::Required,
                            cl::desc("<model.mlir>"), cl::cat(category)};
#define ES_OPTION(member, flag, value, help)                                   \
  cl::opt<std::string> member{flag, cl::desc(help), cl::init(value),           \
                              cl::cat(category)};
#include "es/Training/Evolution.def"
#undef ES_OPTION
#undef ES_SWITCH
  cl::opt<std::string> entry{
      "entry", cl::desc("the model (default: the only public function)"),
      cl::cat(category)};
  cl::opt<std::string> loss{
      "loss", cl::init("auto"),
      cl::desc("auto, xent, mse, sum, or the numbers of the results that are "
               "the loss (0, or 0+2 for their sum)"),
      cl::cat(category)};
  cl::list<std::string> train{"train", cl::desc("parameters to train"),
                              cl::cat(category)};
  cl::list<std::string> freeze{"freeze", cl::desc("parameters to freeze"),
                               cl::cat(category)};
  cl::opt<unsigned> generations{"generations", cl::init(100),
                                cl::desc("how many there are in the end"),
                                cl::cat(category)};
  cl::opt<unsigned> threads{
      "es-threads", cl::init(1),
      cl::desc("threads of perturbations and updates; no bit depends on them"),
      cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::init(0), cl::desc("of all noise"),
                         cl::cat(category)};
  cl::opt<std::string> load{
      "load",
      cl::desc("a folder of NAME.npy: parameters, and inputs that no "
               "function makes"),
      cl::cat(category)};
  cl::opt<std::string> out{
      "out", cl::desc("write parameters and states to NAME.npy in this folder"),
      cl::cat(category)};
  cl::opt<std::string> save{"save",
                            cl::desc("write a checkpoint, a line a generation"),
                            cl::cat(category)};
  cl::opt<std::string> resume{
      "resume", cl::desc("go on from a checkpoint, and append to it"),
      cl::cat(category)};
  cl::opt<std::string> replay{
      "replay",
      cl::desc("compute the parameters of a checkpoint again, and run "
               "nothing"),
      cl::cat(category)};
  cl::opt<bool> progress{"progress",
                         cl::desc("a line a generation on standard error, also "
                                  "where that is no terminal"),
                         cl::cat(category)};
  cl::opt<bool> time{
      "time", cl::desc("print the processor time of the last generation"),
      cl::cat(category)};
  cl::opt<bool> digest{"digest",
                       cl::desc("print a digest of the parameters' bits"),
                       cl::cat(category)};

  llvm::Expected<RunOptions> collect(MLIRContext *context) const;
};
} // namespace

llvm::Expected<RunOptions> Flags::collect(MLIRContext *context) const {
  RunOptions options;
  options.entry = StringRef(entry).ltrim('@').str();
  options.generations = generations;
  options.seed = seed;
  options.threads = threads;
  options.load = load;
  options.out = out;
  options.save = save;
  options.resume = resume;
  options.replay = replay;
  options.showProgress = progress;
  options.showDigest = digest;
  options.showTime = time;
  auto fail = [](const char *text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
  };
  if (threads < 1 || threads > 1024)
    return fail("--es-threads expects a number from 1 to 1024");
  if (threads > 1 && !Program::hasThreads())
    return fail(
        "--es-threads expects 1: es-run was built without LLVM's libomp");
  if (!resume.empty() && !replay.empty())
    return fail("--resume and --replay exclude each other");
  if (!replay.empty() && !save.empty())
    return fail("--replay and --save exclude each other");
  // The last of both that matches wins.
  std::vector<std::tuple<unsigned, ParameterRule::Kind, std::string>> ordered;
  for (unsigned i = 0, e = train.size(); i < e; ++i)
    ordered.push_back({train.getPosition(i), ParameterRule::Train, train[i]});
  for (unsigned i = 0, e = freeze.size(); i < e; ++i)
    ordered.push_back(
        {freeze.getPosition(i), ParameterRule::Freeze, freeze[i]});
  llvm::sort(ordered);
  std::vector<std::pair<ParameterRule::Kind, std::string>> given;
  for (auto &[position, kind, text] : ordered)
    given.push_back({kind, text});
  llvm::Expected<ParameterRules> rules = ParameterRules::parse(given, context);
  if (!rules)
    return rules.takeError();
  options.rules = std::move(*rules);
  llvm::Expected<EvolutionOptions> evolution =
      parseEvolutionOptions(collectEvolutionOptions(*this));
  if (!evolution)
    return evolution.takeError();
  options.evolution = *evolution;
  RawTrainingOptions raw;
  raw.loss = loss;
  llvm::Expected<TrainingOptions> training = parseTrainingOptions(raw, context);
  if (!training)
    return training.takeError();
  options.evolution.loss = training->loss;
  options.evolution.lossResults = training->lossResults;
  return options;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  Flags flags;
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "es-run: train a model by Evolution Strategies\n");
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::es::registerAllDialects(registry);
  mlir::es::registerAllPasses();
  registerAllToLLVMIRTranslations(registry);
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  llvm::Expected<RunOptions> options = flags.collect(&context);
  if (!options) {
    llvm::errs() << "error: " << llvm::toString(options.takeError()) << "\n";
    return 1;
  }
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(flags.file, sources, &context);
  return module && succeeded(Run(*module, *options).run()) ? 0 : 1;
}
