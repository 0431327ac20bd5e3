// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FragmentStore.h"

#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../Kit/AsyncCopy.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Columns of a group of four accumulators: two pairs, 8 rows apart.
static constexpr int64_t groupCols = 8, groupSize = 4;

namespace {

/// Holds the elements of a lane and where they belong.
struct LaneElements {
  MatrixView matrix;
  /// Element type, and elements in the order of the accumulators.
  Type type;
  SmallVector<Value> elements;
  /// Rows (i32) of the first and of the second pair of each group, and the first column (i32).
  std::array<Value, 2> rows;
  Value col;
  /// Rows and columns (i32) of the result.
  Value endRow, endCol;

  Value hasRow(ImplicitLocOpBuilder &b, int64_t half) const {
    // A row before the first one is a large unsigned number.
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, rows[half], endRow);
  }
  void storePairs(ImplicitLocOpBuilder &b) const;
  void storeEach(ImplicitLocOpBuilder &b) const;
};

} // namespace

/// Returns an element as a type that LLVM has.
static Value asStored(ImplicitLocOpBuilder &b, Value element) {
  if (element.getType().getIntOrFloatBitWidth() == 8 && isa<FloatType>(element.getType()))
    return b.createOrFold<arith::BitcastOp>(b.getI8Type(), element);
  return element;
}

void LaneElements::storePairs(ImplicitLocOpBuilder &b) const {
  const int64_t bytes = type.getIntOrFloatBitWidth() / 8;
  for (int64_t half = 0; half < 2; ++half)
    emitIf(b, hasRow(b, half), [&](ImplicitLocOpBuilder &b) {
      Value first =
          globalPointer(b, globalAddress(b, matrix, toIndex(b, rows[half]), toIndex(b, col)));
      for (size_t group = 0; group < elements.size() / groupSize; ++group) {
        Value low = asStored(b, elements[groupSize * group + 2 * half]);
        Value pair = LLVM::PoisonOp::create(b, VectorType::get(2, low.getType()));
        pair = LLVM::InsertElementOp::create(b, pair, low, i32Constant(b, 0));
        Value high = asStored(b, elements[groupSize * group + 2 * half + 1]);
        pair = LLVM::InsertElementOp::create(b, pair, high, i32Constant(b, 1));
        const int64_t offset = static_cast<int64_t>(group) * groupCols * bytes;
        Value target = LLVM::GEPOp::create(b, first.getType(), b.getI8Type(), first,
                                           ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
        LLVM::StoreOp::create(b, pair, target, /*alignment=*/2 * bytes);
      }
    });
}

void LaneElements::storeEach(ImplicitLocOpBuilder &b) const {
  for (int64_t half = 0; half < 2; ++half)
    emitIf(b, hasRow(b, half), [&](ImplicitLocOpBuilder &b) {
      for (size_t group = 0; group < elements.size() / groupSize; ++group)
        for (int64_t i = 0; i < 2; ++i) {
          Value column = Int(b, col) + (static_cast<int64_t>(group) * groupCols + i);
          Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column, endCol);
          emitIf(b, inside, [&](ImplicitLocOpBuilder &b) {
            matrix.store(b, elements[groupSize * group + 2 * half + i], toIndex(b, rows[half]),
                         toIndex(b, column));
          });
        }
    });
}

/// Returns i1: pairs at even columns are neighbours in memory, and aligned.
static Value hasPairs(ImplicitLocOpBuilder &b, const MatrixView &matrix, int64_t bytes) {
  Value zero = indexConstant(b, 0);
  Value bits = b.createOrFold<arith::OrIOp>(globalAddress(b, matrix, zero, zero),
                                            globalStride(b, matrix, 0));
  Value low = b.createOrFold<arith::AndIOp>(bits, indexConstant(b, 2 * bytes - 1));
  return both(b, matrix.hasUnitStride(b), indexEqual(b, low, zero));
}

void mlir::blocksparse::device::storeFragments(ImplicitLocOpBuilder &b, const MatrixView &result,
                                               const WarpTilePosition &warpTile,
                                               ArrayRef<Value> accumulators) {
  LaneElements lane;
  lane.matrix = result;
  lane.type = result.elementType();
  for (Value sum : accumulators)
    lane.elements.push_back(convertElement(b, sum, lane.type));
  auto toInt = [&](Value number) {
    return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), number);
  };
  lane.rows[0] = Int(b, warpTile.row) + Int(b, warpTile.lane) / 4;
  lane.rows[1] = Int(b, lane.rows[0]) + 8;
  lane.col = Int(b, warpTile.col) + Int(b, warpTile.lane) % 4 * 2;
  lane.endRow = toInt(warpTile.rows);
  lane.endCol = toInt(warpTile.cols);
  const int64_t cols = static_cast<int64_t>(accumulators.size()) / groupSize * groupCols;
  Value isInside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sle, Int(b, warpTile.col) + cols, lane.endCol);
  Value paired = hasPairs(b, result, lane.type.getIntOrFloatBitWidth() / 8);
  scf::IfOp::create(
      b, both(b, isInside, paired),
      [&](OpBuilder &builder, Location loc) {
        ImplicitLocOpBuilder b(loc, builder);
        lane.storePairs(b);
        scf::YieldOp::create(b);
      },
      [&](OpBuilder &builder, Location loc) {
        ImplicitLocOpBuilder b(loc, builder);
        lane.storeEach(b);
        scf::YieldOp::create(b);
      });
}
