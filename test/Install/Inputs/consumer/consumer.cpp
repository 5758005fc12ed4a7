// A compiler with a pipeline of its own that asks es-opt for the peak.
#include "es/Analysis/MemoryProfile.h"
#include "es/InitAll.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace {
struct AskPeak : PassWrapper<AskPeak, OperationPass<ModuleOp>> {
  void runOnOperation() override {
    es::ModuleProfiler profiler((es::ProfileOptions()));
    for (auto func : getOperation().getOps<func::FuncOp>()) {
      FailureOr<es::MemoryProfile> profile = profiler.profile(func);
      if (failed(profile))
        return signalPassFailure();
      llvm::outs() << "@" << func.getName() << " " << profile->peakBytes
                   << "\n";
    }
  }
};
} // namespace

int main(int argc, char **argv) {
  DialectRegistry registry;
  registerAllDialects(registry);
  es::registerAllDialects(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;
  PassManager manager(&context);
  manager.addPass(es::createStripAnnotations());
  manager.addPass(std::make_unique<AskPeak>());
  return failed(manager.run(*module));
}
