// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp of 32 lanes. Each register is an array of 32 values, so that an instruction is a loop of
// vector code; predicates are bit masks.
//
// Divergence: lanes at the same instruction form a group. The group at the lowest instruction runs
// first and merges with another group whose instruction it reaches. This order only serves speed:
// an instruction that needs lanes together (`.aligned`, `.sync` with a member mask) waits until the
// lanes have arrived, whatever the order of groups was, as on a GPU with independent thread
// scheduling.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_WARP_H
#define BLOCKSPARSE_LIB_SIMULATOR_WARP_H

#include "Op.h"
#include "ProductJudge.h"

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace blocksparse::sim {

class Cta;

inline constexpr unsigned laneCount = 32;
inline constexpr uint32_t allLanes = ~0u;

/// Holds the lanes that stand at the same instruction.
struct LaneGroup {
  uint32_t position = 0;
  uint32_t lanes = 0;
  /// Holds the state of a blocking instruction between tries; 0 before the first.
  uint64_t memory = 0;
  /// Could not go on when it was last tried.
  bool blocked = false;
};

class Warp {
public:
  Warp(Cta &cta, unsigned index, uint32_t lanes);

  /// Executes up to `budget` instructions. Returns how many were executed; 0 where the warp has
  /// ended or waits.
  uint64_t run(uint64_t budget);
  bool hasEnded() const { return groups.empty(); }
  const std::vector<LaneGroup> &getGroups() const { return groups; }

  /// Reports a fault at the current instruction and stops the launch.
  void fault(const std::string &message);

  template <typename T>
  const T *in(Slot slot) const {
    return reinterpret_cast<const T *>((slot & 1 ? constants : registers) + (slot & ~1u));
  }
  template <typename T>
  T *out(Slot slot) {
    return reinterpret_cast<T *>(registers + slot);
  }
  /// Returns the lanes that must be together at `op`; `lane` is one that is there.
  uint32_t convergingLanes(const Op &op, unsigned lane) const {
    return op.memberMask == noSlot ? live : live & in<uint32_t>(op.memberMask)[lane];
  }
  uint32_t predicate(Slot slot) const { return *in<uint32_t>(slot); }

  /// Stores `values` to the active lanes of a register.
  template <typename T>
  void store(Slot slot, const T *values) {
    T *target = out<T>(slot);
    if (active == allLanes) {
      for (unsigned lane = 0; lane < laneCount; ++lane)
        target[lane] = values[lane];
      return;
    }
    for (unsigned lane = 0; lane < laneCount; ++lane)
      target[lane] = active >> lane & 1 ? values[lane] : target[lane];
  }
  void storePredicate(Slot slot, uint32_t lanes) {
    uint32_t *target = out<uint32_t>(slot);
    *target = (*target & ~active) | (lanes & active);
  }

  Cta &cta;
  const unsigned index;
  /// The lanes that execute the current instruction: in its group, with a true guard.
  uint32_t active = 0;
  /// The lanes that have not ended.
  uint32_t live = 0;
  LaneGroup *group = nullptr;
  const Op *current = nullptr;

  /// The generation of the cluster barrier at which the warp arrived last; 0 before.
  uint64_t clusterGeneration = 0;

  /// These are the copies that `cp.async` has begun since the last `cp.async.commit_group`, and the
  /// committed groups, oldest first. A copy is made when its group is waited for.
  std::vector<std::function<void()>> openCopies;
  std::deque<std::vector<std::function<void()>>> copyGroups;
  /// These are the stores of `cp.async.bulk`, in the same way.
  std::vector<std::function<void()>> openBulk;
  std::deque<std::vector<std::function<void()>>> bulkGroups;
  /// These are the products of `wgmma`, in the same way.
  std::vector<std::function<void()>> openWgmma;
  std::deque<std::vector<std::function<void()>>> wgmmaGroups;
  /// Null where the kernel has no wgmma or races are not checked.
  std::unique_ptr<ProductJudge> productJudge;
  /// The registers of each thread, as setmaxnreg counts them.
  uint32_t registerCount = 0;

private:
  LaneGroup *select();
  /// Ends the active lanes. Reports asynchronous operations that the warp leaves behind.
  void end();
  /// Runs a group until it reaches instruction `meet`, where another group may wait.
  uint64_t runGroup(LaneGroup &selected, uint64_t budget, uint32_t meet);
  /// Executes one branch; returns true where the group was split, so that groups are selected anew.
  bool branch(const Op &op);
  uint32_t lowestOther(const LaneGroup &selected) const;

  std::vector<uint64_t> file;
  uint8_t *registers = nullptr;
  const uint8_t *constants = nullptr;
  std::vector<LaneGroup> groups;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_WARP_H
