// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An attribute of gpu.launch_func that few passes know; DialectAttributes.h has the others.

#ifndef BLOCKSPARSE_IR_LAUNCHATTRIBUTES_H
#define BLOCKSPARSE_IR_LAUNCHATTRIBUTES_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::blocksparse {

/// Names the unit attribute of a `gpu.launch_func` all of whose blocks must run at the same time,
/// because some wait for others (a cooperative launch). It fails where they cannot.
inline constexpr StringLiteral runsTogetherAttr = "blocksparse.runs_together";

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_LAUNCHATTRIBUTES_H
