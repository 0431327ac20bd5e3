// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IntTable.h"

#include "AsyncCopy.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr int64_t vectorInts = 4;

IntTable IntTable::get(ImplicitLocOpBuilder &b, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, metadata.getBaseBuffer());
  Value bytes = Int(b, metadata.getOffset()) * 4;
  IntTable table;
  table.base = globalPointer(b, Int(b, address) + bytes);
  table.count = type.getDimSize(0);
  table.cols = type.getRank() == 1 ? 1 : type.getDimSize(1);
  return table;
}

Value IntTable::at(ImplicitLocOpBuilder &b, Value row) const {
  auto rowType = LLVM::LLVMArrayType::get(b.getI32Type(), cols);
  return LLVM::GEPOp::create(b, base.getType(), rowType, base, ArrayRef<LLVM::GEPArg>{row});
}

static Value loadInvariant(ImplicitLocOpBuilder &b, Type type, Value pointer, unsigned alignment) {
  return LLVM::LoadOp::create(b, type, pointer, alignment, /*isVolatile=*/false,
                              /*isNonTemporal=*/false, /*isInvariant=*/true);
}

Value IntTable::readAt(ImplicitLocOpBuilder &b, Value index) const {
  Value pointer =
      LLVM::GEPOp::create(b, base.getType(), b.getI32Type(), base, ArrayRef<LLVM::GEPArg>{index});
  return loadInvariant(b, b.getI32Type(), pointer, 4);
}

SmallVector<Value> IntTable::read(ImplicitLocOpBuilder &b, Value row, int64_t first,
                                  int64_t number) const {
  Value start = at(b, row);
  auto load = [&](Type type, int64_t index, unsigned alignment) {
    Value pointer = LLVM::GEPOp::create(b, base.getType(), b.getI32Type(), start,
                                        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
    return loadInvariant(b, type, pointer, alignment);
  };
  SmallVector<Value> numbers;
  bool vectors = cols % vectorInts == 0 && first % vectorInts == 0;
  for (int64_t i = 0; i < number;) {
    if (!vectors) {
      numbers.push_back(load(b.getI32Type(), first + i, 4));
      ++i;
      continue;
    }
    Value four = load(VectorType::get(vectorInts, b.getI32Type()), first + i, 16);
    for (int64_t j = 0; j < vectorInts && i < number; ++j, ++i)
      numbers.push_back(
          LLVM::ExtractElementOp::create(b, four, LLVM::ConstantOp::create(b, b.getI32Type(), j)));
  }
  return numbers;
}
