// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Names every attribute `blocksparse.*` that functions, their arguments and results and other
// operations may carry, and rejects attributes that nothing reads.

#ifndef BLOCKSPARSE_IR_DIALECTATTRIBUTES_H
#define BLOCKSPARSE_IR_DIALECTATTRIBUTES_H

#include "mlir/IR/OpDefinition.h"

namespace mlir::blocksparse {

//===----------------------------------------------------------------------===//
// Arguments and results of functions, for blocksparse-run (docs/Testing.md)
//===----------------------------------------------------------------------===//

/// A string: the name of the fill of an argument.
inline constexpr StringLiteral fillAttr = "blocksparse.fill";
/// Dense elements: the numbers of an argument.
inline constexpr StringLiteral valueAttr = "blocksparse.value";
/// array<i64: ...>: the sizes of an argument where its type leaves some open.
inline constexpr StringLiteral shapeAttr = "blocksparse.shape";
/// Dense elements: the indices of an argument with a dynamic pattern.
inline constexpr StringLiteral crowAttr = "blocksparse.crow";
inline constexpr StringLiteral colAttr = "blocksparse.col";
/// Dense elements: the numbers that a result must have.
inline constexpr StringLiteral expectAttr = "blocksparse.expect";
/// An integer: the index of the argument whose numbers a result must have.
inline constexpr StringLiteral expectArgumentAttr = "blocksparse.expect_argument";

//===----------------------------------------------------------------------===//
// Functions, for the compiler
//===----------------------------------------------------------------------===//

/// A string, "special" or "saturate": the name of the function's OverflowMode.
inline constexpr StringLiteral overflowModeAttr = "blocksparse.f8_overflow";

//===----------------------------------------------------------------------===//
// Operations, from pass to pass
//===----------------------------------------------------------------------===//

/// Marks a function that works on host memory alone: it computes sizes of results.
inline constexpr StringLiteral hostFunctionAttr = "blocksparse.host";
/// Names the module's dictionary from a kernel's name to {threads x, y, z, cluster x, y, z, dynamic
/// shared bytes}. In a program for several targets a suffix `.<target>` follows the name.
inline constexpr StringLiteral kernelsAttr = "blocksparse.kernels";
/// Names the module's dictionary from a LUT's name to its elements.
inline constexpr StringLiteral lutsAttr = "blocksparse.luts";
/// Names the unit attribute of a `gpu.launch_func` whose kernel waits by itself for the kernel
/// before it on the stream, so that it may be launched before that kernel has ended.
inline constexpr StringLiteral startsEarlyAttr = "blocksparse.starts_early";
/// Names a kernel's array<i32: ...> of its arguments that are tensor maps. See
/// TensorMapsByValuePass.
inline constexpr StringLiteral tensorMapsAttr = "blocksparse.tensor_maps";

/// Fails with an error if an operation in `root`, or an argument or a result of a function in it,
/// has an attribute with a misspelt prefix of this dialect (`blokcsparse.expect`): no dialect would
/// verify it, and nothing would read it.
LogicalResult checkAttributePrefixes(Operation *root);

namespace detail {
/// Fails with an error that names the nearest attribute of the operation if `op` has an attribute
/// without a dialect's prefix that is not one of its own, or with a misspelt prefix of this
/// dialect, or a factor (alpha, beta, scale) that the accumulation type does not hold.
LogicalResult verifyKnownAttributes(Operation *op);
/// Fails with the same error if the properties of the generic form, `<{...}>`, have a name without
/// a dialect's prefix that is not in `names`. `emitError` may be null where nobody reads the error.
LogicalResult checkKnownProperties(DictionaryAttr properties, StringRef operation,
                                   ArrayRef<StringRef> names,
                                   function_ref<InFlightDiagnostic()> emitError);
} // namespace detail

/// An operation with this trait has no attributes but its own and those of a dialect. Without it, a
/// misspelt option in the attribute dictionary would be accepted and ignored.
template <typename ConcreteType>
struct KnownAttributes : OpTrait::TraitBase<ConcreteType, KnownAttributes> {
  static LogicalResult verifyTrait(Operation *op) { return detail::verifyKnownAttributes(op); }
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_IR_DIALECTATTRIBUTES_H
