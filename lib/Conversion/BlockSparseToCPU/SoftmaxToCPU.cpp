// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../PositionMasks.h"
#include "ElementConversion.h"
#include "LowerToLoops.h"
#include "StoredRows.h"
#include "VectorExp.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Describes an operand that is added to the scores or forbids elements, viewed as [B, H, M, N].
/// The segments of the columns forbid where they differ from that of the row.
struct ScoreTerm {
  enum Kind { Bias, AddMask, MulMask, Segments } kind;
  DenseView view;
};

/// Holds the matrix of a ScoreTerm for one (batch, head).
struct ScoreMatrix {
  ScoreTerm::Kind kind;
  MatrixView matrix;
};

/// Holds the views and parameters that a row of planned_softmax needs.
struct SoftmaxKernel {
  StoredRows table;
  ValuesView x, y;
  std::optional<DenseView> lse, knownLse;
  SmallVector<ScoreTerm> terms;
  PositionMasks positions;
  FloatType compute;
  double scale;
  /// A second factor of the scores, a number of the type `compute`; null if there is none.
  Value dynamicScale;
  VectorAccess access;

  VectorType vector() const { return VectorType::get({access.width}, compute); }
};

/// Describes a row and what the masks of the position allow in it, beside its limit.
struct MaskedRow : StoredRow {
  /// First column that is allowed; null if none is forbidden on the left.
  Value first;
  /// The segment of the row; null if there are none.
  Value segment;
};

} // namespace

/// Adds to `conditions` that the rows of an operand load as vectors: it has unit stride, or one
/// column that is broadcast.
static void requireUnitStride(ImplicitLocOpBuilder &b, const DenseView &view,
                              SmallVectorImpl<Value> &conditions) {
  if (knownIndex(view.cols()) != 1)
    conditions.push_back(view.hasUnitStride(b));
}

static SmallVector<ScoreTerm> getTerms(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op) {
  auto kind = [](MaskMode mode) {
    return mode == MaskMode::Add ? ScoreTerm::AddMask : ScoreTerm::MulMask;
  };
  SmallVector<ScoreTerm> terms;
  if (Value rpe = op.getRpe())
    terms.push_back({ScoreTerm::Bias, DenseView::get(b, rpe)});
  if (Value mask = op.getKeyPaddingMask()) {
    terms.push_back({kind(op.getKeyPaddingMaskMode()), getColumnVector(b, mask)});
  }
  if (Value mask = op.getAttentionMask())
    terms.push_back({kind(op.getAttentionMaskMode()), DenseView::get(b, mask)});
  if (Value segments = op.getKeySegments())
    terms.push_back({ScoreTerm::Segments, getColumnVector(b, segments)});
  return terms;
}

/// Returns the lanes in which a mask of any type is 0. The comparison is in the type of the mask,
/// because a small value must not round to 0.
static Value isZero(ImplicitLocOpBuilder &b, Value mask, FloatType compute) {
  Type element = cast<VectorType>(mask.getType()).getElementType();
  if (isa<IntegerType>(element))
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, mask,
                                 splatConstant(b, mask.getType(), 0));
  // Targets cannot compare 8-bit floats; every wider type represents all of them.
  if (element.getIntOrFloatBitWidth() == 8)
    mask = convertElements(b, mask, compute);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, mask,
                               splatConstant(b, mask.getType(), 0));
}

namespace {

/// Holds scale * x plus the added operands for a chunk; -inf in forbidden lanes, whatever the
/// operands are there.
struct Scores {
  Value scores;
  /// Lanes that are not forbidden; null: all.
  Value allowed;
};

} // namespace

/// Returns the scores of the lanes of `mask` (null: all); other lanes count as forbidden.
static Scores emitScores(ImplicitLocOpBuilder &b, const SoftmaxKernel &kernel,
                         ArrayRef<ScoreMatrix> terms, const MatrixView &x, const MaskedRow &row,
                         const Chunk &chunk, Value mask) {
  VectorType type = kernel.vector();
  Value minusInfinity = splatConstant(b, type, -std::numeric_limits<double>::infinity());
  Value score = convertElements(b, kernel.access.load(b, x, row.inBlock, chunk.inBlock, mask),
                                kernel.compute);
  if (kernel.scale != 1.0)
    score = arith::MulFOp::create(b, score, splatConstant(b, type, kernel.scale));
  if (kernel.dynamicScale)
    score = arith::MulFOp::create(b, score, splat(b, kernel.dynamicScale, kernel.access.width));
  Value forbidden;
  auto forbid = [&](Value hit) {
    forbidden = forbidden ? arith::OrIOp::create(b, forbidden, hit).getResult() : hit;
  };
  for (const ScoreMatrix &term : terms) {
    Value raw = kernel.access.load(b, term.matrix, row.inTensor, chunk.inTensor, mask);
    if (term.kind == ScoreTerm::MulMask) {
      forbid(isZero(b, raw, kernel.compute));
      continue;
    }
    if (term.kind == ScoreTerm::Segments) {
      Value own = splat(b, row.segment, kernel.access.width);
      forbid(arith::CmpIOp::create(b, arith::CmpIPredicate::ne, raw, own));
      continue;
    }
    Value value = convertElements(b, raw, kernel.compute);
    score = arith::AddFOp::create(b, score, value);
    if (term.kind == ScoreTerm::AddMask)
      forbid(arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, minusInfinity));
  }
  if (row.first)
    forbid(kernel.access.mask(b, Int(b, row.first) - chunk.inTensor));
  Value allowed = mask;
  if (forbidden) {
    Value yes = arith::ConstantOp::create(b, b.getOneAttr(forbidden.getType()));
    Value kept = arith::XOrIOp::create(b, forbidden, yes);
    allowed = mask ? arith::AndIOp::create(b, mask, kept).getResult() : kept;
  }
  if (allowed)
    score = arith::SelectOp::create(b, allowed, score, minusInfinity);
  return {score, allowed};
}

namespace {

/// Emits one row of planned_softmax in three passes: the largest score, the sum of the
/// exponentials, the result. If the log-sum-exp is known, the last pass does. y may be the same
/// memory as x: an element is written only after its last score has been computed.
class SoftmaxRow {
public:
  SoftmaxRow(ImplicitLocOpBuilder &b, const SoftmaxKernel &kernel, ArrayRef<ScoreMatrix> terms,
             const StoredRow &row)
      : kernel(kernel), terms(terms), row{row, {}, {}}, width(kernel.access.width),
        keepsExponentials(kernel.y.elementType() == kernel.compute),
        xBase(kernel.x.headBase(b, row.blocks.head)), yBase(kernel.y.headBase(b, row.blocks.head)) {
    Value batch = row.blocks.batch;
    PositionMasks::Columns columns = kernel.positions.getColumns(b, batch, row.inTensor);
    if (columns.end)
      this->row.limit = indexMin(b, row.limit, columns.end);
    this->row.first = columns.first;
    this->row.segment = kernel.positions.getSegment(b, batch, row.inTensor);
  }

  void emit(ImplicitLocOpBuilder &b);

private:
  Scores emitScores(ImplicitLocOpBuilder &b, const Chunk &chunk) const;
  /// Returns in each lane the largest of the scores that were processed in this lane.
  Value emitMaximum(ImplicitLocOpBuilder &b) const;
  /// Returns in each lane the sum of exp(score - shift) over the elements of this lane. If the
  /// element type of y can represent them, the exponentials are stored in y, with -1 for forbidden
  /// elements.
  Value emitSum(ImplicitLocOpBuilder &b, Value shifts);
  void emitResult(ImplicitLocOpBuilder &b, Value shifts, Value factors) const;
  /// Emits the row from its known log-sum-exp.
  void emitNormalised(ImplicitLocOpBuilder &b) const;
  void storeLogSumExp(ImplicitLocOpBuilder &b, Value lse) const;

  /// Returns exp(score - shift) and the lanes that are allowed (null: all).
  std::pair<Value, Value> emitExponential(ImplicitLocOpBuilder &b, const Chunk &chunk,
                                          Value shifts) const {
    Scores scores = emitScores(b, chunk);
    Value rounded = kernel.knownLse ? scores.scores : keepRounding(b, scores.scores);
    return {emitExp(b, arith::SubFOp::create(b, rounded, shifts)), scores.allowed};
  }
  /// Returns the scores as they were compared for the maximum. The processor's code would fuse the
  /// product of an element and the scale with the difference to the maximum, and so leave out the
  /// rounding that the maximum has: of equal scores near 1e38 each would be 2^100 away from it.
  Value keepRounding(ImplicitLocOpBuilder &b, Value scores) const {
    return LLVM::CallIntrinsicOp::create(
               b, scores.getType(), b.getStringAttr("llvm.arithmetic.fence"), ValueRange{scores})
        .getResult(0);
  }
  Value choose(ImplicitLocOpBuilder &b, Value allowed, Value value, double otherwise) const {
    if (!allowed)
      return value;
    return arith::SelectOp::create(b, allowed, value, splatConstant(b, kernel.vector(), otherwise));
  }

  MatrixView target(ImplicitLocOpBuilder &b, const Chunk &chunk) const {
    return kernel.y.block(b, row.blocks.batch, Int(b, yBase) + chunk.block);
  }
  void store(ImplicitLocOpBuilder &b, const Chunk &chunk, Value value) const {
    kernel.access.store(b, convertElements(b, value, kernel.y.elementType()), target(b, chunk),
                        row.inBlock, chunk.inBlock,
                        storageMask(b, kernel.table, kernel.access, chunk));
  }

  const SoftmaxKernel &kernel;
  ArrayRef<ScoreMatrix> terms;
  MaskedRow row;
  int64_t width;
  bool keepsExponentials;
  /// True if an element may be forbidden.
  bool forbids = false;
  Value xBase, yBase;
};

} // namespace

Scores SoftmaxRow::emitScores(ImplicitLocOpBuilder &b, const Chunk &chunk) const {
  VectorType type = kernel.vector();
  auto flags = cast<VectorType>(type.clone(b.getI1Type()));
  MatrixView x = kernel.x.block(b, row.blocks.batch, Int(b, xBase) + chunk.block);
  auto emit = [&](ImplicitLocOpBuilder &b, Value mask) -> SmallVector<Value> {
    Scores scores = ::emitScores(b, kernel, terms, x, row, chunk, mask);
    // Both branches of a chunk that may be incomplete must return the same types.
    if (!scores.allowed && chunk.valid)
      scores.allowed = arith::ConstantOp::create(b, b.getOneAttr(flags));
    return {scores.scores, scores.allowed};
  };
  SmallVector<Value> both = readChunk(b, kernel.access, chunk, {type, flags}, emit);
  return {both[0], both[1]};
}

Value SoftmaxRow::emitMaximum(ImplicitLocOpBuilder &b) const {
  Value lowest = splatConstant(b, kernel.vector(), -std::numeric_limits<double>::infinity());
  return forEachChunk(b, kernel.table, row, width, lowest,
                      [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value so) -> Value {
                        return arith::MaximumFOp::create(b, so, emitScores(b, chunk).scores);
                      });
}

Value SoftmaxRow::emitSum(ImplicitLocOpBuilder &b, Value shifts) {
  return forEachChunk(b, kernel.table, row, width, splatConstant(b, kernel.vector(), 0),
                      [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value so) -> Value {
                        auto [e, allowed] = emitExponential(b, chunk, shifts);
                        forbids |= static_cast<bool>(allowed);
                        if (keepsExponentials)
                          store(b, chunk, choose(b, allowed, e, -1));
                        return arith::AddFOp::create(b, so, choose(b, allowed, e, 0));
                      });
}

void SoftmaxRow::emitResult(ImplicitLocOpBuilder &b, Value shifts, Value factors) const {
  Value zero = splatConstant(b, kernel.vector(), 0);
  forEachChunk(b, kernel.table, row, width, nullptr,
               [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value) -> Value {
                 if (!keepsExponentials) {
                   auto [e, allowed] = emitExponential(b, chunk, shifts);
                   Value p = arith::MulFOp::create(b, e, factors);
                   store(b, chunk, choose(b, allowed, p, 0));
                   return nullptr;
                 }
                 Value e = kernel.access.load(b, target(b, chunk), row.inBlock, chunk.inBlock,
                                              storageMask(b, kernel.table, kernel.access, chunk));
                 Value p = arith::MulFOp::create(b, e, factors);
                 if (forbids) {
                   // Forbidden elements are 0 even in a row that is NaN.
                   Value hit = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, e, zero);
                   p = arith::SelectOp::create(b, hit, zero, p);
                 }
                 store(b, chunk, p);
                 return nullptr;
               });
}

void SoftmaxRow::storeLogSumExp(ImplicitLocOpBuilder &b, Value lse) const {
  kernel.lse->matrix(b, row.blocks.batch, row.blocks.head)
      .store(b, convertElements(b, lse, kernel.lse->elementType()), row.inTensor,
             indexConstant(b, 0));
}

void SoftmaxRow::emitNormalised(ImplicitLocOpBuilder &b) const {
  MatrixView matrix = kernel.knownLse->matrix(b, row.blocks.batch, row.blocks.head);
  Value lse = convertElements(b, matrix.load(b, row.inTensor, indexConstant(b, 0)), kernel.compute);
  // A row whose lse is -infinity allows nothing: with a shift of infinity every power is 0.
  Value infinity = splatConstant(b, kernel.compute, std::numeric_limits<double>::infinity());
  Value minusInfinity = splatConstant(b, kernel.compute, -std::numeric_limits<double>::infinity());
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, lse, minusInfinity);
  Value shifts = splat(b, arith::SelectOp::create(b, empty, infinity, lse), width);
  forEachChunk(b, kernel.table, row, width, nullptr,
               [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value) -> Value {
                 auto [e, allowed] = emitExponential(b, chunk, shifts);
                 store(b, chunk, choose(b, allowed, e, 0));
                 return nullptr;
               });
  if (kernel.lse)
    storeLogSumExp(b, lse);
}

void SoftmaxRow::emit(ImplicitLocOpBuilder &b) {
  if (kernel.knownLse)
    return emitNormalised(b);
  Value minusInfinity = splatConstant(b, kernel.compute, -std::numeric_limits<double>::infinity());
  Value zero = splatConstant(b, kernel.compute, 0), one = splatConstant(b, kernel.compute, 1);
  Value maximum = vector::ReductionOp::create(b, vector::CombiningKind::MAXIMUMF, emitMaximum(b));
  // `alive` is true for NaN, which then reaches every allowed element of the row.
  Value alive = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, maximum, minusInfinity);
  Value shift = arith::SelectOp::create(b, alive, maximum, zero);
  Value shifts = splat(b, shift, width);
  Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, emitSum(b, shifts), zero);
  Value inverse = arith::SelectOp::create(b, alive, arith::DivFOp::create(b, one, sum), zero);
  emitResult(b, shifts, splat(b, inverse, width));
  if (!kernel.lse)
    return;
  // A row without an allowed element has sum 0, so its lse is -inf.
  storeLogSumExp(b, arith::AddFOp::create(b, shift, math::LogOp::create(b, sum)));
}

static void emitSoftmax(ImplicitLocOpBuilder &b, const SoftmaxKernel &kernel) {
  forEachBlockRow(b, kernel.table, [&](ImplicitLocOpBuilder &b, const BlockRow &blocks) {
    SmallVector<ScoreMatrix> terms;
    for (const ScoreTerm &term : kernel.terms)
      terms.push_back({term.kind, term.view.matrix(b, blocks.batch, blocks.head)});
    forEachRow(
        b, kernel.table, blocks,
        [&](ImplicitLocOpBuilder &b, StoredRow row) { SoftmaxRow(b, kernel, terms, row).emit(b); },
        [&](ImplicitLocOpBuilder &b, StoredRow row) {
          zeroRow(b, kernel.table, row, kernel.y, kernel.access);
        });
  });
  zeroSpareBlocks(b, kernel.table, kernel.y);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op,
                                     const CPULoweringOptions &options) {
  Value y = op.getInits().front(), heads;
  SoftmaxKernel kernel;
  auto rowVectors = [&](Value lse) {
    int64_t rank = cast<MemRefType>(lse.getType()).getRank();
    DenseView view = DenseView::get(b, lse, DenseAxes::ofRowVectors(rank));
    heads = view.heads();
    return view;
  };
  if (Value known = op.getKnownLse())
    kernel.knownLse = rowVectors(known);
  if (op.getInits().size() > 1)
    kernel.lse = rowVectors(op.getInits()[1]);
  kernel.table = StoredRows::get(b, op.getSegments(), op.getEntries(), op.getBlock(), op.getShape(),
                                 op.getLutHeads(), y, nullptr, heads);
  auto values = [&](Value memref) {
    return ValuesView::get(b, memref, op.getLutHeads(), kernel.table.entries.rows(),
                           kernel.table.heads);
  };
  kernel.x = values(op.getX());
  kernel.y = values(y);
  kernel.terms = getTerms(b, op);
  kernel.compute = getComputeType(kernel.x.elementType());
  kernel.scale = op.getScale().convertToDouble();
  if (Value factor = op.getDynamicScale())
    kernel.dynamicScale = memref::LoadOp::create(b, factor, ValueRange());
  kernel.positions = PositionMasks(b, op, [](Value operand) { return operand; });
  int64_t width = chooseWidth(kernel.table.blockCols, kernel.compute.getWidth(), options.vectorBits,
                              op.getScheduleAttr());
  SmallVector<Value> conditions{kernel.x.hasContiguousBlocks(b), kernel.y.hasContiguousBlocks(b)};
  for (const ScoreTerm &term : kernel.terms)
    requireUnitStride(b, term.view, conditions);
  emitVersions(b, conditions, [&](ImplicitLocOpBuilder &b, bool unitStride) {
    kernel.access = {width, unitStride};
    emitSoftmax(b, kernel);
  });
}
