// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementConversion.h"
#include "LowerToLoops.h"
#include "StoredRows.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Holds the views and parameters that a row of planned_softmax_grad needs.
struct GradKernel {
  StoredRows table;
  ValuesView y, dy, dx;
  /// Both are there or neither.
  std::optional<DenseView> out, dout;
  std::optional<DenseView> dlse;
  FloatType compute;
  double scale;
  /// A second factor of the scores, a number of the type `compute`; null if there is none.
  Value dynamicScale;
  VectorAccess access;

  VectorType vector() const { return VectorType::get({access.width}, compute); }
};

/// Describes the gradient of rpe: the buffer in which it is summed, and the operand that receives
/// it.
struct BiasGradient {
  /// Sums in the compute type; the operand itself if it has that type.
  DenseView sums;
  DenseView result;
  bool inPlace;
};

} // namespace

/// Returns y and dy of the lanes of `mask` (null: all), in the compute type.
static std::pair<Value, Value> loadPair(ImplicitLocOpBuilder &b, const GradKernel &kernel,
                                        const StoredRow &row, const Chunk &chunk, Value mask) {
  auto load = [&](const ValuesView &values) {
    Value index = Int(b, values.headBase(b, row.blocks.head)) + chunk.block;
    MatrixView block = values.block(b, row.blocks.batch, index);
    return convertElements(b, kernel.access.load(b, block, row.inBlock, chunk.inBlock, mask),
                           kernel.compute);
  };
  Value y = load(kernel.y);
  return {y, load(kernel.dy)};
}

/// Returns `value` where y is not 0, else 0: an element without weight contributes nothing, even if
/// its gradient is NaN.
static Value whereWeighted(ImplicitLocOpBuilder &b, const GradKernel &kernel, Value y,
                           Value value) {
  Value zero = splatConstant(b, kernel.vector(), 0);
  Value weightless = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, y, zero);
  return arith::SelectOp::create(b, weightless, zero, value);
}

/// Returns the sum of out * dout over the row of these.
static Value emitOutDot(ImplicitLocOpBuilder &b, const GradKernel &kernel, const StoredRow &row) {
  MatrixView out = kernel.out->matrix(b, row.blocks.batch, row.blocks.head);
  MatrixView dout = kernel.dout->matrix(b, row.blocks.batch, row.blocks.head);
  auto loop = scf::ForOp::create(b, indexConstant(b, 0), out.cols, indexConstant(b, 1),
                                 splatConstant(b, kernel.compute, 0));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  auto load = [&](const MatrixView &matrix) {
    Value element = matrix.load(b, row.inTensor, loop.getInductionVar());
    return convertElements(b, element, kernel.compute);
  };
  Value product = arith::MulFOp::create(b, load(out), load(dout));
  scf::YieldOp::create(b, arith::AddFOp::create(b, loop.getRegionIterArg(0), product).getResult());
  return loop.getResult(0);
}

/// Returns the sum of y * dy over the row, or that of out * dout if the operation has these.
static Value emitSum(ImplicitLocOpBuilder &b, const GradKernel &kernel, const StoredRow &row) {
  if (kernel.out)
    return emitOutDot(b, kernel, row);
  Value zero = splatConstant(b, kernel.compute, 0);
  Value sums = forEachChunk(
      b, kernel.table, row, kernel.access.width, splatConstant(b, kernel.vector(), 0),
      [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value so) -> Value {
        auto multiply = [&](ImplicitLocOpBuilder &b, Value mask) -> SmallVector<Value> {
          auto [y, dy] = loadPair(b, kernel, row, chunk, mask);
          return {whereWeighted(b, kernel, y, arith::MulFOp::create(b, y, dy))};
        };
        auto products = readChunk(b, kernel.access, chunk, kernel.vector(), multiply);
        return arith::AddFOp::create(b, so, products.front());
      });
  return vector::ReductionOp::create(b, vector::CombiningKind::ADD, sums, zero);
}

/// Returns what is subtracted from dy: the sum of the row less the gradient of its log-sum-exp.
static Value emitDot(ImplicitLocOpBuilder &b, const GradKernel &kernel, const StoredRow &row) {
  Value sum = emitSum(b, kernel, row);
  if (!kernel.dlse)
    return sum;
  Value dlse = kernel.dlse->matrix(b, row.blocks.batch, row.blocks.head)
                   .load(b, row.inTensor, indexConstant(b, 0));
  return arith::SubFOp::create(b, sum, convertElements(b, dlse, kernel.compute));
}

/// Returns y * (dy - dot) for a chunk; `use` (null: none) is called with it and its mask.
static Value
emitScoreGradient(ImplicitLocOpBuilder &b, const GradKernel &kernel, const StoredRow &row,
                  const Chunk &chunk, Value dots,
                  llvm::function_ref<void(ImplicitLocOpBuilder &, Value, Value)> use = nullptr) {
  auto emit = [&](ImplicitLocOpBuilder &b, Value mask) -> SmallVector<Value> {
    auto [y, dy] = loadPair(b, kernel, row, chunk, mask);
    Value centred = arith::SubFOp::create(b, dy, dots);
    Value gradient = whereWeighted(b, kernel, y, arith::MulFOp::create(b, y, centred));
    if (use)
      use(b, gradient, mask);
    return {gradient};
  };
  return readChunk(b, kernel.access, chunk, kernel.vector(), emit).front();
}

//===----------------------------------------------------------------------===//
// dx
//===----------------------------------------------------------------------===//

/// Writes a row of dx, whose elements may be in the memory of y or dy.
static void emitRowGradient(ImplicitLocOpBuilder &b, const GradKernel &kernel, const StoredRow &row,
                            Value dot) {
  Value dots = splat(b, dot, kernel.access.width);
  Value scale = splatConstant(b, kernel.vector(), kernel.scale);
  if (kernel.dynamicScale)
    scale = arith::MulFOp::create(b, scale, splat(b, kernel.dynamicScale, kernel.access.width));
  Value base = kernel.dx.headBase(b, row.blocks.head);
  forEachChunk(b, kernel.table, row, kernel.access.width, nullptr,
               [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value) -> Value {
                 Value gradient = emitScoreGradient(b, kernel, row, chunk, dots);
                 // 0 times an infinite scale or gradient must stay 0, not become NaN.
                 if (kernel.scale != 1.0 || kernel.dynamicScale)
                   gradient = whereWeighted(b, kernel, gradient,
                                            arith::MulFOp::create(b, gradient, scale));
                 MatrixView dx = kernel.dx.block(b, row.blocks.batch, Int(b, base) + chunk.block);
                 kernel.access.store(b, convertElements(b, gradient, kernel.dx.elementType()), dx,
                                     row.inBlock, chunk.inBlock,
                                     storageMask(b, kernel.table, kernel.access, chunk));
                 return nullptr;
               });
}

/// Writes dx. `dotOf` returns the sum of y * dy of a row.
static void
emitInputGradient(ImplicitLocOpBuilder &b, const GradKernel &kernel,
                  llvm::function_ref<Value(ImplicitLocOpBuilder &, const StoredRow &)> dotOf) {
  forEachBlockRow(b, kernel.table, [&](ImplicitLocOpBuilder &b, const BlockRow &blocks) {
    forEachRow(
        b, kernel.table, blocks,
        [&](ImplicitLocOpBuilder &b, StoredRow row) {
          emitRowGradient(b, kernel, row, dotOf(b, row));
        },
        [&](ImplicitLocOpBuilder &b, StoredRow row) {
          zeroRow(b, kernel.table, row, kernel.dx, kernel.access);
        });
  });
  zeroSpareBlocks(b, kernel.table, kernel.dx);
}

//===----------------------------------------------------------------------===//
// drpe
//===----------------------------------------------------------------------===//

/// Returns a scratch buffer [B, H, M] with the sum of y * dy of each row.
static Value emitDots(ImplicitLocOpBuilder &b, const GradKernel &kernel) {
  auto type = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic, kernel.table.rows},
                              kernel.compute);
  Value dots =
      memref::AllocOp::create(b, type, ValueRange{kernel.table.batches, kernel.table.heads});
  forEachBlockRow(b, kernel.table, [&](ImplicitLocOpBuilder &b, const BlockRow &blocks) {
    forEachRow(b, kernel.table, blocks, [&](ImplicitLocOpBuilder &b, StoredRow row) {
      memref::StoreOp::create(b, emitDot(b, kernel, row), dots,
                              ValueRange{blocks.batch, blocks.head, row.inTensor});
    });
  });
  return dots;
}

static Value loadDot(ImplicitLocOpBuilder &b, Value dots, const StoredRow &row) {
  return memref::LoadOp::create(b, dots,
                                ValueRange{row.blocks.batch, row.blocks.head, row.inTensor});
}

/// Returns the number of block rows of the tensor.
static Value countTiles(ImplicitLocOpBuilder &b, const StoredRows &table) {
  return indexConstant(b, llvm::divideCeil(table.rows, table.blockRows));
}

/// Returns a scratch buffer [tables, heads, block rows] with the index of the segment of each block
/// row, or -1.
static Value emitSegmentIndex(ImplicitLocOpBuilder &b, const StoredRows &table) {
  Value zero = indexConstant(b, 0), minusOne = indexConstant(b, -1);
  Value tables = table.segments.isBatched() ? table.batches : indexConstant(b, 1);
  Value tiles = countTiles(b, table), heads = indexConstant(b, table.lutHeads);
  auto type =
      MemRefType::get({ShapedType::kDynamic, table.lutHeads, knownIndex(tiles)}, b.getIndexType());
  Value index = memref::AllocOp::create(b, type, ValueRange{tables});
  emitParallel(b, {tables}, [&](ImplicitLocOpBuilder &b, ValueRange at) {
    emitLoop(b, zero, heads, 1, [&](ImplicitLocOpBuilder &b, Value head) {
      emitLoop(b, zero, tiles, 1, [&](ImplicitLocOpBuilder &b, Value tile) {
        memref::StoreOp::create(b, minusOne, index, ValueRange{at[0], head, tile});
      });
    });
    emitLoop(b, zero, table.segments.rows(), 1, [&](ImplicitLocOpBuilder &b, Value segment) {
      Value tile = table.segments.field(b, at[0], segment, SegmentTable::Tile);
      Value head =
          table.lutHeads == 1 ? zero : table.segments.field(b, at[0], segment, SegmentTable::Head);
      memref::StoreOp::create(b, segment, index, ValueRange{at[0], head, tile});
    });
  });
  return index;
}

/// Adds the gradients of a block row to the sums.
static void addBlockRow(ImplicitLocOpBuilder &b, const GradKernel &kernel, const BiasGradient &bias,
                        Value scratch, const BlockRow &blocks) {
  MatrixView sums = bias.sums.matrix(b, blocks.batch, blocks.head);
  Value zero = indexConstant(b, 0);
  bool oneColumn = knownIndex(sums.cols) == 1;
  forEachRow(b, kernel.table, blocks, [&](ImplicitLocOpBuilder &b, StoredRow row) {
    Value dots = splat(b, loadDot(b, scratch, row), kernel.access.width);
    auto addChunk = [&](ImplicitLocOpBuilder &b, const Chunk &chunk, Value so) -> Value {
      auto accumulate = [&](ImplicitLocOpBuilder &b, Value gradient, Value mask) {
        Value old = kernel.access.load(b, sums, row.inTensor, chunk.inTensor, mask);
        kernel.access.store(b, arith::AddFOp::create(b, old, gradient), sums, row.inTensor,
                            chunk.inTensor, mask);
      };
      if (!oneColumn) {
        emitScoreGradient(b, kernel, row, chunk, dots, accumulate);
        return nullptr;
      }
      return arith::AddFOp::create(b, so, emitScoreGradient(b, kernel, row, chunk, dots));
    };
    Value init = oneColumn ? splatConstant(b, kernel.vector(), 0) : Value();
    Value lanes = forEachChunk(b, kernel.table, row, kernel.access.width, init, addChunk);
    if (oneColumn) {
      Value old = sums.load(b, row.inTensor, zero);
      Value sum = vector::ReductionOp::create(b, vector::CombiningKind::ADD, lanes, old);
      sums.store(b, sum, row.inTensor, zero);
    }
  });
}

/// Calls `body` for the chunks of rows [begin, end) of a matrix.
static void forEachMatrixChunk(
    ImplicitLocOpBuilder &b, const VectorAccess &access, Value begin, Value end, Value cols,
    llvm::function_ref<void(ImplicitLocOpBuilder &, Value row, Value col, Value mask)> body) {
  emitLoop(b, begin, end, 1, [&](ImplicitLocOpBuilder &b, Value row) {
    emitLoop(b, indexConstant(b, 0), cols, access.width, [&](ImplicitLocOpBuilder &b, Value col) {
      body(b, row, col, access.mask(b, Int(b, cols) - col));
    });
  });
}

/// Computes the sums of drpe. Every element is written by one iteration of a parallel loop, which
/// adds in a fixed order: batches, heads, block rows, entries.
static void emitBiasGradient(ImplicitLocOpBuilder &b, const GradKernel &kernel,
                             const BiasGradient &bias, Value dots) {
  const StoredRows &table = kernel.table;
  Value zero = indexConstant(b, 0), one = indexConstant(b, 1);
  Value tiles = countTiles(b, table), index = emitSegmentIndex(b, table);
  bool oneRow = knownIndex(bias.sums.rows()) == 1;
  // Range of an axis that the iteration for element `at` sums over.
  auto range = [&](ImplicitLocOpBuilder &b, bool reduced, Value at, Value all) {
    return reduced ? std::pair(zero, all) : std::pair(at, Int(b, at) + one);
  };
  Value owners[] = {bias.sums.batches(), bias.sums.heads(), oneRow ? one : tiles};
  emitParallel(b, owners, [&](ImplicitLocOpBuilder &b, ValueRange at) {
    Value blockRows = indexConstant(b, table.blockRows);
    Value firstRow = oneRow ? zero : Int(b, at[2]) * blockRows;
    Value lastRow =
        oneRow ? one : indexMin(b, Int(b, firstRow) + blockRows, indexConstant(b, table.rows));
    MatrixView sums = bias.sums.matrix(b, at[0], at[1]);
    Value none = splatConstant(b, kernel.vector(), 0);
    auto clear = [&](ImplicitLocOpBuilder &b, Value row, Value col, Value mask) {
      kernel.access.store(b, none, sums, row, col, mask);
    };
    forEachMatrixChunk(b, kernel.access, firstRow, lastRow, sums.cols, clear);

    auto batches = range(b, knownIndex(owners[0]) == 1, at[0], table.batches);
    auto heads = range(b, knownIndex(owners[1]) == 1, at[1], table.heads);
    auto rows = range(b, oneRow, at[2], tiles);
    emitLoop(b, batches.first, batches.second, 1, [&](ImplicitLocOpBuilder &b, Value batch) {
      emitLoop(b, heads.first, heads.second, 1, [&](ImplicitLocOpBuilder &b, Value head) {
        emitLoop(b, rows.first, rows.second, 1, [&](ImplicitLocOpBuilder &b, Value tile) {
          Value segment =
              memref::LoadOp::create(b, index,
                                     ValueRange{table.segments.isBatched() ? batch : zero,
                                                table.lutHeads == 1 ? zero : head, tile});
          Value present = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, segment, zero);
          emitIf(b, present, [&](ImplicitLocOpBuilder &b) {
            addBlockRow(b, kernel, bias, dots, getBlockRow(b, table, batch, head, segment));
          });
        });
      });
    });

    if (bias.inPlace)
      return;
    MatrixView result = bias.result.matrix(b, at[0], at[1]);
    auto convert = [&](ImplicitLocOpBuilder &b, Value row, Value col, Value mask) {
      Value value = kernel.access.load(b, sums, row, col, mask);
      kernel.access.store(b, convertElements(b, value, bias.result.elementType()), result, row, col,
                          mask);
    };
    forEachMatrixChunk(b, kernel.access, firstRow, lastRow, sums.cols, convert);
  });
  memref::DeallocOp::create(b, index);
}

/// Returns the gradient with sums in a separate buffer if the elements of drpe are narrower than
/// the compute type. The caller frees `buffer`.
static BiasGradient getBiasGradient(ImplicitLocOpBuilder &b, Value drpe, FloatType compute,
                                    Value &buffer) {
  auto type = cast<MemRefType>(drpe.getType());
  DenseView result = DenseView::get(b, drpe);
  if (type.getElementType() == compute)
    return {result, result, true};
  SmallVector<Value> dynamicSizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      dynamicSizes.push_back(memrefDim(b, drpe, axis));
  buffer = memref::AllocOp::create(b, MemRefType::get(type.getShape(), compute), dynamicSizes);
  return {DenseView::get(b, buffer), result, false};
}

static void emitKernel(ImplicitLocOpBuilder &b, const GradKernel &kernel, Value drpe) {
  if (!drpe)
    return emitInputGradient(b, kernel, [&](ImplicitLocOpBuilder &b, const StoredRow &row) {
      return emitDot(b, kernel, row);
    });
  // dx is written last, because it may share memory with y or dy.
  Value dots = emitDots(b, kernel), buffer;
  BiasGradient bias = getBiasGradient(b, drpe, kernel.compute, buffer);
  emitBiasGradient(b, kernel, bias, dots);
  emitInputGradient(b, kernel, [&](ImplicitLocOpBuilder &b, const StoredRow &row) {
    return loadDot(b, dots, row);
  });
  if (buffer)
    memref::DeallocOp::create(b, buffer);
  memref::DeallocOp::create(b, dots);
}

void mlir::blocksparse::lowerToLoops(ImplicitLocOpBuilder &b, PlannedSoftmaxGradOp op,
                                     const CPULoweringOptions &options) {
  Value dx = op.getInits().front();
  Value drpe = op.getInits().size() > 1 ? op.getInits()[1] : Value();
  GradKernel kernel;
  kernel.table = StoredRows::get(b, op.getSegments(), op.getEntries(), op.getBlock(), op.getShape(),
                                 op.getLutHeads(), dx, nullptr, nullptr);
  auto values = [&](Value memref) {
    return ValuesView::get(b, memref, op.getLutHeads(), kernel.table.entries.rows(),
                           kernel.table.heads);
  };
  kernel.y = values(op.getY());
  kernel.dy = values(op.getDy());
  kernel.dx = values(dx);
  if (op.getOut()) {
    kernel.out = DenseView::get(b, op.getOut());
    kernel.dout = DenseView::get(b, op.getDout());
  }
  if (Value dlse = op.getDlse())
    kernel.dlse = DenseView::get(
        b, dlse, DenseAxes::ofRowVectors(cast<MemRefType>(dlse.getType()).getRank()));
  kernel.compute = getComputeType(kernel.dx.elementType());
  kernel.scale = op.getScale().convertToDouble();
  if (Value factor = op.getDynamicScale())
    kernel.dynamicScale = memref::LoadOp::create(b, factor, ValueRange());
  int64_t width = chooseWidth(kernel.table.blockCols, kernel.compute.getWidth(), options.vectorBits,
                              op.getScheduleAttr());
  SmallVector<Value> conditions{kernel.y.hasContiguousBlocks(b), kernel.dy.hasContiguousBlocks(b),
                                kernel.dx.hasContiguousBlocks(b)};
  if (drpe && knownIndex(DenseView::get(b, drpe).cols()) != 1)
    conditions.push_back(DenseView::get(b, drpe).hasUnitStride(b));
  emitVersions(b, conditions, [&](ImplicitLocOpBuilder &b, bool unitStride) {
    kernel.access = {width, unitStride};
    emitKernel(b, kernel, drpe);
  });
}
