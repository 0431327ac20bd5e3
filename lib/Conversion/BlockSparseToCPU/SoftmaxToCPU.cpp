// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementConversion.h"
#include "SoftmaxPatterns.h"
#include "StoredRows.h"
#include "VectorExp.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// An operand that is added to the logits or forbids elements, seen as [B, H, M, N].
struct ScoreTerm {
  enum Kind { Bias, AddMask, MulMask } kind;
  DenseView view;
};

/// The same for one (batch, head).
struct ScoreMatrix {
  ScoreTerm::Kind kind;
  MatrixView matrix;
};

/// Everything that a row of planned_softmax needs.
struct SoftmaxKernel {
  StoredRows table;
  ValuesView x, y;
  std::optional<DenseView> lse;
  SmallVector<ScoreTerm> terms;
  FloatType compute;
  double scale;
  bool causal;
  VectorAccess access;

  VectorType vector() const { return VectorType::get({access.width}, compute); }
};

} // namespace

/// Whether an operand is so laid out (or broadcast) that its rows load as vectors.
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
    DenseAxes axes;
    axes.col = static_cast<int>(cast<MemRefType>(mask.getType()).getRank()) - 1;
    axes.batch = axes.col - 1;
    terms.push_back({kind(op.getKeyPaddingMaskMode()), DenseView::get(b, mask, axes)});
  }
  if (Value mask = op.getAttentionMask())
    terms.push_back({kind(op.getAttentionMaskMode()), DenseView::get(b, mask)});
  return terms;
}

/// scale * x + the terms for the lanes of `mask` (null: all); -inf where a mask forbids, whatever
/// the rest is.
static Value emitScore(ImplicitLocOpBuilder &b, const SoftmaxKernel &kernel,
                       ArrayRef<ScoreMatrix> terms, const MatrixView &x, const StoredRow &row,
                       const Chunk &chunk, Value mask) {
  VectorType type = kernel.vector();
  Value minusInfinity = splatConstant(b, type, -std::numeric_limits<double>::infinity());
  Value zero = splatConstant(b, type, 0);
  Value score = convertElements(b, kernel.access.load(b, x, row.inBlock, chunk.inBlock, mask),
                                kernel.compute);
  if (kernel.scale != 1.0)
    score = arith::MulFOp::create(b, score, splatConstant(b, type, kernel.scale));
  Value forbidden;
  auto forbid = [&](Value value, Value pattern) {
    Value hit = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, value, pattern);
    forbidden = forbidden ? arith::OrIOp::create(b, forbidden, hit) : hit;
  };
  for (const ScoreMatrix &term : terms) {
    Value value = convertElements(
        b, kernel.access.load(b, term.matrix, row.inTensor, chunk.inTensor, mask), kernel.compute);
    if (term.kind == ScoreTerm::MulMask) {
      forbid(value, zero);
      continue;
    }
    score = arith::AddFOp::create(b, score, value);
    if (term.kind == ScoreTerm::AddMask)
      forbid(value, minusInfinity);
  }
  if (forbidden)
    score = arith::SelectOp::create(b, forbidden, minusInfinity, score);
  if (mask)
    score = arith::SelectOp::create(b, mask, score, minusInfinity);
  return score;
}

/// Three passes over a row: its largest score, the sum of the exponentials, the result. y may be
/// the very memory of x: an element is written only after its last score has been computed.
static void emitSoftmaxRow(ImplicitLocOpBuilder &b, const SoftmaxKernel &kernel,
                           ArrayRef<ScoreMatrix> terms, StoredRow row) {
  VectorType type = kernel.vector();
  int64_t width = kernel.access.width;
  Value batch = row.blocks.batch;
  Value xBase = kernel.x.headBase(b, row.blocks.head);
  Value yBase = kernel.y.headBase(b, row.blocks.head);
  if (kernel.causal)
    row.limit = indexMin(b, row.limit, indexAdd(b, row.inTensor, indexConstant(b, 1)));
  auto score = [&](ImplicitLocOpBuilder &b, const Chunk &chunk) {
    MatrixView x = kernel.x.block(b, batch, indexAdd(b, xBase, chunk.block));
    return readChunk(b, kernel.access, chunk, type, [&](ImplicitLocOpBuilder &b, Value mask) {
      return emitScore(b, kernel, terms, x, row, chunk, mask);
    });
  };
  auto target = [&](ImplicitLocOpBuilder &b, const Chunk &chunk) {
    return kernel.y.block(b, batch, indexAdd(b, yBase, chunk.block));
  };
  auto store = [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value value) {
    kernel.access.store(b, convertElements(b, value, kernel.y.elementType()), target(b, chunk),
                        row.inBlock, chunk.inBlock,
                        storageMask(b, kernel.table, kernel.access, chunk));
  };

  Value minusInfinity = splatConstant(b, kernel.compute, -std::numeric_limits<double>::infinity());
  Value zero = splatConstant(b, kernel.compute, 0), one = splatConstant(b, kernel.compute, 1);
  Value largest = forEachChunk(b, kernel.table, row, width, splat(b, minusInfinity, width),
                               [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value so) -> Value {
                                 return arith::MaximumFOp::create(b, so, score(b, chunk));
                               });
  Value maximum = vector::ReductionOp::create(b, vector::CombiningKind::MAXIMUMF, largest);
  // True for NaN, which then reaches every element of the row.
  Value alive = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, maximum, minusInfinity);
  Value shift = arith::SelectOp::create(b, alive, maximum, zero);
  Value shifts = splat(b, shift, width);
  auto exponential = [&](ImplicitLocOpBuilder &b, const Chunk &chunk) {
    return emitExp(b, arith::SubFOp::create(b, score(b, chunk), shifts));
  };

  // The exponentials wait in y, unless its elements are too narrow for them.
  bool keep = kernel.y.elementType() == kernel.compute;
  Value sums = forEachChunk(b, kernel.table, row, width, splat(b, zero, width),
                            [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value so) -> Value {
                              Value e = exponential(b, chunk);
                              if (keep)
                                store(b, chunk, e);
                              return arith::AddFOp::create(b, so, e);
                            });
  Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, sums, zero);
  Value inverse = arith::SelectOp::create(b, alive, arith::DivFOp::create(b, one, sum), zero);
  Value factor = splat(b, inverse, width);
  forEachChunk(b, kernel.table, row, width, nullptr,
               [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value) -> Value {
                 Value e =
                     keep ? kernel.access.load(b, target(b, chunk), row.inBlock, chunk.inBlock,
                                               storageMask(b, kernel.table, kernel.access, chunk))
                          : exponential(b, chunk);
                 store(b, chunk, arith::MulFOp::create(b, e, factor));
                 return nullptr;
               });
  if (!kernel.lse)
    return;
  // -inf for a row without an allowed element: its sum is 0.
  Value lse = arith::AddFOp::create(b, shift, math::LogOp::create(b, sum));
  kernel.lse->matrix(b, batch, row.blocks.head)
      .store(b, convertElements(b, lse, kernel.lse->elementType()), row.inTensor,
             indexConstant(b, 0));
}

static void emitSoftmax(ImplicitLocOpBuilder &b, const SoftmaxKernel &kernel) {
  forEachBlockRow(b, kernel.table, [&](ImplicitLocOpBuilder &b, const BlockRow &blocks) {
    SmallVector<ScoreMatrix> terms;
    for (const ScoreTerm &term : kernel.terms)
      terms.push_back({term.kind, term.view.matrix(b, blocks.batch, blocks.head)});
    forEachRow(
        b, kernel.table, blocks,
        [&](ImplicitLocOpBuilder &b, StoredRow row) { emitSoftmaxRow(b, kernel, terms, row); },
        [&](ImplicitLocOpBuilder &b, StoredRow row) {
          zeroRow(b, kernel.table, row, kernel.y, kernel.access);
        });
  });
  zeroSpareBlocks(b, kernel.table, kernel.y);
}

namespace {

struct LowerSoftmax : OpRewritePattern<PlannedSoftmaxOp> {
  LowerSoftmax(MLIRContext *context, const CPULoweringOptions &options)
      : OpRewritePattern(context), options(options) {}

  LogicalResult matchAndRewrite(PlannedSoftmaxOp op, PatternRewriter &rewriter) const override {
    if (failed(checkLowerable(op, rewriter)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value y = op.getInits().front(), heads;
    SoftmaxKernel kernel;
    if (op.getInits().size() > 1) {
      kernel.lse = DenseView::get(
          b, op.getInits()[1],
          DenseAxes::ofRowVectors(cast<MemRefType>(op.getInits()[1].getType()).getRank()));
      heads = kernel.lse->heads();
    }
    kernel.table = StoredRows::get(b, op.getSegments(), op.getEntries(), op.getBlock(),
                                   op.getShape(), op.getLutHeads(), y, nullptr, heads);
    auto values = [&](Value memref) {
      return ValuesView::get(b, memref, op.getLutHeads(), kernel.table.entries.rows(),
                             kernel.table.heads);
    };
    kernel.x = values(op.getX());
    kernel.y = values(y);
    kernel.terms = getTerms(b, op);
    kernel.compute = getComputeType(kernel.x.elementType());
    kernel.scale = op.getScale().convertToDouble();
    kernel.causal = op.getCausal();
    int64_t width = chooseWidth(kernel.table.blockCols, kernel.compute.getWidth(),
                                options.vectorBits, op.getScheduleAttr());
    SmallVector<Value> conditions{kernel.x.hasContiguousBlocks(b), kernel.y.hasContiguousBlocks(b)};
    for (const ScoreTerm &term : kernel.terms)
      requireUnitStride(b, term.view, conditions);
    emitVersions(b, conditions, [&](ImplicitLocOpBuilder &b, bool unitStride) {
      kernel.access = {width, unitStride};
      emitSoftmax(b, kernel);
    });
    rewriter.eraseOp(op);
    return success();
  }

  CPULoweringOptions options;
};

} // namespace

void mlir::blocksparse::populateSoftmaxPatterns(RewritePatternSet &patterns,
                                                const CPULoweringOptions &options) {
  patterns.add<LowerSoftmax>(patterns.getContext(), options);
}
