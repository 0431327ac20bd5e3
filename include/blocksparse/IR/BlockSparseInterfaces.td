// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_INTERFACES_TD
#define BLOCKSPARSE_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def BlockSparse_LayoutAttrInterface : AttrInterface<"LayoutAttrInterface"> {
  let cppNamespace = "::mlir::blocksparse";
  let description = [{
    A tensor encoding that fixes, at compile time, which blocks are stored. Implement
    it to bring a layout of your own: everything behind the verifiers asks only this.
  }];
  let methods = [
    InterfaceMethod<"Shape of one block in elements, known without the contents.",
      "::blocksparse::BlockShape", "getBlockShape">,
    InterfaceMethod<"Shape of the block grid, known without the contents.",
      "::blocksparse::BlockGrid", "getBlockGrid">,
    InterfaceMethod<[{
      The pattern in canonical form, or null when the contents are invalid or not (yet)
      there (a resource blob that the file does not define). Computed once; the
      pointer lives as long as the context.
      }], "const ::blocksparse::BlockLayout *", "resolve">,
    InterfaceMethod<"Why resolve() gives null; empty when it does not.",
      "::llvm::StringRef", "getResolveError">,
  ];
}

#endif // BLOCKSPARSE_IR_INTERFACES_TD
