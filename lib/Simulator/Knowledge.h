// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks (Fidge 1988, Mattern 1989) of the happens-before model.

#ifndef BLOCKSPARSE_LIB_SIMULATOR_KNOWLEDGE_H
#define BLOCKSPARSE_LIB_SIMULATOR_KNOWLEDGE_H

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace blocksparse::sim {

/// Holds for each agent the time of its latest operation that is known to have happened. The time
/// of an agent that was never raised is 0.
class VectorClock {
public:
  uint32_t get(unsigned agent) const { return agent < times.size() ? times[agent] : 0; }
  void raise(unsigned agent, uint32_t time) {
    if (agent >= times.size())
      times.resize(agent + 1);
    times[agent] = std::max(times[agent], time);
  }
  unsigned size() const { return static_cast<unsigned>(times.size()); }
  void lower(unsigned agent, uint32_t time) { times[agent] = std::min(times[agent], time); }
  void join(const VectorClock &other) {
    if (times.size() < other.times.size())
      times.resize(other.times.size());
    for (size_t i = 0; i < other.times.size(); ++i)
      times[i] = std::max(times[i], other.times[i]);
  }

private:
  std::vector<uint32_t> times;
};

/// Names a cluster of a launch.
struct ClusterName {
  uint32_t launch = 0, cluster = 0;
  auto operator<=>(const ClusterName &) const = default;
};

/// Holds, for agents of any cluster, the times that are known through global memory.
class RemoteClock {
public:
  uint32_t get(ClusterName cluster, unsigned agent) const {
    auto found = times.find({cluster, agent});
    return found == times.end() ? 0 : found->second;
  }
  void raise(ClusterName cluster, unsigned agent, uint32_t time) {
    uint32_t &known = times[{cluster, agent}];
    known = std::max(known, time);
  }
  void join(const RemoteClock &other) {
    for (const auto &[name, time] : other.times)
      raise(name.first, name.second, time);
  }
  void clear() { times.clear(); }
  const auto &getTimes() const { return times; }

private:
  std::map<std::pair<ClusterName, unsigned>, uint32_t> times;
};

/// Holds what a warp knows, or what a barrier passes on: the operations that have happened, and
/// those of the generic proxy that a proxy fence has since made visible to the async proxy, in
/// shared and in global memory; and what has happened in other clusters.
struct Knowledge {
  VectorClock happened, fenced, fencedGlobal;
  RemoteClock remote;

  void join(const Knowledge &other) {
    happened.join(other.happened);
    fenced.join(other.fenced);
    fencedGlobal.join(other.fencedGlobal);
    remote.join(other.remote);
  }
};

/// Holds the knowledge that passes through a barrier: of the threads that have arrived at its
/// current phase, and of those that completed the phase before.
struct BarrierKnowledge {
  Knowledge arriving, completed;

  void complete() { completed.join(arriving); }
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_KNOWLEDGE_H
