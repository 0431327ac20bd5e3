// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The kernel that packs value blocks before a `cuda.stream` product: it copies them to the order in
// which stages load them, and swizzles their rows.

#include "../../Device/Loops.h"
#include "../../OperandView.h"
#include "../Kit/AsyncCopy.h"
#include "../Kit/IntTable.h"
#include "../Kit/SharedTile.h"
#include "../Operands/StagedTiles.h"
#include "StreamKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// Elements of a chunk (16 bytes), which a thread moves at once.
static constexpr int64_t chunkElements = 8;

static Value toInt(ImplicitLocOpBuilder &b, Value number) {
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), number);
}

/// Loads the chunk of row `row` of a block that begins at column `col`. It is one load if the block
/// is not transposed, and one load for each element otherwise.
static Value loadRowChunk(ImplicitLocOpBuilder &b, const MatrixView &block, bool transposed,
                          Value row, Value col) {
  auto type = VectorType::get(chunkElements, block.elementType());
  if (!transposed)
    return LLVM::LoadOp::create(b, type, globalPointer(b, globalAddress(b, block, row, col)),
                                /*alignment=*/16);
  Value chunk = LLVM::PoisonOp::create(b, type);
  for (int64_t i = 0; i < chunkElements; ++i) {
    Value element = block.load(b, row, Int(b, col) + i);
    chunk = LLVM::InsertElementOp::create(b, chunk, element, i32Constant(b, i));
  }
  return chunk;
}

void mlir::blocksparse::device::emitPackValues(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                               PlannedDSDOp op, Value packed) {
  Value order = op.getStages()[StageOperands::Order];
  int64_t size = op.getBlock()[0], chunks = size / chunkElements;
  int64_t packedBlocks = cast<MemRefType>(order.getType()).getDimSize(0);
  Value blocks = memrefDim(host, packed, 0);
  Value items = Int(host, blocks) * (size * chunks);
  ValuesOrigin origin = ValuesOrigin::get(op);
  int64_t copies = origin.headCopies;
  kernels.launchForEach(
      host, "pack_values", {op.getValues(), order, packed}, items,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
        SmallVector<Value> index = splitIndex(b, item,
                                              {indexConstant(b, 1), indexConstant(b, copies),
                                               indexConstant(b, packedBlocks),
                                               indexConstant(b, size), indexConstant(b, chunks)});
        Value batch = index[0], head = index[1], packedIndex = index[2], row = index[3];
        IntTable table = IntTable::get(b, mapping.lookup(order));
        Value block = toIndex(b, table.readAt(b, toInt(b, packedIndex)));
        block = Int(b, block) + Int(b, head) * origin.perHead;
        Value one = indexConstant(b, 1);
        ValuesView values =
            ValuesView::get(b, mapping.lookup(op.getValues()), /*lutHeads=*/0, one, one);
        MatrixView source = values.block(b, batch, block, op.getTransposeValues());
        Value chunk =
            loadRowChunk(b, source, op.getTransposeValues(), row, Int(b, index[4]) * chunkElements);
        Value offset =
            SharedTile{size, size}.offset(b, i32Constant(b, 0), toInt(b, row), toInt(b, index[4]));
        Value first = Int(b, batch) * copies + head;
        first = Int(b, first) * packedBlocks + packedIndex;
        Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, mapping.lookup(packed));
        Value address = Int(b, base) + Int(b, first) * (size * size * 2);
        address = Int(b, address) + toIndex(b, offset);
        LLVM::StoreOp::create(b, chunk, globalPointer(b, address), /*alignment=*/16);
      });
}
