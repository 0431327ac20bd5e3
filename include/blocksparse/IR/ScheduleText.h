// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_SCHEDULETEXT_H
#define BLOCKSPARSE_IR_SCHEDULETEXT_H

#include "blocksparse/IR/BlockSparseAttrs.h"

#include <string>

namespace mlir::blocksparse {

/// Returns the schedule "#blocksparse.schedule<...>" of a text from outside: a database, a command
/// line. If it is none, returns null, and `fault` says why.
ScheduleAttr parseSchedule(StringRef text, MLIRContext *context, std::string &fault);

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_SCHEDULETEXT_H
