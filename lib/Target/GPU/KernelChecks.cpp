// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelChecks.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

//===----------------------------------------------------------------------===//
// Instructions of the nvvm dialect
//===----------------------------------------------------------------------===//

namespace {

/// Describes what an instruction needs: a chip from `version` on, or exactly sm_<version>a.
struct Requirement {
  int version = 0;
  bool exact = false;
  unsigned ptx = 0; // 10 * major + minor
};

} // namespace

/// Returns the needs that the ops' own interface does not state (PTX ISA, "PTX ISA Notes" and
/// "Target ISA Notes" of each instruction). Longer prefixes precede shorter ones.
static Requirement getRequirement(Operation *op) {
  static constexpr struct {
    StringLiteral prefix;
    Requirement requirement;
  } table[] = {
      {"nvvm.wgmma.", {90, true, 80}},
      {"nvvm.setmaxregister", {90, false, 80}},
      {"nvvm.cp.async.bulk.", {90, false, 80}},
      {"nvvm.cp.async.", {80, false, 70}},
      {"nvvm.cluster.", {90, false, 78}},
      {"nvvm.mapa", {90, false, 78}},
      {"nvvm.stmatrix", {90, false, 78}},
      {"nvvm.fence.mbarrier.", {90, false, 80}},
      {"nvvm.fence.proxy", {90, false, 80}},
      {"nvvm.mbarrier.arrive.expect_tx", {90, false, 80}},
      {"nvvm.mbarrier.expect_tx", {90, false, 80}},
      {"nvvm.mbarrier.complete_tx", {90, false, 80}},
      {"nvvm.mbarrier.try_wait", {90, false, 78}},
      {"nvvm.mbarrier.", {80, false, 70}},
      {"nvvm.elect.sync", {90, false, 80}},
      {"nvvm.griddepcontrol", {90, false, 78}},
  };
  for (const auto &[prefix, requirement] : table)
    if (op->getName().getStringRef().starts_with(prefix))
      return requirement;
  if (auto prefetch = dyn_cast<NVVM::PrefetchOp>(op); prefetch && prefetch.getTensormap())
    return {90, false, 80};
  if (auto redux = dyn_cast<NVVM::ReduxOp>(op); redux && isa<FloatType>(redux.getType()))
    return {100, true, 86};
  return {};
}

static InFlightDiagnostic emitChipError(Operation *op, int version, bool exact, StringRef chip) {
  return op->emitOpError("expects ") << (exact ? "the chip sm_" : "a chip from sm_") << version
                                     << (exact ? "a" : " on") << ", but got " << chip;
}

static LogicalResult checkInstruction(Operation *op, const TargetInfo &info, unsigned ptxVersion) {
  StringRef chip = info.chip();
  auto target = NVVM::NVVMCheckSMVersion::getTargetSMVersionFromStr(chip);
  if (auto known = dyn_cast<NVVM::RequiresSMInterface>(op)) {
    NVVM::NVVMCheckSMVersion required = known.getRequiredMinSMVersion();
    if (!required.isCompatibleWith(target))
      return emitChipError(op, required.smVersionList.front(), required.archAccelerated, chip);
  }
  // Chips newer than sm_90a have the instruction as well, if their name has a suffix.
  if (isa<NVVM::SetMaxRegisterOp>(op) && !info.gpuFacts().setmaxnreg)
    return emitChipError(op, 90, /*exact=*/true, chip);
  Requirement required = getRequirement(op);
  if (required.version &&
      !NVVM::NVVMCheckSMVersion(required.exact, required.version).isCompatibleWith(target))
    return emitChipError(op, required.version, required.exact, chip);
  if (ptxVersion < required.ptx)
    return op->emitOpError("expects PTX ")
           << required.ptx / 10 << "." << required.ptx % 10 << " or newer, but got "
           << ptxVersion / 10 << "." << ptxVersion % 10;
  return success();
}

LogicalResult mlir::blocksparse::checkInstructions(gpu::GPUModuleOp module,
                                                   const TargetInfo &target, unsigned ptxVersion) {
  WalkResult walked = module.walk([&](Operation *op) -> WalkResult {
    return isa<NVVM::NVVMDialect>(op->getDialect()) ? checkInstruction(op, target, ptxVersion)
                                                    : success();
  });
  return success(!walked.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// LLVM IR
//===----------------------------------------------------------------------===//

/// Returns true if the device has the function of an intrinsic. It has approximations in single
/// precision of some functions of a mathematics library. All but that of exp2 are used only if the
/// call allows them.
static bool hasIntrinsic(const llvm::CallInst &call, llvm::Intrinsic::ID id) {
  bool isDouble = call.getType()->getScalarType()->isDoubleTy();
  switch (id) {
  case llvm::Intrinsic::exp:
  case llvm::Intrinsic::exp10:
  case llvm::Intrinsic::log:
  case llvm::Intrinsic::log2:
  case llvm::Intrinsic::log10:
  case llvm::Intrinsic::pow:
  case llvm::Intrinsic::powi:
  case llvm::Intrinsic::tan:
  case llvm::Intrinsic::asin:
  case llvm::Intrinsic::acos:
  case llvm::Intrinsic::atan:
  case llvm::Intrinsic::atan2:
  case llvm::Intrinsic::sinh:
  case llvm::Intrinsic::cosh:
    return false;
  case llvm::Intrinsic::exp2:
    return !isDouble;
  case llvm::Intrinsic::sin:
  case llvm::Intrinsic::cos:
  case llvm::Intrinsic::tanh:
    return !isDouble && call.hasApproxFunc();
  default:
    return true;
  }
}

static LogicalResult checkCall(const llvm::CallInst &call, Location location) {
  const llvm::Function *callee = call.getCalledFunction();
  if (!callee || !callee->isDeclaration() || callee->getName() == "vprintf")
    return success();
  if (callee->isIntrinsic() && hasIntrinsic(call, callee->getIntrinsicID()))
    return success();
  return emitError(location) << "expects kernels without outside functions, but got a call of '"
                             << callee->getName() << "'";
}

LogicalResult mlir::blocksparse::checkCode(const llvm::Module &module, Location location) {
  for (const llvm::Function &function : module)
    for (const llvm::Instruction &instruction : llvm::instructions(function)) {
      if (auto *call = dyn_cast<llvm::CallInst>(&instruction);
          call && failed(checkCall(*call, location)))
        return failure();
      llvm::Type *element = instruction.getType()->getScalarType();
      if (element->isFP128Ty() || element->isX86_FP80Ty() || element->isPPC_FP128Ty()) {
        std::string text;
        llvm::raw_string_ostream(text) << *element;
        return emitError(location)
               << "expects floating-point numbers of at most 64 bits in kernels, but got " << text;
      }
    }
  return success();
}
