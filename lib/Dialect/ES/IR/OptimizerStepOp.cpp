//===- OptimizerStepOp.cpp - The update of parameters ---------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Dialect/ES/IR/ES.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::es;

bool mlir::es::readsStep(OptimizerKind kind) {
  return kind == OptimizerKind::adam || kind == OptimizerKind::adamw ||
         kind == OptimizerKind::adamw8bit;
}

SmallVector<SmallVector<int64_t>, 2>
mlir::es::getStateShapes(OptimizerKind kind, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> whole(shape);
  switch (kind) {
  case OptimizerKind::sgd:
    return {};
  case OptimizerKind::momentum:
  case OptimizerKind::lion:
    return {whole};
  case OptimizerKind::adam:
  case OptimizerKind::adamw:
  case OptimizerKind::adamw8bit:
    return {whole, whole};
  case OptimizerKind::adafactor: {
    if (shape.size() < 2)
      return {whole};
    SmallVector<int64_t> row(shape.drop_back());
    SmallVector<int64_t> column(shape.drop_back(2));
    column.push_back(shape.back());
    return {row, column};
  }
  }
  llvm_unreachable("every rule has states");
}

LogicalResult OptimizerStepOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, *properties.as<Properties *>(),
                  regions);
  llvm::append_range(types, TypeRange(adaptor.getParameters()));
  llvm::append_range(types, TypeRange(adaptor.getStates()));
  return success();
}

static LogicalResult verifyShape(OptimizerStepOp op, StringRef what,
                                 ArrayRef<int64_t> expected, Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped || shaped.getShape() == expected)
    return success();
  return op.emitOpError() << "(O2) expects a " << what << " of shape ["
                          << expected << "], got " << type;
}

LogicalResult OptimizerStepOp::verify() {
  size_t count = getParameters().size();
  if (getGradients().size() != count || count == 0)
    return emitOpError() << "(O1) expects a gradient for each of " << count
                         << " parameters, got " << getGradients().size();
  if (getImpl() != OptimizerImpl::foreach && count != 1)
    return emitOpError() << "(O3) expects one parameter with '"
                         << stringifyOptimizerImpl(getImpl()) << "', got "
                         << count;
  if (readsStep(getKind()) != bool(getStep()))
    return emitOpError() << "(O4) expects "
                         << (readsStep(getKind()) ? "a" : "no")
                         << " step with '" << stringifyOptimizerKind(getKind())
                         << "'";
  size_t next = 0;
  for (auto [parameter, gradient] :
       llvm::zip(getParameters(), getGradients())) {
    auto type = dyn_cast<RankedTensorType>(parameter.getType());
    ArrayRef<int64_t> shape = type ? type.getShape() : ArrayRef<int64_t>();
    SmallVector<SmallVector<int64_t>, 2> states =
        getStateShapes(getKind(), shape);
    if (getMasterWeights())
      states.push_back(SmallVector<int64_t>(shape));
    // How many states a matrix has that cannot be seen into is not ours to say.
    if (!type)
      return success();
    if (failed(verifyShape(*this, "gradient", shape, gradient.getType())))
      return failure();
    for (ArrayRef<int64_t> state : states) {
      if (next == getStates().size())
        return emitOpError() << "(O1) expects " << states.size()
                             << " states for each parameter, got "
                             << getStates().size() << " in all";
      if (failed(verifyShape(*this, "state", state,
                             getStates()[next++].getType())))
        return failure();
    }
  }
  if (next != getStates().size())
    return emitOpError() << "(O1) expects " << next << " states, got "
                         << getStates().size();
  return success();
}
