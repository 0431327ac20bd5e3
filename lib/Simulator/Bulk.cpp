// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `cp.async.bulk`, `cp.reduce.async.bulk` and their forms with tensor maps (PTX ISA, "Data
// Movement: bulk copies"). A load is queued at its CTA and made while warps wait or at a time that
// the seed chooses; a store or a reduction is made when its group is waited for. Until a load is
// made, its destination counts as not written.

#include "Access.h"
#include "Async.h"
#include "Execute.h"
#include "MbarrierOps.h"
#include "Reduce.h"
#include "TensorMap.h"

#include <algorithm>
#include <cstring>

using namespace blocksparse::sim;

namespace {

/// Describes one bulk copy as its thread issued it.
struct BulkCopy {
  uint64_t shared = 0;  // address in shared memory
  uint64_t global = 0;  // address, or the address of the tensor map
  uint64_t barrier = 0; // address of the mbarrier of a load
  uint64_t bytes = 0;   // of a copy without a tensor map
  int64_t coordinates[5] = {0, 0, 0, 0, 0};
  uint32_t targets = 0; // CTAs of a multicast; 0: the CTA that the address names
};

enum : unsigned { auxTensorRank, auxMulticast, auxBarrierOffset, auxSharedOffset, auxNarrow };
// A store has neither a multicast nor an mbarrier. In their places it has the number of its
// ReduceOperation plus 1, or 0 where it reduces nothing, and the number of its Reduction where no
// tensor map has the type.
enum : unsigned { auxOperation = auxMulticast, auxReduction = auxBarrierOffset };
enum : unsigned { auxReads }; // of a wait

bool readMap(Warp &warp, const Op &op, uint64_t address, TensorMap &map) {
  const uint8_t *place = access(warp, op, Space::Generic, address, 128, 64, AccessKind::Read);
  if (!place)
    return false;
  std::memcpy(&map, place, sizeof(map));
  if (map.magic == TensorMap::magicNumber && map.rank == op.aux[auxTensorRank])
    return true;
  warp.fault(map.magic != TensorMap::magicNumber
                 ? std::string("expects a tensor map, but got 128 bytes that are none")
                 : "expects a tensor map of rank " + std::to_string(op.aux[auxTensorRank]) +
                       ", but got one of rank " + std::to_string(map.rank));
  return false;
}

/// Calls `move(offset in the box, global address or 0, bytes)` for the parts of every row of a box
/// that lie inside the tensor, and with address 0 for those outside. Stops when it returns false.
template <typename Move>
bool forEachRow(const TensorMap &map, const int64_t *start, Move move) {
  uint64_t rowBytes = uint64_t(map.box[0]) * map.elementBytes;
  uint64_t rows = map.boxBytes() / rowBytes;
  int64_t size = int64_t(map.lastIndex[0]) + 1;
  int64_t low = std::clamp<int64_t>(-start[0], 0, map.box[0]);
  int64_t high = std::clamp<int64_t>(size - start[0], low, map.box[0]);
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t rest = row, address = map.address;
    bool inside = true;
    for (int i = 1; i < map.rank; ++i) {
      int64_t index = start[i] + static_cast<int64_t>(rest % map.box[i]);
      rest /= map.box[i];
      inside &= index >= 0 && index <= int64_t(map.lastIndex[i]);
      address += static_cast<uint64_t>(index) * map.strides[i - 1];
    }
    uint64_t offset = row * rowBytes;
    uint64_t first = static_cast<uint64_t>(inside ? low : map.box[0]) * map.elementBytes;
    uint64_t last = static_cast<uint64_t>(inside ? high : map.box[0]) * map.elementBytes;
    if (first && !move(offset, 0, first))
      return false;
    if (last > first &&
        !move(offset + first, address + static_cast<uint64_t>(start[0]) * map.elementBytes + first,
              last - first))
      return false;
    if (last < rowBytes && !move(offset + last, 0, rowBytes - last))
      return false;
  }
  return true;
}

/// Calls `piece(shared offset, offset in the run, bytes)` for runs within 16-byte chunks, which a
/// swizzle moves as a whole.
template <typename Piece>
void forEachChunk(uint64_t address, uint64_t bytes, unsigned swizzle, Piece piece) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t at = address + done;
    uint64_t length = std::min(bytes - done, swizzle ? 16 - at % 16 : bytes - done);
    piece(swizzleAddress(at, swizzle), done, length);
    done += length;
  }
}

/// Writes NaN of the map's element type, or zeros.
void fill(const TensorMap &map, uint8_t *to, uint64_t bytes) {
  std::memset(to, 0, bytes);
  if (map.fillsNaN)
    std::memset(to, 0xff, bytes); // all ones are a NaN in every floating-point type
}

/// Makes a load into the shared memory of one CTA and counts its bytes at that CTA's mbarrier.
bool load(Warp &warp, const Op &op, const BulkCopy &copy, uint64_t shared, uint64_t barrier) {
  auto put = [&](uint64_t address, uint64_t from, uint64_t bytes, unsigned swizzle,
                 const TensorMap *map) {
    const uint8_t *source = nullptr;
    if (from && !(source = access(warp, op, Space::Global, from, bytes, 1, AccessKind::Read)))
      return false;
    if (source)
      countBulk(warp, from, bytes, /*writes=*/false);
    bool good = true;
    forEachChunk(address, bytes, swizzle, [&](uint64_t at, uint64_t done, uint64_t length) {
      uint8_t *to = access(warp, op, Space::Shared, at, length, 1, AccessKind::Write);
      good &= to != nullptr;
      if (to && source)
        std::memcpy(to, source + done, length);
      else if (to)
        fill(*map, to, length);
    });
    return good;
  };
  uint64_t bytes = copy.bytes;
  if (!op.aux[auxTensorRank]) {
    if (!put(shared, copy.global, bytes, 0, nullptr))
      return false;
  } else {
    TensorMap map;
    if (!readMap(warp, op, copy.global, map))
      return false;
    bytes = map.boxBytes();
    if (!forEachRow(map, copy.coordinates, [&](uint64_t offset, uint64_t from, uint64_t length) {
          return put(shared + offset, from, length, map.swizzle, &map);
        }))
      return false;
  }
  warp.cta.grid.counters.bulkLoadedBytes += bytes;
  return updateMbarrier(warp, op, barrier, 0, -static_cast<int64_t>(bytes));
}

/// Makes a load for every CTA that it goes to: the same offsets in each of them.
void performLoad(Warp &warp, const Op &op, const BulkCopy &copy) {
  if (!op.aux[auxMulticast]) {
    load(warp, op, copy, copy.shared, copy.barrier);
    return;
  }
  uint64_t own = (uint64_t(1) << rankShift) - 1;
  for (uint32_t rest = copy.targets; rest; rest &= rest - 1) {
    uint64_t window = static_cast<uint64_t>(__builtin_ctz(rest) + 1) << rankShift;
    if (!load(warp, op, copy, (copy.shared & own) | window, (copy.barrier & own) | window))
      return;
  }
}

/// Returns how a reduction combines elements, or nullptr after a fault: the type of a tensor map
/// may not have the operation.
const Reduction *reductionOf(Warp &warp, const Op &op, const TensorMap *map) {
  if (!map)
    return &reductionAt(op.aux[auxReduction]);
  auto operation = static_cast<ReduceOperation>(op.aux[auxOperation] - 1);
  std::optional<Type> type = elementType(*map);
  if (type && type->is(Type::Kind::Float, 32) && operation == ReduceOperation::Add)
    operation = ReduceOperation::FlushingAdd;
  std::optional<uint32_t> number = type ? findReduction(operation, *type) : std::nullopt;
  if (number)
    return &reductionAt(*number);
  warp.fault("expects a tensor map of elements that have the reduction, but got data type " +
             std::to_string(map->type));
  return nullptr;
}

/// Makes a store or a reduction.
void performStore(Warp &warp, const Op &op, const BulkCopy &copy) {
  TensorMap map;
  const TensorMap *usedMap = op.aux[auxTensorRank] ? &map : nullptr;
  if (usedMap && !readMap(warp, op, copy.global, map))
    return;
  const Reduction *reduction = op.aux[auxOperation] ? reductionOf(warp, op, usedMap) : nullptr;
  if (op.aux[auxOperation] && !reduction)
    return;
  AccessKind kind = reduction ? AccessKind::ReadWrite : AccessKind::Write;
  auto get = [&](uint64_t address, uint64_t to, uint64_t bytes, unsigned swizzle) {
    if (!to)
      return true;
    warp.cta.grid.counters.bulkStoredBytes += bytes;
    countBulk(warp, to, bytes, /*writes=*/true);
    uint8_t *target = access(warp, op, Space::Global, to, bytes, 1, kind);
    bool good = target != nullptr;
    forEachChunk(address, bytes, swizzle, [&](uint64_t at, uint64_t done, uint64_t length) {
      const uint8_t *from =
          good ? access(warp, op, Space::Shared, at, length, 1, AccessKind::Read) : nullptr;
      good &= from != nullptr;
      if (from && !reduction)
        std::memcpy(target + done, from, length);
      for (uint64_t i = 0; from && reduction && i < length; i += reduction->bytes)
        reduction->combine(target + done + i, from + i);
    });
    return good;
  };
  if (!usedMap)
    get(copy.shared, copy.global, copy.bytes, 0);
  else
    forEachRow(map, copy.coordinates, [&](uint64_t offset, uint64_t to, uint64_t length) {
      return get(copy.shared + offset, to, length, map.swizzle);
    });
}

/// Reads the operands of one lane. The parts of a tensor operand are the slots after op.list.
bool gather(Warp &warp, const Op &op, unsigned lane, BulkCopy &copy) {
  const Slot *slots = warp.cta.grid.kernel.slots.data() + op.list;
  // aux[auxNarrow] tells the addresses that are in registers of 32 bits: bit 0 for a, bit 2 for c.
  auto address = [&](Slot slot, unsigned bit) -> uint64_t {
    return op.aux[auxNarrow] >> bit & 1 ? warp.in<uint32_t>(slot)[lane]
                                        : warp.in<uint64_t>(slot)[lane];
  };
  // Offsets are signed, and of 32 bits.
  auto offset = [&](unsigned index) {
    return static_cast<uint64_t>(int64_t(static_cast<int32_t>(op.aux[index])));
  };
  copy.shared = address(op.a, 0) + offset(auxSharedOffset);
  copy.global = warp.in<uint64_t>(op.b)[lane] + static_cast<uint64_t>(op.immediate);
  // An address in shared memory may be generic.
  auto toShared = [](uint64_t address) {
    return address >= sharedWindow ? address - sharedWindow : address;
  };
  copy.shared = toShared(copy.shared);
  unsigned rank = op.aux[auxTensorRank], next = 0;
  for (; next < rank; ++next)
    copy.coordinates[next] = warp.in<int32_t>(slots[next])[lane];
  if (!rank)
    copy.bytes = warp.in<uint32_t>(slots[next++])[lane];
  // A load has an mbarrier and may have the mask of a multicast; a store and a reduction have
  // neither.
  if (op.c != noSlot) {
    copy.barrier = toShared(address(op.c, 2) + offset(auxBarrierOffset));
    if (op.aux[auxMulticast])
      copy.targets = warp.in<uint16_t>(slots[next])[lane];
  }
  uint64_t alignment = rank ? 128 : 16;
  if (copy.shared % alignment || (!rank && (copy.global % 16 || copy.bytes % 16))) {
    warp.fault("expects a shared address aligned to " + std::to_string(alignment) +
               " bytes and sizes of a multiple of 16, but got shared address " +
               std::to_string(copy.shared) + " and " + std::to_string(copy.bytes) + " bytes");
    return false;
  }
  return true;
}

/// Judges the write of a load to the shared memory of one CTA, and its use of the mbarrier there.
bool judgeLoad(Warp &warp, uint64_t shared, uint64_t barrier, uint64_t bytes) {
  Judge *judge = judgeOf(warp);
  Cta *owner = judge ? ownerOfShared(warp, shared) : nullptr;
  Cta *barrierOwner = owner ? ownerOfShared(warp, barrier) : nullptr;
  if (!judge || !owner || !barrierOwner)
    return !judge;
  uint64_t offset = barrier - sharedBase;
  return judge->useBarrier(warp, barrierOwner->rank, offset, /*isAsync=*/true) &&
         judge->write(warp, owner->rank, shared - sharedBase, bytes,
                      judge->bulkLoad(barrierOwner->rank, offset));
}

/// Judges what a copy accesses in global memory, and gives its bytes in shared memory. `map` is
/// read where the copy has one. A reduction is atomic for each element, at the scope of the GPU.
bool judgeGlobalSide(Warp &warp, const Op &op, const BulkCopy &copy, bool writes,
                     const Judge::Actor &actor, uint64_t &bytes) {
  bool isStrong = writes && op.aux[auxOperation];
  bytes = copy.bytes;
  if (!op.aux[auxTensorRank])
    return judgeGlobal(warp, copy.global, bytes, writes, actor, isStrong);
  TensorMap map;
  if (!readMap(warp, op, copy.global, map))
    return false;
  bytes = map.boxBytes();
  return !judgeOf(warp) ||
         forEachRow(map, copy.coordinates, [&](uint64_t, uint64_t address, uint64_t length) {
           return !address || judgeGlobal(warp, address, length, writes, actor, isStrong);
         });
}

/// Returns the actor of a load: the mbarrier that it completes, in the first CTA that it goes to.
Judge::Actor loadActor(Warp &warp, const BulkCopy &copy) {
  Judge *judge = judgeOf(warp);
  uint64_t barrier = copy.barrier;
  if (copy.targets)
    barrier = (barrier & ((uint64_t(1) << rankShift) - 1)) |
              static_cast<uint64_t>(__builtin_ctz(copy.targets) + 1) << rankShift;
  Cta *owner = judge ? ownerOfShared(warp, barrier) : nullptr;
  return owner ? judge->bulkLoad(owner->rank, barrier - sharedBase) : Judge::Actor();
}

/// Marks the destination of a load as not written until the load is made, and judges its write.
bool unmark(Warp &warp, const Op &op, const BulkCopy &copy) {
  uint64_t bytes = 0;
  if (!judgeGlobalSide(warp, op, copy, /*writes=*/false, loadActor(warp, copy), bytes))
    return false;
  uint64_t own = (uint64_t(1) << rankShift) - 1;
  for (uint32_t rest = op.aux[auxMulticast] ? copy.targets : 1; rest; rest &= rest - 1) {
    uint64_t shared = copy.shared, barrier = copy.barrier;
    if (op.aux[auxMulticast]) {
      uint64_t window = static_cast<uint64_t>(__builtin_ctz(rest) + 1) << rankShift;
      shared = (shared & own) | window;
      barrier = (barrier & own) | window;
    }
    if (!access(warp, op, Space::Shared, shared, bytes, 1, AccessKind::Begin) ||
        !access(warp, op, Space::Shared, barrier, 8, 8, AccessKind::Begin) ||
        !judgeLoad(warp, shared, barrier, bytes))
      return false;
    std::memset(sharedMarks(warp, shared), 0, bytes);
  }
  return true;
}

/// Judges the read and the write of a store.
bool judgeStore(Warp &warp, const Op &op, const BulkCopy &copy) {
  const Judge *judge = judgeOf(warp);
  uint64_t bytes = 0;
  return judgeGlobalSide(warp, op, copy, /*writes=*/true,
                         judge ? judge->queued(warp, Queue::BulkWrites) : Judge::Actor(), bytes) &&
         access(warp, op, Space::Shared, copy.shared, bytes, 1, AccessKind::Begin) &&
         judgeAccess(warp, copy.shared, bytes, Queue::BulkStores, /*writes=*/false);
}

void issueLoad(Warp &warp, const Op &op) {
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    BulkCopy copy;
    if (!gather(warp, op, lane, copy) || !unmark(warp, op, copy))
      return;
    warp.cta.pendingBulk.push_back([&warp, &op, copy, lane] {
      performFor(warp, op, 1u << lane, [&] { performLoad(warp, op, copy); });
    });
  }
}

void issueStore(Warp &warp, const Op &op) {
  for (uint32_t rest = warp.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    BulkCopy copy;
    if (!gather(warp, op, lane, copy) || !judgeStore(warp, op, copy))
      return;
    warp.openBulk.push_back([&warp, &op, copy, lane] {
      performFor(warp, op, 1u << lane, [&] { performStore(warp, op, copy); });
    });
  }
}

void commitStores(Warp &warp, const Op &) {
  commitGroup(warp, Queue::BulkStores, warp.openBulk, warp.bulkGroups);
  if (Judge *judge = judgeOf(warp))
    judge->commit(warp, Queue::BulkWrites);
}

void waitForStores(Warp &warp, const Op &op) {
  if (Judge *judge = judgeOf(warp); judge && !op.aux[auxReads])
    judge->finish(warp, Queue::BulkWrites, static_cast<uint32_t>(op.immediate));
  finishGroups(warp, Queue::BulkStores, warp.bulkGroups, static_cast<size_t>(op.immediate));
}

/// Decodes the address in operand `index`; its offset goes to `offset`.
bool decodeAddress(Decoder &decoder, size_t index, Slot &slot, uint32_t &offset) {
  decoder.op.aux[5] = 0;
  if (!decoder.address(index, slot))
    return false;
  bool isGlobal = &slot == &decoder.op.b;
  if ((isGlobal && decoder.op.aux[5]) ||
      decoder.op.immediate != static_cast<int32_t>(decoder.op.immediate))
    return decoder.expected("global addresses in 64-bit registers and offsets of 32 bits");
  decoder.op.aux[auxNarrow] |= decoder.op.aux[5] << (&slot == &decoder.op.c ? 2 : 0);
  offset = static_cast<uint32_t>(decoder.op.immediate);
  return true;
}

/// Decodes the operand [map, {coordinates}] or [address], and leaves its offset in op.immediate.
bool decodeGlobal(Decoder &decoder, size_t index, unsigned rank) {
  uint32_t offset = 0;
  if (!decodeAddress(decoder, index, decoder.op.b, offset))
    return false;
  const std::vector<Operand> &parts = decoder.in.operands[index].parts;
  if (!rank)
    return parts.size() == 1 || decoder.expected("an address without coordinates");
  unsigned count = 0;
  if (parts.size() != 2 || !decoder.list(parts[1], 32, false, count) || count != rank)
    return decoder.expected(std::to_string(rank) + " coordinates");
  return true;
}

/// Takes "tensor" and a number of dimensions such as "2d"; gives 0 for a copy without a tensor map.
bool takeRank(Decoder &decoder, uint32_t &rank) {
  rank = 0;
  if (!decoder.take("tensor"))
    return true;
  static constexpr std::string_view ranks[] = {"1d", "2d", "3d", "4d", "5d"};
  for (uint32_t i = 0; i < 5 && !rank; ++i)
    if (decoder.take(ranks[i]))
      rank = i + 1;
  decoder.take("tile");
  return rank || decoder.notModelled();
}

bool decodeLoad(Decoder &decoder, bool hasPolicy) {
  Op &op = decoder.op;
  unsigned rank = op.aux[auxTensorRank];
  op.run = issueLoad;
  bool known = decoder.take("global") && decoder.take("mbarrier::complete_tx::bytes");
  op.aux[auxMulticast] = decoder.take("multicast::cluster");
  // [shared], [map, {coordinates}], [barrier] or [shared], [global], bytes, [barrier]; then the
  // mask of a multicast and the cache policy.
  size_t fixed = rank ? 3 : 4;
  if (!known || !decoder.expectOperands(fixed + op.aux[auxMulticast] + hasPolicy))
    return decoder.notModelled();
  unsigned count = 0;
  const auto &operands = decoder.in.operands;
  if (!decodeAddress(decoder, 0, op.a, op.aux[auxSharedOffset]) ||
      !decodeAddress(decoder, fixed - 1, op.c, op.aux[auxBarrierOffset]) ||
      !decodeGlobal(decoder, 1, rank))
    return false;
  return (rank || decoder.list(operands[2], 32, false, count)) &&
         (!op.aux[auxMulticast] || decoder.list(operands[fixed], 16, false, count));
}

/// Takes the operation of a reduction, and its type where no tensor map has it.
bool takeReduction(Decoder &decoder) {
  Op &op = decoder.op;
  std::optional<ReduceOperation> operation;
  for (std::string_view word : decoder.in.words)
    if (!operation && (operation = parseReduceOperation(word)))
      decoder.take(word);
  if (!operation || *operation == ReduceOperation::Exchange)
    return decoder.notModelled();
  op.aux[auxOperation] = static_cast<uint32_t>(*operation) + 1;
  if (op.aux[auxTensorRank])
    return true;
  using Kind = Type::Kind;
  std::optional<Type> type = decoder.takeType();
  bool adds = *operation == ReduceOperation::Add;
  if (adds && type && type->is(Kind::Float, 32))
    operation = ReduceOperation::FlushingAdd;
  // Additions of 16 bits keep subnormals, which their name must say.
  bool isHalf = type && (type->is(Kind::Float, 16) || type->is(Kind::BFloat, 16));
  std::optional<uint32_t> number = type ? findReduction(*operation, *type) : std::nullopt;
  if (!number || decoder.take("noftz") != (adds && isHalf))
    return decoder.notModelled();
  op.aux[auxReduction] = *number;
  return true;
}

bool decodeStore(Decoder &decoder, bool hasPolicy, bool reduces) {
  Op &op = decoder.op;
  unsigned rank = op.aux[auxTensorRank];
  op.run = issueStore;
  if (reduces && !takeReduction(decoder))
    return false;
  bool known = decoder.take("shared::cta") && decoder.take("bulk_group");
  if (!known || !decoder.expectOperands((rank ? 2 : 3) + hasPolicy))
    return decoder.notModelled();
  unsigned count = 0;
  return decodeAddress(decoder, 1, op.a, op.aux[auxSharedOffset]) &&
         decodeGlobal(decoder, 0, rank) &&
         (rank || decoder.list(decoder.in.operands[2], 32, false, count));
}

} // namespace

bool blocksparse::sim::decodeBulkReduction(Decoder &decoder) {
  bool hasPolicy = decoder.take("L2::cache_hint");
  return takeRank(decoder, decoder.op.aux[auxTensorRank]) &&
         (decoder.take("global") ? decodeStore(decoder, hasPolicy, /*reduces=*/true)
                                 : decoder.notModelled());
}

bool blocksparse::sim::decodeBulkCopy(Decoder &decoder) {
  Op &op = decoder.op;
  if (decoder.take("commit_group")) {
    op.run = commitStores;
    return decoder.expectOperands(0);
  }
  if (decoder.take("wait_group")) {
    // With .read the writes may be later than here; making them at once is one of the legal times.
    op.aux[auxReads] = decoder.take("read");
    op.run = waitForStores;
    return decoder.expectOperands(1) && decoder.immediate(0, op.immediate);
  }
  bool hasPolicy = decoder.take("L2::cache_hint");
  if (!takeRank(decoder, op.aux[auxTensorRank]))
    return false;
  // The destination's space comes first.
  bool loads = decoder.take("shared::cluster") ||
               (decoder.in.words.size() > 4 &&
                decoder.in.words[op.aux[auxTensorRank] ? 5 : 3] == "shared::cta" &&
                decoder.take("shared::cta"));
  if (loads)
    return decodeLoad(decoder, hasPolicy);
  return decoder.take("global") ? decodeStore(decoder, hasPolicy, /*reduces=*/false)
                                : decoder.notModelled();
}
