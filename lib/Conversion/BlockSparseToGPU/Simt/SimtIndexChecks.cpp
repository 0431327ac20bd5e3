// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Kernels that check run-time indices. One thread for each item finds whether the item has a fault,
// and all agree on the first such item. Then one thread checks that item again and writes what is
// wrong, so that the message does not depend on the order of the threads.

#include "../../Device/Loops.h"
#include "../../IndexChecks.h"
#include "../../OperandView.h"
#include "SimtKernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;
using ::blocksparse::IndexFault;

static constexpr int64_t noItem = std::numeric_limits<int64_t>::max();

/// Emits the check of one item in a kernel.
using EmitItem =
    function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item, ReportFault report)>;

/// Lowers the item of the record to `item` where there is a fault.
static void noteItem(ImplicitLocOpBuilder &b, Value isFault, Value item, Value record) {
  emitIf(b, isFault, [&](ImplicitLocOpBuilder &b) {
    Value wide = b.createOrFold<arith::IndexCastOp>(b.getI64Type(), item);
    memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::mins, wide, record,
                                ValueRange{indexConstant(b, ::blocksparse::Item)});
  });
}

/// Launches the kernels of a check of `items` items, and ends the call if one has a fault.
template <typename OpTy>
static void launchCheck(ImplicitLocOpBuilder &host, KernelBuilder &kernels, StringRef name, OpTy op,
                        Value items, EmitItem emitItem) {
  Value record = memref::AllocOp::create(host, getFaultRecordType(host.getContext()));
  Value one = indexConstant(host, 1);
  kernels.launchForEach(host, (name + "_begin").str(), {record}, one,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value) {
                          Value own = mapping.lookup(record);
                          storeFaultWord(b, indexConstant(b, 0), own, ::blocksparse::Code);
                          storeFaultWord(b, indexConstant(b, noItem), own, ::blocksparse::Item);
                        });
  SmallVector<Value> operands(op->getOperands());
  operands.push_back(record);
  kernels.launchForEach(host, name, operands, items,
                        [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item) {
                          Value own = mapping.lookup(record);
                          emitItem(b, mapping, item,
                                   [&](ImplicitLocOpBuilder &b, Value isFault, IndexFault,
                                       const FaultPlace &) { noteItem(b, isFault, item, own); });
                        });
  kernels.launchForEach(
      host, (name + "_end").str(), operands, one,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value) {
        Value own = mapping.lookup(record);
        Value item = loadFaultWord(b, own, ::blocksparse::Item);
        auto report = [&](ImplicitLocOpBuilder &b, Value isFault, IndexFault fault,
                          const FaultPlace &place) {
          emitIf(b, isFault, [&](ImplicitLocOpBuilder &b) { storeFault(b, own, fault, place); });
        };
        emitIf(b, indexLess(b, item, indexConstant(b, noItem)),
               [&](ImplicitLocOpBuilder &b) { emitItem(b, mapping, item, report); });
      });
  RefuseOp::create(host, record, op.getSubjectAttr());
  memref::DeallocOp::create(host, record);
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         CheckPatternOp op) {
  Value items = PatternCheck(host, op, IRMapping()).items(host);
  launchCheck(
      host, kernels, "check_pattern", op, items,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, ReportFault report) {
        PatternCheck check(b, op, mapping);
        auto findEarlier = [&](ImplicitLocOpBuilder &b, const ListedColumn &listed) {
          return check.emitSearch(b, listed);
        };
        check.emitItem(b, item, findEarlier, report);
      });
}

void mlir::blocksparse::device::emitSimt(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                         CheckScatterIndicesOp op) {
  Value items = ScatterCheck(host, op, IRMapping()).items(host);
  launchCheck(
      host, kernels, "check_scatter", op, items,
      [&](ImplicitLocOpBuilder &b, const IRMapping &mapping, Value item, ReportFault report) {
        ScatterCheck check(b, op, mapping);
        auto findOverlap = [&](ImplicitLocOpBuilder &b, const PlacedTile &tile) {
          return check.emitSearch(b, tile);
        };
        check.emitItem(b, item, findOverlap, report);
      });
}
