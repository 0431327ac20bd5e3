// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_TUNINGDATABASE_H
#define BLOCKSPARSE_TRANSFORMS_TUNINGDATABASE_H

#include "blocksparse/Layout/BlockLayout.h"
#include "blocksparse/Target/TargetInfo.h"
#include "mlir/IR/Operation.h"

#include <map>
#include <optional>
#include <string>

namespace mlir::blocksparse {

/// The fastest schedule that was measured for a key.
struct TuningEntry {
  /// "#blocksparse.schedule<...>".
  std::string schedule;
  double milliseconds = 0;
  /// What measured it, with its version, and the day: "2026-01-31".
  std::string tool, date;
  /// Whether all schedules were tried, so that another search is a waste.
  bool complete = false;

  bool operator==(const TuningEntry &) const = default;
};

/// Measured schedules by what changes the answer (see getTuningKey). In a file it is JSON:
///   {"format": "blocksparse-tuning", "version": 1,
///    "entries": {key: {"schedule": ..., "milliseconds": ..., "tool": ..., "date": ...,
///                      "complete": ...}}}
class TuningDatabase {
public:
  /// A file that can't be read or is no database of this version is an error that names it:
  /// "expects ..., but got ...".
  static std::optional<TuningDatabase> load(StringRef path, std::string &error);
  /// The same of a text; `name` stands for the path.
  static std::optional<TuningDatabase> parse(StringRef text, StringRef name, std::string &error);

  /// Null where there is none.
  const TuningEntry *lookup(StringRef key) const;
  /// Takes the place of another entry with the key, unless that is faster and of the same tool; of
  /// one tool the entry is complete when one of them is.
  void insert(StringRef key, TuningEntry entry);
  size_t size() const { return entries.size(); }

  /// The text of the file, keys in order.
  std::string print() const;
  /// Inserts the entries into the file at `path`, or makes it. Safe among threads and processes
  /// that do the same: the file is read, changed and replaced as a whole under a lock on
  /// `path`.lock, so readers see the old or the new one. A file that load() rejects stays as it is,
  /// and is an error.
  bool mergeInto(StringRef path, std::string &error) const;

private:
  std::map<std::string, TuningEntry, std::less<>> entries;
};

/// A hash of a pattern that is the same in every process: of the block, the grid and CSR.
uint64_t hashLayout(const ::blocksparse::BlockLayout &layout);

/// All that decides which schedule of `op` is the fastest on `target`: the op's name, the target
/// with its workers, types with shapes (a static pattern as its block, grid, statistics and hash),
/// which operands there are and which are constants, and attributes; of the factors alpha, beta and
/// scale only whether they are 0 or 1. A schedule is no part of it.
std::string getTuningKey(Operation *op, const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_TUNINGDATABASE_H
