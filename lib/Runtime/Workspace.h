// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_RUNTIME_WORKSPACE_H
#define BLOCKSPARSE_LIB_RUNTIME_WORKSPACE_H

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace blocksparse::rt {

/// Keeps the workspaces of a device's finished calls for later calls on the same stream, which need
/// no driver call to allocate and to free memory then: on an H200 each takes about as long as a
/// launch. Work on one stream runs in the order in which it was put there, so that a later call on
/// that stream may write where an earlier one still reads.
///
/// A stream is known by the number that the driver gives it once (cuStreamGetId), because the
/// handle of a destroyed stream may come again. Calls that are captured have no part in this: their
/// graph may run on any stream at any time, so that its memory must be its own.
class WorkspaceCache {
public:
  /// Limits of what is kept. A workspace that is larger than the quarter of `maxKeptBytes` goes
  /// back to the driver, whose time is nothing beside that of the work on it.
  static constexpr size_t maxKeptBytes = size_t(256) << 20;
  static constexpr size_t maxKeptBlocks = 64;

  /// Takes the smallest kept workspace of `stream` that has `bytes`, unless it has more than twice
  /// as many and a small rest. Returns null if there is none.
  void *take(uint64_t stream, size_t bytes);

  /// Remembers that a call uses the newly allocated `pointer` on `stream`.
  void lend(uint64_t stream, void *pointer, size_t bytes);

  /// Keeps a workspace that `take` or `lend` gave to a call which is done with it. Returns the
  /// workspace that the driver must free instead, on the stream of the call: `pointer` itself if it
  /// is none of these or is not kept, an older one of the same stream, or null.
  void *keep(void *pointer);

  /// Forgets and returns a kept workspace of `stream`, or of any stream; null if there is none.
  void *release(std::optional<uint64_t> stream);

private:
  struct Block {
    void *pointer;
    size_t bytes;
    uint64_t stream;
  };

  std::mutex mutex;
  std::vector<Block> kept; // the first was kept first
  std::vector<Block> lent;
  size_t keptBytes = 0;

  std::vector<Block>::iterator oldestOf(std::optional<uint64_t> stream);
  void *removeKept(std::vector<Block>::iterator block);
};

} // namespace blocksparse::rt

#endif // BLOCKSPARSE_LIB_RUNTIME_WORKSPACE_H
