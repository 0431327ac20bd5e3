// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Target/GPU/Ptxas.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

/// Returns the number in front of `unit`: 136 for " bytes smem" in "136 bytes smem". 0 if there is
/// none.
static int64_t numberBefore(StringRef line, StringRef unit) {
  size_t end = line.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef head = line.take_front(end);
  StringRef digits = head.substr(head.find_last_not_of("0123456789") + 1);
  int64_t number = 0;
  return digits.getAsInteger(10, number) ? 0 : number;
}

static StringRef textInQuotes(StringRef line) { return line.split('\'').second.split('\'').first; }

/// Returns the kernel of this name, which is added if it is new.
static PtxasKernel &findKernel(PtxasReport &report, StringRef name) {
  auto known =
      llvm::find_if(report.kernels, [&](const PtxasKernel &kernel) { return kernel.name == name; });
  if (known != report.kernels.end())
    return *known;
  PtxasKernel &made = report.kernels.emplace_back();
  made.name = name.str();
  return made;
}

/// Returns true if the line has a number like (C7510).
static bool hasMessageNumber(StringRef line) {
  for (size_t at = line.find("(C"); at != StringRef::npos; at = line.find("(C", at + 1)) {
    StringRef digits = line.substr(at + 2).take_while(llvm::isDigit);
    if (digits.size() >= 4 && line.substr(at + 2 + digits.size()).starts_with(")"))
      return true;
  }
  return false;
}

PtxasReport mlir::blocksparse::parsePtxasReport(StringRef text) {
  PtxasReport report;
  std::string current; // the kernel that a line without a name is about
  SmallVector<StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    line = line.trim();
    // Lines are "ptxas error   : ...", "ptxas fatal   : ...", "ptxas x.ptx, line 7; error   : ...".
    StringRef head = line.split(" : ").first;
    if (head.contains("error") || head.contains("fatal")) {
      report.errors.push_back(line.str());
    } else if (head.contains("warning") || hasMessageNumber(line)) {
      report.warnings.push_back(line.str());
    } else if (line.contains("Compiling entry function")) {
      current = textInQuotes(line).str();
      findKernel(report, current);
    } else if (line.contains("Function properties for")) {
      // The line is about a kernel, or a function that kernels call, which has no row here.
      current = line.rsplit(' ').second.str();
    } else if (line.contains("bytes stack frame")) {
      PtxasKernel &kernel = findKernel(report, current);
      kernel.stackBytes = numberBefore(line, " bytes stack frame");
      kernel.spillStoreBytes = numberBefore(line, " bytes spill stores");
      kernel.spillLoadBytes = numberBefore(line, " bytes spill loads");
    } else if (line.contains(" registers")) {
      PtxasKernel &kernel = findKernel(report, current);
      kernel.registers = numberBefore(line, " registers");
      kernel.staticSharedBytes = numberBefore(line, " bytes smem");
    }
  }
  return report;
}

LogicalResult mlir::blocksparse::checkKernelLimits(const PtxasReport &report,
                                                   ArrayRef<KernelLaunch> launches,
                                                   const TargetInfo &target,
                                                   EmitErrorFn emitError) {
  const ::blocksparse::GPUFacts &facts = target.gpuFacts();
  for (const PtxasKernel &kernel : report.kernels) {
    auto launch = llvm::find_if(
        launches, [&](const KernelLaunch &launch) { return launch.name == kernel.name; });
    KernelLaunch known = launch == launches.end() ? KernelLaunch() : *launch;
    int64_t shared = kernel.staticSharedBytes + known.dynamicSharedBytes;
    if (shared > facts.sharedMemoryPerBlock)
      return emitError() << "kernel '" << kernel.name << "' expects at most "
                         << facts.sharedMemoryPerBlock << " bytes of shared memory per block on "
                         << target.chip() << ", but got " << shared << ": "
                         << kernel.staticSharedBytes << " static and " << known.dynamicSharedBytes
                         << " dynamic";
    constexpr int64_t warp = 32, step = 256;
    int64_t warps = llvm::divideCeil(known.threads, warp);
    int64_t registers = warps * llvm::alignTo(kernel.registers * warp, step);
    if (registers > facts.registersPerMultiprocessor)
      return emitError() << "kernel '" << kernel.name << "' expects at most "
                         << facts.registersPerMultiprocessor << " registers per block on "
                         << target.chip() << ", but got " << registers << ": " << kernel.registers
                         << " for each of " << known.threads << " threads";
  }
  return success();
}
