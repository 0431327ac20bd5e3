// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A site is a place in generated code that refers to an artefact. It remembers what its first call
// found, so that later calls look nothing up.

#ifndef BLOCKSPARSE_LIB_RUNTIME_ARTIFACTOBJECT_H
#define BLOCKSPARSE_LIB_RUNTIME_ARTIFACTOBJECT_H

#include "Launch.h"
#include "Module.h"

#include <atomic>

namespace blocksparse::rt {

/// Holds what a site remembers for one device. It never changes after it has become visible to
/// other threads.
struct SiteEntry {
  const Device *device = nullptr;
  SiteEntry *next = nullptr;
  /// Kernel of the site, if it is a kernel's; `launch` lacks grid and stream.
  Function *function = nullptr;
  blocksparseRtLaunchConfig launch = {};
  LaunchOptions options = {};
  /// Device memory of the LUT, if the site is a LUT's.
  void *lut = nullptr;
};

/// Returns the entry of `device`, or null before it is made. The list has as many entries as
/// devices were used, nearly always one.
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
