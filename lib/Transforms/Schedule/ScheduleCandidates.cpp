// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductShape.h"
#include "SampledTilings.h"
#include "blocksparse/Plan/SkinnyTile.h"
#include "blocksparse/Plan/Stages.h"
#include "blocksparse/Transforms/Schedule.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::blocksparse;
using ::blocksparse::KernelFamily;
using ::blocksparse::MmaParams;
using ::blocksparse::PanelParams;
using ::blocksparse::ProblemKind;
using ::blocksparse::RowParams;
using ::blocksparse::Schedule;
using ::blocksparse::SkinnyParams;
using ::blocksparse::StreamParams;
using ::blocksparse::TargetInfo;
using ::blocksparse::WgmmaParams;

namespace {

/// Collects the candidates of one operation, each once, in order.
class Candidates {
public:
  Candidates(Operation *op, const TargetInfo &target)
      : op(op), target(target), families(getKernelFamilies(op, target)),
        choice(selectSchedule(op, target)) {
    schedules.insert(choice);
  }

  SmallVector<ScheduleAttr> get();

private:
  bool has(KernelFamily family) const { return llvm::is_contained(families, family); }
  /// Adds a schedule if a kernel honours it.
  template <typename Params>
  void add(KernelFamily family, const Params &params) {
    add(Schedule(family, params));
  }
  void add(const Schedule &schedule);
  void addPanels(const ProductShape &shape);
  void addWgmma(const ProductShape &shape);
  void addStreams(const ProductShape &shape);
  void addSkinny(const ProductShape &shape);
  void addMma(const ProductShape &shape);
  void addRows();

  Operation *op;
  const TargetInfo &target;
  std::vector<KernelFamily> families;
  ScheduleAttr choice;
  llvm::SetVector<ScheduleAttr, SmallVector<ScheduleAttr>> schedules;
};

} // namespace

SmallVector<ScheduleAttr> Candidates::get() {
  if (::blocksparse::isProduct(getKernelProblem(op)->kind)) {
    ProductShape shape = ProductShape::get(op);
    addPanels(shape);
    addWgmma(shape);
    addStreams(shape);
    addSkinny(shape);
    addMma(shape);
  }
  addRows();
  return schedules.takeVector();
}

void Candidates::add(const Schedule &schedule) {
  // An attribute must not be made of parameters that are out of range.
  if (!::blocksparse::checkParams(schedule).empty())
    return;
  ScheduleAttr attribute = ScheduleAttr::get(op->getContext(), schedule);
  if (checkSchedule(op, attribute, target).empty())
    schedules.insert(attribute);
}

void Candidates::addPanels(const ProductShape &shape) {
  if (!has(KernelFamily::CPUPanel))
    return;
  int64_t lanes = std::max<int64_t>(1, target.cpuFacts().simdBits / shape.accumulatorBits);
  int64_t chosenSplit = choice.getSchedule().split();
  SmallVector<int64_t, 2> splits{chosenSplit};
  if (chosenSplit != 0)
    splits.push_back(0);
  for (int64_t split : splits)
    for (int64_t vectors : {1, 2, 3, 4})
      for (int64_t rows : {2, 4, 6, 8, 12}) {
        // Accumulators and a row of the panel must fit the vector registers, with one for a
        // broadcast.
        bool fits = rows * vectors + vectors + 1 <= target.cpuFacts().vectorRegisters;
        // Fewer accumulators than twice the cycles of latency of a multiply-add wait for each
        // other.
        bool busy = rows * vectors >= 4;
        bool tall = !ShapedType::isDynamic(shape.rows) && rows > shape.rows;
        bool wide = !ShapedType::isDynamic(shape.cols) && (vectors - 1) * lanes >= shape.cols;
        if (fits && busy && !tall && !wide)
          add(KernelFamily::CPUPanel, PanelParams{{rows, vectors * lanes}, split});
      }
}

void Candidates::addWgmma(const ProductShape &shape) {
  if (shape.problem.kind == ProblemKind::Sampled && target.isCUDA())
    for (const SampledTiling &tiling : getSampledTilings(shape, target))
      add(tiling.schedule);
  if (!has(KernelFamily::CUDAWgmma) || shape.problem.kind != ProblemKind::Reduction)
    return;
  // A tuned schedule must give sums as exact as those of the choice, which products of f8 are not.
  const ::blocksparse::ElementType element = *shape.problem.a;
  const bool hasBytes = ::blocksparse::elementSize(element) == 1;
  if (hasBytes && element != ::blocksparse::ElementType::i8)
    return;
  for (int64_t cols : {512, 256, 128, 64})
    for (int64_t stages : {hasBytes ? 8 : 4, 3}) {
      int64_t cluster = ::blocksparse::clusterSize(cols);
      add(KernelFamily::CUDAWgmma,
          WgmmaParams{{128, cols / cluster}, stages, /*gather=*/false, cluster});
    }
}

void Candidates::addStreams(const ProductShape &shape) {
  if (!has(KernelFamily::CUDAStream))
    return;
  // Planned blocks are those of the choice: the other side loads more, or more often.
  const auto *chosen = choice.getIf<StreamParams>();
  const bool isStored = ::blocksparse::isStreamBlock(shape.problem);
  if (!isStored && !chosen)
    return;
  const int64_t block = isStored ? shape.rows : chosen->block, planned = isStored ? 0 : block;
  auto addShape = [&](bool wgmma, int64_t rows, int64_t warps, int64_t panels, int64_t stages) {
    KernelFamily family = wgmma ? KernelFamily::CUDAStreamWgmma : KernelFamily::CUDAStream;
    if (!has(family))
      return;
    const bool narrow = ::blocksparse::StreamShape::isNarrow(block, shape.problem.denseKMajor);
    const int64_t perCopy = narrow && panels % 4 == 0 ? 4 : 1;
    // Narrow column tiles pay for small results alone.
    for (int64_t cols : {128, 64})
      if (cols == 128 || rows * block <= 128)
        add(family, StreamParams{{rows * block, cols}, panels, perCopy, stages, warps, planned});
  };
  // Fewer than 64 values of k a stage wait more than they compute.
  constexpr std::pair<int64_t, int64_t> depths[] = {{64, 5}, {64, 4},  {64, 3}, {96, 4},
                                                    {96, 3}, {128, 4}, {128, 3}};
  for (auto [depth, stages] : depths) {
    // Blocks of 16 have too little work for each branch of wgmma.
    if (block == 32)
      for (int64_t rows : {12, 8, 4})
        addShape(/*wgmma=*/true, rows, ::blocksparse::streamWgmmaWarps, depth / block, stages);
    else // Each warp has two rows.
      addShape(/*wgmma=*/false, 16, 8, depth / block, stages);
    for (int64_t rows : {24, 20, 16, 12, 8})
      // Tall row groups of large blocks leave too few registers.
      if (rows * block <= 384)
        addShape(/*wgmma=*/false, rows, rows > 20 ? rows / 2 : rows, depth / block, stages);
  }
}

void Candidates::addSkinny(const ProductShape &shape) {
  if (!has(KernelFamily::CUDASkinny))
    return;
  const int64_t cols = ::blocksparse::fitSkinnyCols(shape.cols);
  for (int64_t rows : {16, 32, 64})
    for (int64_t warps : {2, 4, 8, 16})
      for (int64_t unroll : {1, 2, 4})
        add(KernelFamily::CUDASkinny, SkinnyParams{{rows, cols}, warps, unroll});
}

void Candidates::addMma(const ProductShape &shape) {
  const KernelFamily family =
      has(KernelFamily::CUDAMma) ? KernelFamily::CUDAMma : KernelFamily::CUDAFma;
  if (!has(family) || choice.getFamily() == KernelFamily::CUDASimt)
    return;
  const bool staged = shape.problem.kind == ProblemKind::Reduction &&
                      (has(KernelFamily::CUDAWgmma) || has(KernelFamily::CUDAStream));
  int64_t rows = shape.isSparse() ? shape.rows : MmaParams::usualTile;
  int64_t split = choice.getFamily() == family ? choice.getSchedule().split() : 0;
  for (int64_t tileRows : {128, 64, 32, 16})
    for (int64_t tileCols : {256, 128, 64, 32, 16}) {
      // The small tiles of large blocks lose by their loads.
      bool fits = tileRows * 2 >= std::min<int64_t>(rows, MmaParams::usualTile) &&
                  tileRows * tileCols <= 128 * 128 && (tileCols > 16 || shape.cols == 16);
      for (int64_t stages : {4, 3})
        if (fits && (stages == 4 || !staged))
          add(family, MmaParams{{tileRows, tileCols}, stages, split});
    }
}

void Candidates::addRows() {
  if (has(KernelFamily::CUDARows))
    for (int64_t elements : {16, 32, 64})
      add(KernelFamily::CUDARows, RowParams{elements});
}

SmallVector<ScheduleAttr> mlir::blocksparse::enumerateSchedules(Operation *op,
                                                                const TargetInfo &target) {
  return Candidates(op, target).get();
}
