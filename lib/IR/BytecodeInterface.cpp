// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The bytecode encoding of layouts. An attribute without an encoding is written as text, in which a
// resource is only a name, and the reader cannot connect it with the blob of the same file. Every
// other attribute of the dialect is written as text.

#include "BytecodeInterface.h"
#include "blocksparse/IR/BlockSparseAttrs.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::blocksparse;

namespace {

/// Tells the kind of an attribute: the first number of its encoding.
enum class AttrCode : uint64_t { Layout = 0 };

struct BytecodeInterface : BytecodeDialectInterface {
  explicit BytecodeInterface(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(DialectBytecodeReader &reader) const override;
  LogicalResult writeAttribute(Attribute attr, DialectBytecodeWriter &writer) const override;
};

} // namespace

LogicalResult BytecodeInterface::writeAttribute(Attribute attr,
                                                DialectBytecodeWriter &writer) const {
  auto layout = dyn_cast<LayoutAttr>(attr);
  if (!layout)
    return failure(); // The writer falls back to text.
  writer.writeVarInt(static_cast<uint64_t>(AttrCode::Layout));
  ::blocksparse::BlockShape block = layout.getBlock();
  ::blocksparse::BlockGrid grid = layout.getGrid();
  for (int64_t size : {block.rows, block.cols, grid.heads, grid.rows, grid.cols})
    writer.writeSignedVarInt(size);
  writer.writeAttribute(layout.getContents());
  return success();
}

Attribute BytecodeInterface::readAttribute(DialectBytecodeReader &reader) const {
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return {};
  if (code != static_cast<uint64_t>(AttrCode::Layout)) {
    reader.emitError() << "expects attribute code 0, but got " << code;
    return {};
  }
  ::blocksparse::BlockShape block;
  ::blocksparse::BlockGrid grid;
  for (int64_t *size : {&block.rows, &block.cols, &grid.heads, &grid.rows, &grid.cols})
    if (failed(reader.readSignedVarInt(*size)))
      return {};
  Attribute contents;
  if (failed(reader.readAttribute(contents)))
    return {};
  return LayoutAttr::getChecked([&] { return reader.emitError(); }, getContext(), block, grid,
                                contents);
}

void mlir::blocksparse::detail::addBytecodeInterface(BlockSparseDialect &dialect) {
  dialect.addInterfaces<BytecodeInterface>();
}
