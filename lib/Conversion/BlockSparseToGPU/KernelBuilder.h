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

/// Selects how a kernel is launched. `Early`: it may be launched before the kernel before it has
/// ended, on chips that can do that (see Kit/DependentLaunch.h); its loads are then not invariant.
/// `Together`: all its CTAs run at the same time, because some wait for others; a launch fails
/// where they cannot.
enum class LaunchMode : uint8_t { Plain, Early, Together };

/// Describes how one kernel is launched. Grids are one-dimensional.
struct LaunchShape {
  /// Number of CTAs, an index value of the host; at least 1.
  Value blocks;
  /// Threads of a CTA, a constant of the kernel (`known_block_size`).
  int64_t threads = 256;
  /// Dynamic shared memory of a CTA in bytes.
  int64_t sharedBytes = 0;
  /// CTAs of a cluster (sm_90); divides the number of CTAs.
  int64_t cluster = 1;
  /// How the kernel is launched beside the others of its stream.
  LaunchMode mode = LaunchMode::Plain;
};

/// Makes the kernels of a module. All kernels of a module are in one
/// `gpu.module @blocksparse_kernels` with an NVVM target. Each is launched, synchronously and in
/// the order of the host code, by a `gpu.launch_func` at the insertion point of the host's builder.
class KernelBuilder {
public:
  /// Threads of a CTA of the scalar kernels, and the largest number of CTAs that they are launched
  /// with. That many fill any device; a loop in the kernel does the rest of the work.
  static constexpr int64_t simtThreads = 256;
  static constexpr int64_t simtMaxCtas = 65536;

  /// Makes kernels for `target`, a GPU, and launches them in `module`. The kernel module is
  /// made with the first kernel.
  KernelBuilder(ModuleOp module, const ::blocksparse::TargetInfo &target)
      : module(module), target(target) {}

  /// Returns what the GPU can do, its number of SMs and its rates.
  const ::blocksparse::GPUFacts &getFacts() const { return target.gpuFacts(); }
  /// Returns the number of SMs of the chip.
  int64_t getSMs() const { return getFacts().multiprocessors; }

  /// Builds the kernel `<host function>_<name>` (made unique) and launches it at `host`. Kernel
  /// arguments are the distinct `operands` (memrefs, index, scalars) in order; `body` receives a
  /// mapping from them (the host's values) to the arguments. The returned function may be
  /// given further attributes.
  gpu::GPUFuncOp launch(ImplicitLocOpBuilder &host, StringRef name, ValueRange operands,
                        const LaunchShape &shape,
                        function_ref<void(ImplicitLocOpBuilder &, const IRMapping &)> body);

  /// Builds and launches a kernel with one thread for each of `work` items (an index value of the
  /// host): `body` runs for every item from 0 to `work` - 1. The grid has no limit: a thread
  /// computes several items if there are more than the largest grid has threads.
  void
  launchForEach(ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
                function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item)> body);

  /// Builds and launches a kernel with one warp for each item; `lane` is 0 .. 31. All lanes of a
  /// warp run `body` together, so it may shuffle.
  void launchForEachWarp(
      ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
      function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value item, Value lane)> body);

  /// Moves the kernels of all other modules of kernels, which a program brings, to that of this
  /// builder, and has them use the mathematics of the device. Launches of a kernel whose name is
  /// taken name the new one.
  void adoptKernels();

private:
  gpu::GPUModuleOp getKernelModule();
  void launchItems(ImplicitLocOpBuilder &host, StringRef name, ValueRange operands, Value work,
                   int64_t threadsPerItem,
                   function_ref<void(ImplicitLocOpBuilder &, const IRMapping &, Value)> body);

  ModuleOp module;
  ::blocksparse::TargetInfo target;
  gpu::GPUModuleOp kernels;
};

/// Emits host code that launches the kernels of `fast` if `fits` (i1) is true, else those of
/// `fallback`. Emits only one of the two if `fits` is a constant.
void emitFastOrFallback(ImplicitLocOpBuilder &host, Value fits,
                        function_ref<void(ImplicitLocOpBuilder &)> fast,
                        function_ref<void(ImplicitLocOpBuilder &)> fallback);

/// Returns the kernel argument that `value` of the host is mapped to. An empty `mapping` returns
/// `value` itself, so that the same code describes operands on the host. Null (an absent operand)
/// stays null.
Value mapOperand(const IRMapping &mapping, Value value);

/// Returns the operands that are not null, in order.
SmallVector<Value> presentOperands(ArrayRef<Value> operands);

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KERNELBUILDER_H
