// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_PTXTEXT_H
#define BLOCKSPARSE_LIB_RUNTIME_PTXTEXT_H

#include <optional>
#include <string_view>

namespace blocksparse::rt {

/// Returns the `.version` of PTX text as 10 * major + minor. It is the first directive of every
/// module; the result is empty if the text begins otherwise.
std::optional<int> ptxVersionOf(std::string_view text);

/// Returns the word that follows the first `.target` ("sm_90a"), or "" without one.
std::string_view ptxTargetOf(std::string_view text);

/// Returns the number of parameters of the `.entry` called `name`, or -1 without such an entry.
int ptxParameterCount(std::string_view text, std::string_view name);

/// Returns the newest PTX version that a driver of CUDA version `cudaVersion` (1000 * major + 10 *
/// minor) knows. It is 0 for a CUDA older than 11.0, and the newest entry of the table for one
/// newer than the table. Source: PTX ISA manual, "Release Notes".
int newestPtxVersion(int cudaVersion);

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_PTXTEXT_H
