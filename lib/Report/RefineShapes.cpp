//===- RefineShapes.cpp - Shapes of foreign ops follow --------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One pass in program order after arguments were given static shapes: results
// of ops that are not linked in become as static as their operands tell. What
// was only there to compute shapes goes away, as in a static export: ops with
// sizes as operands become their static twins, sizes become constants.
//
//===----------------------------------------------------------------------===//

#include "Prepare.h"
#include "es/Foreign/Types.h"
#include "es/OpModel/CustomCalls.h"
#include "es/OpModel/OpModel.h"
#include "es/OpModel/RoleFacts.h"
#include "es/OpModel/Shapes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Visitors.h"

using namespace mlir;
using namespace mlir::es;

namespace {
class ShapeRefiner {
public:
  explicit ShapeRefiner(FunctionOpInterface func) : func(func) {}
  LogicalResult run();

private:
  void enter(Operation *op);
  void leave(Operation *op);
  void refine(Value value, ArrayRef<int64_t> shape);
  LogicalResult simplify(Operation *op);
  bool makeStatic(Operation *op);
  void foldSizes();

  FunctionOpInterface func;
  KnownIntegers known;
  /// Those of `known` in program order.
  SmallVector<Operation *> sizes;
};
} // namespace

static bool isForeign(Operation *op) { return !op->isRegistered(); }

static std::optional<Integers> getShape(Type type) {
  ShapedType shaped = getCarriedShape(type);
  if (!shaped || !shaped.hasRank())
    return std::nullopt;
  return Integers(shaped.getShape());
}

/// Uses of the value in upstream ops go on seeing the type that they know.
static void keepTypeForUpstream(Value value, Type old) {
  tensor::CastOp cast;
  for (OpOperand &use : llvm::make_early_inc_range(value.getUses())) {
    Operation *user = use.getOwner();
    bool returns = user->hasTrait<OpTrait::ReturnLike>() &&
                   isa<FunctionOpInterface>(user->getParentOp());
    if (isForeign(user) || returns || isa<tensor::CastOp>(user))
      continue;
    if (!cast) {
      OpBuilder builder(value.getContext());
      builder.setInsertionPointAfterValue(value);
      cast = tensor::CastOp::create(builder, value.getLoc(), old, value);
    }
    use.set(cast);
  }
}

/// Fills dynamic dimensions of the value's type from `shape`.
void ShapeRefiner::refine(Value value, ArrayRef<int64_t> shape) {
  std::optional<Integers> current = getShape(value.getType());
  if (!current || current->size() != shape.size())
    return;
  Integers refined = *current;
  for (auto [size, other] : llvm::zip(refined, shape))
    if (ShapedType::isDynamic(size) && (other >= 0))
      size = other;
  if (refined == *current)
    return;
  Type old = value.getType();
  Type type = withForeignShape(old, refined);
  if (!type)
    return;
  value.setType(type);
  if (isa<TensorType>(old))
    keepTypeForUpstream(value, old);
}

/// The values that the one block of a region hands to the op around it.
static ValueRange getYielded(Region &region) {
  if (!region.hasOneBlock() || region.front().empty())
    return {};
  return region.front().back().getOperands();
}

static bool isWhile(Operation *op) {
  return op->getName().stripDialect() == "while";
}

void ShapeRefiner::enter(Operation *op) {
  if (!isForeign(op))
    return;
  for (OpOperand &operand : op->getOpOperands())
    while (auto cast = operand.get().getDefiningOp<tensor::CastOp>())
      operand.set(cast.getSource());
  if (!isWhile(op))
    return;
  for (Region &region : op->getRegions())
    if (region.getNumArguments() == op->getNumOperands())
      for (auto [argument, init] :
           llvm::zip(region.getArguments(), op->getOperands()))
        if (std::optional<Integers> shape = getShape(init.getType()))
          refine(argument, *shape);
}

/// A result of control flow has the sizes on which all that it can be agree.
static std::optional<Integers> joinYielded(Operation *op, unsigned index) {
  SmallVector<Value> sources;
  if (isWhile(op))
    sources.push_back(op->getOperand(index));
  for (Region &region : op->getRegions()) {
    // The first region of a loop is its condition.
    if (isWhile(op) && &region == &op->getRegion(0))
      continue;
    ValueRange yielded = getYielded(region);
    if (yielded.size() != op->getNumResults())
      return std::nullopt;
    sources.push_back(yielded[index]);
  }
  std::optional<Integers> joined;
  for (Value source : sources) {
    std::optional<Integers> shape = getShape(source.getType());
    if (!shape || (joined && joined->size() != shape->size()))
      return std::nullopt;
    if (!joined) {
      joined = shape;
      continue;
    }
    for (auto [size, other] : llvm::zip(*joined, *shape))
      if (size != other)
        size = ShapedType::kDynamic;
  }
  return joined;
}

/// A branch, or a loop whose results are what it carries.
static bool isControlFlow(Operation *op) {
  return isWhile(op) ? op->getNumOperands() == op->getNumResults()
                     : isForeignIf(op);
}

void ShapeRefiner::leave(Operation *op) {
  if (!isForeign(op))
    return;
  if (std::optional<Integers> integers = evaluateIntegers(op, known)) {
    known[op->getResult(0)] = std::move(*integers);
    sizes.push_back(op);
    return;
  }
  if (op->getNumRegions() && isControlFlow(op)) {
    for (OpResult result : op->getResults())
      if (std::optional<Integers> shape =
              joinYielded(op, result.getResultNumber()))
        refine(result, *shape);
    return;
  }
  bool isStatic = llvm::all_of(op->getResultTypes(), [](Type type) {
    ShapedType shaped = getCarriedShape(type);
    return !shaped || shaped.hasStaticShape();
  });
  if (isStatic)
    return;
  for (auto [result, shape] :
       llvm::zip(op->getResults(), inferShapes(op, known)))
    if (shape)
      refine(result, *shape);
}

//===----------------------------------------------------------------------===//
// What computes shapes goes away
//===----------------------------------------------------------------------===//

namespace {
/// An op with integers as operands, and the op that has them as attributes.
struct StaticTwin {
  StringRef name, twin;
  unsigned numData;
  /// What the operands behind the data become; none for a result's shape.
  SmallVector<StringRef, 3> attributes;
};
} // namespace

static const StaticTwin *getStaticTwin(StringRef name) {
  static const StaticTwin table[] = {
      {"dynamic_reshape", "reshape", 1, {""}},
      {"dynamic_broadcast_in_dim", "broadcast_in_dim", 1, {""}},
      {"dynamic_iota", "iota", 0, {""}},
      {"real_dynamic_slice",
       "slice",
       1,
       {"start_indices", "limit_indices", "strides"}},
      {"dynamic_pad",
       "pad",
       2,
       {"edge_padding_low", "edge_padding_high", "interior_padding"}},
      {"dynamic_gather", "gather", 2, {"slice_sizes"}}};
  const StaticTwin *found = llvm::find_if(
      table, [&](const StaticTwin &line) { return line.name == name; });
  return found == std::end(table) ? nullptr : found;
}

/// Replaces an op whose integers are known by its static twin.
bool ShapeRefiner::makeStatic(Operation *op) {
  const StaticTwin *twin = getStaticTwin(op->getName().stripDialect());
  if (!twin ||
      op->getNumOperands() != twin->numData + twin->attributes.size() ||
      op->getNumResults() != 1)
    return false;
  std::optional<Integers> shape = getShape(op->getResult(0).getType());
  if (!shape || ShapedType::isDynamicShape(*shape))
    return false;
  OpBuilder builder(op);
  OperationState state(
      op->getLoc(),
      (op->getName().getDialectNamespace() + "." + twin->twin).str(),
      op->getOperands().take_front(twin->numData), op->getResultTypes(),
      op->getAttrs());
  for (auto [name, operand] : llvm::zip(
           twin->attributes, op->getOperands().drop_front(twin->numData))) {
    auto it = known.find(operand);
    if (it == known.end())
      return false;
    if (!name.empty())
      state.addAttribute(name, builder.getDenseI64ArrayAttr(it->second));
  }
  op->replaceAllUsesWith(builder.create(state));
  op->erase();
  return true;
}

/// The beginning of what JAX says if an assertion fails.
static StringRef getComplaint(Operation *assertion) {
  StringAttr message = getAssertionMessage(assertion);
  return message ? message.getValue().split(". Using").first
                 : StringRef("an assertion fails");
}

LogicalResult ShapeRefiner::simplify(Operation *op) {
  if (!isForeign(op) || makeStatic(op))
    return success();
  if (!isShapeAssertion(op))
    return success();
  auto it = known.find(op->getOperand(0));
  if (it == known.end())
    return success();
  if (it->second.empty() || !it->second.front())
    return op->emitError() << "the model does not allow these shapes: "
                           << getComplaint(op);
  op->erase();
  return success();
}

/// Sizes that are still read become constants.
void ShapeRefiner::foldSizes() {
  for (Operation *op : llvm::reverse(sizes)) {
    StringRef name = op->getName().stripDialect();
    if (op->use_empty() && name != "constant") {
      op->erase();
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (name == "constant" || !type)
      continue;
    SmallVector<APInt> values;
    for (int64_t value : known[op->getResult(0)])
      values.push_back(APInt(type.getElementTypeBitWidth(), value,
                             /*isSigned=*/true, /*implicitTrunc=*/true));
    OpBuilder builder(op);
    OperationState state(
        op->getLoc(), (op->getName().getDialectNamespace() + ".constant").str(),
        {}, type,
        builder.getNamedAttr("value", DenseElementsAttr::get(type, values)));
    op->replaceAllUsesWith(builder.create(state));
    op->erase();
  }
}

LogicalResult ShapeRefiner::run() {
  func->walk([&](Operation *op, const WalkStage &stage) {
    if (op == func.getOperation())
      return;
    if (stage.isBeforeAllRegions())
      enter(op);
    if (stage.isAfterAllRegions())
      leave(op);
  });
  SmallVector<Operation *> ops;
  func.getFunctionBody().walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    if (failed(simplify(op)))
      return failure();
  foldSizes();
  return success();
}

LogicalResult mlir::es::refineForeignShapes(FunctionOpInterface func) {
  return ShapeRefiner(func).run();
}
