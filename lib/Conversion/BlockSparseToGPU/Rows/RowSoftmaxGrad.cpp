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

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Largest number of f32 of a row, two for each element, that a lane holds.
static constexpr int64_t maxResident = 64;

static int64_t getChunkElements(PlannedSoftmaxGradOp op) {
  return ::blocksparse::getRowChunk(*getKernelProblem(op));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

namespace {

/// Holds a chunk of both factors.
struct GradientChunk {
  Value y, dy;
};

/// Emits the work of one team on one row.
class SoftmaxGradRow {
public:
  SoftmaxGradRow(PlannedSoftmaxGradOp op, const SoftmaxGradOperands &operands,
                 const RowTeams &teams, const TeamRow &row)
      : op(op), operands(operands), teams(teams), row(row), count(getChunkElements(op)) {}

  void emit(ImplicitLocOpBuilder &b) const;

private:
  Value load(ImplicitLocOpBuilder &b, const ValuesView &view, const RowChunk &chunk) const;
  GradientChunk load(ImplicitLocOpBuilder &b, const RowChunk &chunk) const {
    return {load(b, operands.y, chunk), load(b, operands.dy, chunk)};
  }
  /// Returns the lane's part of the sum of out * dout; null if the operation has no out.
  Value emitPartOfDot(ImplicitLocOpBuilder &b) const;
  GradientChunk widen(ImplicitLocOpBuilder &b, const RowChunk &chunk, GradientChunk loaded) const;
  void store(ImplicitLocOpBuilder &b, const RowChunk &chunk, GradientChunk wide, Value dot) const;

  PlannedSoftmaxGradOp op;
  const SoftmaxGradOperands &operands;
  const RowTeams &teams;
  const TeamRow &row;
  int64_t count;
};

} // namespace

Value SoftmaxGradRow::load(ImplicitLocOpBuilder &b, const ValuesView &view,
                           const RowChunk &chunk) const {
  return emitChoice(
      b, chunk.live,
      [&](ImplicitLocOpBuilder &b) {
        Value block = Int(b, view.headBase(b, row.row.head)) + chunk.valueBlock;
        MatrixView matrix = view.block(b, row.row.batch, block);
        return loadChunk(b, matrix, row.row.blockRow, chunk.blockCol, count);
      },
      [&](ImplicitLocOpBuilder &b) { return zeroChunk(b, view.elementType(), count); });
}

/// Returns both as f32: y is 0 in padding, and dy is 0 if y is 0, so that such elements add
/// nothing, whatever dy is.
GradientChunk SoftmaxGradRow::widen(ImplicitLocOpBuilder &b, const RowChunk &chunk,
                                    GradientChunk loaded) const {
  PlannedSoftmaxGradOp op = this->op;
  Value y = widenChunk(b, loaded.y), dy = widenChunk(b, loaded.dy);
  Value zero = constantChunk(b, 0, count);
  if (op.getShape()[1] % count != 0) {
    Value left = Int(b, indexConstant(b, op.getShape()[1])) - chunk.col;
    y = arith::SelectOp::create(b, firstOfChunk(b, left, count), y, zero);
  }
  return {y, arith::SelectOp::create(b, nonzeroChunk(b, y), dy, zero)};
}

Value SoftmaxGradRow::emitPartOfDot(ImplicitLocOpBuilder &b) const {
  if (!operands.out)
    return {};
  Type f32 = b.getF32Type();
  return emitChoice(
      b, row.inside,
      [&](ImplicitLocOpBuilder &b) {
        Value lanes = indexConstant(b, row.work.team.lanes);
        return operands.emitPartOfDot(b, row.row, row.lane, lanes, f32);
      },
      [&](ImplicitLocOpBuilder &b) { return floatConstant(b, f32, 0); });
}

/// Stores scale * y * (dy - dot), or 0 if y is 0.
void SoftmaxGradRow::store(ImplicitLocOpBuilder &b, const RowChunk &chunk, GradientChunk wide,
                           Value dot) const {
  PlannedSoftmaxGradOp op = this->op;
  Value zero = constantChunk(b, 0, count);
  Value scale = operands.dynamicScale ? splatChunk(b, loadFactor(b, operands.dynamicScale), count)
                                      : constantChunk(b, op.getScale().convertToDouble(), count);
  Value difference = arith::SubFOp::create(b, wide.dy, splatChunk(b, dot, count));
  Value result = arith::MulFOp::create(b, arith::MulFOp::create(b, wide.y, difference), scale);
  result = arith::SelectOp::create(b, nonzeroChunk(b, wide.y), result, zero);
  result = narrowChunk(b, result, operands.dx.elementType());
  emitIf(b, chunk.stored, [&](ImplicitLocOpBuilder &b) {
    Value block = Int(b, operands.dx.headBase(b, row.row.head)) + chunk.valueBlock;
    MatrixView matrix = operands.dx.block(b, row.row.batch, block);
    storeChunk(b, result, matrix, row.row.blockRow, chunk.blockCol);
  });
}

void SoftmaxGradRow::emit(ImplicitLocOpBuilder &b) const {
  auto addDot = [&](ImplicitLocOpBuilder &b, GradientChunk wide, Value sums) {
    return fusedMultiplyAdd(b, wide.y, wide.dy, sums);
  };
  SmallVector<RowChunk> chunks = teams.residentChunks(b, operands.walk, row);
  SmallVector<GradientChunk> resident =
      llvm::map_to_vector(chunks, [&](const RowChunk &chunk) { return load(b, chunk); });
  // The part of the row's sum that this lane adds up.
  Value part = emitPartOfDot(b);
  Value sums = constantChunk(b, 0, count);
  for (auto [chunk, loaded] : llvm::zip_equal(chunks, resident)) {
    SmallVector<Value> read = afterLoads(b, {loaded.y, loaded.dy});
    loaded = widen(b, chunk, {read[0], read[1]});
    if (!part)
      sums = addDot(b, loaded, sums);
  }
  if (!part)
    part = foldChunk(
        b,
        teams.foldOthers(b, operands.walk, row, sums,
                         [&](ImplicitLocOpBuilder &b, const RowChunk &chunk, Value carried) {
                           return addDot(b, widen(b, chunk, load(b, chunk)), carried);
                         }),
        sumOf);
  Value dot =
      operands.subtractLogSumExp(b, row.row, row.inside, teams.reduce(b, row.work, part, sumOf));
  for (auto [chunk, wide] : llvm::zip_equal(chunks, resident))
    store(b, chunk, wide, dot);
  teams.forOthers(b, operands.walk, row, [&](ImplicitLocOpBuilder &b, const RowChunk &chunk) {
    store(b, chunk, widen(b, chunk, load(b, chunk)), dot);
  });
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

bool mlir::blocksparse::device::supportsRows(const ::blocksparse::GPUFacts &facts,
                                             PlannedSoftmaxGradOp op) {
  return allowsFamily(op, ::blocksparse::KernelFamily::CUDARows, facts);
}

Value mlir::blocksparse::device::fitsRows(ImplicitLocOpBuilder &host,
                                          const ::blocksparse::GPUFacts &,
                                          PlannedSoftmaxGradOp op) {
  Value fits = both(host, isAligned16(host, op.getY()), isAligned16(host, op.getDy()));
  return both(host, fits, isAligned16(host, op.getInits().front()));
}

void mlir::blocksparse::device::emitRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedSoftmaxGradOp op) {
  SoftmaxGradOperands onHost(host, op, IRMapping());
  int64_t count = getChunkElements(op);
  bool needsCols = op.getShape()[1] % op.getBlock()[1] != 0;
  RowTeams teams(onHost.walk, op.getSegments(), op.getEntries(), op.getSchedule(),
                 {count, maxResident / (2 * count), /*operands=*/2, needsCols});
  teams.launch(host, kernels, "softmax_grad_rows", SoftmaxGradOperands::list(op), onHost.walk,
               [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, const TeamWork &work) {
                 SoftmaxGradOperands operands(b, op, mapping);
                 TeamRow row = teams.getRow(b, operands.walk, work);
                 SoftmaxGradRow(op, operands, teams, row).emit(b);
               });
}
