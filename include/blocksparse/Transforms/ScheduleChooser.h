// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_SCHEDULECHOOSER_H
#define BLOCKSPARSE_TRANSFORMS_SCHEDULECHOOSER_H

#include "blocksparse/Target/TargetInfo.h"
#include "mlir/Support/LLVM.h"

#include <functional>
#include <memory>
#include <string>

namespace mlir {
class Operation;
class Pass;
} // namespace mlir

namespace mlir::blocksparse {

class ScheduleAttr;

/// Returns the schedule of an operation on a target. It is called before the database and the cost
/// model are; a null result leaves the choice to them.
using ScheduleChooser =
    std::function<ScheduleAttr(Operation *, const ::blocksparse::TargetInfo &target)>;

/// Returns the pass blocksparse-select-schedule with a chooser, which may be empty.
std::unique_ptr<Pass> createSelectSchedulePass(const ::blocksparse::TargetInfo &target,
                                               std::string database, ScheduleChooser choose);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_SCHEDULECHOOSER_H
