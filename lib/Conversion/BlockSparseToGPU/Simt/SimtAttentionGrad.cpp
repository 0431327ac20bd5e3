// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../../AttentionGradRow.h"
#include "../../Device/Arith.h"
#include "../../Device/Elements.h"
#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../Kit/AsyncCopy.h"
#include "SimtKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Index of the operand `lists` among those of ODS.
static constexpr unsigned lists = 10;

/// Returns the operands that scalar kernels read or write: all but the lists.
static SmallVector<Value> getOperands(PlannedAttentionGradOp op) {
  auto [first, count] = op.getODSOperandIndexAndLength(lists);
  SmallVector<Value> operands(op->getOperands().take_front(first));
  llvm::append_range(operands, op->getOperands().drop_front(first + count));
  return operands;
}

/// Describes how warps share the rows of `out` and `dout` whose chunks of 16 bytes are aligned: a
/// team of lanes has a row, and each of its lanes a chunk.
struct AlignedRows {
  /// Elements of a chunk, rows of a warp, and those of a CTA, which are of one (batch, head).
  static constexpr int64_t chunkCols = 8, rowsOfWarp = 8, rowsOfCta = 64;
  static constexpr int64_t threads = rowsOfCta / rowsOfWarp * warpSize;

  /// Chunks of a row, lanes of a team (a power of two), teams of a warp, and rows of a team.
  int64_t chunks = 0, lanes = 0, teams = 0, rows = 0;
  /// Rows of a (batch, head), heads, and CTAs.
  int64_t rowsOfHead = 0, heads = 0, blocks = 0;

  /// Returns the shares for `op`, or nothing if its rows do not have whole chunks, or are too many
  /// or too few for teams.
  static std::optional<AlignedRows> get(PlannedAttentionGradOp op) {
    auto type = cast<MemRefType>(op.getOut().getType());
    if (!type.hasStaticShape() || type.getElementTypeBitWidth() != 16)
      return std::nullopt;
    const ArrayRef<int64_t> shape = type.getShape();
    AlignedRows result;
    result.rowsOfHead = shape.end()[-2];
    result.heads = shape.size() < 3 ? 1 : shape.end()[-3];
    result.blocks = ShapedType::getNumElements(shape.drop_back()) / rowsOfCta;
    result.chunks = shape.back() / chunkCols;
    if (shape.back() % chunkCols != 0 || result.rowsOfHead % rowsOfCta != 0 || result.blocks == 0 ||
        result.chunks == 0 || result.chunks > warpSize ||
        result.blocks > std::numeric_limits<int32_t>::max())
      return std::nullopt;
    result.lanes = std::max<int64_t>(llvm::PowerOf2Ceil(result.chunks), warpSize / rowsOfWarp);
    result.teams = warpSize / result.lanes;
    result.rows = rowsOfWarp / result.teams;
    return result;
  }
};

/// Returns a chunk of 8 elements of `matrix`.
static Value loadChunk(ImplicitLocOpBuilder &b, const MatrixView &matrix, Value row, Value col) {
  auto type = VectorType::get(AlignedRows::chunkCols, matrix.elementType());
  Value pointer = globalPointer(b, globalAddress(b, matrix, row, col));
  return LLVM::LoadOp::create(b, type, pointer, /*alignment=*/16);
}

/// Returns the sum (f32) of the products of two chunks.
static Value multiplyChunks(ImplicitLocOpBuilder &b, Value left, Value right) {
  Value sum = zeroElement(b, b.getF32Type());
  for (int64_t i = 0; i < AlignedRows::chunkCols; ++i) {
    auto extract = [&](Value chunk) {
      Value own = LLVM::ExtractElementOp::create(b, chunk, i32Constant(b, i));
      return convertElement(b, own, b.getF32Type());
    };
    sum = multiplyAdd(b, extract(left), extract(right), sum);
  }
  return sum;
}

/// Emits the kernel of rows for rows that are aligned. The addresses of the rows of a team differ
/// by constants, and all of them are loaded before the first sum.
static void emitAlignedRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                            PlannedAttentionGradOp op, const AlignedRows &shape) {
  LaunchShape launch{indexConstant(host, shape.blocks), AlignedRows::threads};
  kernels.launch(
      host, "attention_grad_aligned_rows", getOperands(op), launch,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping) {
        auto word = [&](Value index) -> Value {
          return arith::IndexCastOp::create(b, b.getI32Type(), index);
        };
        Value thread = word(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
        Value block = word(gpu::BlockIdOp::create(b, gpu::Dimension::x));
        Value places = i32Constant(b, shape.rowsOfHead / AlignedRows::rowsOfCta);
        Value heads = i32Constant(b, shape.heads);
        Value matrix = arith::DivUIOp::create(b, block, places);
        Value batch = toIndex(b, arith::DivUIOp::create(b, matrix, heads));
        Value head = toIndex(b, arith::RemUIOp::create(b, matrix, heads));
        Value lane = Int(b, thread) % shape.lanes, team = Int(b, thread) / shape.lanes;
        Value warp = Int(b, thread) / warpSize;
        // Row i of a team is `first` + i * teams.
        Value place =
            Int(b, Value(arith::RemUIOp::create(b, block, places))) * AlignedRows::rowsOfCta;
        Value first = Int(b, Int(b, place) + Int(b, warp) * AlignedRows::rowsOfWarp) +
                      Int(b, team) % shape.teams;
        AttentionGradItems items(b, op, mapping);
        MatrixView out = items.outOf(b, {batch, head}), dout = items.doutOf(b, {batch, head});
        Value last = i32Constant(b, shape.chunks - 1);
        Value chunk = arith::MinSIOp::create(b, lane, last);
        Value col = toIndex(b, Int(b, chunk) * AlignedRows::chunkCols);
        Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, lane, last);
        Value none = zeroElement(b, b.getF32Type()), product;
        SmallVector<std::pair<Value, Value>> chunks;
        for (int64_t i = 0; i < shape.rows; ++i) {
          Value row = toIndex(b, Int(b, first) + i * shape.teams);
          chunks.emplace_back(loadChunk(b, out, row, col), loadChunk(b, dout, row, col));
        }
        for (int64_t i = 0; i < shape.rows; ++i) {
          Value sum = multiplyChunks(b, chunks[i].first, chunks[i].second);
          if (shape.chunks != shape.lanes)
            sum = arith::SelectOp::create(b, inside, sum, none);
          for (int64_t distance = shape.lanes / 2; distance > 0; distance /= 2) {
            auto other = gpu::ShuffleOp::create(b, sum, static_cast<int32_t>(distance), warpSize,
                                                gpu::ShuffleMode::XOR);
            sum = addNumbers(b, sum, other.getShuffleResult());
          }
          // Lane i of the team stores row i.
          Value isOwn = isEqual(b, lane, i32Constant(b, i));
          product = product ? arith::SelectOp::create(b, isOwn, sum, product).getResult() : sum;
        }
        Value stores =
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, lane, i32Constant(b, shape.rows));
        emitIf(b, stores, [&](ImplicitLocOpBuilder &b) {
          Value row = toIndex(b, Int(b, first) + Int(b, lane) * shape.teams);
          items.storeRow(b, {batch, head, row}, product);
        });
      });
}

/// Emits a kernel with a warp for each row.
static void emitAnyRows(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                        PlannedAttentionGradOp op) {
  SmallVector<Value> sizes = AttentionGradItems(host, op, IRMapping()).rowSizes(host);
  kernels.launchForEachWarp(
      host, "attention_grad_rows", getOperands(op), productOf(host, sizes),
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, Value lane) {
        AttentionGradItems items(b, op, mapping);
        SmallVector<Value> index = splitIndex(b, item, items.rowSizes(b));
        MatrixView out = items.outOf(b, index), dout = items.doutOf(b, index);
        Type type = items.accumulator();
        Value own = emitFold(b, lane, out.cols, indexConstant(b, warpSize), zeroElement(b, type),
                             [&](ImplicitLocOpBuilder &b, Value col, Value sum) {
                               Value left = convertElement(b, out.load(b, index[2], col), type);
                               Value right = convertElement(b, dout.load(b, index[2], col), type);
                               return multiplyAdd(b, left, right, sum);
                             });
        Value product = reduceWarp(b, own, addNumbers);
        emitIf(b, indexEqual(b, lane, indexConstant(b, 0)),
               [&](ImplicitLocOpBuilder &b) { items.storeRow(b, index, product); });
      });
}

void mlir::blocksparse::device::emitSimtAttentionGradRows(ImplicitLocOpBuilder &host,
                                                          KernelBuilder &kernels,
                                                          PlannedAttentionGradOp op) {
  std::optional<AlignedRows> shape = AlignedRows::get(op);
  if (!shape)
    return emitAnyRows(host, kernels, op);
  emitFastOrFallback(
      host, both(host, isAligned16(host, op.getOut()), isAligned16(host, op.getDout())),
      [&](ImplicitLocOpBuilder &b) { emitAlignedRows(b, kernels, op, *shape); },
      [&](ImplicitLocOpBuilder &b) { emitAnyRows(b, kernels, op); });
}

/// Emits a kernel with a thread for each item of a side.
static void emitItems(ImplicitLocOpBuilder &host, KernelBuilder &kernels, PlannedAttentionGradOp op,
                      AttentionGradSide side, bool repairs) {
  std::string name = repairs ? "attention_grad_repair" : "attention_grad";
  name += side == AttentionGradSide::Keys ? "_keys" : "_queries";
  Value work = productOf(host, AttentionGradItems(host, op, IRMapping()).sizes(host, side));
  kernels.launchForEach(host, name, getOperands(op), work,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          AttentionGradItems items(b, op, mapping);
                          SmallVector<Value> index = splitIndex(b, item, items.sizes(b, side));
                          items.emitItem(b, side, index, repairs);
                        });
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         PlannedAttentionGradOp op) {
  for (AttentionGradSide side : {AttentionGradSide::Keys, AttentionGradSide::Queries})
    emitItems(host, kernels, op, side, /*repairs=*/false);
}

void mlir::blocksparse::device::emitSimtAttentionGradRepair(ImplicitLocOpBuilder &host,
                                                            KernelBuilder &kernels,
                                                            PlannedAttentionGradOp op) {
  for (AttentionGradSide side : {AttentionGradSide::Keys, AttentionGradSide::Queries})
    emitItems(host, kernels, op, side, /*repairs=*/true);
}
