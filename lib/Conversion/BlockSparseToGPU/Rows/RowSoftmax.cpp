// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../Device/DeviceMath.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/Chunk.h"
#include "../Operands/Epilogue.h"
#include "../Operands/SoftmaxOperands.h"
#include "RowKernels.h"
#include "RowTeams.h"
#include "blocksparse/IR/KernelProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>
#include <numbers>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr double minusInfinity = -std::numeric_limits<double>::infinity();
/// Largest number of f32 of a row that a lane holds.
static constexpr int64_t maxResident = 64;
/// Largest number of bits that a lane holds of the loaded x, rpe and masks.
static constexpr int64_t mostLoadedBits = 80 * 32;

static int64_t getChunkElements(PlannedSoftmaxOp op) {
  return ::blocksparse::getRowChunk(*getKernelProblem(op));
}

static SmallVector<Value> getBiasOperands(PlannedSoftmaxOp op) {
  return presentOperands(
      {op.getRpe(), op.getKeyPaddingMask(), op.getAttentionMask(), op.getKeySegments()});
}

/// Returns true if one element serves all columns.
static bool isOneColumn(Value operand) {
  return cast<MemRefType>(operand.getType()).getShape().back() == 1;
}

/// Returns the largest number of chunks that a lane can hold, a power of two. The terms of the
/// scores are held as well, until they are added up.
static int64_t getMostChunks(PlannedSoftmaxOp op) {
  int64_t count = getChunkElements(op), most = maxResident / count;
  SmallVector<Value> terms = getBiasOperands(op);
  if (terms.empty())
    return most;
  terms.push_back(op.getX());
  int64_t bits = 0;
  for (Value term : terms)
    bits += (isOneColumn(term) ? 1 : count) *
            getElementTypeOrSelf(term.getType()).getIntOrFloatBitWidth();
  int64_t fitting = mostLoadedBits / bits;
  return std::min<int64_t>(most / 2,
                           llvm::bit_floor(static_cast<uint64_t>(std::max<int64_t>(fitting, 1))));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// Holds what is loaded for a chunk: the elements of x, and the elements of rpe, the masks and the
/// segments in this order. A scalar serves all columns.
struct LoadedChunk {
  Value x;
  SmallVector<Value, 4> terms;
};

/// Emits the work of one team on one row. The maximum is subtracted from the scores before the
/// difference is multiplied by log2(e): a product of a large score would round away the digits of
/// the difference, or overflow.
class SoftmaxRow {
public:
  SoftmaxRow(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op, const SoftmaxOperands &operands,
             const RowTeams &teams, const TeamRow &row);

  void emit(ImplicitLocOpBuilder &b) const;

private:
  void emitNormalised(ImplicitLocOpBuilder &b) const;
  Value emitPowers(ImplicitLocOpBuilder &b, Value scores, Value shifts) const;
  Value loadElements(ImplicitLocOpBuilder &b, const RowChunk &chunk) const;
  LoadedChunk load(ImplicitLocOpBuilder &b, const RowChunk &chunk) const;
  Value emitScores(ImplicitLocOpBuilder &b, const RowChunk &chunk, const LoadedChunk &loaded) const;
  Value loadScores(ImplicitLocOpBuilder &b, const RowChunk &chunk) const {
    return emitScores(b, chunk, load(b, chunk));
  }
  Value loadTerm(ImplicitLocOpBuilder &b, const DenseView &view, const RowChunk &chunk) const;
  /// Loads the elements of each mask and the segments.
  SmallVector<Value> loadMasks(ImplicitLocOpBuilder &b, const RowChunk &chunk) const;
  /// Returns i1 for each element: true if it lies in the matrix and no mask forbids it. `masks`
  /// holds what loadMasks returns. Null if all elements of a live chunk are allowed.
  Value emitAllowed(ImplicitLocOpBuilder &b, const RowChunk &chunk, ArrayRef<Value> masks) const;
  /// Returns i1 for each element: true if the element lies in the matrix. Null if all elements of a
  /// live chunk do.
  Value insideColumns(ImplicitLocOpBuilder &b, const RowChunk &chunk) const;
  void store(ImplicitLocOpBuilder &b, const RowChunk &chunk, Value powers, Value factor) const;
  void storeResult(ImplicitLocOpBuilder &b, const RowChunk &chunk, Value result) const;
  void storePoisoned(ImplicitLocOpBuilder &b, Value sum) const;
  /// Returns i1: the lane is the one that writes what the row has once.
  Value isWriter(ImplicitLocOpBuilder &b) const;
  bool raggedColumns() const {
    PlannedSoftmaxOp op = this->op;
    return op.getShape()[1] % op.getBlock()[1] != 0;
  }

  PlannedSoftmaxOp op;
  const SoftmaxOperands &operands;
  const RowTeams &teams;
  const TeamRow &row;
  int64_t count;
  /// The columns that masks of the position allow, and the segment of the row.
  PositionMasks::Columns columns;
  Value segment;
};

} // namespace

SoftmaxRow::SoftmaxRow(ImplicitLocOpBuilder &b, PlannedSoftmaxOp op,
                       const SoftmaxOperands &operands, const RowTeams &teams, const TeamRow &row)
    : op(op), operands(operands), teams(teams), row(row), count(getChunkElements(op)) {
  // A team without a row of the matrix reads what belongs to row 0.
  Value zero = indexConstant(b, 0), batch = row.row.batch, own = row.row.row;
  if (operands.positions.readsMemory()) {
    batch = arith::SelectOp::create(b, row.inside, batch, zero);
    own = arith::SelectOp::create(b, row.inside, own, zero);
  }
  columns = operands.positions.getColumns(b, batch, own);
  segment = operands.positions.getSegment(b, batch, own);
}

/// Returns the conjunction of two vectors of i1. Null stands for all true.
static Value bothOf(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  return lhs && rhs ? arith::AndIOp::create(b, lhs, rhs).getResult() : lhs ? lhs : rhs;
}

Value SoftmaxRow::loadElements(ImplicitLocOpBuilder &b, const RowChunk &chunk) const {
  return emitChoice(
      b, chunk.live,
      [&](ImplicitLocOpBuilder &b) {
        Value block = Int(b, operands.x.headBase(b, row.row.head)) + chunk.valueBlock;
        MatrixView matrix = operands.x.block(b, row.row.batch, block);
        return loadChunk(b, matrix, row.row.blockRow, chunk.blockCol, count);
      },
      [&](ImplicitLocOpBuilder &b) { return zeroChunk(b, operands.x.elementType(), count); });
}

Value SoftmaxRow::loadTerm(ImplicitLocOpBuilder &b, const DenseView &view,
                           const RowChunk &chunk) const {
  return emitChoice(
      b, chunk.live,
      [&](ImplicitLocOpBuilder &b) {
        MatrixView matrix = view.matrix(b, row.row.batch, row.row.head);
        return loadChunk(b, matrix, row.row.row, chunk.col, count);
      },
      [&](ImplicitLocOpBuilder &b) {
        return view.broadcastsColumns() ? zeroElement(b, view.elementType())
                                        : zeroChunk(b, view.elementType(), count);
      });
}

LoadedChunk SoftmaxRow::load(ImplicitLocOpBuilder &b, const RowChunk &chunk) const {
  LoadedChunk loaded{loadElements(b, chunk), {}};
  if (operands.rpe)
    loaded.terms.push_back(loadTerm(b, *operands.rpe, chunk));
  llvm::append_range(loaded.terms, loadMasks(b, chunk));
  return loaded;
}

SmallVector<Value> SoftmaxRow::loadMasks(ImplicitLocOpBuilder &b, const RowChunk &chunk) const {
  SmallVector<Value> loaded;
  for (const SoftmaxMask &mask : operands.masks)
    loaded.push_back(loadTerm(b, mask.view, chunk));
  if (segment)
    loaded.push_back(loadTerm(b, *operands.positions.getKeySegments(), chunk));
  return loaded;
}

Value SoftmaxRow::insideColumns(ImplicitLocOpBuilder &b, const RowChunk &chunk) const {
  PlannedSoftmaxOp op = this->op;
  if (op.getShape()[1] % count == 0)
    return {};
  Value left = Int(b, indexConstant(b, op.getShape()[1])) - chunk.col;
  return firstOfChunk(b, left, count);
}

Value SoftmaxRow::emitAllowed(ImplicitLocOpBuilder &b, const RowChunk &chunk,
                              ArrayRef<Value> masks) const {
  Value allowed = insideColumns(b, chunk);
  for (auto [mask, read] : llvm::zip_first(operands.masks, masks)) {
    Value term = fillChunk(b, read, count), kept;
    if (mask.mode == MaskMode::Add)
      kept = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, widenChunk(b, term),
                                   constantChunk(b, minusInfinity, count));
    else
      // The comparison is in the type of the mask, because a conversion could round an element to
      // 0.
      kept = nonzeroChunk(b, term);
    allowed = bothOf(b, allowed, kept);
  }
  if (columns.end)
    allowed = bothOf(b, allowed, firstOfChunk(b, Int(b, columns.end) - chunk.col, count));
  if (columns.first) {
    Value before = firstOfChunk(b, Int(b, columns.first) - chunk.col, count);
    Value yes = arith::ConstantOp::create(b, b.getOneAttr(before.getType()));
    allowed = bothOf(b, allowed, arith::XOrIOp::create(b, before, yes));
  }
  if (segment)
    allowed =
        bothOf(b, allowed,
               arith::CmpIOp::create(b, arith::CmpIPredicate::eq, fillChunk(b, masks.back(), count),
                                     splatChunk(b, segment, count)));
  return allowed;
}

/// Returns scale * x + rpe + additive masks, each step rounded as on the CPU. Returns -infinity if
/// a mask forbids the element, whatever the terms are, and in padding.
Value SoftmaxRow::emitScores(ImplicitLocOpBuilder &b, const RowChunk &chunk,
                             const LoadedChunk &loaded) const {
  PlannedSoftmaxOp op = this->op;
  Value scores = widenChunk(b, loaded.x);
  if (double scale = op.getScale().convertToDouble(); scale != 1)
    scores = arith::MulFOp::create(b, scores, constantChunk(b, scale, count));
  if (operands.dynamicScale)
    scores = arith::MulFOp::create(b, scores,
                                   splatChunk(b, loadFactor(b, operands.dynamicScale), count));
  auto addTerm = [&](Value term) {
    scores = sumOf(b, scores, widenChunk(b, fillChunk(b, term, count)));
  };
  ArrayRef<Value> masks = loaded.terms;
  if (operands.rpe) {
    addTerm(masks.front());
    masks = masks.drop_front();
  }
  for (auto [mask, read] : llvm::zip_first(operands.masks, masks))
    if (mask.mode == MaskMode::Add)
      addTerm(read);
  Value lowest = constantChunk(b, minusInfinity, count);
  if (Value allowed = emitAllowed(b, chunk, masks))
    scores = arith::SelectOp::create(b, allowed, scores, lowest);
  return arith::SelectOp::create(b, chunk.live, scores, lowest);
}

/// Stores the powers times `factor` (null: 1) if the row has the chunk.
void SoftmaxRow::store(ImplicitLocOpBuilder &b, const RowChunk &chunk, Value powers,
                       Value factor) const {
  Value result = powers;
  if (factor)
    result = arith::MulFOp::create(b, result, splatChunk(b, factor, count));
  // Padding stays 0 in a row that is NaN.
  Value zero = constantChunk(b, 0, count);
  if (Value inside = insideColumns(b, chunk))
    result = arith::SelectOp::create(b, inside, result, zero);
  else if (raggedColumns())
    result = arith::SelectOp::create(b, chunk.live, result, zero);
  storeResult(b, chunk, result);
}

/// Stores f32 elements if the row has the chunk.
void SoftmaxRow::storeResult(ImplicitLocOpBuilder &b, const RowChunk &chunk, Value result) const {
  result = narrowChunk(b, result, operands.y.elementType());
  emitIf(b, chunk.stored, [&](ImplicitLocOpBuilder &b) {
    Value block = Int(b, operands.y.headBase(b, row.row.head)) + chunk.valueBlock;
    MatrixView matrix = operands.y.block(b, row.row.batch, block);
    storeChunk(b, result, matrix, row.row.blockRow, chunk.blockCol);
  });
}

/// Overwrites a row whose sum, or whose known log-sum-exp, is NaN: allowed elements are NaN, and
/// forbidden ones 0. The test is the only cost of all other rows.
void SoftmaxRow::storePoisoned(ImplicitLocOpBuilder &b, Value sum) const {
  PlannedSoftmaxOp op = this->op;
  if (!op.mayForbid())
    return;
  Value poisoned = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, sum, sum);
  emitIf(b, poisoned, [&](ImplicitLocOpBuilder &b) {
    teams.forAll(b, operands.walk, row, [&](ImplicitLocOpBuilder &b, const RowChunk &chunk) {
      SmallVector<Value> masks = loadMasks(b, chunk);
      Value zero = constantChunk(b, 0, count);
      Value nan = constantChunk(b, std::numeric_limits<double>::quiet_NaN(), count);
      Value result = arith::SelectOp::create(b, emitAllowed(b, chunk, masks), nan, zero);
      storeResult(b, chunk, arith::SelectOp::create(b, chunk.live, result, zero));
    });
  });
}

Value SoftmaxRow::isWriter(ImplicitLocOpBuilder &b) const {
  return both(b, indexEqual(b, row.lane, indexConstant(b, 0)), row.inside);
}

/// Returns e^(score - shift).
Value SoftmaxRow::emitPowers(ImplicitLocOpBuilder &b, Value scores, Value shifts) const {
  Value differences = arith::SubFOp::create(b, scores, shifts);
  Value log2e = constantChunk(b, std::numbers::log2e, count);
  return exp2Chunk(b, arith::MulFOp::create(b, differences, log2e));
}

/// Emits the row if its log-sum-exp is known: nothing is reduced.
void SoftmaxRow::emitNormalised(ImplicitLocOpBuilder &b) const {
  SmallVector<RowChunk> chunks = teams.residentChunks(b, operands.walk, row);
  auto [lse, shift] = operands.emitKnownRow(b, row.row, row.inside, b.getF32Type());
  SmallVector<LoadedChunk> loaded =
      llvm::map_to_vector(chunks, [&](const RowChunk &chunk) { return load(b, chunk); });
  Value shifts = splatChunk(b, shift, count);
  for (auto [chunk, read] : llvm::zip_equal(chunks, loaded)) {
    read.x = afterLoads(b, read.x).front();
    llvm::copy(afterLoads(b, read.terms), read.terms.begin());
    store(b, chunk, emitPowers(b, emitScores(b, chunk, read), shifts), /*factor=*/{});
  }
  teams.forOthers(b, operands.walk, row, [&](ImplicitLocOpBuilder &b, const RowChunk &chunk) {
    store(b, chunk, emitPowers(b, loadScores(b, chunk), shifts), /*factor=*/{});
  });
  storePoisoned(b, lse);
  if (operands.lse)
    operands.storeLogSumExp(b, row.row, isWriter(b), lse);
}

void SoftmaxRow::emit(ImplicitLocOpBuilder &b) const {
  if (operands.knownLse)
    return emitNormalised(b);
  SmallVector<RowChunk> chunks = teams.residentChunks(b, operands.walk, row);
  SmallVector<LoadedChunk> loaded =
      llvm::map_to_vector(chunks, [&](const RowChunk &chunk) { return load(b, chunk); });
  SmallVector<Value> resident;
  Value largest;
  for (auto [chunk, read] : llvm::zip_equal(chunks, loaded)) {
    read.x = afterLoads(b, read.x).front();
    llvm::copy(afterLoads(b, read.terms), read.terms.begin());
    resident.push_back(emitScores(b, chunk, read));
    largest = largest ? maximumOf(b, largest, resident.back()) : resident.back();
  }
  largest = teams.foldOthers(b, operands.walk, row, largest,
                             [&](ImplicitLocOpBuilder &b, const RowChunk &chunk, Value carried) {
                               return maximumOf(b, carried, loadScores(b, chunk));
                             });
  Value maximum = teams.reduce(b, row.work, foldChunk(b, largest, maximumOf), maximumOf);
  // If no element is allowed, every power is e^-infinity, the sum 0 and its logarithm -infinity.
  Type f32 = b.getF32Type();
  Value zero = floatConstant(b, f32, 0), one = floatConstant(b, f32, 1);
  Value empty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, maximum,
                                      floatConstant(b, f32, minusInfinity));
  Value shift = arith::SelectOp::create(b, empty, zero, maximum);
  Value shifts = splatChunk(b, shift, count);
  Value sums;
  for (Value &value : resident) {
    value = emitPowers(b, value, shifts);
    sums = sums ? sumOf(b, sums, value) : value;
  }
  sums = teams.foldOthers(b, operands.walk, row, sums,
                          [&](ImplicitLocOpBuilder &b, const RowChunk &chunk, Value carried) {
                            return sumOf(b, carried, emitPowers(b, loadScores(b, chunk), shifts));
                          });
  Value sum = teams.reduce(b, row.work, foldChunk(b, sums, sumOf), sumOf);
  Value divisor = arith::SelectOp::create(b, empty, one, sum);
  Value factor = arith::DivFOp::create(b, one, divisor);
  for (auto [chunk, powers] : llvm::zip_equal(chunks, resident))
    store(b, chunk, powers, factor);
  teams.forOthers(b, operands.walk, row, [&](ImplicitLocOpBuilder &b, const RowChunk &chunk) {
    store(b, chunk, emitPowers(b, loadScores(b, chunk), shifts), factor);
  });
  storePoisoned(b, sum);
  if (operands.lse)
    operands.storeLogSumExp(b, row.row, isWriter(b), sumOf(b, shift, deviceLog(b, sum)));
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsRows(const ::blocksparse::GPUFacts &facts,
                                             PlannedSoftmaxOp op) {
  return allowsFamily(op, ::blocksparse::KernelFamily::CUDARows, facts);
}

Value mlir::blocksparse::device::fitsRows(ImplicitLocOpBuilder &host,
                                          const ::blocksparse::GPUFacts &, PlannedSoftmaxOp op) {
  Value fits = both(host, isAligned16(host, op.getX()), isAligned16(host, op.getInits().front()));
  for (Value operand : getBiasOperands(op))
    if (!isOneColumn(operand))
      fits = both(host, fits, isAligned16(host, operand));
  return fits;
}

void mlir::blocksparse::device::emitRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedSoftmaxOp op) {
  bool needsCols = op.mayForbid() || op.getRpe() || op.getShape()[1] % op.getBlock()[1] != 0;
  SoftmaxOperands onHost(host, op, IRMapping());
  int64_t count = getChunkElements(op);
  RowTeams teams(onHost.walk, op.getSegments(), op.getEntries(), op.getSchedule(),
                 {count, getMostChunks(op), /*operands=*/1, needsCols});
  teams.launch(host, kernels, "softmax_rows", SoftmaxOperands::list(op), onHost.walk,
               [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, const TeamWork &work) {
                 SoftmaxOperands operands(b, op, mapping);
                 TeamRow row = teams.getRow(b, operands.walk, work);
                 SoftmaxRow(b, op, operands, teams, row).emit(b);
               });
}
