// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Workspace.h"

#include <algorithm>

using namespace blocksparse::rt;

/// A workspace this much larger than asked for is used in any case.
static constexpr size_t smallRest = 64 << 10;

std::vector<WorkspaceCache::Block>::iterator
WorkspaceCache::oldestOf(std::optional<uint64_t> stream) {
  return std::find_if(kept.begin(), kept.end(),
                      [&](const Block &block) { return !stream || block.stream == *stream; });
}

void *WorkspaceCache::removeKept(std::vector<Block>::iterator block) {
  void *pointer = block->pointer;
  keptBytes -= block->bytes;
  kept.erase(block);
  return pointer;
}

void *WorkspaceCache::take(uint64_t stream, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto best = kept.end();
  for (auto block = kept.begin(); block != kept.end(); ++block)
    if (block->stream == stream && block->bytes >= bytes && block->bytes <= 2 * bytes + smallRest &&
        (best == kept.end() || block->bytes < best->bytes))
      best = block;
  if (best == kept.end())
    return nullptr;
  lent.push_back(*best);
  return removeKept(best);
}

void WorkspaceCache::lend(uint64_t stream, void *pointer, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  // A program may give a result away, and the driver the same address again.
  std::erase_if(lent, [&](const Block &block) { return block.pointer == pointer; });
  lent.push_back({pointer, bytes, stream});
}

void *WorkspaceCache::keep(void *pointer) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = std::find_if(lent.begin(), lent.end(),
                            [&](const Block &block) { return block.pointer == pointer; });
  if (found == lent.end())
    return pointer;
  Block block = *found;
  lent.erase(found);
  if (block.bytes > maxKeptBytes / 4)
    return pointer;
  void *evicted = nullptr;
  if (kept.size() == maxKeptBlocks || keptBytes + block.bytes > maxKeptBytes) {
    // Only memory of this stream can be freed without waiting for others.
    auto oldest = oldestOf(block.stream);
    if (oldest == kept.end() || keptBytes - oldest->bytes + block.bytes > maxKeptBytes)
      return pointer;
    evicted = removeKept(oldest);
  }
  kept.push_back(block);
  keptBytes += block.bytes;
  return evicted;
}

void *WorkspaceCache::release(std::optional<uint64_t> stream) {
  std::lock_guard<std::mutex> lock(mutex);
  auto oldest = oldestOf(stream);
  return oldest == kept.end() ? nullptr : removeKept(oldest);
}
