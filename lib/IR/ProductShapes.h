// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_IR_PRODUCTSHAPES_H
#define BLOCKSPARSE_LIB_IR_PRODUCTSHAPES_H

#include "blocksparse/IR/BlockSparseOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

#include <string>

namespace mlir::blocksparse::detail {

/// Makes the diagnostic that an error is written to.
using EmitError = function_ref<InFlightDiagnostic()>;

/// Reports at a location. Without one nobody asked for the reason: what this thread reports is
/// dropped as long as this lives. (A diagnostic that was never active must not be written to.)
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

/// "2x?x16", for messages.
std::string formatShape(ArrayRef<int64_t> shape);

/// Whether two sizes may be equal at run time.
bool maybeEqual(int64_t a, int64_t b);
/// The same for every dimension; false for different ranks.
bool maybeEqual(ArrayRef<int64_t> a, ArrayRef<int64_t> b);

/// A tensor of rank 2 to 4 as a stack of matrices, after the transpose that a flag asks
/// for.
struct Matrices {
  ArrayRef<int64_t> leading;
  int64_t rows;
  int64_t cols;
};

/// Fails on ranks that are not 2 to 4. `name` is the operand's.
FailureOr<Matrices> getMatrices(ShapedType type, bool transposed, StringRef name,
                                EmitError emitError);

/// The leading dimensions [], [H] or [B, H] of a product of two stacks: a dimension that
/// is missing or 1 serves every index of the other's; a dynamic one is never broadcast.
FailureOr<SmallVector<int64_t>> broadcastLeading(ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                                 EmitError emitError);

/// op(a) @ op(b), stored transposed when `transposeOut`.
struct ProductOperands {
  ShapedType a;
  ShapedType b;
  bool transposeA = false;
  bool transposeB = false;
  bool transposeOut = false;
  StringRef nameA = "a";
  StringRef nameB = "b";
};

/// Shape of a product of stacks of matrices.
FailureOr<SmallVector<int64_t>> getProductShape(const ProductOperands &operands,
                                                EmitError emitError);

/// Shape of a dense product in one of the three dimension orders.
FailureOr<SmallVector<int64_t>> getMatmulShape(MatmulForm form, const ProductOperands &operands,
                                               EmitError emitError);

/// The element type that a product of `element` has unless another is asked for: i32 for
/// i8, else the operands'.
Type getDefaultProductElement(Type element);

/// Whether a product of `element` may be stored as `result`: i8 as i32 alone; a floating
/// point type as itself or its accumulation type; f8 as f16 and bf16 too.
bool isProductElement(Type element, Type result);

} // namespace mlir::blocksparse::detail

#endif // BLOCKSPARSE_LIB_IR_PRODUCTSHAPES_H
