// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What places in generated code remember of an artefact, so that a call after
// the first looks nothing up.

#ifndef BLOCKSPARSE_LIB_RUNTIME_ARTIFACTOBJECT_H
#define BLOCKSPARSE_LIB_RUNTIME_ARTIFACTOBJECT_H

#include "Module.h"

#include <atomic>

namespace blocksparse::rt {

/// One device's share of a site; never changes once it can be seen.
struct SiteEntry {
  const Device *device = nullptr;
  SiteEntry *next = nullptr;
  /// Of a kernel's site; `launch` lacks grid and stream.
  Function *function = nullptr;
  blocksparseRtLaunchConfig launch = {};
  bool startsEarly = false;
  /// Of a LUT's site.
  void *lut = nullptr;
};

/// The entry of `device`, or null before it is made. The list has as many entries as devices were
/// used, nearly always one.
inline const SiteEntry *findEntry(blocksparseRtSite &site, const Device &device) {
  const void *entry = std::atomic_ref<void *>(site.first).load(std::memory_order_acquire);
  const auto *at = static_cast<const SiteEntry *>(entry);
  while (at && at->device != &device)
    at = at->next;
  return at;
}

/// Makes the entry for the kernel or the LUT `name`, or finds the one that another thread made.
Status addKernelEntry(blocksparseRtSite &site, blocksparseRtArtifact artifact, Device &device,
                      const char *name, const SiteEntry *&entry);
Status addLutEntry(blocksparseRtSite &site, blocksparseRtArtifact artifact, Device &device,
                   const char *name, const SiteEntry *&entry);

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_ARTIFACTOBJECT_H
