// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The dialect and the passes of Own.cpp.

#ifndef OWN_H
#define OWN_H

#include "blocksparse/IR/BlockSparseAttrs.h"
#include "blocksparse/IR/BlockSparseDialect.h"
#include "blocksparse/Layout/BlockLayout.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>
#include <mutex>

#include "OwnDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "OwnAttrs.h.inc"
#define GET_OP_CLASSES
#include "OwnOps.h.inc"

namespace own {

/// Registers own-count-blocks and own-lower-layers.
void registerPasses();

} // namespace own

#endif // OWN_H
