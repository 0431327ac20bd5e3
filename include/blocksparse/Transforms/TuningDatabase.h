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

/// Holds the fastest schedule that was measured for a key.
struct TuningEntry {
  /// Text of the schedule: "#blocksparse.schedule<...>".
  std::string schedule;
  double milliseconds = 0;
  /// Tool that measured it, with its version, and the day: "2026-01-31".
  std::string tool, date;
  /// True if all schedules were tried, so that another search is a waste.
  bool complete = false;

  bool operator==(const TuningEntry &) const = default;
};

/// Holds measured schedules by their keys (see getTuningKey). Reading and writing take time and
/// memory that are linear in the size of the file. A file is JSON:
///   {"format": "blocksparse-tuning", "version": 2,
///    "entries": {key: {"schedule": ..., "milliseconds": ..., "tool": ..., "date": ...,
///                      "complete": ...}}}
class TuningDatabase {
public:
  /// Reads a file. If it cannot be read or is no database of this version, returns nothing, and
  /// `error` names it: "expects ..., but got ...".
  static std::optional<TuningDatabase> load(StringRef path, std::string &error);
  /// Reads a text in the same way; `name` stands for the path in errors.
  static std::optional<TuningDatabase> parse(StringRef text, StringRef name, std::string &error);

  /// Returns the entry of a key, or null if there is none.
  const TuningEntry *lookup(StringRef key) const;
  /// Adds an entry. It replaces another one with the same key, unless that is faster and of the
  /// same tool. If both are of one tool, the result is complete if one of them is.
  void insert(StringRef key, TuningEntry entry);
  size_t size() const { return entries.size(); }

  /// Returns the text of the file, keys in order.
  std::string print() const;
  /// Fails, with an error as of mergeInto, if no database could be written at `path`. Makes the
  /// file `path`.lock.
  static bool checkPlace(StringRef path, std::string &error);
  /// Inserts the entries into the file at `path`, or makes it. Safe among threads and processes
  /// that do the same: the file is read, changed and replaced as a whole under a lock on
  /// `path`.lock, so readers see the old or the new one. A file that load() rejects stays as it is,
  /// and is an error.
  bool mergeInto(StringRef path, std::string &error) const;

private:
  std::map<std::string, TuningEntry, std::less<>> entries;
};

/// Returns a hash of a pattern (block, grid and CSR) that is the same in every process.
uint64_t hashLayout(const ::blocksparse::BlockLayout &layout);

/// Returns a text with all that decides which schedule of `op` is the fastest on `target`: the name
/// of the operation, the target with its workers, types with shapes (a static pattern as its block,
/// grid, statistics and hash), which operands exist and which are constants, and attributes. The
/// factors alpha, beta and scale count only as 0, 1 or any other. A schedule is no part of it.
std::string getTuningKey(Operation *op, const ::blocksparse::TargetInfo &target);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_TUNINGDATABASE_H
