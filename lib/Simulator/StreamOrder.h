// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the work of streams: launches, copies and fills, numbered in the order of their
// calls. Streams, events and synchronisation order them as the CUDA programming guide says
// ("Streams" and "Implicit Synchronization").

#ifndef BLOCKSPARSE_LIB_SIMULATOR_STREAMORDER_H
#define BLOCKSPARSE_LIB_SIMULATOR_STREAMORDER_H

#include <cstdint>
#include <map>
#include <vector>

namespace blocksparse::sim {

class StreamOrder {
public:
  /// Names a stream; 0 is the default stream.
  using Stream = uint32_t;
  /// Holds the last work of each stream that is known to end first.
  using Clock = std::map<Stream, uint32_t>;

  StreamOrder() : streams(1) {}

  /// Returns a new stream. Work of one that blocks and of the default stream is ordered.
  Stream create(bool blocks) {
    streams.push_back({{}, blocks});
    return static_cast<Stream>(streams.size() - 1);
  }

  /// Begins work of a stream, after what the host knows, and returns its number, from 1 on.
  uint32_t begin(Stream stream);
  /// Returns whether work has ended when the last work of `stream` begins, or is of the stream.
  bool isBefore(uint32_t work, Stream stream) const {
    return knows(streams[stream].clock, streamOf[work - 1], work);
  }
  bool isOf(uint32_t work, Stream stream) const { return streamOf[work - 1] == stream; }

  /// Returns what an event marks that is recorded in a stream now, and makes a stream wait for it.
  Clock record(Stream stream) { return enter(stream); }
  void wait(Stream stream, const Clock &event) { join(streams[stream].clock, event); }

  /// Makes the host wait for an event, a stream, or for everything.
  void synchronise(const Clock &event) { join(host, event); }
  void synchronise(Stream stream) { join(host, enter(stream)); }
  void synchroniseAll();
  /// Returns whether the host has waited for all work, so that no later work can race with it.
  bool isIdle() const;

private:
  static bool knows(const Clock &clock, Stream stream, uint32_t work) {
    auto found = clock.find(stream);
    return found != clock.end() && found->second >= work;
  }
  static void join(Clock &clock, const Clock &other);
  /// Returns what the next work of a stream comes after.
  Clock &enter(Stream stream);

  struct State {
    Clock clock;
    bool blocks = true;
  };
  std::vector<State> streams;
  std::vector<Stream> streamOf; // of each work
  Clock host;
};

} // namespace blocksparse::sim

#endif // BLOCKSPARSE_LIB_SIMULATOR_STREAMORDER_H
