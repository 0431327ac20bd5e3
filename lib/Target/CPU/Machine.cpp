// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/CPU/Machine.h"
#include "blocksparse/Target/TargetInfo.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace mlir;
using namespace mlir::blocksparse;

static const llvm::Target *lookupHostTarget(const llvm::Triple &triple, EmitErrorFn emitError) {
  static const bool failed =
      llvm::InitializeNativeTarget() || llvm::InitializeNativeTargetAsmPrinter();
  std::string message = "no code generator for the host";
  const llvm::Target *target =
      failed ? nullptr : llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    emitError() << "expects a code generator for " << triple.str() << ", but got: " << message;
  return target;
}

/// Fails for names that LLVM would only warn about on the error stream.
static LogicalResult checkNames(const llvm::MCSubtargetInfo &info, const CPUOptions &options,
                                EmitErrorFn emitError) {
  if (options.cpu != "native" && !info.isCPUStringValid(options.cpu))
    return emitError() << "expects a processor that LLVM knows for "
                       << info.getTargetTriple().getArchName() << ", but got '" << options.cpu
                       << "'";
  SmallVector<StringRef> features;
  StringRef(options.features).split(features, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : features) {
    StringRef name = feature.drop_front();
    bool known = llvm::any_of(info.getAllProcessorFeatures(),
                              [&](const auto &entry) { return entry.Key == name; });
    if (!known || (feature.front() != '+' && feature.front() != '-'))
      return emitError() << "expects '+' or '-' and a processor feature that LLVM knows, but got '"
                         << feature << "'";
  }
  return success();
}

static std::string getFeatures(const CPUOptions &options) {
  llvm::SubtargetFeatures features;
  if (options.cpu == "native")
    for (const auto &entry : llvm::sys::getHostCPUFeatures())
      features.AddFeature(entry.getKey(), entry.getValue());
  std::string text = features.getString();
  if (!options.features.empty())
    text += (text.empty() ? "" : ",") + options.features;
  return text;
}

FailureOr<std::unique_ptr<llvm::TargetMachine>>
mlir::blocksparse::createTargetMachine(const CPUOptions &options, EmitErrorFn emitError) {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  const llvm::Target *target = lookupHostTarget(triple, emitError);
  if (!target)
    return failure();
  std::unique_ptr<llvm::MCSubtargetInfo> info(target->createMCSubtargetInfo(triple, "", ""));
  if (!info)
    return emitError() << "expects a known processor family, but got " << triple.str();
  if (failed(checkNames(*info, options, emitError)))
    return failure();
  std::string cpu = options.cpu == "native" ? llvm::sys::getHostCPUName().str() : options.cpu;
  llvm::TargetOptions targetOptions;
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  auto level = llvm::CodeGenOpt::getLevel(std::min(options.optLevel, 3u));
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, cpu, getFeatures(options), targetOptions,
                                  llvm::Reloc::PIC_, /*CM=*/std::nullopt, *level));
  if (!machine)
    return emitError() << "expects a code generator for " << triple.str() << ", but got none";
  return machine;
}

LogicalResult mlir::blocksparse::checkCPUOptions(const CPUOptions &options, EmitErrorFn emitError) {
  return success(succeeded(createTargetMachine(options, emitError)));
}

FailureOr<::blocksparse::TargetInfo> mlir::blocksparse::describeTarget(const CPUOptions &options,
                                                                       EmitErrorFn emitError) {
  FailureOr<std::unique_ptr<llvm::TargetMachine>> machine = createTargetMachine(options, emitError);
  if (failed(machine))
    return failure();
  const llvm::MCSubtargetInfo &info = *(*machine)->getMCSubtargetInfo();
  auto has = [&](StringRef feature) { return info.checkFeatures(("+" + feature).str()); };
  ::blocksparse::CPUFacts facts{128, 16};
  if (info.getTargetTriple().isX86() && has("avx512f"))
    facts = {512, 32};
  else if (info.getTargetTriple().isX86() && has("avx2"))
    facts = {256, 16};
  else if (info.getTargetTriple().isAArch64())
    facts = {128, 32};
  return ::blocksparse::TargetInfo::cpu((*machine)->getTargetCPU().str(), facts);
}
