// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramSymbols.h"
#include "blocksparse-c/Runtime.h"
#include "blocksparse/Target/GPU/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/NVVMToLLVM/NVVMToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

namespace mlir::blocksparse {
#define GEN_PASS_DEF_TENSORMAPSBYVALUEPASS
#include "blocksparse/Target/GPU/Passes.h.inc"
} // namespace mlir::blocksparse

using namespace mlir;
using namespace mlir::blocksparse;

/// Returns true if `numbers` are the indices of the first arguments in order and each of these is
/// an address.
static LogicalResult checkTensorMaps(LLVM::LLVMFuncOp kernel, ArrayRef<int32_t> numbers) {
  auto fail = [&] { return kernel.emitOpError() << "expects '" << tensorMapsAttr << "' to "; };
  if (!kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
    return fail() << "stand on a kernel, but got a function";
  for (auto [i, number] : llvm::enumerate(numbers)) {
    if (number != int32_t(i))
      return fail() << "name the first arguments in order, but got " << number << " for " << i;
    if (number >= int32_t(kernel.getNumArguments()))
      return fail() << "name an argument below " << kernel.getNumArguments() << ", but got "
                    << number;
    Type type = kernel.getArgument(number).getType();
    if (type != LLVM::LLVMPointerType::get(kernel.getContext()))
      return fail() << "name arguments of type !llvm.ptr, but got " << type;
  }
  return success();
}

/// Makes the argument a `__grid_constant__ const CUtensorMap`.
static void passByValue(LLVM::LLVMFuncOp kernel, unsigned argument) {
  Builder builder(kernel.getContext());
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), sizeof(blocksparseRtTensorMap));
  kernel.setArgAttr(argument, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
  kernel.setArgAttr(argument, LLVM::LLVMDialect::getAlignAttrName(),
                    builder.getI64IntegerAttr(alignof(blocksparseRtTensorMap)));
  kernel.setArgAttr(argument, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
}

namespace {

struct TensorMapsByValue : mlir::blocksparse::impl::TensorMapsByValuePassBase<TensorMapsByValue> {
  void getDependentDialects(DialectRegistry &registry) const override {
    TensorMapsByValuePassBase::getDependentDialects(registry);
    // MLIR's conversion of kernels, which runs before this pass, takes its patterns from interfaces
    // of the dialects in a kernel.
    arith::registerConvertArithToLLVMInterface(registry);
    cf::registerConvertControlFlowToLLVMInterface(registry);
    index::registerConvertIndexToLLVMInterface(registry);
    registerConvertFuncToLLVMInterface(registry);
    registerConvertMathToLLVMInterface(registry);
    registerConvertMemRefToLLVMInterface(registry);
    registerConvertNVVMToLLVMInterface(registry);
    ub::registerConvertUBToLLVMInterface(registry);
    vector::registerConvertVectorToLLVMInterface(registry);
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      Attribute attribute = kernel->getAttr(tensorMapsAttr);
      if (!attribute)
        continue;
      auto numbers = dyn_cast<DenseI32ArrayAttr>(attribute);
      if (!numbers) {
        kernel.emitOpError() << "expects '" << tensorMapsAttr
                             << "' to be numbers of arguments, array<i32: ...>, but got "
                             << attribute;
        return signalPassFailure();
      }
      if (failed(checkTensorMaps(kernel, numbers)))
        return signalPassFailure();
      for (int32_t number : numbers.asArrayRef())
        passByValue(kernel, number);
      kernel->removeAttr(tensorMapsAttr);
    }
  }
};

} // namespace
