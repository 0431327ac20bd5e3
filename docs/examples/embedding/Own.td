// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "blocksparse/IR/BlockSparseInterfaces.td"

def Own_Dialect : Dialect {
  let name = "own";
  let cppNamespace = "::own";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::blocksparse::BlockSparseDialect"];
  let extraClassDeclaration = [{
    /// Returns the pattern of an attribute; it is computed once and lives as long as the dialect.
    const ::blocksparse::BlockLayout *getDiagonal(int64_t block, int64_t count);

  private:
    std::mutex mutex;
    std::map<std::pair<int64_t, int64_t>, ::blocksparse::BlockLayout> diagonals;
  }];
}

def Own_DiagonalAttr
    : AttrDef<Own_Dialect, "Diagonal",
              [DeclareAttrInterfaceMethods<BlockSparse_LayoutAttrInterface>]> {
  let summary = "`count` square blocks on the diagonal";
  let mnemonic = "diagonal";
  let parameters = (ins "int64_t":$block, "int64_t":$count);
  let assemblyFormat = "`<` $block `,` $count `>`";
}

def Own_LayerOp : Op<Own_Dialect, "layer", [Pure]> {
  let summary = "max(weight @ input, 0)";
  let arguments = (ins AnyRankedTensor:$weight, AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$weight `,` $input attr-dict `:` functional-type(operands, results)";
}
