// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementConversion.h"
#include "LowerToLoops.h"
#include "StoredRows.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Holds the views of stored blocks and of the dense tensor that they belong to.
struct ConversionKernel {
  CoordinateView lut;
  int64_t lutHeads;
  ValuesView values;
  DenseView dense;
  Value batches, heads;
  VectorAccess access;

  VectorType vector() const { return VectorType::get({access.width}, values.elementType()); }
};

/// Describes the block that a row of a coordinate LUT lists, for one (batch, head).
struct BlockCoord {
  MatrixView block, dense;
  /// Row and column in the tensor of the block's first element.
  Value row, col;
};

} // namespace

static BlockCoord getBlockCoord(ImplicitLocOpBuilder &b, const ConversionKernel &kernel,
                                Value batch, Value headLoop, Value entry) {
  auto field = [&](CoordinateTable::Field which) {
    return kernel.lut.field(b, batch, entry, which);
  };
  Value head = kernel.lutHeads == 1 ? headLoop : field(CoordinateTable::Head);
  Value index = Int(b, kernel.values.headBase(b, head)) + field(CoordinateTable::Value);
  BlockCoord place;
  place.block = kernel.values.block(b, batch, index);
  place.dense = kernel.dense.matrix(b, batch, head);
  place.row = Int(b, field(CoordinateTable::BlockRow)) * place.block.rows;
  place.col = Int(b, field(CoordinateTable::BlockCol)) * place.block.cols;
  return place;
}

/// Returns the extent of the loop over heads: all heads if they share one table, and 1 for a table
/// whose rows name their heads.
static Value headLoop(ImplicitLocOpBuilder &b, const ConversionKernel &kernel) {
  return kernel.lutHeads == 1 ? kernel.heads : indexConstant(b, 1);
}

/// Returns i1: 0 <= value < end. A run-time table has row -1 in entries that list no block.
static Value isInside(ImplicitLocOpBuilder &b, Value value, Value end) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, value, end);
}

/// Calls `body` for each chunk of a block row, with masks of the lanes that exist in the block and
/// in the tensor (null: all).
static void forEachColumn(
    ImplicitLocOpBuilder &b, const ConversionKernel &kernel, const BlockCoord &place,
    llvm::function_ref<void(ImplicitLocOpBuilder &, Value col, Value stored, Value valid)> body) {
  int64_t blockCols = kernel.values.blockCols(), width = kernel.access.width;
  int64_t cols = knownIndex(kernel.dense.cols());
  bool aligned = blockCols % width == 0;
  bool whole = aligned && !ShapedType::isDynamic(cols) && cols % blockCols == 0;
  emitLoop(b, indexConstant(b, 0), indexConstant(b, blockCols), width,
           [&](ImplicitLocOpBuilder &b, Value col) {
             Value left = Int(b, indexConstant(b, blockCols)) - col;
             Value inTensor = Int(b, kernel.dense.cols()) - (Int(b, place.col) + col);
             Value stored = aligned ? Value() : kernel.access.mask(b, left);
             Value valid = whole ? Value() : kernel.access.mask(b, indexMin(b, left, inTensor));
             body(b, col, stored, valid);
           });
}

//===----------------------------------------------------------------------===//
// planned_from_dense
//===----------------------------------------------------------------------===//

static void emitFromDense(ImplicitLocOpBuilder &b, const ConversionKernel &kernel) {
  Value zero = indexConstant(b, 0);
  emitParallel(b, {kernel.batches, headLoop(b, kernel), kernel.lut.rows()},
               [&](ImplicitLocOpBuilder &b, ValueRange at) {
                 BlockCoord place = getBlockCoord(b, kernel, at[0], at[1], at[2]);
                 emitLoop(b, zero, place.block.rows, 1, [&](ImplicitLocOpBuilder &b, Value i) {
                   Value row = Int(b, place.row) + i;
                   auto copy = [&](ImplicitLocOpBuilder &b) {
                     forEachColumn(
                         b, kernel, place,
                         [&](ImplicitLocOpBuilder &b, Value col, Value stored, Value valid) {
                           Value elements = kernel.access.load(b, place.dense, row,
                                                               Int(b, place.col) + col, valid);
                           kernel.access.store(b, elements, place.block, i, col, stored);
                         });
                   };
                   auto pad = [&](ImplicitLocOpBuilder &b) {
                     Value nothing = zeroVector(b, kernel.vector());
                     forEachColumn(b, kernel, place,
                                   [&](ImplicitLocOpBuilder &b, Value col, Value stored, Value) {
                                     kernel.access.store(b, nothing, place.block, i, col, stored);
                                   });
                   };
                   emitIf(b, isInside(b, row, kernel.dense.rows()), copy, pad);
                 });
               });
}

//===----------------------------------------------------------------------===//
// planned_to_dense
//===----------------------------------------------------------------------===//

/// Writes 0 to row `row` of the tensor.
static void zeroDenseRow(ImplicitLocOpBuilder &b, const ConversionKernel &kernel, Value batch,
                         Value head, Value row) {
  MatrixView dense = kernel.dense.matrix(b, batch, head);
  Value nothing = zeroVector(b, kernel.vector());
  emitLoop(b, indexConstant(b, 0), dense.cols, kernel.access.width,
           [&](ImplicitLocOpBuilder &b, Value col) {
             kernel.access.store(b, nothing, dense, row, col,
                                 kernel.access.mask(b, Int(b, dense.cols) - col));
           });
}

static Value emitSum(ImplicitLocOpBuilder &b, Value lhs, Value rhs) {
  Type element = cast<VectorType>(lhs.getType()).getElementType();
  if (isa<IntegerType>(element))
    return arith::AddIOp::create(b, lhs, rhs);
  FloatType compute = getComputeType(element);
  Value sum =
      arith::AddFOp::create(b, convertElements(b, lhs, compute), convertElements(b, rhs, compute));
  return convertElements(b, sum, element);
}

/// Writes row `i` of a block to its row of the tensor, or adds it if `accumulate`.
static void scatterBlockRow(ImplicitLocOpBuilder &b, const ConversionKernel &kernel,
                            const BlockCoord &place, Value i, bool accumulate) {
  Value row = Int(b, place.row) + i;
  emitIf(b, isInside(b, row, kernel.dense.rows()), [&](ImplicitLocOpBuilder &b) {
    forEachColumn(
        b, kernel, place, [&](ImplicitLocOpBuilder &b, Value col, Value stored, Value valid) {
          Value at = Int(b, place.col) + col;
          Value elements = kernel.access.load(b, place.block, i, col, stored);
          if (accumulate)
            elements = emitSum(b, kernel.access.load(b, place.dense, row, at, valid), elements);
          kernel.access.store(b, elements, place.dense, row, at, valid);
        });
  });
}

/// Emits to_dense for a table without duplicates: first zeroes the tensor, then writes all blocks
/// in parallel.
static void emitScatter(ImplicitLocOpBuilder &b, const ConversionKernel &kernel) {
  Value zero = indexConstant(b, 0);
  emitParallel(b, {kernel.batches, kernel.dense.heads(), kernel.dense.rows()},
               [&](ImplicitLocOpBuilder &b, ValueRange at) {
                 zeroDenseRow(b, kernel, at[0], at[1], at[2]);
               });
  emitParallel(b, {kernel.batches, headLoop(b, kernel), kernel.lut.rows()},
               [&](ImplicitLocOpBuilder &b, ValueRange at) {
                 BlockCoord place = getBlockCoord(b, kernel, at[0], at[1], at[2]);
                 emitLoop(b, zero, place.block.rows, 1, [&](ImplicitLocOpBuilder &b, Value i) {
                   scatterBlockRow(b, kernel, place, i, /*accumulate=*/false);
                 });
               });
}

/// Emits to_dense for a table that may list a block twice: one iteration writes the i-th row of
/// every block row and adds in the order of the table.
static void emitOwnedScatter(ImplicitLocOpBuilder &b, const ConversionKernel &kernel) {
  Value zero = indexConstant(b, 0);
  int64_t blockRows = kernel.values.blockRows();
  emitParallel(b, {kernel.batches, headLoop(b, kernel), indexConstant(b, blockRows)},
               [&](ImplicitLocOpBuilder &b, ValueRange at) {
                 Value batch = at[0], i = at[2];
                 bool shared = kernel.lutHeads == 1;
                 Value firstHead = shared ? at[1] : zero;
                 Value endHead = shared ? Int(b, at[1]) + 1 : kernel.dense.heads();
                 emitLoop(b, firstHead, endHead, 1, [&](ImplicitLocOpBuilder &b, Value head) {
                   emitLoop(b, i, kernel.dense.rows(), blockRows,
                            [&](ImplicitLocOpBuilder &b, Value row) {
                              zeroDenseRow(b, kernel, batch, head, row);
                            });
                 });
                 emitLoop(b, zero, kernel.lut.rows(), 1, [&](ImplicitLocOpBuilder &b, Value entry) {
                   scatterBlockRow(b, kernel, getBlockCoord(b, kernel, batch, at[1], entry), i,
                                   /*accumulate=*/true);
                 });
               });
}

//===----------------------------------------------------------------------===//
// planned_transpose
//===----------------------------------------------------------------------===//

static void emitTranspose(ImplicitLocOpBuilder &b, PlannedTransposeOp op) {
  Value permutation = op.getPermutation();
  int64_t rank = cast<MemRefType>(permutation.getType()).getRank();
  Value blocks = memrefDim(b, permutation, rank - 1), zero = indexConstant(b, 0);
  int64_t lutHeads = op.getLutHeads();
  Value heads = countHeads(b, op.getInit(), lutHeads, blocks);
  ValuesView source = ValuesView::get(b, op.getValues(), lutHeads, blocks, heads);
  ValuesView target = ValuesView::get(b, op.getInit(), lutHeads, blocks, heads);
  Value loop = lutHeads == 1 ? heads : indexConstant(b, 1);
  Value batches = countBatches(b, op.getInit());
  emitParallel(b, {batches, loop, blocks}, [&](ImplicitLocOpBuilder &b, ValueRange at) {
    SmallVector<Value> position;
    if (rank == 2)
      position.push_back(cast<MemRefType>(permutation.getType()).getDimSize(0) == 1 ? zero : at[0]);
    position.push_back(at[2]);
    Value from = loadIndex(b, permutation, position);
    MatrixView in = source.block(b, at[0], Int(b, source.headBase(b, at[1])) + from,
                                 /*transposed=*/true);
    MatrixView out = target.block(b, at[0], Int(b, target.headBase(b, at[1])) + at[2]);
    emitLoop(b, zero, out.rows, 1, [&](ImplicitLocOpBuilder &b, Value i) {
      emitLoop(b, zero, out.cols, 1,
               [&](ImplicitLocOpBuilder &b, Value j) { out.store(b, in.load(b, i, j), i, j); });
    });
  });
}

//===----------------------------------------------------------------------===//
// planned_add
//===----------------------------------------------------------------------===//

namespace {

/// Describes a term of a sum: a block and its factor. `operand`, an element of the type in which
/// sums are computed, is another factor where it is not null.
struct ScaledBlock {
  MatrixView block;
  double factor;
  Value operand;
};

} // namespace

/// Returns the sum of the elements (row, col + lane) of blocks, each times its factor. A factor of
/// 0 leaves the term out, and one that is an operand makes it 0 whatever the block holds.
static Value emitScaledSum(ImplicitLocOpBuilder &b, const VectorAccess &access,
                           ArrayRef<ScaledBlock> terms, Value row, Value col, Value mask) {
  Type element = terms.front().block.elementType();
  FloatType compute = getComputeType(element);
  Value sum;
  for (const ScaledBlock &term : terms) {
    if (term.factor == 0)
      continue;
    Value elements = convertElements(b, access.load(b, term.block, row, col, mask), compute);
    if (term.factor != 1)
      elements =
          arith::MulFOp::create(b, elements, splatConstant(b, elements.getType(), term.factor));
    if (term.operand) {
      Value factor = splat(b, term.operand, access.width);
      Value none = zeroVector(b, cast<VectorType>(elements.getType()));
      Value isZero = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, factor, none);
      elements =
          arith::SelectOp::create(b, isZero, none, arith::MulFOp::create(b, factor, elements));
    }
    sum = sum ? arith::AddFOp::create(b, sum, elements).getResult() : elements;
  }
  return sum ? convertElements(b, sum, element)
             : zeroVector(b, VectorType::get({access.width}, element));
}

static void emitAdd(ImplicitLocOpBuilder &b, PlannedAddOp op, const VectorAccess &access) {
  // The blocks of all heads are numbered one after another.
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  auto view = [&](Value memref) { return ValuesView::get(b, memref, 1, one, one); };
  ValuesView left = view(op.getA()), right = view(op.getB()), out = view(op.getInit());
  double alpha = op.getAlpha().convertToDouble(), beta = op.getBeta().convertToDouble();
  auto load = [&](Value factor) {
    return factor ? memref::LoadOp::create(b, factor).getResult() : Value();
  };
  Value dynamicAlpha = load(op.getDynamicAlpha()), dynamicBeta = load(op.getDynamicBeta());
  emitParallel(b, {countBatches(b, op.getInit()), out.storedBlocks()},
               [&](ImplicitLocOpBuilder &b, ValueRange at) {
                 ScaledBlock terms[] = {{left.block(b, at[0], at[1]), alpha, dynamicAlpha},
                                        {right.block(b, at[0], at[1]), beta, dynamicBeta}};
                 MatrixView target = out.block(b, at[0], at[1]);
                 emitLoop(b, zero, target.rows, 1, [&](ImplicitLocOpBuilder &b, Value row) {
                   emitLoop(b, zero, target.cols, access.width,
                            [&](ImplicitLocOpBuilder &b, Value col) {
                              Value mask = out.blockCols() % access.width == 0
                                               ? Value()
                                               : access.mask(b, Int(b, target.cols) - col);
                              Value sum = emitScaledSum(b, access, terms, row, col, mask);
                              access.store(b, sum, target, row, col, mask);
                            });
                 });
               });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Emits `kernel` in a version for unit strides and one for any strides.
static void
emitConversion(ImplicitLocOpBuilder &b, Value values, Value dense, Value lut, int64_t lutHeads,
               ScheduleAttr schedule, const CPULoweringOptions &options, bool toDense,
               llvm::function_ref<void(ImplicitLocOpBuilder &, const ConversionKernel &)> emit) {
  ConversionKernel kernel;
  kernel.lut = CoordinateView::get(b, lut);
  kernel.lutHeads = lutHeads;
  kernel.dense = DenseView::get(b, dense);
  // Only the destination tells how many batches and heads there are.
  kernel.batches = toDense ? kernel.dense.batches() : countBatches(b, values);
  kernel.heads =
      toDense ? kernel.dense.heads() : countHeads(b, values, lutHeads, kernel.lut.rows());
  kernel.values = ValuesView::get(b, values, lutHeads, kernel.lut.rows(), kernel.heads);
  int64_t width =
      chooseWidth(kernel.values.blockCols(), kernel.values.elementType().getIntOrFloatBitWidth(),
                  options.vectorBits, schedule);
  SmallVector<Value> conditions{kernel.values.hasContiguousBlocks(b)};
  // A single column has no neighbours, so its stride does not matter.
  if (knownIndex(kernel.dense.cols()) != 1)
    conditions.push_back(kernel.dense.hasUnitStride(b));
  emitVersions(b, conditions, [&](ImplicitLocOpBuilder &b, bool unitStride) {
    kernel.access = {width, unitStride};
    emit(b, kernel);
  });
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedToDenseOp op,
                                     const CPULoweringOptions &options) {
  bool unique = isConstantTable(op.getLut());
  emitConversion(b, op.getValues(), op.getInit(), op.getLut(), op.getLutHeads(),
                 op.getScheduleAttr(), options, /*toDense=*/true,
                 unique ? emitScatter : emitOwnedScatter);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedFromDenseOp op,
                                     const CPULoweringOptions &options) {
  emitConversion(b, op.getInit(), op.getDense(), op.getLut(), op.getLutHeads(),
                 op.getScheduleAttr(), options, /*toDense=*/false, emitFromDense);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedTransposeOp op,
                                     const CPULoweringOptions &) {
  emitTranspose(b, op);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedAddOp op,
                                     const CPULoweringOptions &options) {
  auto type = cast<MemRefType>(op.getInit().getType());
  int64_t width = chooseWidth(type.getShape().back(), type.getElementTypeBitWidth(),
                              options.vectorBits, op.getScheduleAttr());
  Value one = indexConstant(b, 1);
  SmallVector<Value> conditions;
  for (Value memref : {op.getA(), op.getB(), op.getInit()})
    conditions.push_back(ValuesView::get(b, memref, 1, one, one).hasContiguousBlocks(b));
  emitVersions(b, conditions, [&](ImplicitLocOpBuilder &b, bool unitStride) {
    emitAdd(b, op, {width, unitStride});
  });
}
