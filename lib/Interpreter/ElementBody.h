// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_LIB_INTERPRETER_ELEMENTBODY_H
#define BLOCKSPARSE_LIB_INTERPRETER_ELEMENTBODY_H

#include "ElementAccess.h"
#include "ReferenceOps.h"

namespace mlir::blocksparse {

/// Executes a body that computes one element: of linalg, tensor.generate or tensor.pad.
class ElementBody {
public:
  /// The arguments from `inputs` on are elements of outputs. The lookup knows what the body uses
  /// from outside. Fails with an error at an operation that the reference does not know.
  static FailureOr<ElementBody> create(Block &block, unsigned inputs, ReferenceLookup lookup);

  /// Returns true if the reference knows the operations of a body.
  static bool isKnown(Block &block);

  /// Computes the outputs from `numbers`, which hold the arguments of the body first, at one point
  /// of the loops.
  void run(ArrayRef<int64_t> point);

  SmallVector<Number> numbers;
  /// The values that the body yields.
  SmallVector<unsigned> yielded;
  /// Holds, for each output, the sum of the magnitudes that were added to the element at hand.
  SmallVector<double> sums;

private:
  /// Holds one operation of a body in executable form. Values of the body are numbered.
  struct Step {
    Operation *op;
    /// Null for linalg.index and tensor.extract.
    ScalarRule rule;
    SmallVector<unsigned> operands;
    unsigned result;
    std::optional<::blocksparse::ElementType> floatType;
    /// The operand that is the sum so far of an output, if the operation adds to one.
    std::optional<unsigned> accumulator;
    unsigned output = 0;
  };

  void addStep(Operation &op, ReferenceLookup lookup, unsigned inputs);
  unsigned getNumber(Value value, ReferenceLookup lookup);
  Number extract(const Step &step) const;
  void addTerm(const Step &step, Numbers operands, double u);

  DenseMap<Value, unsigned> places;
  std::vector<Step> steps;
  /// Tensors that tensor.extract reads.
  DenseMap<Operation *, ElementReader> sources;
};

} // namespace mlir::blocksparse

#endif // BLOCKSPARSE_LIB_INTERPRETER_ELEMENTBODY_H
