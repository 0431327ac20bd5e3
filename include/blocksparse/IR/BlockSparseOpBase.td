// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The base classes of operations, and the operand types and arguments that several of them share.

#ifndef BLOCKSPARSE_IR_OPBASE_TD
#define BLOCKSPARSE_IR_OPBASE_TD

include "blocksparse/IR/BlockSparseAttrs.td"
include "blocksparse/IR/BlockSparseConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

// A bullet for each variable of a dag of Arg<> or Res<>: its name and its description.
class BlockSparse_VariableLines<dag variables> {
  list<string> lines = !foreach(i, !range(!size(variables)),
      "`" # !getdagname(variables, i) # "`: " # !getdagarg<OpVariable>(variables, i).summary);
}

// Rejects unknown attributes without a dialect's prefix (DialectAttributes.h).
def BlockSparse_KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::mlir::blocksparse";
}

// An operation describes itself in the fields below, of which `description` is made. Text is
// Markdown that is indented by four spaces.
class BlockSparse_Op<string mnemonic, list<Trait> traits = []>
    : Op<BlockSparse_Dialect, mnemonic, !listconcat([BlockSparse_KnownAttributes], traits)> {
  // The meaning of the operation: the result as a formula or a description.
  string semantics = "";
  // The constraints that the verifier checks.
  list<BlockSparse_Constraint> constraints = [];
  // Preconditions on run-time data, which no verifier can check.
  list<string> atRunTime = [];
  list<string> postconditions = [];
  // Code that parses and verifies (test/IR/reference.test).
  string example = "";

  let description = semantics #
      BlockSparse_Bullets<"Arguments and results", !listconcat(
          BlockSparse_VariableLines<arguments>.lines, BlockSparse_VariableLines<results>.lines)>.text #
      BlockSparse_Contract<constraints, atRunTime, postconditions, [
          "operand types: `operand #<number> must be <type>, but got <type>`"]>.text #
      "\n    #### Example:\n" # example;
}

// A computation on tensors without a side effect.
class BlockSparse_TensorOp<string mnemonic, list<Trait> traits = []>
    : BlockSparse_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Types of tensors
//===----------------------------------------------------------------------===//

defvar BlockSparse_FloatElements = [F16, BF16, F32, F64, F8E4M3FN, F8E5M2];

defvar BlockSparse_Elements = "f16, bf16, f32, f64, i8, i32, f8E4M3FN or f8E5M2";

def BlockSparse_Element : AnyTypeOf<[F16, BF16, F32, F64, I8, I32, F8E4M3FN, F8E5M2],
    BlockSparse_Elements>;

def BlockSparse_HasNoEncoding
    : CPred<"!::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding()">;
def BlockSparse_HasSparseEncoding
    : CPred<"::mlir::blocksparse::isSparseTensor($_self)">;

// The type of the operand or result `name`: a tensor of `predicate`, which `words` describe. The
// name is a part of the description, so that the error about another type says which operand it is
// and which element types it may have.
class BlockSparse_Tensor<string words, string name, string elements, Pred predicate>
    : Type<predicate, words # " `" # name # "` of " # elements, "::mlir::RankedTensorType">;

defvar BlockSparse_DensePredicate
    = And<[RankedTensorOf<[BlockSparse_Element]>.predicate, BlockSparse_HasNoEncoding]>;
class BlockSparse_Dense<string name>
    : BlockSparse_Tensor<"dense tensor", name, BlockSparse_Elements, BlockSparse_DensePredicate>;
class BlockSparse_DenseTiles<string name>
    : BlockSparse_Tensor<"dense tensor of rank 3", name, BlockSparse_Elements,
        And<[BlockSparse_DensePredicate, HasAnyRankOfPred<[3]>]>>;
class BlockSparse_Sparse<string name>
    : BlockSparse_Tensor<"block-sparse tensor", name, BlockSparse_Elements,
        And<[RankedTensorOf<[BlockSparse_Element]>.predicate, BlockSparse_HasSparseEncoding]>>;
class BlockSparse_Index<string name>
    : BlockSparse_Tensor<"tensor", name, "i32 or i64 indices",
        And<[RankedTensorOf<[I32, I64]>.predicate, BlockSparse_HasNoEncoding]>>;
class BlockSparse_Integers<string name>
    : BlockSparse_Tensor<"tensor", name, "i32",
        And<[RankedTensorOf<[I32]>.predicate, BlockSparse_HasNoEncoding]>>;
// A factor that is known when the program runs. Its element type is the accumulation type.
class BlockSparse_Factor<string name>
    : BlockSparse_Tensor<"tensor of rank 0", name, "f32, f64 or i32",
        And<[RankedTensorOf<[F32, F64, I32]>.predicate, HasAnyRankOfPred<[0]>,
             BlockSparse_HasNoEncoding]>>;
class BlockSparse_Mask<string name>
    : BlockSparse_Tensor<"dense tensor", name, !strconcat("i1, ", BlockSparse_Elements),
        And<[RankedTensorOf<[I1, BlockSparse_Element]>.predicate, BlockSparse_HasNoEncoding]>>;

//===----------------------------------------------------------------------===//
// Arguments that several operations share
//===----------------------------------------------------------------------===//

defvar BlockSparse_TransposeArgs = (ins
  Arg<UnitAttr, "`a` is transposed before the product">:$transpose_a,
  Arg<UnitAttr, "`b` is transposed before the product">:$transpose_b);

defvar BlockSparse_TransposeOutArg = (ins
  Arg<UnitAttr, "the result is stored transposed">:$transpose_out);

defvar BlockSparse_SkipZerosArg = (ins
  Arg<UnitAttr, "an element 0 of the sparse factor adds nothing, whatever it meets">:$skip_zeros);

defvar BlockSparse_AlphaArg = (ins
  Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of the product">:$alpha);

// These operands stand in place of the attributes of their names, and are the last operands.
defvar BlockSparse_DynamicAlphaOperand = (ins
  Arg<Optional<BlockSparse_Factor<"dynamic_alpha">>,
      "factor of the product that is known when the program runs">:$dynamic_alpha);
defvar BlockSparse_DynamicBetaOperand = (ins
  Arg<Optional<BlockSparse_Factor<"dynamic_beta">>,
      "factor `beta` that is known when the program runs">:$dynamic_beta);
defvar BlockSparse_DynamicScaleOperand = (ins
  Arg<Optional<BlockSparse_Factor<"dynamic_scale">>,
      "factor of the scores that is known when the program runs">:$dynamic_scale);
defvar BlockSparse_AlphaFormat = "(`alpha` `(` $dynamic_alpha^ `)`)?";
defvar BlockSparse_BetaFormat = "(`beta` `(` $dynamic_beta^ `)`)?";
defvar BlockSparse_ScaleFormat = "(`scale` `(` $dynamic_scale^ `)`)?";

defvar BlockSparse_DynamicSumOperands = (ins
  Arg<Optional<BlockSparse_Factor<"dynamic_alpha">>,
      "factor of `a` that is known when the program runs">:$dynamic_alpha,
  Arg<Optional<BlockSparse_Factor<"dynamic_beta">>,
      "factor of `b` that is known when the program runs">:$dynamic_beta);
defvar BlockSparse_SumArgs = (ins
  Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of `a`">:$alpha,
  Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of `b`">:$beta);

defvar BlockSparse_ActivationArg = (ins
  Arg<OptionalAttr<BlockSparse_ActivationAttr>, "activation; absent, it is `none`">:$activation);

defvar BlockSparse_PrecisionArg = (ins
  Arg<DefaultValuedAttr<BlockSparse_PrecisionAttr, "::mlir::blocksparse::Precision::IEEE">,
      "arithmetic that a product of f32 factors may use">:$precision);

defvar BlockSparse_ScheduleArg = (ins
  Arg<OptionalAttr<BlockSparse_ScheduleAttr>,
      "how the operation runs on the target; absent, blocksparse-select-schedule chooses">:$schedule);

// The masks of a softmax after their operands: how each acts.
defvar BlockSparse_MaskModeArgs = (ins
  Arg<DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">,
      "how `key_padding_mask` acts; one of i1 needs `mul`">:$key_padding_mask_mode,
  Arg<DefaultValuedAttr<BlockSparse_MaskModeAttr, "::mlir::blocksparse::MaskMode::Add">,
      "how `attention_mask` acts; one of i1 needs `mul`">:$attention_mask_mode);

// The masks that are functions of the position of an element. They cost no memory of M x N.
defvar BlockSparse_PositionAttrs = (ins
  Arg<UnitAttr, "columns beyond the diagonal are forbidden">:$causal,
  Arg<DefaultValuedAttr<I64Attr, "0">,
      "column of the diagonal in row 0: the diagonal of row i is column i + causal_offset">:$causal_offset,
  Arg<OptionalAttr<DenseI64ArrayAttr>,
      "numbers of columns left and right of the diagonal that are allowed, -1 for all">:$window);

defvar BlockSparse_SoftmaxAttrs = !con((ins
  Arg<DefaultValuedAttr<F64Attr, "1.0">, "factor of the scores">:$scale),
  BlockSparse_PositionAttrs, BlockSparse_MaskModeArgs);

#endif // BLOCKSPARSE_IR_OPBASE_TD
