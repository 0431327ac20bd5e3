// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_INTERFACES_TD
#define BLOCKSPARSE_IR_INTERFACES_TD

include "mlir/IR/OpBase.td"

def BlockSparse_LayoutAttrInterface : AttrInterface<"LayoutAttrInterface"> {
  let cppNamespace = "::mlir::blocksparse";
  let description = [{
    A tensor encoding that fixes, at compile time, which blocks are stored. An attribute that
    implements it is a static layout: verifiers and passes use layouts through these methods only.
  }];
  let methods = [
    InterfaceMethod<"Returns the shape of one block in elements. It needs no contents.",
      "::blocksparse::BlockShape", "getBlockShape">,
    InterfaceMethod<"Returns the shape of the grid in blocks. It needs no contents.",
      "::blocksparse::BlockGrid", "getBlockGrid">,
    InterfaceMethod<[{
      Returns the pattern in canonical form. Returns null when the contents are invalid, or absent
      because the file does not define, or has not yet defined, the resource that they name. The
      pattern is computed once, and the pointer stays valid as long as the context.
      }], "const ::blocksparse::BlockLayout *", "resolve">,
    InterfaceMethod<"Returns why resolve() returns null, or an empty string when it does not.",
      "::llvm::StringRef", "getResolveError">,
  ];
}

#endif // BLOCKSPARSE_IR_INTERFACES_TD
