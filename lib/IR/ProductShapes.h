// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_IR_PRODUCTSHAPES_H
#define BLOCKSPARSE_LIB_IR_PRODUCTSHAPES_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

#include <string>

namespace mlir::blocksparse::detail {

/// A function that begins an error: it returns the diagnostic to which the message is written.
using EmitError = function_ref<InFlightDiagnostic()>;

/// Reports the errors of shape inference at a location. Without a location the caller does not want
/// the reason: every error that this thread reports during the lifetime of this object is dropped.
/// (A null diagnostic would not do, because messages are written to it.)
class ShapeErrors {
public:
  explicit ShapeErrors(MLIRContext *context, std::optional<Location> location = std::nullopt)
      : location(location.value_or(UnknownLoc::get(context))) {
    if (!location)
      drop.emplace(context, [thread = llvm::get_threadid()](Diagnostic &) {
        return success(llvm::get_threadid() == thread);
      });
  }

  InFlightDiagnostic operator()() const { return emitError(location); }

private:
  Location location;
  std::optional<ScopedDiagnosticHandler> drop;
};

/// Returns the shape as text for messages, as in "2x?x16".
std::string formatShape(ArrayRef<int64_t> shape);

/// Returns true if two sizes may be equal at run time: they are equal or one is dynamic.
bool maybeEqual(int64_t a, int64_t b);
/// Returns true if two shapes have one rank and all their sizes may be equal at run time.
bool maybeEqual(ArrayRef<int64_t> a, ArrayRef<int64_t> b);

/// Describes a tensor of rank 2 to 4 as a stack of matrices: its leading dimensions, and the rows
/// and columns of each matrix after the transpose that a flag of the operation asks for.
struct Matrices {
  ArrayRef<int64_t> leading;
  int64_t rows;
  int64_t cols;
};

/// Returns `type`, the type of the operand `name`, as a stack of matrices. Fails, with an error, if
/// its rank is not 2 to 4.
FailureOr<Matrices> getMatrices(ShapedType type, bool transposed, StringRef name,
                                EmitError emitError);

/// Returns the leading dimensions [], [H] or [B, H] of a product of two stacks. A dimension that is
/// missing or 1 is broadcast to the other; a dynamic one is never broadcast. Fails, with an error,
/// if two dimensions differ.
FailureOr<SmallVector<int64_t>> broadcastLeading(ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                                 EmitError emitError);

/// Describes the product op(a) @ op(b). The product is stored transposed if
/// `transposeOut` is set. The names are those of messages.
struct ProductOperands {
  ShapedType a;
  ShapedType b;
  bool transposeA = false;
  bool transposeB = false;
  bool transposeOut = false;
  StringRef nameA = "a";
  StringRef nameB = "b";
};

/// Returns the shape of a product of stacks of matrices. Fails, with an error, if the operands do
/// not fit each other.
FailureOr<SmallVector<int64_t>> getProductShape(const ProductOperands &operands,
                                                EmitError emitError);

/// Returns the shape of a dense product in one of the three dimension orders. Fails, with an error,
/// if the operands do not fit each other.
FailureOr<SmallVector<int64_t>> getMatmulShape(MatmulForm form, const ProductOperands &operands,
                                               EmitError emitError);

/// Returns the element type of a product of factors of type `element` for which no other is asked:
/// i32 for i8, otherwise `element`.
Type getDefaultProductElement(Type element);

/// Returns true if a product of factors of type `element` may have elements of type `result`: for
/// i8 only i32; for a floating-point type itself or its accumulation type; for f8 also f16 and
/// bf16.
bool isProductElement(Type element, Type result);

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_PRODUCTSHAPES_H
