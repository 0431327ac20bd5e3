// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cp.async` with commit groups (PTX ISA, "Data Movement: Asynchronous copy"). A copy is made as
// late as it may be: when its group is waited for. Until then its destination counts as not
// written, so that a read that forgot to wait is found. Groups belong to a warp here, not to each
// lane.

#include "Async.h"

#include "Access.h"
#include "Execute.h"

#include <algorithm>
#include <cstring>

using namespace blocksparse::sim;

void blocksparse::sim::commitGroup(Warp &warp, Queue queue, AsyncGroup &open,
                                   std::deque<AsyncGroup> &groups) {
  groups.push_back(std::move(open));
  open.clear();
  if (Judge *judge = judgeOf(warp))
    judge->commit(warp, queue);
}

void blocksparse::sim::finishGroups(Warp &warp, Queue queue, std::deque<AsyncGroup> &groups,
                                    size_t pending) {
  if (Judge *judge = judgeOf(warp))
    judge->finish(warp, queue, static_cast<uint32_t>(pending));
  while (groups.size() > pending) {
    AsyncGroup group = std::move(groups.front());
    groups.pop_front();
    for (const std::function<void()> &work : group)
      work();
  }
}

bool blocksparse::sim::judgeAccess(Warp &warp, uint64_t address, uint64_t bytes, Queue queue,
                                   bool writes) {
  Judge *judge = judgeOf(warp);
  Cta *owner = judge ? ownerOfShared(warp, address) : nullptr;
  if (!owner)
    return !judge;
  Judge::Actor actor = judge->queued(warp, queue);
  uint64_t offset = address - sharedBase;
  return writes ? judge->write(warp, owner->rank, offset, bytes, actor)
                : judge->read(warp, owner->rank, offset, bytes, actor);
}

uint8_t *blocksparse::sim::sharedMarks(Warp &warp, uint64_t address) {
  Cta *owner = ownerOfShared(warp, address);
  return owner ? owner->sharedWritten.data() + (address - sharedBase) : nullptr;
}

bool blocksparse::sim::isRowWritten(Warp &warp, uint64_t address) {
  if (!warp.cta.grid.options.checkUnwritten)
    return true;
  const uint8_t *marks = sharedMarks(warp, address);
  return marks && std::all_of(marks, marks + 16, [](uint8_t mark) { return mark != 0; });
}

namespace {

struct LaneCopy {
  uint8_t *to, *marks;
  const uint8_t *from;
  uint32_t bytes, zeros;
};

void executeCopy(Warp &warp, const Op &op) {
  uint32_t size = op.aux[0];
  std::vector<LaneCopy> copies;
  copies.reserve(laneCount);
  uint64_t sources[laneCount];
  uint32_t whole = 0, reading = 0; // the lanes that copy all, or some, of their bytes
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t target = laneAddress(warp, op, op.a, lane);
    auto offset = static_cast<int32_t>(op.aux[1]);
    uint64_t source = warp.in<uint64_t>(op.b)[lane] + static_cast<uint64_t>(int64_t(offset));
    uint32_t bytes = op.c == noSlot ? size : warp.in<uint32_t>(op.c)[lane];
    if (bytes > size) {
      warp.fault("expects a source of at most " + std::to_string(size) + " bytes, but got " +
                 std::to_string(bytes));
      return;
    }
    uint8_t *to = access(warp, op, Space::Shared, target, size, size, AccessKind::Begin);
    if (!to || !judgeAccess(warp, target, size, Queue::Copies, /*writes=*/true))
      return;
    const uint8_t *from = nullptr;
    if (bytes) {
      from = access(warp, op, Space::Global, source, bytes, 1, AccessKind::Read);
      if (!from)
        return;
      sources[lane] = source;
      reading |= 1u << lane;
      if (bytes == size)
        whole |= 1u << lane;
      else if (const Judge *judge = judgeOf(warp);
               judge && !judgeGlobal(warp, source, bytes, /*writes=*/false, judge->generic(warp)))
        return;
    }
    if (source % size) {
      warp.fault("expects a source aligned to " + std::to_string(size) +
                 " bytes, but got an address of remainder " + std::to_string(source % size));
      return;
    }
    uint8_t *marks = sharedMarks(warp, target);
    std::memset(marks, 0, size);
    copies.push_back({to, marks, from, bytes, size - bytes});
  }
  if (warp.cta.grid.options.counts)
    countAccess(warp, Space::Global, reading, sources, size,
                op.aux[2] ? Traffic::CachedLoad : Traffic::Load);
  if (!judgeLanes(warp, op, Space::Global, whole, sources, size, /*writes=*/false))
    return;
  warp.openCopies.push_back([copies = std::move(copies)] {
    for (const LaneCopy &copy : copies) {
      if (copy.bytes)
        std::memcpy(copy.to, copy.from, copy.bytes);
      std::memset(copy.to + copy.bytes, 0, copy.zeros);
      std::memset(copy.marks, 0xff, copy.bytes + copy.zeros);
    }
  });
}

void commitCopies(Warp &warp, const Op &) {
  commitGroup(warp, Queue::Copies, warp.openCopies, warp.copyGroups);
}

void waitForCopies(Warp &warp, const Op &op) {
  if (op.aux[0])
    commitCopies(warp, op);
  finishGroups(warp, Queue::Copies, warp.copyGroups, static_cast<size_t>(op.immediate));
}

bool decodeCopyAsync(Decoder &decoder) {
  Op &op = decoder.op;
  op.opClass = OpClass::Async;
  bool reduces = decoder.take("reduce");
  if (!decoder.take("async"))
    return decoder.notModelled();
  if (reduces)
    return decoder.take("bulk") ? decodeBulkReduction(decoder) : decoder.notModelled();
  if (decoder.take("bulk"))
    return decodeBulkCopy(decoder);
  if (decoder.take("commit_group")) {
    op.run = commitCopies;
    return decoder.expectOperands(0);
  }
  if (decoder.take("wait_group")) {
    op.run = waitForCopies;
    return decoder.expectOperands(1) && decoder.immediate(0, op.immediate);
  }
  if (decoder.take("wait_all")) {
    op.run = waitForCopies;
    op.aux[0] = 1;
    return decoder.expectOperands(0);
  }
  // aux[2] says that the copy goes through L1.
  op.aux[2] = decoder.take("ca");
  bool known = (op.aux[2] || decoder.take("cg")) &&
               (decoder.take("shared") || decoder.take("shared::cta")) && decoder.take("global");
  for (std::string_view hint : {"L2::64B", "L2::128B", "L2::256B"})
    decoder.take(hint);
  size_t count = decoder.in.operands.size();
  int64_t size = 0;
  if (!known || count < 3 || count > 4 || !decoder.immediate(2, size))
    return decoder.notModelled();
  if (size != 4 && size != 8 && size != 16)
    return decoder.expected("a copy of 4, 8 or 16 bytes");
  op.run = executeCopy;
  op.aux[0] = static_cast<uint32_t>(size);
  // The target's offset is left in op.immediate; the source's goes to aux[1].
  if (!decoder.address(1, op.b))
    return false;
  op.aux[1] = static_cast<uint32_t>(op.immediate);
  if (op.immediate != static_cast<int32_t>(op.immediate) || op.aux[5])
    return decoder.expected("a source in a 64-bit register with an offset of 32 bits");
  return decoder.address(0, op.a) && (count == 3 || decoder.source(3, 32, op.c));
}

} // namespace

void blocksparse::sim::addCopyInstructions(DecodeTable &table) { table["cp"] = decodeCopyAsync; }
