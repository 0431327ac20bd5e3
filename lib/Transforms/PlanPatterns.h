// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_TRANSFORMS_PLANPATTERNS_H
#define BLOCKSPARSE_LIB_TRANSFORMS_PLANPATTERNS_H

#include "SparseStorage.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::blocksparse {

// The patterns of blocksparse-materialize-luts by op family. A pattern that can't proceed emits
// the reason on the op.
void populatePlanMatmulPatterns(const TypeConverter &converter, RewritePatternSet &patterns);
void populatePlanSoftmaxPatterns(const TypeConverter &converter, RewritePatternSet &patterns);
void populatePlanConversionPatterns(const TypeConverter &converter, RewritePatternSet &patterns);

/// Makes calls of declared functions planned operations, whose results are destinations, and gives
/// the declarations the types by which another library receives the arguments.
void planCalls(ModuleOp module);

/// Returns the value of an operand that is converted one to one, or null if it is absent.
inline Value single(ValueRange range) { return range.empty() ? Value() : range.front(); }

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_TRANSFORMS_PLANPATTERNS_H
