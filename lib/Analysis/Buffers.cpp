//===- Buffers.cpp - Which values share memory ----------------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "es/Analysis/Buffers.h"
#include "BufferSweep.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::es;

BufferAssignment BufferAssignment::compute(FunctionOpInterface func,
                                           const BufferOptions &options) {
  BufferAssignment result;
  result.function = func;
  result.order = std::make_shared<ProgramOrder>(func);
  result.lastReads = std::make_shared<LastReads>(*result.order);
  result.bufferOf.assign(result.order->getValues().size(), kNoBuffer);
  result.takeovers.assign(result.order->getValues().size(), 0);
  BufferSweep(result, options).run();
  return result;
}

std::vector<std::pair<Value, BufferId>> BufferAssignment::getValues() const {
  std::vector<std::pair<Value, BufferId>> values;
  for (auto [value, buffer] : llvm::zip(order->getValues(), bufferOf))
    if (buffer != kNoBuffer)
      values.push_back({value, buffer});
  return values;
}

bool BufferAssignment::isInPlace(OpOperand &operand) const {
  return !copies.contains(&operand);
}

BufferId BufferAssignment::getHandedOver(OpOperand &operand) const {
  auto it = handedOver.find(&operand);
  return it == handedOver.end() ? kNoBuffer : it->second;
}

std::optional<unsigned> BufferAssignment::getTakenOver(OpResult result) const {
  ValueNumber number = order->getNumber(result);
  if (number == kNoNumber || takeovers[number] == 0)
    return std::nullopt;
  return takeovers[number] - 1;
}

ArrayRef<OpOperand *> BufferAssignment::getMaterializedUses(Value splat) const {
  auto it = materialized.find(splat);
  return it == materialized.end() ? ArrayRef<OpOperand *>() : it->second;
}

ArrayRef<BufferId> BufferAssignment::getTargets(BufferId alias) const {
  // The number of no buffer is no key of a DenseMap.
  if (alias == kNoBuffer || targets.empty())
    return {};
  auto it = targets.find(alias);
  return it == targets.end() ? ArrayRef<BufferId>() : it->second;
}

ReturnedArguments BufferAssignment::getReturnedArguments() const {
  FunctionOpInterface func = function;
  ReturnedArguments returned(func.getNumResults());
  Region &body = func.getFunctionBody();
  for (Block &block : body) {
    if (block.empty() || !block.back().hasTrait<OpTrait::ReturnLike>())
      continue;
    for (OpOperand &operand : block.back().getOpOperands()) {
      BufferId buffer = getBuffer(operand.get());
      if (buffer == kNoBuffer || !isInPlace(operand) ||
          operand.getOperandNumber() >= returned.size())
        continue;
      auto argument = dyn_cast_if_present<BlockArgument>(table[buffer].root);
      if (argument && argument.getOwner() == &body.front())
        returned[operand.getOperandNumber()] = argument.getArgNumber();
    }
  }
  return returned;
}
