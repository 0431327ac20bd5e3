// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelFamilies.h"

#include "Attention/AttentionKernels.h"
#include "Mma/MmaKernels.h"
#include "Operands/AlignedOperands.h"
#include "Planner/RowLutReaders.h"
#include "Rows/RowKernels.h"
#include "Simt/SimtKernels.h"
#include "Skinny/SkinnyKernels.h"
#include "Stream/StreamKernels.h"
#include "Wgmma/WgmmaKernels.h"
#include "blocksparse/IR/KernelProblem.h"
#include "blocksparse/IR/PlannedOps.h"
#include "blocksparse/IR/RunTimeStages.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

template <typename OpTy>
using Supports = bool (*)(const ::blocksparse::GPUFacts &, OpTy);
template <typename OpTy>
using Fits = Value (*)(ImplicitLocOpBuilder &, const ::blocksparse::GPUFacts &, OpTy);
template <typename OpTy>
using Emit = void (*)(ImplicitLocOpBuilder &, KernelBuilder &, OpTy);

/// Returns a row of the table from functions on the operation's own type.
template <typename OpTy, Supports<OpTy> supports, Fits<OpTy> fits, Emit<OpTy> emit>
static constexpr FamilyKernel fast(FamilyKind family) {
  return {family,
          OpTy::getOperationName(),
          KernelPart::Result,
          [](const ::blocksparse::GPUFacts &facts, Operation *op) {
            return supports(facts, cast<OpTy>(op));
          },
          [](ImplicitLocOpBuilder &host, const ::blocksparse::GPUFacts &facts, Operation *op) {
            return fits(host, facts, cast<OpTy>(op));
          },
          [](ImplicitLocOpBuilder &host, KernelBuilder &kernels, Operation *op) {
            emit(host, kernels, cast<OpTy>(op));
          }};
}

/// Returns the row of a scalar kernel, which accepts everything that the operation's verifier does.
template <typename OpTy, Emit<OpTy> emit = emitSimt>
static constexpr FamilyKernel scalar(KernelPart part = KernelPart::Result) {
  return {FamilyKind::Simt,
          OpTy::getOperationName(),
          part,
          [](const ::blocksparse::GPUFacts &, Operation *) { return true; },
          nullptr,
          [](ImplicitLocOpBuilder &host, KernelBuilder &kernels, Operation *op) {
            emit(host, kernels, cast<OpTy>(op));
          }};
}

/// Returns true if kernels that multiply whole blocks run first and a repair of their result can
/// follow.
static bool isRepaired(PlannedDSDOp op) {
  return needsZeroRepair(op) && !op.getInput() && !op.getResidual();
}

/// Lists the repair of products of 0.
static constexpr FamilyKernel zeroRepair = {
    FamilyKind::Simt,
    PlannedDSDOp::getOperationName(),
    KernelPart::ZeroRepair,
    [](const ::blocksparse::GPUFacts &facts, Operation *op) {
      return isRepaired(cast<PlannedDSDOp>(op)) &&
             getKernelChain(facts, op, KernelPart::Result).size() > 1;
    },
    nullptr,
    [](ImplicitLocOpBuilder &host, KernelBuilder &kernels, Operation *op) {
      emitSimtZeroRepair(host, kernels, cast<PlannedDSDOp>(op));
    }};

/// Lists the repair of products with the zeros of forbidden elements.
static constexpr FamilyKernel attentionGradRepair = {
    FamilyKind::Simt,
    PlannedAttentionGradOp::getOperationName(),
    KernelPart::ZeroRepair,
    [](const ::blocksparse::GPUFacts &facts, Operation *op) {
      return cast<PlannedAttentionGradOp>(op).mayForbid() &&
             getKernelChain(facts, op, KernelPart::Result).size() > 1;
    },
    nullptr,
    [](ImplicitLocOpBuilder &host, KernelBuilder &kernels, Operation *op) {
      emitSimtAttentionGradRepair(host, kernels, cast<PlannedAttentionGradOp>(op));
    }};

template <typename OpTy>
static constexpr FamilyKernel wgmma =
    fast<OpTy, supportsWgmma, fitsWgmma, emitWgmma>(FamilyKind::Wgmma);
template <typename OpTy>
static constexpr FamilyKernel stream =
    fast<OpTy, supportsStream, fitsStream, emitStream>(FamilyKind::Stream);
template <typename OpTy>
static constexpr FamilyKernel skinny =
    fast<OpTy, supportsSkinny, fitsSkinny, emitSkinny>(FamilyKind::Skinny);
template <typename OpTy>
static constexpr FamilyKernel skinnyElements =
    fast<OpTy, supportsSkinnyElements, fitsSkinnyElements, emitSkinnyElements>(FamilyKind::Skinny);
template <typename OpTy>
static constexpr FamilyKernel mma = fast<OpTy, supportsMma, fitsMma, emitMma>(FamilyKind::Mma);
template <typename OpTy>
static constexpr FamilyKernel rows = fast<OpTy, supportsRows, fitsRows, emitRows>(FamilyKind::Rows);

template <typename OpTy>
static constexpr FamilyKernel attention =
    fast<OpTy, supportsAttention, fitsAttention, emitAttention>(FamilyKind::Attention);

static constexpr FamilyKernel familyKernels[] = {
    wgmma<PlannedDSDOp>,
    stream<PlannedDSDOp>,
    skinny<PlannedDSDOp>,
    skinnyElements<PlannedDSDOp>,
    mma<PlannedDSDOp>,
    scalar<PlannedDSDOp>(),
    zeroRepair,

    wgmma<PlannedSDDOp>,
    mma<PlannedSDDOp>,
    scalar<PlannedSDDOp>(),

    wgmma<PlannedMatmulOp>,
    mma<PlannedMatmulOp>,
    scalar<PlannedMatmulOp>(),

    scalar<PlannedScatterMMOp>(),

    rows<PlannedSoftmaxOp>,
    scalar<PlannedSoftmaxOp>(),
    scalar<PlannedSoftmaxOp, emitSimtSpareBlocks>(KernelPart::SpareBlocks),

    scalar<PlannedSoftmaxGradOp, emitSimtRpeGradient>(KernelPart::RpeGradient),
    rows<PlannedSoftmaxGradOp>,
    scalar<PlannedSoftmaxGradOp>(),
    scalar<PlannedSoftmaxGradOp, emitSimtSpareBlocks>(KernelPart::SpareBlocks),

    attention<PlannedAttentionOp>,
    scalar<PlannedAttentionOp>(),

    scalar<PlannedAttentionGradOp, emitSimtAttentionGradRows>(KernelPart::RowSums),
    fast<PlannedAttentionGradOp, supportsAttentionGrad, fitsAttentionGrad, emitAttentionGrad>(
        FamilyKind::Attention),
    scalar<PlannedAttentionGradOp>(),
    attentionGradRepair,

    scalar<PlannedToDenseOp>(),
    scalar<PlannedFromDenseOp>(),
    scalar<PlannedTransposeOp>(),
    scalar<PlannedAddOp>(),
    scalar<PlannedCallOp>(),
    scalar<BsrRowLutOp>(),
    scalar<BsrCoordinateLutOp>(),
    scalar<BsrTransposeIndicesOp>(),
    scalar<CheckPatternOp>(),
    scalar<CheckScatterIndicesOp>(),
};

template <typename OpTy>
static constexpr bool isInTable() {
  constexpr StringLiteral name = OpTy::getOperationName();
  for (const FamilyKernel &kernel : familyKernels)
    if (std::string_view(kernel.operation.data(), kernel.operation.size()) ==
        std::string_view(name.data(), name.size()))
      return true;
  return false;
}

static_assert((forEachPlannedOp([]<typename OpTy>() {
                 static_assert(isInTable<OpTy>(),
                               "every planned operation needs a row scalar<OpTy>() in the table");
               }),
               true));

ArrayRef<FamilyKernel> mlir::blocksparse::device::getFamilyKernels() { return familyKernels; }

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// Returns true if only the scalar kernels, which heed `skip_zeros` themselves, give the right
/// result: the residual or input of an operation may be its destination, and a repair would read it
/// after it was overwritten.
static bool needsScalarKernels(Operation *op) {
  auto dsd = dyn_cast<PlannedDSDOp>(op);
  return dsd && needsZeroRepair(dsd) && !isRepaired(dsd);
}

SmallVector<const FamilyKernel *>
mlir::blocksparse::device::getKernelChain(const ::blocksparse::GPUFacts &facts, Operation *op,
                                          KernelPart part) {
  SmallVector<const FamilyKernel *> chain;
  for (const FamilyKernel &kernel : familyKernels) {
    if (kernel.part != part || kernel.operation != op->getName().getStringRef() ||
        (kernel.family != FamilyKind::Simt && needsScalarKernels(op)) ||
        !kernel.supports(facts, op))
      continue;
    chain.push_back(&kernel);
    if (!kernel.fitsAtRunTime)
      break;
  }
  return chain;
}

/// Returns true if kernels of the family have stages, which the device may make.
static bool hasStages(const FamilyKernel &kernel) {
  return kernel.family == FamilyKind::Wgmma || kernel.family == FamilyKind::Stream;
}

static void emitChain(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Operation *op,
                      ArrayRef<const FamilyKernel *> chain) {
  const FamilyKernel &kernel = *chain.front();
  if (readsIndices(op) && !hasStages(kernel))
    return withRowTables(
        host, cast<PlannedDSDOp>(op), [&](BsrRowLutOp lut) { emitSimt(host, kernels, lut); },
        [&](PlannedDSDOp product) { emitChain(host, kernels, product, chain); });
  if (!kernel.fitsAtRunTime)
    return kernel.emit(host, kernels, op);
  emitFastOrFallback(
      host, kernel.fitsAtRunTime(host, kernels.getFacts(), op),
      [&](ImplicitLocOpBuilder &b) { kernel.emit(b, kernels, op); },
      [&](ImplicitLocOpBuilder &b) { emitChain(b, kernels, op, chain.drop_front()); });
}

static bool usesTensorCores(const FamilyKernel &kernel) {
  return llvm::is_contained({FamilyKind::Attention, FamilyKind::Wgmma, FamilyKind::Stream,
                             FamilyKind::Skinny, FamilyKind::Mma},
                            kernel.family);
}

/// Returns true if the schedule of `op` asks for tensor cores, some family has such kernels for the
/// operation, but none of `chain` is one.
static bool missesTensorCores(Operation *op, ArrayRef<const FamilyKernel *> chain) {
  auto schedule = op->getAttrOfType<ScheduleAttr>("schedule");
  return schedule && asksForTensorCores(schedule) &&
         llvm::any_of(familyKernels,
                      [&](const FamilyKernel &kernel) {
                        return usesTensorCores(kernel) &&
                               kernel.operation == op->getName().getStringRef();
                      }) &&
         llvm::none_of(chain, [](const FamilyKernel *kernel) { return usesTensorCores(*kernel); });
}

/// Warns that an operation whose schedule asks for tensor cores gets scalar kernels, and says why.
static void warnScalar(Operation *op, const ::blocksparse::GPUFacts &facts) {
  op->emitWarning() << "runs scalar kernels in place of " << op->getAttr("schedule") << ": "
                    << checkMmaSupport(op, facts);
}

/// Returns true if kernels of the family address operands in chunks of 16 bytes.
static bool needsAlignedFactors(const FamilyKernel &kernel) {
  return llvm::is_contained({FamilyKind::Wgmma, FamilyKind::Stream, FamilyKind::Mma},
                            kernel.family);
}

/// Emits the result of a product whose dense operands have unaligned rows, by a family that
/// requires aligned ones on copies of them. Returns false, and emits nothing, if there is none.
static bool emitAligned(ImplicitLocOpBuilder &host, KernelBuilder &kernels, Operation *op) {
  if (!AlignedProduct::isNeeded(op))
    return false;
  const FamilyKernel &first = *getKernelChain(kernels.getFacts(), op, KernelPart::Result).front();
  if (!needsAlignedFactors(first))
    return false;
  AlignedProduct product(op);
  product.alignFactors(host, kernels);
  // TMA stores the result; mma.sync kernels store single elements where they must.
  if (first.family != FamilyKind::Mma)
    product.alignResult(host);
  emitChain(host, kernels, product.getOp(),
            getKernelChain(kernels.getFacts(), product.getOp(), KernelPart::Result));
  product.finish(host, kernels);
  return true;
}

void mlir::blocksparse::device::emitKernels(ImplicitLocOpBuilder &host, KernelBuilder &kernels,
                                            Operation *op) {
  for (KernelPart part : {KernelPart::RpeGradient, KernelPart::RowSums, KernelPart::Result,
                          KernelPart::SpareBlocks, KernelPart::ZeroRepair}) {
    SmallVector<const FamilyKernel *> chain = getKernelChain(kernels.getFacts(), op, part);
    if (chain.empty())
      continue;
    if (part == KernelPart::Result && missesTensorCores(op, chain))
      warnScalar(op, kernels.getFacts());
    if (part == KernelPart::Result && emitAligned(host, kernels, op))
      continue;
    emitChain(host, kernels, op, chain);
  }
}

SmallVector<PlannedDSDOp> mlir::blocksparse::device::emitWithReaders(OpBuilder &builder,
                                                                     KernelBuilder &kernels,
                                                                     BsrRowLutOp lut) {
  const ::blocksparse::GPUFacts &facts = kernels.getFacts();
  SmallVector<PlannedDSDOp> readers = getIndexReaders(lut);
  llvm::erase_if(readers, [&](PlannedDSDOp reader) {
    return !isPlannedAtRunTime(reader) ||
           !getKernelChain(facts, reader, KernelPart::ZeroRepair).empty() ||
           !hasStages(*getKernelChain(facts, reader, KernelPart::Result).front());
  });
  auto emitAt = [&](Operation *op) {
    builder.setInsertionPoint(op);
    ImplicitLocOpBuilder host(op->getLoc(), builder);
    emitKernels(host, kernels, op);
  };
  const bool makesTables = readers.empty() || hasOtherReaders(lut, readers);
  if (makesTables)
    emitAt(lut);
  for (PlannedDSDOp reader : readers) {
    setReadsIndices(reader, makesTables);
    emitAt(reader);
  }
  return readers;
}
