// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Elementwise computations on a product's result, as expressions of one element. The operations may
// be those of arith and math on whole tensors or structured operations of linalg, in any mixture.

#ifndef BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_ELEMENTEXPRESSION_H
#define BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_ELEMENTEXPRESSION_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <deque>

namespace mlir::blocksparse {

/// Describes one element of a tensor: as that of the product, a number, an element of another
/// tensor, or an operation on such expressions.
struct ElementExpression {
  enum class Kind { Product, Constant, Operand, Operation };
  Kind kind = Kind::Product;
  /// Holds the number of a constant, and the spacing of its type's numbers at 1.
  double number = 0, spacing = 0;
  /// Holds the tensor of an operand and the map from the indices of the product's result to its
  /// indices; or a scalar and a null map.
  Value operand;
  AffineMap map;
  /// Holds an operation of arith or math on elements or on whole tensors.
  Operation *op = nullptr;
  SmallVector<const ElementExpression *, 3> operands;
  /// Is true if the value depends on the product.
  bool usesProduct = false;
};

using Expression = const ElementExpression *;

/// Returns true if `op` computes each element of its one result from the elements of its operands
/// at the same or at fewer indices.
bool isElementwiseComputation(Operation *op);

/// Makes the expressions of tensors that depend on one product. Equal expressions are one object.
class ElementExpressions {
public:
  /// Takes the elementwise operations `inside` as computations; any other tensor is an operand.
  ElementExpressions(Value product, const llvm::DenseSet<Operation *> &inside)
      : product(product), inside(inside) {}

  /// Returns the element of `tensor` at an index of the product's result, or null if it is no
  /// computation on elements or too large a one. Conversions between floating-point types are left
  /// out where they are exact, and where they round what depends on the product.
  Expression get(Value tensor);
  /// Returns an element of `operand`, which is not computed from the product, at `map` of the
  /// product's indices. It is seen through operations that only broadcast.
  Expression getOperand(Value operand, AffineMap map);

private:
  Expression get(Value tensor, AffineMap map);
  Expression getScalar(Value scalar, Operation *structured, AffineMap map);
  Expression getOperation(Operation *op, ArrayRef<Expression> operands);
  Expression getConstant(Attribute number);
  Expression add(ElementExpression expression);

  Value product;
  const llvm::DenseSet<Operation *> &inside;
  std::deque<ElementExpression> all;
  unsigned steps = 0;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_ELEMENTEXPRESSION_H
