// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KERNELBUILDER_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KERNELBUILDER_H

#include "blocksparse/Target/TargetInfo.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

/// How one kernel is launched. Grids are one-dimensional.
struct LaunchShape {
  /// Number of thread blocks, an index value of the host; at least 1.
  Value blocks;
  /// Threads of a block, a constant of the kernel (`known_block_size`).
  int64_t threads = 256;
  /// Dynamic shared memory of a block.
  int64_t sharedBytes = 0;
  /// Blocks of a cluster (sm_90), which divides their number.
  int64_t cluster = 1;
  /// The kernel may be launched before the one before it has ended, where the chip can do that (see
  /// Kit/DependentLaunch.h). Its loads are not invariant.
  bool startsEarly = false;
};

/// Makes the kernels of a module. The kernels stand in one `gpu.module @blocksparse_kernels`
/// with an NVVM target; each is launched, synchronously in the order of the host code, by a
/// `gpu.launch_func` at the insertion point of the builder that asks for it.
class KernelBuilder {
public:
  /// Threads of a block of the scalar kernels, and the largest number of blocks that they ask
  /// for: enough to fill any device, while a kernel's loop does the rest.
  static constexpr int64_t simtThreads = 256;
  static constexpr int64_t simtMaxBlocks = 65536;

  /// `module` is the host's; the kernel module is made when the first kernel is.
  KernelBuilder(ModuleOp module, const ::blocksparse::TargetInfo &target);

  /// Returns what the GPU can do, its number of SMs and its rates.
  const ::blocksparse::GPUFacts &getFacts() const;
  /// Multiprocessors of the chip.
  int64_t getMultiprocessors() const;

  /// Builds the kernel `<host function>_<name>` (made unique) and launches it at `host`. Kernel
  /// arguments are the distinct `operands` (memrefs, index, scalars) in order; `body` receives a
  /// mapping from them (the host's values) to the arguments. The returned function may be
  /// given further attributes.
  gpu::GPUFuncOp launch(ImplicitLocOpBuilder &host, StringRef name, ValueRange operands,
                        const LaunchShape &shape,
                        function_ref<void(ImplicitLocOpBuilder &, const IRMapping &)> body);

  /// A kernel with one thread for each of `work` items (an index value of the host): `body`
  /// runs for every item number below `work`. No grid limit: threads take several items
  /// where there are more than the largest grid has.
  void
  launchForEach(ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
                function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item)> body);

  /// The same with one warp for each item; `lane` is 0 .. 31. All lanes of a warp run
  /// `body` together, so it may shuffle.
  void launchForEachWarp(
      ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
      function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item, Value lane)> body);

private:
  gpu::GPUModuleOp getKernelModule();
  void launchItems(ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
                   int64_t threadsPerItem,
                   function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value)> body);

  ModuleOp module;
  ::blocksparse::TargetInfo target;
  gpu::GPUModuleOp kernels;
};

/// Host code that launches the kernels of `fast` where `fits` (i1) is true, else those of
/// `fallback`; one of them alone where `fits` is known.
void emitFastOrFallback(ImplicitLocOpBuilder &host, Value fits,
                        function_ref<void(ImplicitLocOpBuilder &)> fast,
                        function_ref<void(ImplicitLocOpBuilder &)> fallback);

/// The argument of a kernel that `value` of the host became; `value` itself where `mapping` is
/// empty, as on the host, so that one piece of code may describe operands on both sides. Null
/// (an absent operand) stays null.
Value mapOperand(const IRMapping &mapping, Value value);

/// Those of `operands` that are there.
SmallVector<Value> presentOperands(ArrayRef<Value> operands);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KERNELBUILDER_H
