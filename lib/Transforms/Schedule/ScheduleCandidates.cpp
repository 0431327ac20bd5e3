// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScheduleFacts.h"
#include "blocksparse/IR/BlockSparseOps.h"
#include "blocksparse/Plan/Stages.h"
#include "blocksparse/Transforms/Schedule.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::TargetInfo;

namespace {

/// Candidates of one op, each once, in order.
class Candidates {
public:
  Candidates(Operation *op, const TargetInfo &target)
      : context(op->getContext()), op(op), target(target), facts(getScheduleFacts(op, target)),
        kernels(getKernels(op, target)), choice(selectSchedule(op, target)) {
    if (choice)
      schedules.insert(choice);
  }

  SmallVector<ScheduleAttr> get() {
    addPanels();
    addWgmma();
    addStreams();
    addMma();
    addRows();
    return schedules.takeVector();
  }

private:
  bool has(StringRef kernel) const { return llvm::is_contained(kernels, kernel); }
  void add(StringRef kernel, int64_t tileM, int64_t tileN, int64_t tileK, int64_t stages,
           int64_t warps, int64_t group = 1, int64_t split = 0) {
    schedules.insert(
        ScheduleAttr::get(context, kernel, tileM, tileN, tileK, stages, warps, group, split));
  }
  void addPanels();
  void addWgmma();
  void addStreams();
  void addMma();
  void addRows();

  MLIRContext *context;
  Operation *op;
  const TargetInfo &target;
  ScheduleFacts facts;
  SmallVector<StringRef> kernels;
  ScheduleAttr choice;
  llvm::SetVector<ScheduleAttr, SmallVector<ScheduleAttr>> schedules;
};

} // namespace

/// Accumulators and a row of the panel must fit the vector registers, with one for a broadcast.
void Candidates::addPanels() {
  if (!has("cpu.panel"))
    return;
  int64_t lanes = std::max<int64_t>(1, target.cpuFacts().simdBits / facts.accumulatorBits);
  SmallVector<int64_t, 2> splits{choice.getSplit()};
  if (choice.getSplit() != 0)
    splits.push_back(0);
  for (int64_t split : splits)
    for (int64_t vectors : {1, 2, 3, 4})
      for (int64_t rows : {2, 4, 6, 8, 12}) {
        bool fits = rows * vectors + vectors + 1 <= target.cpuFacts().vectorRegisters;
        // Fewer accumulators than a multiply-add has cycles of latency, twice, wait for each other.
        bool tall = !ShapedType::isDynamic(facts.rows) && rows > facts.rows;
        bool wide = !ShapedType::isDynamic(facts.cols) && (vectors - 1) * lanes >= facts.cols;
        if (fits && rows * vectors >= 4 && !tall && !wide)
          add("cpu.panel", rows, vectors * lanes, 0, 0, 0, 1, split);
      }
}

void Candidates::addWgmma() {
  if (!has("cuda.wgmma"))
    return;
  schedules.insert(facts.sampled.begin(), facts.sampled.end());
  if (facts.wgmma)
    for (int64_t cols : {512, 256, 128, 64})
      for (int64_t stages : {4, 3})
        if (facts.cols % cols == 0)
          add("cuda.wgmma", 128, cols, 64, stages, 12, facts.rows % 128 == 0 ? 1 : 2);
}

/// `group` block rows by a panel. Shapes that don't fit shared memory are left out.
void Candidates::addStreams() {
  if (!facts.stream)
    return;
  int64_t block = facts.rows;
  auto addShape = [&](bool wgmma, int64_t rows, int64_t warps, int64_t panels, int64_t stages) {
    if (!has(wgmma ? "cuda.stream_wgmma" : "cuda.stream") ||
        !::blocksparse::getStreamShape({block, rows, panels, stages, warps, wgmma, facts.alongK,
                                        target.gpuFacts().sharedMemoryPerBlock}))
      return;
    // Narrow panels pay for small results alone.
    for (int64_t cols : {128, 64})
      if (facts.cols % cols == 0 && (cols == 128 || rows * block <= 128))
        add(wgmma ? "cuda.stream_wgmma" : "cuda.stream", rows * block, cols, panels * block, stages,
            warps, rows);
  };
  // Fewer than 64 values of k a stage wait more than they compute.
  constexpr std::pair<int64_t, int64_t> depths[] = {{64, 5}, {64, 4},  {64, 3}, {96, 4},
                                                    {96, 3}, {128, 4}, {128, 3}};
  for (auto [depth, stages] : depths) {
    // Blocks of 16 have too little work for each branch of wgmma.
    if (block == 32)
      for (int64_t rows : {12, 8, 4})
        addShape(/*wgmma=*/true, rows, ::blocksparse::streamWgmmaWarps, depth / block, stages);
    else // two rows for each warp
      addShape(/*wgmma=*/false, 16, 8, depth / block, stages);
    for (int64_t rows : {24, 20, 16, 12, 8})
      // Tall groups of large blocks leave too few registers.
      if (rows * block <= 384)
        addShape(/*wgmma=*/false, rows, rows > 20 ? rows / 2 : rows, depth / block, stages);
  }
}

void Candidates::addMma() {
  bool tensorCores = choice && choice.getKernel() != "cuda.simt";
  if (!has("cuda.mma") || !tensorCores)
    return;
  bool sparse = !isa<MatmulOp, ScatterMMOp>(op);
  int64_t rows = sparse && !ShapedType::isDynamic(facts.rows) ? facts.rows : 128;
  int64_t bits = cast<RankedTensorType>(op->getOperand(0).getType()).getElementTypeBitWidth();
  int64_t split = choice.getKernel() == "cuda.mma" ? choice.getSplit() : 0;
  for (int64_t tileM : {128, 64, 32, 16})
    for (int64_t tileN : {256, 128, 64, 32}) {
      // The small tiles of large blocks lose by their loads.
      bool fits =
          rows % tileM == 0 && tileM * 2 >= std::min<int64_t>(rows, 128) &&
          tileM * tileN <= 128 * 128 &&
          (ShapedType::isDynamic(facts.cols) || tileN < 2 * std::max<int64_t>(facts.cols, 17));
      if (!fits)
        continue;
      int64_t warps = llvm::divideCeil(tileM, 64) * llvm::divideCeil(tileN, 64);
      for (int64_t stages : {4, 3})
        if (stages == 4 || !(facts.wgmma || facts.stream))
          add("cuda.mma", tileM, tileN, 64 / (bits / 8), stages, std::max<int64_t>(2, warps), 1,
              split);
    }
}

void Candidates::addRows() {
  if (has("cuda.rows"))
    for (int64_t elements : {16, 32, 64})
      add("cuda.rows", 0, 0, elements, 0, 0);
}

SmallVector<ScheduleAttr> mlir::blocksparse::enumerateSchedules(Operation *op,
                                                                const TargetInfo &target) {
  return Candidates(op, target).get();
}
