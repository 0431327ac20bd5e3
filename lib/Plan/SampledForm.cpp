// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "blocksparse/Plan/SampledForm.h"
#include "blocksparse/Plan/Stages.h"

#include <utility>

using namespace blocksparse;

std::optional<SampledFactors> SampledFactors::get(KernelFamily family, BlockShape block,
                                                  SampledFactors operands) {
  if (family == KernelFamily::CUDAWgmma)
    return operands;
  const SampledFactors alongK{false, true};
  if (family != KernelFamily::CUDAWgmmaTransposed || !sharesPieces(block) || operands == alongK)
    return std::nullopt;
  return alongK;
}

SampledForm SampledForm::get(BlockShape block, SampledFactors factors, bool gathersRows,
                             int64_t cluster) {
  SampledForm form;
  if (canShareRows(block))
    form.cluster = std::min(cluster, wgmmaClusterSize);
  form.gathersRows = gathersRows && canGatherRows(block);
  bool rowsAlongK = !factors.transposeA, columnsAlongK = factors.transposeB;
  if (!sharesPieces(block))
    return form;
  // A tile gathers twice as many columns as rows, so columns should be the contiguous ones.
  form.swapsAB = rowsAlongK && !columnsAlongK;
  if (form.swapsAB)
    std::swap(rowsAlongK, columnsAlongK);
  form.gathersColumns = form.gathersRows || columnsAlongK;
  if (form.gathersRows && !rowsAlongK)
    form.rowsTogether = sampledPiece / form.of(block).rows;
  if (form.gathersRows && !columnsAlongK)
    form.columnsTogether = sampledPiece / form.of(block).cols;
  return form;
}
