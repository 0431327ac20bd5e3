// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A ring of buffers between one producer and several consumers of a thread block.
//
// Stage s has two mbarriers. `full`: one arrival (the producer's, which also announces the
// bytes) and those bytes end its phase; consumers wait for it. `empty`: one arrival of each
// consumer warp ends its phase; the producer waits for it before it fills the stage again. A
// barrier's phases alternate in parity, and waiting for a parity succeeds when the phase of that
// parity has ended. Consumers start with parity 0: the first fill. The producer starts with parity
// 1, which a fresh barrier counts as ended: the stages are free. Parities flip when a stage number
// wraps around.
//
// Where thread blocks of a cluster fill each other's stages, a stage is empty when the consumers of
// all of them have released it: they arrive at every block's barrier, in the place of their own.

#ifndef BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_STAGERING_H
#define BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_STAGERING_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::blocksparse::device {

class StageRing {
public:
  /// Where a producer or a consumer is: both i32.
  struct Position {
    Value stage, parity;
  };

  /// `barriers`: address (i32) of bytes(stages) bytes of shared memory, the same in all `cluster`
  /// blocks of a cluster.
  StageRing(Value barriers, int64_t stages, int64_t cluster = 1)
      : barriers(barriers), stages(stages), cluster(cluster) {}

  static int64_t bytes(int64_t stages) { return 16 * stages; }

  /// One thread makes the barriers; all threads of the block must meet at a barrier before
  /// they are used. `fillers` threads fill a stage together.
  void emitInit(ImplicitLocOpBuilder &b, int64_t releases, int64_t fillers = 1) const;

  Position start(ImplicitLocOpBuilder &b, bool producer) const;
  Position next(ImplicitLocOpBuilder &b, const Position &position) const;

  /// !llvm.ptr<3>, for copies to count their bytes.
  Value full(ImplicitLocOpBuilder &b, Value stage) const;
  void waitFull(ImplicitLocOpBuilder &b, const Position &position) const;
  void waitEmpty(ImplicitLocOpBuilder &b, const Position &position) const;
  /// The producer announces the bytes (i32) that its copies will bring; of several fillers one, for
  /// the copies of all.
  void expectBytes(ImplicitLocOpBuilder &b, Value stage, Value bytes) const;
  /// Each of the other fillers, or one for `arrivals` of them, whether it has copies or not: one
  /// that need not come could fall behind by a round of the ring, and take the stage's phase for
  /// the one that it waits for.
  void joinFill(ImplicitLocOpBuilder &b, Value stage, int64_t arrivals = 1) const;
  /// A thread gives a stage back, for `arrivals` of the releases that emitInit asked for.
  void release(ImplicitLocOpBuilder &b, Value stage, int64_t arrivals = 1) const;
  /// The same where there is a stage (not -1), by the threads for which `releases` (i1) holds.
  void releaseIf(ImplicitLocOpBuilder &b, Value stage, Value releases, int64_t arrivals = 1) const;

private:
  Value empty(ImplicitLocOpBuilder &b, Value stage) const;

  Value barriers;
  int64_t stages, cluster;
};

} // namespace mlir::blocksparse::device

#endif // BLOCKSPARSE_LIB_CONVERSION_BLOCKSPARSETOGPU_KIT_STAGERING_H
