// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GlobalMemory.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace blocksparse::sim;

static constexpr uint64_t alignment = 512;
/// Unused bytes on either side of an allocation: two allocations never touch, so that an access
/// past the end of one does not land in another.
static constexpr uint64_t redZone = 512;
static constexpr size_t rememberedReleases = 64;

uint64_t GlobalMemory::allocate(uint64_t bytes, Kind kind) {
  auto allocation = std::make_unique<Allocation>();
  allocation->bytes = bytes;
  allocation->kind = kind;
  allocation->storage.reset(new (std::nothrow) uint8_t[bytes + 2 * redZone + alignment]);
  if (!allocation->storage)
    return 0;
  if (kind == Kind::Device) {
    allocation->written.reset(new (std::nothrow) uint8_t[bytes]());
    if (!allocation->written)
      return 0;
  }
  // Fresh memory holds a pattern that no program mistakes for a result: NaN in every float type.
  std::memset(allocation->storage.get(), 0xff, bytes + 2 * redZone + alignment);
  uint64_t start = reinterpret_cast<uintptr_t>(allocation->storage.get()) + redZone;
  allocation->begin = (start + alignment - 1) / alignment * alignment;
  uint64_t begin = allocation->begin;
  auto place = std::lower_bound(allocations.begin(), allocations.end(), begin,
                                [](const auto &a, uint64_t b) { return a->begin < b; });
  allocations.insert(place, std::move(allocation));
  total += bytes;
  return begin;
}

bool GlobalMemory::adopt(void *pointer, uint64_t bytes) {
  uint64_t begin = reinterpret_cast<uintptr_t>(pointer);
  for (const auto &allocation : allocations)
    if (begin < allocation->begin + allocation->bytes && allocation->begin < begin + bytes)
      return false;
  auto allocation = std::make_unique<Allocation>();
  allocation->begin = begin;
  allocation->bytes = bytes;
  allocation->kind = Kind::Registered;
  auto place = std::lower_bound(allocations.begin(), allocations.end(), begin,
                                [](const auto &a, uint64_t b) { return a->begin < b; });
  allocations.insert(place, std::move(allocation));
  return true;
}

bool GlobalMemory::release(uint64_t address) {
  int64_t index = find(address);
  if (index < 0 || allocations[index]->begin != address)
    return false;
  if (allocations[index]->storage) {
    total -= allocations[index]->bytes;
    released.emplace_front(address, allocations[index]->bytes);
    released.resize(std::min(released.size(), rememberedReleases));
  }
  allocations.erase(allocations.begin() + index);
  return true;
}

int64_t GlobalMemory::find(uint64_t address) const {
  auto place = std::upper_bound(allocations.begin(), allocations.end(), address,
                                [](uint64_t a, const auto &b) { return a < b->begin; });
  if (place == allocations.begin())
    return -1;
  --place;
  if (address - (*place)->begin >= std::max<uint64_t>(1, (*place)->bytes))
    return -1;
  return place - allocations.begin();
}

void GlobalMemory::markWritten(uint64_t address, uint64_t bytes) {
  int64_t index = find(address);
  if (index < 0 || !allocations[index]->written || !allocations[index]->contains(address, bytes))
    return;
  std::memset(allocations[index]->written.get() + (address - allocations[index]->begin), 0xff,
              bytes);
}

void GlobalMemory::makeRoom() {
  if (judge.needsRoom())
    judge.makeRoom([&](auto visit) {
      for (auto &other : allocations)
        visit(other->shadow);
    });
}

std::string GlobalMemory::judgeWork(uint64_t address, uint64_t bytes, bool writes, uint32_t work,
                                    const GlobalJudge::StateOfWork &state) {
  int64_t index = find(address);
  if (index < 0 || !allocations[index]->written || !allocations[index]->contains(address, bytes))
    return "";
  makeRoom();
  Allocation &allocation = *allocations[index];
  return judge.checkWork(allocation.shadow, allocation.begin, allocation.bytes, address, bytes,
                         writes, work, state);
}

bool GlobalMemory::judgeAccess(Warp &warp, Judge &clusterJudge, size_t index,
                               const GlobalJudge::Access &access) {
  Allocation &allocation = *allocations[index];
  if (!allocation.written)
    return true;
  makeRoom();
  return judge.check(warp, clusterJudge, allocation.shadow, allocation.begin, allocation.bytes,
                     access);
}

std::string GlobalMemory::describe(uint64_t address) const {
  auto place = std::upper_bound(allocations.begin(), allocations.end(), address,
                                [](uint64_t a, const auto &b) { return a < b->begin; });
  for (const auto &[begin, bytes] : released)
    if (address >= begin && address - begin < bytes && find(address) < 0)
      return std::to_string(address - begin) + " bytes into an allocation of " +
             std::to_string(bytes) + " bytes that was freed";
  auto size = [](const Allocation &a) {
    return "the allocation of " + std::to_string(a.bytes) + " bytes";
  };
  // The nearer of the allocation before and the one after the address.
  const Allocation *before = place == allocations.begin() ? nullptr : (place - 1)->get();
  const Allocation *after = place == allocations.end() ? nullptr : place->get();
  if (before && address - before->begin < before->bytes)
    return std::to_string(address - before->begin) + " bytes into " + size(*before);
  uint64_t past = before ? address - (before->begin + before->bytes) : UINT64_MAX;
  uint64_t ahead = after ? after->begin - address : UINT64_MAX;
  if (before && past <= ahead && past < (uint64_t(1) << 32))
    return std::to_string(past) + " bytes after the end of " + size(*before);
  if (after && ahead < (uint64_t(1) << 32))
    return std::to_string(ahead) + " bytes before " + size(*after);
  return "far from every allocation";
}
