// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WgmmaGemm.h"

#include "../../Device/Assembly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::blocksparse;
using namespace mlir::blocksparse::device;

/// k slices of a matrix of 64 values of k.
static constexpr int64_t stepsOfMatrix = 64 / WgmmaTile::stepDepth;
/// Words of a fragment of A.
static constexpr int64_t fragmentWords = 4;

int64_t WgmmaGemm::Shared::offsetOf(int64_t step) const {
  return step / stepsOfMatrix * (matrixBytes / 16) + step % stepsOfMatrix * layout.stepUnits();
}

std::string WgmmaGemm::instruction(const Twine &accumulators, const Twine &left, const Twine &add,
                                   StringRef transposes) const {
  const bool isF8 = element.getIntOrFloatBitWidth() == 8;
  StringRef name = isa<Float8E4M3FNType>(element) ? "e4m3"
                   : isa<Float8E5M2Type>(element) ? "e5m2"
                   : element.isBF16()             ? "bf16"
                                                  : "f16";
  return ("wgmma.mma_async.sync.aligned.m64n" + Twine(n) + (isF8 ? "k32" : "k16") + ".f32." + name +
          "." + name + " {" + accumulators + "}, " + left + ", right, " + add + ", 1, 1" +
          (isF8 ? "" : ", " + transposes) + "; ")
      .str();
}

SmallVector<Value> WgmmaGemm::multiply(ImplicitLocOpBuilder &b, const Shared &left,
                                       const Shared &right, int64_t steps) const {
  ChangingAssembly assembly(b);
  for (int64_t i = 0; i < n / 2; ++i)
    assembly.make(b.getF32Type(), "f");
  int64_t first = assembly.read(left.layout.descriptor(b, left.address), "l");
  int64_t second = assembly.read(right.layout.descriptor(b, right.address), "l");
  // The first instruction overwrites the accumulators.
  std::string text = "{ .reg .pred over, add; .reg .b64 left, right; setp.ne.b32 over, 0, 0; "
                     "setp.eq.b32 add, 0, 0; wgmma.fence.sync.aligned; ";
  std::string transposes =
      llvm::formatv("{0}, {1}", left.layout.kMajor ? 0 : 1, right.layout.kMajor ? 0 : 1);
  for (int64_t step = 0; step < steps; ++step) {
    text += llvm::formatv("add.s64 left, ${0}, {1}; add.s64 right, ${2}, {3}; ", first,
                          left.offsetOf(step), second, right.offsetOf(step));
    text += instruction(ChangingAssembly::list(0, n / 2), "left", step == 0 ? "over" : "add",
                        transposes);
  }
  return assembly.emit(text + "wgmma.commit_group.sync.aligned; }");
}

SmallVector<Value> WgmmaGemm::multiply(ImplicitLocOpBuilder &b, ArrayRef<Value> left,
                                       const Shared &right) const {
  ChangingAssembly assembly(b);
  for (int64_t i = 0; i < n / 2; ++i)
    assembly.make(b.getF32Type(), "f");
  int64_t factor = assembly.read(right.layout.descriptor(b, right.address), "l");
  int64_t firstWord = factor + 1;
  for (Value word : left)
    assembly.read(word, "r");
  // The first instruction overwrites the accumulators.
  std::string text = "{ .reg .pred over, add; .reg .b64 right; setp.ne.b32 over, 0, 0; "
                     "setp.eq.b32 add, 0, 0; wgmma.fence.sync.aligned; ";
  int64_t steps = static_cast<int64_t>(left.size()) / fragmentWords;
  for (int64_t step = 0; step < steps; ++step) {
    text += llvm::formatv("add.s64 right, ${0}, {1}; ", factor, right.offsetOf(step));
    std::string words =
        "{" + ChangingAssembly::list(firstWord + step * fragmentWords, fragmentWords) + "}";
    text += instruction(ChangingAssembly::list(0, n / 2), words, step == 0 ? "over" : "add",
                        right.layout.kMajor ? "0" : "1");
  }
  return assembly.emit(text + "wgmma.commit_group.sync.aligned; }");
}

SmallVector<Value> WgmmaGemm::multiplyAdd(ImplicitLocOpBuilder &b, ArrayRef<Value> left,
                                          const Shared &right, ArrayRef<Value> accumulators,
                                          Value parts, int64_t partCount) const {
  ChangingAssembly assembly(b);
  for (Value sum : accumulators)
    assembly.change(sum, "f");
  int64_t factor = assembly.read(right.layout.descriptor(b, right.address), "l");
  int64_t firstWord = factor + 1;
  for (Value word : left)
    assembly.read(word, "r");
  int64_t bits = parts ? assembly.read(parts, "r") : -1;
  std::string text = "{ .reg .pred add, skip; .reg .b64 right; .reg .b32 part; "
                     "setp.eq.b32 add, 0, 0; wgmma.fence.sync.aligned; ";
  int64_t steps = static_cast<int64_t>(left.size()) / fragmentWords;
  int64_t stepsOfPart = steps / partCount;
  auto issue = [&](int64_t step) {
    text += llvm::formatv("add.s64 right, ${0}, {1}; ", factor, right.offsetOf(step));
    std::string words =
        "{" + ChangingAssembly::list(firstWord + step * fragmentWords, fragmentWords) + "}";
    text += instruction(ChangingAssembly::list(0, n / 2), words, "add",
                        right.layout.kMajor ? "0" : "1");
  };
  for (int64_t part = 0; part < partCount; ++part) {
    // ".uni" tells ptxas that all threads take the same branch, as wgmma requires.
    if (parts)
      text += llvm::formatv("and.b32 part, ${0}, {1}; setp.eq.b32 skip, part, 0; "
                            "@skip bra.uni SKIP{2}; ",
                            bits, int64_t{1} << part, part);
    for (int64_t step = 0; step < stepsOfPart; ++step)
      issue(part * stepsOfPart + step);
    if (parts)
      text += llvm::formatv("SKIP{0}: ", part);
  }
  return assembly.emit(text + "wgmma.commit_group.sync.aligned; }");
}

SmallVector<Value> WgmmaGemm::wait(ImplicitLocOpBuilder &b, int64_t pending,
                                   ArrayRef<Value> accumulators) {
  ChangingAssembly assembly(b);
  for (Value sum : accumulators)
    assembly.change(sum, "f");
  return assembly.emit("wgmma.wait_group.sync.aligned " + Twine(pending) + ";");
}
