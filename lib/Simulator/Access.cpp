// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Access.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace blocksparse::sim;

Cta *blocksparse::sim::ownerOfShared(Warp &warp, uint64_t &address) {
  uint64_t rank = address >> rankShift;
  if (!rank)
    return &warp.cta;
  address &= (uint64_t(1) << rankShift) - 1;
  if (rank - 1 < warp.cta.cluster.ctas.size())
    return warp.cta.cluster.ctas[rank - 1].get();
  warp.fault("expects a shared address of a cluster of " +
             std::to_string(warp.cta.cluster.ctas.size()) + " CTAs, but got one of rank " +
             std::to_string(rank - 1));
  return nullptr;
}

/// Reports a read of bytes that nothing wrote. `written` are their marks.
static void faultUnwritten(Warp &warp, const char *space, uint64_t address, const uint8_t *written,
                           uint64_t bytes) {
  uint64_t first = static_cast<uint64_t>(std::find(written, written + bytes, 0) - written);
  warp.fault("expects a read of written memory, but got " + std::to_string(bytes) + " bytes at " +
             space + " address " + hexadecimal(address) + " of which nothing wrote byte " +
             std::to_string(first));
}

/// Returns whether the access reads bytes that must have been written.
static bool reads(AccessKind kind) {
  return kind == AccessKind::Read || kind == AccessKind::ReadWrite || kind == AccessKind::Barrier;
}

static bool writes(AccessKind kind) {
  return kind == AccessKind::Write || kind == AccessKind::ReadWrite || kind == AccessKind::Barrier;
}

static bool allWritten(const uint8_t *written, uint64_t bytes) {
  if (bytes == 4) {
    uint32_t word;
    std::memcpy(&word, written, 4);
    return word == ~0u;
  }
  return std::all_of(written, written + bytes, [](uint8_t mark) { return mark != 0; });
}

static uint8_t *accessShared(Warp &warp, uint64_t address, uint64_t bytes, AccessKind kind) {
  Cta *owner = ownerOfShared(warp, address);
  if (!owner)
    return nullptr;
  uint64_t size = owner->shared.size();
  uint64_t offset = address - sharedBase;
  if (address < sharedBase || bytes > size || offset > size - bytes) {
    warp.fault("expects an access within shared memory of " + std::to_string(size) +
               " bytes, but got " + std::to_string(bytes) + " bytes at offset " +
               std::to_string(static_cast<int64_t>(offset)));
    return nullptr;
  }
  uint8_t *written = owner->sharedWritten.data() + offset;
  if (reads(kind) && warp.cta.grid.options.checkUnwritten && !allWritten(written, bytes)) {
    faultUnwritten(warp, "shared", address, written, bytes);
    return nullptr;
  }
  if (writes(kind))
    std::memset(written, 0xff, bytes);
  Judge *judge = judgeOf(warp);
  if (judge && kind != AccessKind::Barrier && kind != AccessKind::Begin) {
    Judge::Actor actor = judge->generic(warp);
    auto check = kind == AccessKind::ReadWrite ? &Judge::update
                 : writes(kind)                ? &Judge::write
                                               : &Judge::read;
    if (!(judge->*check)(warp, owner->rank, offset, bytes, actor))
      return nullptr;
  }
  return owner->shared.data() + offset;
}

/// Judges an access of an instruction, and passes on what it releases or acquires.
static bool judgeStrong(Warp &warp, const Op &op, size_t allocation, uint64_t address,
                        uint64_t bytes, bool reads, bool writes) {
  Judge *judge = judgeOf(warp);
  if (!judge)
    return true;
  GlobalMemory &memory = warp.cta.grid.memory;
  if (!memory.judgeAccess(warp, *judge, allocation,
                          {address, bytes, writes, op.order != Op::weak, judge->generic(warp)}))
    return false;
  if (op.order & Op::isOfGpu)
    memory.judge.synchronise(warp, *judge, address, op.order, reads, writes);
  return true;
}

bool blocksparse::sim::judgeLanes(Warp &warp, const Op &op, Space space, uint32_t lanes,
                                  const uint64_t *addresses, uint64_t bytes, bool writes) {
  if (!judgeOf(warp) || space == Space::Shared || space == Space::Param)
    return true;
  uint64_t begin = 0, end = 0;
  auto judgeRun = [&] {
    int64_t index = end > begin ? warp.cta.grid.memory.find(begin) : -1;
    return index < 0 ||
           judgeStrong(warp, op, static_cast<size_t>(index), begin, end - begin, !writes, writes);
  };
  // Neighbours, and lanes at the same address, are judged together. Strong accesses are not, since
  // each passes on what it releases.
  for (uint32_t rest = lanes; rest; rest &= rest - 1) {
    uint64_t address = addresses[__builtin_ctz(rest)];
    if (address >= sharedWindow || (address >= begin && address + bytes <= end))
      continue;
    if (address == end && op.order == Op::weak) {
      end += bytes;
      continue;
    }
    if (!judgeRun())
      return false;
    begin = address;
    end = address + bytes;
  }
  return judgeRun();
}

static uint8_t *accessGlobal(Warp &warp, const Op &op, uint64_t address, uint64_t bytes,
                             AccessKind kind) {
  GlobalMemory &memory = warp.cta.grid.memory;
  size_t index = op.lastAllocation;
  if (index >= memory.size() || !memory.get(index).contains(address, bytes)) {
    int64_t found = memory.find(address);
    if (found < 0 || !memory.get(static_cast<size_t>(found)).contains(address, bytes)) {
      warp.fault("expects an access within an allocation, but got " + std::to_string(bytes) +
                 " bytes at global address " + hexadecimal(address) + ", " +
                 memory.describe(address));
      return nullptr;
    }
    index = static_cast<size_t>(found);
    op.lastAllocation = static_cast<uint32_t>(index);
  }
  const GlobalMemory::Allocation &allocation = memory.get(index);
  if (uint8_t *written = allocation.written.get()) {
    written += address - allocation.begin;
    if (reads(kind) && warp.cta.grid.options.checkUnwritten && !allWritten(written, bytes)) {
      faultUnwritten(warp, "global", address, written, bytes);
      return nullptr;
    }
    if (writes(kind))
      std::memset(written, 0xff, bytes);
  }
  if (kind == AccessKind::ReadWrite && !judgeStrong(warp, op, index, address, bytes, true, true))
    return nullptr;
  return reinterpret_cast<uint8_t *>(static_cast<uintptr_t>(address));
}

bool blocksparse::sim::judgeGlobal(Warp &warp, uint64_t address, uint64_t bytes, bool writes,
                                   const Judge::Actor &actor, bool isStrong) {
  Judge *judge = judgeOf(warp);
  GlobalMemory &memory = warp.cta.grid.memory;
  int64_t index = judge ? memory.find(address) : -1;
  if (index < 0 || !memory.get(static_cast<size_t>(index)).contains(address, bytes))
    return true;
  return memory.judgeAccess(warp, *judge, static_cast<size_t>(index),
                            {address, bytes, writes, isStrong, actor});
}

uint8_t *blocksparse::sim::access(Warp &warp, const Op &op, Space space, uint64_t address,
                                  uint64_t bytes, uint64_t alignment, AccessKind kind) {
  if (address & (alignment - 1)) {
    warp.fault("expects an address aligned to " + std::to_string(alignment) + " bytes, but got " +
               hexadecimal(address));
    return nullptr;
  }
  switch (space) {
  case Space::Shared:
    return accessShared(warp, address, bytes, kind);
  case Space::Param: {
    uint64_t size = warp.cta.grid.kernel.function->parameterBytes;
    if (bytes <= size && address <= size - bytes)
      return warp.cta.grid.parameters + address;
    warp.fault("expects an access within " + std::to_string(size) +
               " bytes of parameters, but got " + std::to_string(bytes) + " bytes at offset " +
               std::to_string(address));
    return nullptr;
  }
  case Space::Generic:
    if (address >= sharedWindow && address - sharedWindow < sharedWindow)
      return accessShared(warp, address - sharedWindow, bytes, kind);
    return accessGlobal(warp, op, address, bytes, kind);
  default:
    return accessGlobal(warp, op, address, bytes, kind);
  }
}

uint8_t blocksparse::sim::takeOrder(Decoder &decoder) {
  unsigned order = Op::weak;
  // A volatile access is a relaxed one of system scope.
  if (decoder.take("volatile"))
    order = Op::isStrong | Op::isOfGpu;
  if (decoder.take("relaxed"))
    order = Op::isStrong;
  if (decoder.take("acquire"))
    order = Op::isStrong | Op::acquires;
  if (decoder.take("release"))
    order = Op::isStrong | Op::releases;
  if (decoder.take("acq_rel"))
    order = Op::isStrong | Op::acquires | Op::releases;
  decoder.take("cta");
  decoder.take("cluster");
  if (decoder.take("gpu") || decoder.take("sys"))
    order |= order ? Op::isOfGpu : Op::weak;
  return static_cast<uint8_t>(order);
}

Space blocksparse::sim::takeSpace(Decoder &decoder) {
  if (decoder.take("global"))
    return Space::Global;
  if (decoder.take("shared") || decoder.take("shared::cta") || decoder.take("shared::cluster"))
    return Space::Shared;
  if (decoder.take("param") || decoder.take("param::entry"))
    return Space::Param;
  if (decoder.take("const"))
    return Space::Const;
  return Space::Generic;
}
