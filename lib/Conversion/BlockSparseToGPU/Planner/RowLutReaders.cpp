// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowLutReaders.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

static constexpr StringLiteral readsIndicesAttr = "blocksparse.reads_indices";

/// Returns the memref whose memory `memref` is a view of.
static Value getBase(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

/// Returns true if `op` itself may write to memory of one of `bases`, or free it.
static bool mayWrite(Operation *op, ArrayRef<Value> bases) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return !op->hasTrait<OpTrait::IsTerminator>();
  SmallVector<MemoryEffects::EffectInstance> instances;
  effects.getEffects(instances);
  return llvm::any_of(instances, [&](const MemoryEffects::EffectInstance &instance) {
    if (!isa<MemoryEffects::Write, MemoryEffects::Free>(instance.getEffect()))
      return false;
    Value value = instance.getValue();
    return !value || llvm::is_contained(bases, getBase(value));
  });
}

/// Returns true if nothing that runs after `lut` and before `reader` may write to the indices of
/// `lut`.
static bool keepsIndices(BsrRowLutOp lut, PlannedDSDOp reader) {
  Operation *last = lut->getBlock()->findAncestorOpInBlock(*reader);
  if (!last || !lut->isBeforeInBlock(last))
    return false;
  const Value bases[] = {getBase(lut.getCrowIndices()), getBase(lut.getColIndices())};
  for (Operation *op = lut->getNextNode(); op; op = op->getNextNode()) {
    WalkResult result = op->walk([&](Operation *inner) {
      return mayWrite(inner, bases) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return false;
    if (op == last)
      return true;
  }
  return false;
}

/// Returns the row LUT that fills the tables of a product, if it is the only one.
static BsrRowLutOp getRowLut(PlannedDSDOp op) {
  BsrRowLutOp found;
  for (Operation *user : op.getSegments().getUsers())
    if (auto lut = dyn_cast<BsrRowLutOp>(user)) {
      if (found || lut.getInits()[0] != op.getSegments() || lut.getInits()[1] != op.getEntries())
        return {};
      found = lut;
    }
  return found;
}

SmallVector<PlannedDSDOp> mlir::blocksparse::device::getIndexReaders(BsrRowLutOp lut) {
  SmallVector<PlannedDSDOp> readers;
  if (cast<ShapedType>(lut.getCrowIndices().getType()).getRank() != 1)
    return readers;
  // Uses are listed in reverse.
  const auto users = llvm::to_vector(lut.getInits()[0].getUsers());
  for (Operation *user : llvm::reverse(users)) {
    auto reader = dyn_cast<PlannedDSDOp>(user);
    if (reader && reader->getBlock() && getRowLut(reader) == lut && keepsIndices(lut, reader))
      readers.push_back(reader);
  }
  return readers;
}

bool mlir::blocksparse::device::hasOtherReaders(BsrRowLutOp lut, ArrayRef<PlannedDSDOp> readers) {
  return llvm::any_of(lut.getInits(), [&](Value table) {
    return !table.getDefiningOp<memref::AllocOp>() ||
           llvm::any_of(table.getUsers(), [&](Operation *user) {
             auto reader = dyn_cast<PlannedDSDOp>(user);
             return user != lut && !isa<memref::DeallocOp>(user) &&
                    !(reader && llvm::is_contained(readers, reader));
           });
  });
}

void mlir::blocksparse::device::setReadsIndices(PlannedDSDOp op, bool makesTables) {
  op->setAttr(readsIndicesAttr, BoolAttr::get(op.getContext(), makesTables));
}

bool mlir::blocksparse::device::readsIndices(Operation *op) {
  return op->hasAttr(readsIndicesAttr);
}

RowSource mlir::blocksparse::device::getRowSource(PlannedDSDOp op) {
  if (!readsIndices(op))
    return RowSource::ofTables(op.getSegments(), op.getEntries());
  BsrRowLutOp lut = getRowLut(op);
  return RowSource::ofIndices(lut.getCrowIndices(), lut.getColIndices(), lut.getTranspose());
}

void mlir::blocksparse::device::withRowTables(ImplicitLocOpBuilder &host, PlannedDSDOp op,
                                              function_ref<void(BsrRowLutOp)> emitTables,
                                              function_ref<void(PlannedDSDOp)> emit) {
  // The operations are in no block: only their operands and attributes are read.
  auto product = cast<PlannedDSDOp>(op->clone());
  const bool makesTables = cast<BoolAttr>(product->removeAttr(readsIndicesAttr)).getValue();
  SmallVector<Value> tables;
  if (!makesTables) {
    auto lut = cast<BsrRowLutOp>(getRowLut(op)->clone());
    for (OpOperand &init : lut.getDpsInitsMutable()) {
      tables.push_back(host.clone(*init.get().getDefiningOp())->getResult(0));
      init.set(tables.back());
    }
    emitTables(lut);
    lut->destroy();
    product.getSegmentsMutable().assign(tables[0]);
    product.getEntriesMutable().assign(tables[1]);
  }
  emit(product);
  product->destroy();
  for (Value table : llvm::reverse(tables))
    memref::DeallocOp::create(host, table);
}
