// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The planned form of calls of functions that other libraries define.

#ifndef BLOCKSPARSE_IR_PLANNED_CALL_OPS_TD
#define BLOCKSPARSE_IR_PLANNED_CALL_OPS_TD

include "blocksparse/IR/BlockSparsePlannedOps.td"
include "mlir/IR/SymbolInterfaces.td"

def BlockSparse_PlannedCallOp : BlockSparse_PlannedOp<"planned_call", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls a function that another library defines";
  let semantics = [{
    Calls the declared function `callee` with the inputs and then the destinations, and fails if its
    result, a status, is not 0. The function reads the inputs and writes the whole destinations.
  }];
  let constraints = [C46, C61];
  let atRunTime = ["The function follows the rules of entry points (docs/EntryPoints.md)."];
  let example = [{
    ```mlir
    func.func private @activation(memref<?xf32, strided<[?], offset: ?>>, f32,
                                  memref<?xf32, strided<[?], offset: ?>>) -> i32
    func.func @planned_call(%x: memref<8xf32>, %a: f32, %init: memref<8xf32>) {
      blocksparse.planned_call @activation(%x, %a) outs(%init)
          : (memref<8xf32>, f32, memref<8xf32>) -> ()
      return
    }
    ```
  }];
  let arguments = (ins Arg<FlatSymbolRefAttr, "declared function">:$callee,
    Arg<Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef, AnyInteger, Index, F32, F64]>>,
        "arguments of the function, tensors or numbers">:$inputs,
    Arg<Variadic<AnyTypeOf<[AnyRankedTensor, AnyMemRef]>>, "destinations of its results">:$inits);
  let assemblyFormat = [{
    $callee `(` $inputs `)` `outs` `(` $inits `)` attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    MutableOperandRange getDpsInitsMutable() { return getInitsMutable(); }
  }];
}

#endif // BLOCKSPARSE_IR_PLANNED_CALL_OPS_TD
