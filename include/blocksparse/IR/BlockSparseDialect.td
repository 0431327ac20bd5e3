// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Naming rule of every ODS file here: a def is `BlockSparse_<Name><Kind>` where Kind is
// Op, Attr, Type or Interface; its C++ class is `<Name><Kind>` and its mnemonic
// `blocksparse.<snake_case_name>`. Ops of the planned form carry the prefix `planned_`.

#ifndef BLOCKSPARSE_IR_DIALECT_TD
#define BLOCKSPARSE_IR_DIALECT_TD

include "mlir/IR/OpBase.td"

def BlockSparse_Dialect : Dialect {
  let name = "blocksparse";
  let cppNamespace = "::mlir::blocksparse";
  let summary = "Block-sparse linear algebra with layouts known at compile time";
  let description = [{
    Operations on tensors whose encoding says which blocks are stored. A static
    pattern (`#blocksparse.layout`) is known to the compiler, which turns it into
    look-up tables and load-balanced segments; a dynamic one (`#blocksparse.bsr`)
    comes as run-time index tensors. See docs/Dialect/Rationale.md.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let extraClassDeclaration = [{
    /// Registers the attributes (BlockSparseAttrs.cpp).
    void registerAttributes();
  }];
}

#endif // BLOCKSPARSE_IR_DIALECT_TD
