// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernel that packs value blocks before a `cuda.stream` product: it copies them to the order in
// which stages load them, and swizzles their rows. A warp copies a block. Planned blocks are
// gathered from the granules of the stored ones.

#include "../../Device/Loops.h"
#include "../../Device/Warp.h"
#include "../../OperandView.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/IntTable.h"
#include "../Kit/SharedTile.h"
#include "../Operands/StagedTiles.h"
#include "../Planner/WarpWork.h"
#include "StreamKernels.h"
#include "blocksparse/Plan/Reblock.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

using ::blocksparse::Reblocking;

/// Elements of a chunk (16 bytes), which a thread moves at once, and bytes of an element.
static constexpr int64_t chunkElements = 8, elementBytes = 2;

/// Loads `count` elements of row `row` of a block from column `col` on. It is one load if the block
/// is not transposed, and one load for each element otherwise.
static Value loadElements(ImplicitLocOpBuilder &b, const MatrixView &block, bool transposed,
                          Value row, Value col, int64_t count) {
  auto type = VectorType::get(count, block.elementType());
  if (!transposed)
    return LLVM::LoadOp::create(b, type, globalPointer(b, globalAddress(b, block, row, col)),
                                /*alignment=*/count * elementBytes);
  Value chunk = LLVM::PoisonOp::create(b, type);
  for (int64_t i = 0; i < count; ++i) {
    Value element = block.load(b, row, Int(b, col) + i);
    chunk = LLVM::InsertElementOp::create(b, chunk, element, i32Constant(b, i));
  }
  return chunk;
}

/// Returns how the blocks of an operation are planned, or nothing if stages hold the stored blocks.
/// The depth of the reduction counts where it divides granules alone.
static std::optional<Reblocking> getReblocking(PlannedDSDOp op) {
  const auto *params = op.getSchedule()->getIf<::blocksparse::StreamParams>();
  if (params->block == 0)
    return std::nullopt;
  ArrayRef<int64_t> block = op.getBlock();
  Reblocking sizes;
  sizes.stored = {block[0], block[1]};
  if (op.getTransposeValues())
    std::swap(sizes.stored.rows, sizes.stored.cols);
  sizes.block = params->block;
  auto dense = cast<MemRefType>(op.getDense().getType());
  sizes.depth = dense.getDimSize(dense.getRank() - (op.getTransposeB() ? 1 : 2));
  return sizes;
}

/// Returns the number of elements of a chunk that are in one granule, and so can be loaded
/// together.
static int64_t elementsTogether(const Reblocking &sizes) {
  return std::min(chunkElements, sizes.granule().cols);
}

namespace {
/// Gathers chunks of planned blocks.
struct GranuleReader {
  /// True if op(V) is the transpose of the values.
  bool transposed;
  Reblocking sizes;
  ValuesView values;
  IntTable granules;
  Value batch, firstBlock;

  /// Returns chunk `chunk` of row `row` of planned block `planned` (all index).
  Value loadChunk(ImplicitLocOpBuilder &b, Value planned, Value row, Value chunk) const;

private:
  /// Returns `count` elements of row `row` of a planned block from column `col` on.
  Value loadPart(ImplicitLocOpBuilder &b, Value planned, Value row, Value col, int64_t count) const;
};
} // namespace

Value GranuleReader::loadPart(ImplicitLocOpBuilder &b, Value planned, Value row, Value col,
                              int64_t count) const {
  const ::blocksparse::BlockShape granule = sizes.granule();
  Value inBlock = Int(b, Int(b, row) / granule.rows) * sizes.granulesPerRow();
  inBlock = Int(b, inBlock) + Int(b, col) / granule.cols;
  Value place = Int(b, planned) * sizes.granulesPerBlock() + inBlock;
  Value found = granules.readAt(b, toInt(b, place));
  Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, found, i32Constant(b, 0));
  // Where no block is stored, the first granule is read in its place and not used.
  Value index = arith::MaxSIOp::create(b, found, i32Constant(b, 0));
  auto [stored, inStored] = divide(b, index, sizes.granulesPerStored());
  auto [granuleRow, granuleCol] = divide(b, inStored, sizes.granulesPerStoredRow());
  Value firstRow = Int(b, toIndex(b, granuleRow)) * granule.rows;
  Value firstCol = Int(b, toIndex(b, granuleCol)) * granule.cols;
  MatrixView source = values.block(b, batch, Int(b, toIndex(b, stored)) + firstBlock, transposed);
  Value elements =
      loadElements(b, source, transposed, Int(b, firstRow) + Int(b, row) % granule.rows,
                   Int(b, firstCol) + Int(b, col) % granule.cols, count);
  auto type = cast<VectorType>(elements.getType());
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(type));
  return arith::SelectOp::create(b, isThere, elements, zeros);
}

Value GranuleReader::loadChunk(ImplicitLocOpBuilder &b, Value planned, Value row,
                               Value chunk) const {
  const int64_t together = elementsTogether(sizes);
  Value first = Int(b, chunk) * chunkElements;
  if (together == chunkElements)
    return loadPart(b, planned, row, first, together);
  Value whole;
  for (int64_t i = 0; i < chunkElements; i += together) {
    Value part = loadPart(b, planned, row, Int(b, first) + i, together);
    if (!whole)
      whole = LLVM::PoisonOp::create(
          b, VectorType::get(chunkElements, cast<VectorType>(part.getType()).getElementType()));
    for (int64_t j = 0; j < together; ++j) {
      Value element = LLVM::ExtractElementOp::create(b, part, i32Constant(b, j));
      whole = LLVM::InsertElementOp::create(b, whole, element, i32Constant(b, i + j));
    }
  }
  return whole;
}

Value mlir::blocksparse::device::canPackValues(ImplicitLocOpBuilder &host, PlannedDSDOp op) {
  std::optional<Reblocking> sizes = getReblocking(op);
  if (!sizes)
    return isAligned16(host, op.getValues());
  int64_t rank = cast<MemRefType>(op.getValues().getType()).getRank();
  return isAligned(host, op.getValues(), rank - 1, elementsTogether(*sizes) * elementBytes);
}

void mlir::blocksparse::device::emitPackValues(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                               PlannedDSDOp op, Value packed) {
  Value order = op.getStages()[StageOperands::Order];
  std::optional<Reblocking> sizes = getReblocking(op);
  const int64_t size = sizes ? sizes->block : op.getBlock()[0], chunks = size / chunkElements;
  ValuesOrigin origin = ValuesOrigin::get(op);
  const int64_t copies = origin.headCopies;
  SmallVector<Value> operands{op.getValues(), order, packed};
  if (sizes)
    operands.push_back(op.getStages()[StageOperands::Granules]);
  auto packBlock = [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, Value lane) {
    Value packedBlocks = memrefDim(b, mapping.lookup(order), 0), one = indexConstant(b, 1);
    SmallVector<Value> index = splitIndex(b, item, {one, indexConstant(b, copies), packedBlocks});
    Value batch = index[0];
    IntTable table = IntTable::get(b, mapping.lookup(order));
    Value block = toIndex(b, table.readAt(b, toInt(b, index[2])));
    Value firstBlock = Int(b, index[1]) * origin.perHead;
    ValuesView values =
        ValuesView::get(b, mapping.lookup(op.getValues()), /*lutHeads=*/0, one, one);
    auto loadChunk = [&](Value row, Value chunk) -> Value {
      if (sizes) {
        IntTable granules = IntTable::get(b, mapping.lookup(operands.back()));
        GranuleReader reader{op.getTransposeValues(), *sizes, values, granules, batch, firstBlock};
        return reader.loadChunk(b, block, row, chunk);
      }
      MatrixView source =
          values.block(b, batch, Int(b, block) + firstBlock, op.getTransposeValues());
      return loadElements(b, source, op.getTransposeValues(), row, Int(b, chunk) * chunkElements,
                          chunkElements);
    };
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, mapping.lookup(packed));
    base = Int(b, base) + Int(b, item) * (size * size * elementBytes);
    // The loads of all chunks are under way before the first one is stored.
    SmallVector<std::pair<Value, Value>> loaded;
    for (int64_t first = 0; first < size * chunks; first += warpSize) {
      Value position = Int(b, lane) + first;
      Value row = Int(b, position) / chunks, chunk = Int(b, position) % chunks;
      Value offset =
          SharedTile{size, size}.offset(b, i32Constant(b, 0), toInt(b, row), toInt(b, chunk));
      loaded.emplace_back(Int(b, base) + toIndex(b, offset), loadChunk(row, chunk));
    }
    for (auto [address, chunk] : loaded)
      LLVM::StoreOp::create(b, chunk, globalPointer(b, address), /*alignment=*/16);
  };
  launchWarpsEarly(host, kernels, "pack_values", operands, memrefDim(host, packed, 0), packBlock);
}
