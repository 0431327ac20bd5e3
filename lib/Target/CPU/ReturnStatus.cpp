// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RefusedCalls.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Target/Assertions.h"
#include "blocksparse/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_RETURNSTATUSPASS
#include "blocksparse/Target/CPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

namespace {
/// Describes an operation that may end the call, and the buffers that must be freed then.
struct Exit {
  Operation *op;
  SmallVector<Value> buffers;
};
} // namespace

/// Returns true if callers of the function read its results in memory of theirs, so that a status
/// can be what it returns.
static bool getsStatus(func::FuncOp function) {
  return function.isPublic() && !function.isDeclaration() && function.getNumResults() == 0;
}

/// Returns the buffers that are allocated before `exit` and freed after it alone.
static SmallVector<Value> getLiveBuffers(Operation *exit, ArrayRef<memref::AllocOp> allocations,
                                         const DominanceInfo &dominance) {
  SmallVector<Value> live;
  for (memref::AllocOp allocation : allocations) {
    if (!dominance.properlyDominates(allocation.getOperation(), exit))
      continue;
    auto frees = llvm::make_filter_range(allocation->getUsers(), llvm::IsaPred<memref::DeallocOp>);
    if (!frees.empty() && llvm::all_of(frees, [&](Operation *free) {
          return dominance.properlyDominates(exit, free);
        }))
      live.push_back(allocation);
  }
  return live;
}

/// Asserts that the buffers which `function` allocates outside of parallel loops exist.
static void checkAllocations(func::FuncOp function) {
  for (auto allocation : llvm::to_vector(function.getOps<memref::AllocOp>())) {
    ImplicitLocOpBuilder b(allocation.getLoc(), allocation->getContext());
    b.setInsertionPointAfter(allocation);
    Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, allocation);
    Value none = arith::ConstantIndexOp::create(b, 0);
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, address, none);
    std::string message;
    llvm::raw_string_ostream(message) << "expects memory for an intermediate of "
                                      << allocation.getType().getElementType() << ", but got none";
    cf::AssertOp::create(b, exists, message);
  }
}

/// Collects the operations of `function` that may end its call. Fails with an error for one inside
/// of a parallel loop, which the call cannot leave.
static LogicalResult findExits(func::FuncOp function, SmallVectorImpl<Exit> &exits) {
  SmallVector<memref::AllocOp> allocations(function.getOps<memref::AllocOp>());
  DominanceInfo dominance(function);
  WalkResult walked = function.walk([&](Operation *op) {
    if (!isa<cf::AssertOp, RefuseOp>(op))
      return WalkResult::advance();
    if (op->getParentOp() != function || !getsStatus(function)) {
      op->emitOpError("expects to be in a public function without results, outside of parallel "
                      "loops, but got it in ")
          << op->getParentOp()->getName();
      return WalkResult::interrupt();
    }
    exits.push_back({op, getLiveBuffers(op, allocations, dominance)});
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

static Value statusConstant(ImplicitLocOpBuilder &b, int32_t status) {
  return arith::ConstantIntOp::create(b, b.getI32Type(), status);
}

/// Loads the six words of a record that a message has.
static SmallVector<Value> loadRecord(ImplicitLocOpBuilder &b, Value record) {
  SmallVector<Value> words;
  for (int64_t word = ::blocksparse::Code; word <= ::blocksparse::Limit; ++word)
    words.push_back(memref::LoadOp::create(
        b, record, ValueRange{arith::ConstantIndexOp::create(b, word).getResult()}));
  return words;
}

/// Replaces an operation by a branch that leaves the function with the status of a refused call.
static void lowerExit(func::FuncOp function, const Exit &exit, RefusedCalls &refused) {
  Operation *op = exit.op;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Block *block = op->getBlock();
  Block *rest = block->splitBlock(std::next(Block::iterator(op)));
  Block *refuse = b.createBlock(&function.getBody(), function.getBody().end());
  b.setInsertionPoint(op);
  Value holds;
  auto assertion = dyn_cast<cf::AssertOp>(op);
  if (assertion) {
    holds = assertion.getArg();
  } else {
    Value record = cast<RefuseOp>(op).getRecord(), zero = arith::ConstantIndexOp::create(b, 0);
    Value code = memref::LoadOp::create(b, record, zero);
    Value none = arith::ConstantIntOp::create(b, code.getType(), 0);
    holds = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, code, none);
  }
  cf::CondBranchOp::create(b, holds, rest, refuse);
  b.setInsertionPointToEnd(refuse);
  if (assertion)
    refused.report(b, describeAssertion(b, assertion));
  else
    refused.report(b, cast<RefuseOp>(op).getSubject(),
                   loadRecord(b, cast<RefuseOp>(op).getRecord()));
  for (Value buffer : exit.buffers)
    memref::DeallocOp::create(b, buffer);
  func::ReturnOp::create(b, statusConstant(b, ::blocksparse::refusedStatus));
  op->erase();
}

/// Makes the function return 0 where it returned nothing.
static void returnStatus(func::FuncOp function) {
  function.walk([&](func::ReturnOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    op.getOperandsMutable().assign(statusConstant(b, 0));
  });
  Builder builder(function.getContext());
  function.setType(builder.getFunctionType(function.getArgumentTypes(), {builder.getI32Type()}));
}

namespace {

struct ReturnStatus : mlir::blocksparse::impl::ReturnStatusPassBase<ReturnStatus> {
  void runOnOperation() override {
    changed.clear();
    RefusedCalls refused(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      SmallVector<Exit> exits;
      if (getsStatus(function)) {
        assertSizes(function);
        checkAllocations(function);
      }
      if (failed(findExits(function, exits)))
        return signalPassFailure();
      if (!getsStatus(function))
        continue;
      returnStatus(function);
      changed.insert(function.getName());
      for (const Exit &exit : exits)
        lowerExit(function, exit, refused);
    }
    updateCalls();
  }

  /// Gives calls of the functions that return a status now a result, which nothing reads: only
  /// tests have such calls, because the compiler inlines.
  void updateCalls() {
    SmallVector<func::CallOp> calls;
    getOperation().walk([&](func::CallOp call) {
      if (call.getNumResults() == 0 && changed.contains(call.getCallee()))
        calls.push_back(call);
    });
    for (func::CallOp call : calls) {
      ImplicitLocOpBuilder b(call.getLoc(), call);
      auto callee = cast<func::FuncOp>(getOperation().lookupSymbol(call.getCallee()));
      SmallVector<Value> operands;
      for (auto [operand, type] : llvm::zip_equal(call.getOperands(), callee.getArgumentTypes()))
        operands.push_back(operand.getType() == type ? operand
                                                     : memref::CastOp::create(b, type, operand));
      func::CallOp::create(b, call.getCallee(), b.getI32Type(), operands);
      call.erase();
    }
  }

  llvm::StringSet<> changed;
};

} // namespace
