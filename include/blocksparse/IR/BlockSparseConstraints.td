// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The numbered constraints of the dialect. Each record holds the words and the errors of one
// constraint, and everything else refers to it by its number:
// - an operation or attribute lists the constraints that its verifier checks, and its
//   documentation prints their words and errors (BlockSparse_Contract below);
// - a verifier in lib/IR names the number in a comment at the check (`// C5`);
// - a test in test/IR begins the name of its function with the number (`@c5_rank`).
// test/docs/constraints.test compares the four. What the type of an operand already says has no
// number: ODS checks it, with the error `operand #0 must be <type>, but got <type>`.

#ifndef BLOCKSPARSE_IR_CONSTRAINTS_TD
#define BLOCKSPARSE_IR_CONSTRAINTS_TD

// One constraint: its words, a full sentence, and the forms of its errors, in which `<name>`
// stands for a value. The record's name is the number.
class BlockSparse_Constraint<string sentence, list<string> errorForms> {
  string number = NAME;
  string words = sentence;
  list<string> errors = errorForms;
}

//===----------------------------------------------------------------------===//
// Sparse tensors
//===----------------------------------------------------------------------===//

def C1 : BlockSparse_Constraint<"A sparse tensor has rank 2 to 4.", [
  "expects a sparse tensor of rank 2 to 4, but got rank <rank>"]>;
def C2 : BlockSparse_Constraint<
  "Rows and columns of a tensor with a static layout are static, and the grid covers them exactly.", [
  "expects static rows and columns with a static layout, but got a dynamic size",
  "expects <count> block <axis> of <block size> to cover <size> <axis>, but got a grid of <count>"]>;
def C3 : BlockSparse_Constraint<
  "A static layout has one head, which every head of the tensor shares, or as many as the tensor.", [
  "expects a layout of 1 or <heads> heads, but got <heads>",
  "expects leading dimensions that are equal or 1, but got <sizes> and <heads>"]>;
def C4 : BlockSparse_Constraint<
  "A static layout resolves to a pattern: its resource, if it names one, is defined and valid.", [
  "expects <property of the contents>, but got <value> in the layout of <operand>"]>;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def C5 : BlockSparse_Constraint<"A dense factor has rank 2 to 4.", [
  "expects <operand> of rank 2 to 4, but got rank <rank>"]>;
def C6 : BlockSparse_Constraint<
  "A leading dimension of a factor is missing, 1 or that of the other factor and of the result.", [
  "expects leading dimensions that are equal or 1, but got <sizes> and <sizes>",
  "expects a result of shape <shape>, but got <shape>"]>;
def C7 : BlockSparse_Constraint<"The inner sizes of the factors are equal.", [
  "expects <operand> to have <size> rows, the columns of <operand>, but got <size>",
  "expects <operand> to have <size> rows, as <operand>, but got <size>",
  "expects <operand> to have an inner size of <size>, as <operand>, but got <size>"]>;
def C8 : BlockSparse_Constraint<"The result has the shape that follows from the operands.", [
  "expects <operand or result> of shape <shape>, but got <shape>"]>;
def C9 : BlockSparse_Constraint<
  "The factors have one element type, which is floating-point or i8.", [
  "expects <operand> and <operand> to have the same element type, but got <type> and <type>",
  "expects factors of a floating-point type or i8, but got <type>"]>;
def C10 : BlockSparse_Constraint<
  "A product has the element type of its factors or their accumulation type; i8 gives i32, f8 also f16 or bf16.", [
  "expects a product of <type> to have element type <types>, but got <type>"]>;
def C11 : BlockSparse_Constraint<"A `precision` other than `ieee` needs f32 factors.", [
  "expects precision ieee for factors of <type>, but got <precision>"]>;
def C12 : BlockSparse_Constraint<
  "A result of dynamic pattern needs a `pattern` operand of its type; one of static layout takes none.", [
  "expects a pattern operand for a result of dynamic pattern, but got none",
  "expects no pattern operand for a result of static layout, but got one of type <type>",
  "expects a pattern of the result's type <type>, but got <type>"]>;
def C17 : BlockSparse_Constraint<"With i8 factors, `alpha` and `beta` are integral.", [
  "expects an integral <factor> with factors of <type>, but got <value>"]>;
def C36 : BlockSparse_Constraint<
  "The forms `score` and `context` take operands of rank 4 and no transposes.", [
  "expects operands of rank 4 in the form <form>, but got rank <rank> and <rank>",
  "expects no transposes in the form <form>, but got <flag>"]>;

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

def C13 : BlockSparse_Constraint<
  "`bias` is a vector along the last dimension of the result, of an epilogue element type.", [
  "expects bias of shape <size>, but got <shape>",
  "expects bias of element type <types>, but got <type>"]>;
def C14 : BlockSparse_Constraint<
  "`residual` and `input` broadcast to the result and have an epilogue element type.", [
  "expects <operand> to broadcast to <shape>, but got <shape>",
  "expects <operand> of element type <types>, but got <type>"]>;
def C15 : BlockSparse_Constraint<
  "`left_alpha` is a vector along the rows, `right_alpha` along the columns, of an epilogue element type.", [
  "expects <operand> of shape <size>, but got <shape>",
  "expects <operand> of element type <types>, but got <type>"]>;
def C16 : BlockSparse_Constraint<"A `beta` other than 0 needs an `input`.", [
  "expects an input when beta is not 0, but got none and beta <value>"]>;
def C62 : BlockSparse_Constraint<
  "A factor that is an operand has the accumulation type, and its attribute is 1.", [
  "expects <operand> of element type <type>, but got <type>",
  "expects <factor> as an attribute or as an operand, but got <value> and an operand"]>;
def C44 : BlockSparse_Constraint<"With i8 factors, the activation is `none` or `relu`.", [
  "expects activation none or relu with factors of <type>, but got <activation>"]>;

//===----------------------------------------------------------------------===//
// scatter_mm
//===----------------------------------------------------------------------===//

def C18 : BlockSparse_Constraint<
  "The number, the ranks and the lengths of the index tensors follow from `format`, and they have one type.", [
  "expects <count> index tensors in the format <format>, but got <count>",
  "expects index tensor <position> of rank <rank> in the format <format>, but got rank <rank>",
  "expects index tensor <position> to have 2 columns, but got <columns>",
  "expects index tensors of one type, but got <type> and <type>",
  "expects index tensor 0 of at least 1 offset, but got 0",
  "expects r_offsets of shape <size>, but got <size>"]>;
def C19 : BlockSparse_Constraint<
  "The sizes of blocks, others and accumulators fit each other as `format` says.", [
  "expects <operand> of shape <shape>, but got <shape>"]>;
def C20 : BlockSparse_Constraint<
  "`split_n` is at least 1 and divides the columns; the format `scatter_mm` takes 1 alone.", [
  "expects split_n 1 in the format scatter_mm, but got <value>",
  "expects split_n to be at least 1, but got <value>",
  "expects split_n to divide <columns> columns, but got <value>"]>;

//===----------------------------------------------------------------------===//
// Softmax and attention
//===----------------------------------------------------------------------===//

def C21 : BlockSparse_Constraint<
  "Scores, their factors and their gradients, and the terms of a sum are floating-point.", [
  "expects <operand> of a floating-point type, but got <type>"]>;
def C22 : BlockSparse_Constraint<
  "`rpe` and its gradient `drpe` broadcast to the scores and are floating-point.", [
  "expects <operand> to broadcast to <shape>, but got <shape>",
  "expects <operand> of a floating-point type, but got <type>"]>;
def C23 : BlockSparse_Constraint<"`key_padding_mask` has the shape `[N]`, `[1, N]` or `[B, N]`.", [
  "expects key_padding_mask of shape <size> or <shape>, but got <shape>"]>;
def C24 : BlockSparse_Constraint<"`attention_mask` broadcasts to the scores.", [
  "expects attention_mask to broadcast to <shape>, but got <shape>"]>;
def C25 : BlockSparse_Constraint<
  "A mask of mode `add` is floating-point; the mode `mul` needs its mask.", [
  "expects <mask> of a floating-point type in the mode add, or the mode mul, but got <type>",
  "expects <mask> for its mode mul, but got none"]>;
def C26 : BlockSparse_Constraint<
  "`lse` and `known_lse` hold one number for each row of the scores, in the accumulation type.", [
  "expects <operand or result> of shape <shape>, but got <shape>",
  "expects <operand or result> of element type <type>, but got <type>"]>;
def C27 : BlockSparse_Constraint<
  "The scores, their softmax and their gradients have one shape and one pattern.", [
  "expects <operand> of the shape and pattern of <operand>, <type>, but got <type>"]>;
def C28 : BlockSparse_Constraint<
  "The rows of q and of k are static, and the grid of the layout covers them exactly.", [
  "expects static rows of q and k with a static layout, but got a dynamic size",
  "expects a grid of <shape> blocks to cover <shape>, but got <shape>"]>;
def C29 : BlockSparse_Constraint<
  "A gradient has the shape of its primal operand; `drpe` needs `rpe`.", [
  "expects <gradient> of shape <shape>, but got <shape>",
  "expects rpe where drpe is asked for, but got none"]>;
def C47 : BlockSparse_Constraint<"`out` and `dout` come together.", [
  "expects out and dout together, but got <operand> alone"]>;

def C50 : BlockSparse_Constraint<"`window` holds two sizes, each -1 or a number of up to 31 bits.", [
  "expects window of 2 sizes, but got <count>",
  "expects sizes of window from -1 to 2147483647, but got <value>"]>;
def C51 : BlockSparse_Constraint<
  "`key_lengths` and `query_lengths` hold one number for each batch or one for all.", [
  "expects <operand> of shape 1 or <batches>, but got <shape>"]>;
def C52 : BlockSparse_Constraint<
  "`query_segments` and `key_segments` come together, with one number for each row or column.", [
  "expects query_segments and key_segments together, but got <operand> alone",
  "expects <operand> of shape <size> or <shape>, but got <shape>"]>;
def C53 : BlockSparse_Constraint<
  "The heads of q are a multiple of those of k and of v, where both have more than one.", [
  "expects heads of q that are a multiple of the <heads> heads of <operand>, but got <heads>"]>;
def C54 : BlockSparse_Constraint<"`soft_cap` is a finite number above 0.", [
  "expects a finite soft_cap above 0, but got <value>"]>;
def C55 : BlockSparse_Constraint<"`score_element` is a type that a product of the factors may have.", [
  "expects score_element <types>, but got <type>"]>;
def C56 : BlockSparse_Constraint<
  "`sink` and its gradient hold one number for each head, in the accumulation type.", [
  "expects <operand or result> of shape <heads>, but got <shape>",
  "expects <operand or result> of element type <type>, but got <type>"]>;
def C57 : BlockSparse_Constraint<"There is at least one part, and as many lses as parts.", [
  "expects at least 1 part, but got 0",
  "expects as many lses as parts, <count>, but got <count>"]>;
def C58 : BlockSparse_Constraint<"`causal_offset` has 32 bits and needs `causal` or `window`.", [
  "expects causal_offset from -2147483648 to 2147483647, but got <value>",
  "expects causal or window with causal_offset <value>, but got neither"]>;

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

def C30 : BlockSparse_Constraint<
  "A conversion keeps the shape (transpose exchanges rows and columns) and the element type.", [
  "expects a result of shape <shape>, but got <shape>",
  "expects a result of the source's element type <type>, but got <type>"]>;
def C31 : BlockSparse_Constraint<
  "The pattern of the result is the transpose of the pattern of the source, of the same kind.", [
  "expects a result of block <block>, but got <block>",
  "expects a <kind> pattern of the result, as of the source, but got <type>",
  "expects a result of index type <type>, but got <type>",
  "expects the <count> blocks of the source's transpose, but got <count>",
  "expects the source's layout transposed, but got another layout of <count> blocks"]>;
def C32 : BlockSparse_Constraint<
  "Values and indices have the types that follow from the type of the sparse tensor.", [
  "expects <part> of type <type>, but got <type>"]>;
def C33 : BlockSparse_Constraint<
  "A dynamic pattern comes with both index tensors, a static layout with none.", [
  "expects no indices with a static layout, but got <type>",
  "expects crow_indices and col_indices with a dynamic pattern, but got none"]>;

def C59 : BlockSparse_Constraint<
  "A slice starts at a block, lies inside of the source, and ends at a block or where the source ends.", [
  "expects 2 offsets, but got <count>",
  "expects <axis> that start at a multiple of <block size>, but got <offset>",
  "expects <axis> inside of the <size> of the source, but got <first> to <end>",
  "expects <axis> that end at a multiple of <block size> or at <size>, but got <end>"]>;
def C60 : BlockSparse_Constraint<
  "The source and the result of a slice have static layouts, and that of the result is the part of the source's.", [
  "expects a static layout of <operand or result>, but got <type>",
  "expects a result of block <block>, but got <block>",
  "expects the <count> blocks of the slice, but got <count>",
  "expects the slice's part of the source's layout, but got another layout of <count> blocks"]>;
def C48 : BlockSparse_Constraint<"A sum and its terms have one type.", [
  "expects <operand> of the type of a, <type>, but got <type>"]>;

//===----------------------------------------------------------------------===//
// The planned form
//===----------------------------------------------------------------------===//

def C34 : BlockSparse_Constraint<"`block` holds two positive sizes.", [
  "expects block of 2 sizes, but got <count>",
  "expects a block of at least 1x1, but got <block>"]>;
def C35 : BlockSparse_Constraint<"The last two dimensions of value blocks are those of `block`.", [
  "expects <operand> in blocks of <block>, but got <block>"]>;
def C37 : BlockSparse_Constraint<
  "`lut_heads` is 1 or the number of heads of the dense operand, where there is one.", [
  "expects lut_heads to be at least 1, but got <value>",
  "expects lut_heads of 1 or <heads>, but got <value>"]>;
def C38 : BlockSparse_Constraint<
  "`tiles` holds no tables, or the two or three tables of its work lists.", [
  "expects 0 or <count> tables of work lists, but got <count>",
  "expects <table> of work lists of rank <rank>, but got rank <rank>",
  "expects <table> of work lists to have <columns> columns, but got <columns>"]>;
def C39 : BlockSparse_Constraint<
  "`slots` is positive where there is a `combine` table and 0 where there is none.", [
  "expects slots with a combine table alone, but got <slots> slots without a table",
  "expects slots with a combine table alone, but got <slots> slots and a table"]>;
def C40 : BlockSparse_Constraint<"`shape` holds two sizes, neither of them negative.", [
  "expects shape of 2 sizes, but got <count>",
  "expects shape without a negative size, but got <shape>"]>;
def C41 : BlockSparse_Constraint<"`crow_indices` and `col_indices` have one rank and one element type.", [
  "expects col_indices of rank <rank>, as crow_indices, but got rank <rank>",
  "expects col_indices of the element type of crow_indices, <type>, but got <type>"]>;
def C42 : BlockSparse_Constraint<
  "`stages` holds no tables, or the tables tiles, workers, records, rows and order, and granules if "
  "blocks are planned.", [
  "expects 0 or 5 tables of stages, but got <count>",
  "expects <table> of stages of rank <rank>, but got rank <rank>",
  "expects <table> of stages to have <columns> columns, but got <columns>"]>;
def C43 : BlockSparse_Constraint<
  "`packed` has the shape and element type of the values and comes with `stages`.", [
  "expects stages with packed values, but got none",
  "expects packed of shape <shape>, but got <shape>",
  "expects packed of the element type of values, <type>, but got <type>"]>;
def C45 : BlockSparse_Constraint<
  "The destination has the element type of what is copied or added into it.", [
  "expects <operand> of the element type of <operand>, <type>, but got <type>"]>;
def C46 : BlockSparse_Constraint<"The destinations are all tensors or all memrefs.", [
  "expects destinations that are all tensors or all memrefs, but got <type> and <type>"]>;

def C49 : BlockSparse_Constraint<
  "`lists` holds no tables, or the three tables tiles, workers and steps of each kernel.", [
  "expects 0 or <count> tables of lists, but got <count>",
  "expects <table> of lists of rank <rank>, but got rank <rank>",
  "expects <table> of lists to have <columns> columns, but got <columns>"]>;

def C63 : BlockSparse_Constraint<
  "Keys and values of shared heads have as many heads as each other, and tables of one head.", [
  "expects v to have the <heads> heads of k, but got <heads>",
  "expects tables of 1 head beside shared heads, but got <lut_heads>"]>;

def C61 : BlockSparse_Constraint<
  "The callee is a declared function on strided buffers and numbers that returns a status of i32.", [
  "expects a declared function @<name>, but got <what there is>",
  "expects @<name> to have type <type>, but got <type>"]>;

//===----------------------------------------------------------------------===//
// Documentation of operations and attributes
//===----------------------------------------------------------------------===//

// Every constraint in the order of its number, for the index in the dialect's description.
defvar BlockSparse_AllConstraints = [
  C1, C2, C3, C4, C5, C6, C7, C8, C9, C10, C11, C12, C13, C14, C15, C16, C17, C18, C19, C20, C21,
  C22, C23, C24, C25, C26, C27, C28, C29, C30, C31, C32, C33, C34, C35, C36, C37, C38, C39, C40,
  C41, C42, C43, C44, C45, C46, C47, C48, C49, C50, C51, C52, C53, C54, C55, C56, C57, C58, C59, C60, C61,
  C62, C63];

// `text` is a list of sentences in Markdown below a heading, or empty for an empty list. The
// indentation is that of descriptions in the ODS files, from which mlir-tblgen removes it.
class BlockSparse_Bullets<string heading, list<string> lines> {
  string text = !if(!empty(lines), "",
      !foldl("\n    #### " # heading # ":\n\n", lines, all, line, all # "    - " # line # "\n"));
}

// `words` has one line for each constraint and `errors` one for each form of its errors.
class BlockSparse_ConstraintLines<list<BlockSparse_Constraint> constraints> {
  list<string> words = !foreach(c, constraints, c.number # ": " # c.words);
  list<string> errors = !foldl([]<string>, constraints, all, c,
      !listconcat(all, !foreach(form, c.errors, c.number # ": `" # form # "`")));
}

// The contract of an operation or attribute as Markdown.
class BlockSparse_Contract<list<BlockSparse_Constraint> constraints, list<string> atRunTime = [],
                           list<string> postconditions = [], list<string> typeErrors = []> {
  defvar lines = BlockSparse_ConstraintLines<constraints>;
  string text =
      BlockSparse_Bullets<"Preconditions", !listconcat(lines.words, atRunTime)>.text #
      BlockSparse_Bullets<"Postconditions", postconditions>.text #
      BlockSparse_Bullets<"Errors", !listconcat(lines.errors, typeErrors)>.text;
}

// The index of all constraints as a Markdown table.
class BlockSparse_ConstraintIndex<list<BlockSparse_Constraint> constraints> {
  string text = !foldl("\n    | number | constraint |\n    |---|---|\n", constraints, all, c,
                       all # "    | " # c.number # " | " # c.words # " |\n");
}

#endif // BLOCKSPARSE_IR_CONSTRAINTS_TD
