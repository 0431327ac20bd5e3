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
  const SampledFactors kMajor{false, true};
  if (family != KernelFamily::CUDAWgmmaTransposed || !sharesSubtiles(block) || operands == kMajor)
    return std::nullopt;
  return kMajor;
}

SampledForm SampledForm::get(BlockShape block, SampledFactors factors, bool gathersRows,
                             int64_t cluster) {
  SampledForm form;
  if (canShareRows(block))
    form.cluster = std::min(cluster, wgmmaClusterSize);
  form.gathersRows = gathersRows && canGatherRows(block);
  bool rowsKMajor = !factors.transposeA, columnsKMajor = factors.transposeB;
  if (!sharesSubtiles(block))
    return form;
  // A tile gathers twice as many columns as rows, so columns should be the contiguous ones.
  form.swapsAB = rowsKMajor && !columnsKMajor;
  if (form.swapsAB)
    std::swap(rowsKMajor, columnsKMajor);
  form.gathersColumns = form.gathersRows || columnsKMajor;
  if (form.gathersRows && !rowsKMajor)
    form.rowsTogether = subtileSize / form.of(block).rows;
  if (form.gathersRows && !columnsKMajor)
    form.columnsTogether = subtileSize / form.of(block).cols;
  return form;
}
