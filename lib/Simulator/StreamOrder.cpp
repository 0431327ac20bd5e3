// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StreamOrder.h"

#include <algorithm>

using namespace blocksparse::sim;

void StreamOrder::join(Clock &clock, const Clock &other) {
  for (const auto &[stream, work] : other) {
    uint32_t &known = clock[stream];
    known = std::max(known, work);
  }
}

StreamOrder::Clock &StreamOrder::enter(Stream stream) {
  State &state = streams[stream];
  join(state.clock, host);
  if (stream == 0) {
    for (const State &other : streams)
      if (other.blocks)
        join(state.clock, other.clock);
  } else if (state.blocks) {
    join(state.clock, streams[0].clock);
  }
  return state.clock;
}

uint32_t StreamOrder::begin(Stream stream) {
  Clock &clock = enter(stream);
  streamOf.push_back(stream);
  return clock[stream] = static_cast<uint32_t>(streamOf.size());
}

void StreamOrder::synchroniseAll() {
  for (const State &state : streams)
    join(host, state.clock);
}

bool StreamOrder::isIdle() const {
  for (Stream stream = 0; stream < streams.size(); ++stream) {
    auto last = streams[stream].clock.find(stream);
    if (last != streams[stream].clock.end() && !knows(host, stream, last->second))
      return false;
  }
  return true;
}
