//===- SinkPerturb.cpp - Only what is read is perturbed -------------------===//
//
// Part of es-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The noise of an element is that of its place in the parameter, so that the
// perturbed part of a parameter is the part of the parameter, perturbed.
//
//===----------------------------------------------------------------------===//

#include "es/Training/EvolutionGraph.h"
#include "es/Training/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace mlir::es {
#define GEN_PASS_DEF_SINKPERTURB
#include "es/Training/Passes.h.inc"
} // namespace mlir::es

using namespace mlir;
using namespace mlir::es;

static Value createEmptyLike(OpBuilder &builder, Value like) {
  Location loc = like.getLoc();
  return tensor::EmptyOp::create(builder, loc,
                                 tensor::getMixedSizes(builder, loc, like),
                                 getElementTypeOrSelf(like.getType()));
}

/// The same noise on another tensor, with this rank if that is a matrix.
static PerturbOp createOn(OpBuilder &builder, PerturbOp op, Value part,
                          Value destination, Value at, Value rows,
                          uint64_t rank) {
  return PerturbOp::create(builder, op.getLoc(), op.getNoise(), part,
                           op.getParam(), destination, op.getKey(),
                           op.getMember(), at, rows, op.getSigma(), rank,
                           op.getAntithetic(), op.getUndo());
}

/// Low-rank noise is that of a matrix, scales of an axis are those of the
/// whole.
bool mlir::es::canPerturbParts(PerturbOp op) {
  Type stored = op.getParam().getStored();
  bool isMatrix = cast<ShapedType>(op.getParameter().getType()).getRank() == 2;
  return !(isMatrix && op.getRank()) &&
         (!isa_and_nonnull<quant::QuantizedType>(stored) ||
          isa<quant::UniformQuantizedType>(stored));
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// True if the elements follow each other: behind a dimension of which more
/// than one element is taken, all dimensions are taken whole.
static bool isContiguous(tensor::ExtractSliceOp slice) {
  ArrayRef<int64_t> whole = slice.getSourceType().getShape();
  bool isCut = false;
  for (auto [size, stride, of] :
       llvm::zip(slice.getStaticSizes(), slice.getStaticStrides(), whole)) {
    if (stride != 1 || ShapedType::isDynamic(size) || ShapedType::isDynamic(of))
      return false;
    if (isCut && size != of)
      return false;
    isCut |= size != 1;
  }
  return true;
}

/// Where the slice starts, in elements.
static Value getStart(OpBuilder &builder, tensor::ExtractSliceOp slice,
                      Value base) {
  Location loc = slice.getLoc();
  ArrayRef<int64_t> whole = slice.getSourceType().getShape();
  Value start = base;
  int64_t stride = 1, known = 0;
  auto add = [&](Value value) {
    start = start ? arith::AddIOp::create(builder, loc, start, value) : value;
  };
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  for (int64_t i = whole.size() - 1; i >= 0; stride *= whole[i], --i) {
    if (std::optional<int64_t> constant = getConstantIntValue(offsets[i])) {
      known += *constant * stride;
      continue;
    }
    Value factor = arith::ConstantIndexOp::create(builder, loc, stride);
    add(arith::MulIOp::create(builder, loc, cast<Value>(offsets[i]), factor));
  }
  if (known || !start)
    add(arith::ConstantIndexOp::create(builder, loc, known));
  return start;
}

static bool sinkInto(tensor::ExtractSliceOp slice, PerturbOp op,
                     SmallVectorImpl<PerturbOp> &worklist) {
  if (!canPerturbParts(op) || op.getRows() || !isContiguous(slice))
    return false;
  OpBuilder builder(slice);
  Value start = getStart(builder, slice, op.getAt());
  builder.setInsertionPointAfter(slice);
  slice.getSourceMutable().set(op.getParameter());
  PerturbOp sunk =
      createOn(builder, op, slice.getResult(),
               createEmptyLike(builder, slice.getResult()), start, Value(), 0);
  slice.getResult().replaceUsesWithIf(sunk.getPerturbed(), [&](OpOperand &use) {
    return use.getOwner() != sunk && !isa<tensor::DimOp>(use.getOwner());
  });
  worklist.push_back(sunk);
  return true;
}

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

/// The rows that a gather takes: `out[i, j] = table[cast(rows[i]), j]`.
static Value matchGather(linalg::GenericOp gather, Value table) {
  if (gather.getNumDpsInputs() != 1 || gather->getNumResults() != 1 ||
      gather.getNumReductionLoops() != 0)
    return nullptr;
  auto tableType = cast<RankedTensorType>(table.getType());
  auto type = dyn_cast<RankedTensorType>(gather->getResult(0).getType());
  Value rows = gather.getDpsInputs()[0];
  auto rowsType = dyn_cast<RankedTensorType>(rows.getType());
  if (!type || !rowsType || !rowsType.hasStaticShape())
    return nullptr;
  int64_t trailing = tableType.getRank() - 1, leading = rowsType.getRank();
  if (trailing < 1 || type.getRank() != leading + trailing ||
      type.getShape().take_back(trailing) != tableType.getShape().drop_front())
    return nullptr;
  AffineMap identity = AffineMap::getMultiDimIdentityMap(gather.getNumLoops(),
                                                         gather.getContext());
  if (gather.getIndexingMapsArray()[0] != identity.getMajorSubMap(leading) ||
      gather.getIndexingMapsArray()[1] != identity)
    return nullptr;
  Block &body = *gather.getBody();
  auto extract =
      body.getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract.getTensor() != table)
    return nullptr;
  Value row = extract.getIndices()[0];
  while (Operation *cast = row.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(cast))
      return nullptr;
    row = cast->getOperand(0);
  }
  if (row != body.getArgument(0))
    return nullptr;
  for (auto [i, index] : llvm::enumerate(extract.getIndices().drop_front())) {
    auto column = index.getDefiningOp<linalg::IndexOp>();
    if (!column || column.getDim() != leading + i)
      return nullptr;
  }
  return rows;
}

/// The rows are memory of their own, and perturbed in place.
static bool sinkInto(linalg::GenericOp gather, PerturbOp op) {
  if (!gather || !canPerturbParts(op) || op.getRows() || op.getAt())
    return false;
  Value rows = matchGather(gather, op.getPerturbed());
  if (!rows)
    return false;
  OpBuilder builder(gather);
  builder.setInsertionPointAfter(gather);
  gather->walk([&](tensor::ExtractOp extract) {
    if (extract.getTensor() == op.getPerturbed())
      extract.getTensorMutable().set(op.getParameter());
  });
  Value gathered = gather->getResult(0);
  PerturbOp sunk = createOn(builder, op, gathered, gathered, Value(), rows, 0);
  gathered.replaceUsesWithIf(sunk.getPerturbed(), [&](OpOperand &use) {
    return use.getOwner() != sunk && !isa<tensor::DimOp>(use.getOwner());
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

/// Where the loops read the transposed tensor, with what it is a transpose of.
static AffineMap readThrough(linalg::TransposeOp transpose, AffineMap map) {
  SmallVector<AffineExpr> results(map.getNumResults());
  for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
    results[from] = map.getResult(to);
  return AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                        map.getContext());
}

/// An op that reads its operand elsewhere, in the order that it had.
static void readThrough(linalg::TransposeOp transpose, linalg::LinalgOp user) {
  if (!user || isa<linalg::TransposeOp, linalg::BroadcastOp, linalg::ReduceOp>(
                   user.getOperation()))
    return;
  Value transposed = transpose->getResult(0);
  if (llvm::is_contained(user.getDpsInits(), transposed))
    return;
  IRRewriter rewriter(user);
  FailureOr<linalg::GenericOp> generic =
      isa<linalg::GenericOp>(user.getOperation())
          ? cast<linalg::GenericOp>(user.getOperation())
          : linalg::generalizeNamedOp(rewriter, user);
  if (failed(generic))
    return;
  SmallVector<AffineMap> maps = generic->getIndexingMapsArray();
  for (OpOperand *input : generic->getDpsInputOperands()) {
    if (input->get() != transposed)
      continue;
    unsigned number = input->getOperandNumber();
    maps[number] = readThrough(transpose, maps[number]);
    input->set(transpose.getInput());
  }
  generic->setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
}

void mlir::es::foldTransposes(Value value) {
  SmallVector<linalg::TransposeOp> transposes;
  for (Operation *user : value.getUsers())
    if (auto transpose = dyn_cast<linalg::TransposeOp>(user);
        transpose && transpose.getInput() == value)
      transposes.push_back(transpose);
  for (linalg::TransposeOp transpose : transposes) {
    llvm::SetVector<Operation *> users(transpose->user_begin(),
                                       transpose->user_end());
    for (Operation *user : users)
      readThrough(transpose, dyn_cast<linalg::LinalgOp>(user));
    if (transpose->use_empty())
      transpose.erase();
  }
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// Drops what is sunk from ops that say how long it lives.
static void dropReleases(Operation *root,
                         const llvm::DenseSet<Value> &perturbed) {
  SmallVector<ReleaseOp> releases;
  root->walk([&](ReleaseOp op) { releases.push_back(op); });
  auto isSunk = [&](Value value) {
    if (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>())
      value = cast.getInputs()[0];
    return perturbed.contains(value);
  };
  for (ReleaseOp op : releases) {
    SmallVector<Value> kept = llvm::to_vector(llvm::make_filter_range(
        op.getValues(), [&](Value value) { return !isSunk(value); }));
    if (kept.size() == op.getValues().size())
      continue;
    OpBuilder builder(op);
    if (!kept.empty())
      ReleaseOp::create(builder, op.getLoc(), kept);
    op.erase();
  }
}

/// The op that runs as one where `user` is in the body of a structured op.
static Operation *getReader(Operation *user) {
  Operation *reader = user;
  for (Operation *op = user; op; op = op->getParentOp())
    if (isa<linalg::LinalgOp>(op))
      reader = op;
  return reader;
}

/// A perturbed tensor of its own for an op, in the type that it reads.
static Value createFor(Operation *user, PerturbOp op, Operation *cast) {
  OpBuilder builder(user);
  PerturbOp own = createOn(builder, op, op.getParameter(),
                           createEmptyLike(builder, op.getParameter()),
                           op.getAt(), op.getRows(), op.getRank());
  if (!cast)
    return own.getPerturbed();
  IRMapping mapping;
  mapping.map(op.getPerturbed(), own.getPerturbed());
  return builder.clone(*cast, mapping)->getResult(0);
}

/// Of `value`, which is `op`'s result or a cast of it.
static void sinkToUses(PerturbOp op, Value value, Operation *cast,
                       SmallVectorImpl<PerturbOp> &worklist) {
  foldTransposes(value);
  llvm::MapVector<Operation *, SmallVector<OpOperand *, 1>> uses;
  for (OpOperand &use : value.getUses())
    uses[getReader(use.getOwner())].push_back(&use);
  // In program order, whatever the order of the list.
  SmallVector<Operation *> users(llvm::make_first_range(uses));
  std::reverse(users.begin(), users.end());
  for (Operation *user : users) {
    if (!cast && isa<UnrealizedConversionCastOp>(user)) {
      sinkToUses(op, user->getResult(0), user, worklist);
      if (user->use_empty())
        user->erase();
      continue;
    }
    if (!cast) {
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
          slice && sinkInto(slice, op, worklist))
        continue;
      if (sinkInto(dyn_cast<linalg::GenericOp>(user), op))
        continue;
    }
    Value own = createFor(user, op, cast);
    for (OpOperand *operand : uses[user])
      operand->set(own);
  }
}

/// In memory of its own, rather than in place.
static bool canSink(PerturbOp op) {
  return op.getPerturbed() &&
         isa_and_nonnull<tensor::EmptyOp>(op.getDestination().getDefiningOp());
}

void mlir::es::sinkPerturbations(Operation *root) {
  SmallVector<PerturbOp> worklist;
  llvm::DenseSet<Value> perturbed;
  root->walk([&](PerturbOp op) {
    if (!canSink(op))
      return;
    worklist.push_back(op);
    perturbed.insert(op.getPerturbed());
  });
  dropReleases(root, perturbed);
  for (size_t i = 0; i < worklist.size(); ++i) {
    PerturbOp op = worklist[i];
    sinkToUses(op, op.getPerturbed(), nullptr, worklist);
    Operation *empty = op.getDestination().getDefiningOp();
    op.erase();
    if (empty->use_empty())
      empty->erase();
  }
}

namespace {
struct SinkPerturbPass : es::impl::SinkPerturbBase<SinkPerturbPass> {
  void runOnOperation() override { sinkPerturbations(getOperation()); }
};
} // namespace
