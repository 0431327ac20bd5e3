// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_IR_ENUMS_TD
#define BLOCKSPARSE_IR_ENUMS_TD

include "blocksparse/IR/BlockSparseDialect.td"
include "mlir/IR/EnumAttr.td"

class BlockSparse_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::blocksparse";
  let genSpecializedAttr = 0;
}

class BlockSparse_EnumAttr<BlockSparse_Enum enum, string mnemonic>
    : EnumAttr<BlockSparse_Dialect, enum, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def BlockSparse_MaskMode : BlockSparse_Enum<"MaskMode",
    "how a mask acts: `add` adds it to the scores, `mul` keeps an element where the mask is not 0", [
      I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">]>;
def BlockSparse_MaskModeAttr : BlockSparse_EnumAttr<BlockSparse_MaskMode, "mask_mode">;

def BlockSparse_Precision : BlockSparse_Enum<"Precision",
    "arithmetic of an f32 product: exact f32, one tf32 product, or three that recover f32", [
      I32EnumAttrCase<"IEEE", 0, "ieee">, I32EnumAttrCase<"TF32", 1, "tf32">,
      I32EnumAttrCase<"TF32x3", 2, "tf32x3">]>;
def BlockSparse_PrecisionAttr : BlockSparse_EnumAttr<BlockSparse_Precision, "precision">;

def BlockSparse_ActivationKind : BlockSparse_Enum<"ActivationKind", "activation of an epilogue", [
      I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Relu", 1, "relu">,
      I32EnumAttrCase<"LeakyRelu", 2, "leaky_relu">, I32EnumAttrCase<"GeluErf", 3, "gelu_erf">,
      I32EnumAttrCase<"GeluTanh", 4, "gelu_tanh">, I32EnumAttrCase<"GeluQuick", 5, "gelu_quick">,
      I32EnumAttrCase<"Sigmoid", 6, "sigmoid">, I32EnumAttrCase<"Silu", 7, "silu">]>;

def BlockSparse_ScatterFormat : BlockSparse_Enum<"ScatterFormat", "index format of scatter_mm", [
      I32EnumAttrCase<"ScatterMM", 0, "scatter_mm">,
      I32EnumAttrCase<"BsrStridedMM", 1, "bsr_strided_mm">,
      I32EnumAttrCase<"BsrStridedMMCompressed", 2, "bsr_strided_mm_compressed">]>;
def BlockSparse_ScatterFormatAttr
    : BlockSparse_EnumAttr<BlockSparse_ScatterFormat, "scatter_format">;

def BlockSparse_MatmulForm : BlockSparse_Enum<"MatmulForm", "dimension order of a dense matmul", [
      I32EnumAttrCase<"Linear", 0, "linear">, I32EnumAttrCase<"Score", 1, "score">,
      I32EnumAttrCase<"Context", 2, "context">]>;
def BlockSparse_MatmulFormAttr : BlockSparse_EnumAttr<BlockSparse_MatmulForm, "form">;

#endif // BLOCKSPARSE_IR_ENUMS_TD
