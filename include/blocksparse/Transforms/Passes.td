// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_PASSES_TD
#define BLOCKSPARSE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandLayoutsPass : Pass<"blocksparse-expand-layouts", "::mlir::ModuleOp"> {
  let summary = "Write every static layout in canonical CSR form";
  let description = [{
    Named patterns, masks and layouts of other dialects (whatever implements
    LayoutAttrInterface) become `#blocksparse.layout<... csr ...>`, so that equal patterns are
    one attribute and equal types. A layout that can't be resolved is an error.
  }];
}

def CoalesceLayoutsPass : Pass<"blocksparse-coalesce-layouts"> {
  let summary = "Compute intermediate sparse tensors in larger blocks where all of them are full";
  let description = [{
    A sparse tensor that is made by sdd or from_dense, passes through softmax, softmax_grad and
    sampled_addmm and ends in dsd, dds, bsr_addmm or to_dense never shows how its values are
    stored. Where neighbouring blocks of its layout fill larger blocks completely, the
    whole group of such tensors takes the layout of those: the same elements in fewer and
    larger tiles, and no block that the layout lacks. Groups that touch an argument, a result of
    the function or an operation with a schedule are left alone.
  }];
  let options = [
    Option<"maxBlock", "max-block", "int64_t", /*default=*/"64",
           "Most rows and columns of a larger block.">,
  ];
}

def DecomposeAttentionPass : Pass<"blocksparse-decompose-attention"> {
  let summary = "Rewrite attention and its gradient as sdd, softmax and dsd";
  let description = [{
    attention: s = sdd(q, k^T) in the accumulation type, (p, lse) = softmax(s), out = dsd(p, v).
    attention_grad: p again from q and k, dv = p^T dout, dp = sdd(dout, v^T),
    (ds, drpe) = softmax_grad(p, dp), dq = ds k, dk = ds^T q. Operands of the products keep the
    element type of q. The gradient of an operand that is broadcast over batch or heads is summed
    over them by a matmul with a row of ones.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def SelectSchedulePass : Pass<"blocksparse-select-schedule"> {
  let summary = "Choose, for every operation, the kernel family and the tile sizes on the target";
  let description = [{
    Puts a `#blocksparse.schedule` on each operation that has none. One that is there is kept,
    but must name a kernel family that the target has and that can run the operation.
    See blocksparse/Transforms/Schedule.h for the families and how sizes are chosen.
    A `database` of measured schedules (blocksparse-tune writes it) is asked before the cost model.
    An entry that is not legal for the operation is passed over with a warning.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "The target: cpu, cpu:<chip> or cuda:<chip>, then optionally ,key=value "
           "(simd, registers, workers).">,
    Option<"database", "database", "std::string", /*default=*/"",
           "A file of measured schedules, or none.">,
  ];
}

def CheckExtentsPass : Pass<"blocksparse-check-extents", "::mlir::func::FuncOp"> {
  let summary = "Check when the program runs that sizes which types leave open fit together";
  let description = [{
    Wherever a verifier must take on trust that an open size (`?`) equals another, an assertion
    compares the two in front of the operation: the inner sizes of a product, leading
    dimensions, results and epilogue operands, masks, and the parts of a sparse tensor of
    dynamic pattern. The message names the operation and both values, as `{0}` and `{1}` for
    the left and the right side of the comparison (see blocksparse-report-assertions). N of a
    sparse tensor of dynamic pattern is not checked where its type leaves it open: nobody knows it.
    Cost: a comparison or two for each open size; nothing for programs of static shape. Sizes
    are known on the host: a program for a GPU compares them before it launches kernels.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::tensor::TensorDialect"];
}

def MaterializeLutsPass : Pass<"blocksparse-materialize-luts", "::mlir::ModuleOp"> {
  let summary = "Rewrite operations on sparse tensors to the planned form with look-up tables";
  let description = [{
    After it no sparse tensor type is left: a static one has become its values, a dynamic one
    (crow_indices, col_indices, values), in this order, also in the signatures of functions and
    in scf operations. Each operation has become its planned form, which writes into
    `tensor.empty`. Tables of static layouts are constants (`dense_resource` above 1024
    elements), checked against the layout; those of dynamic patterns are made at run time by
    bsr_row_lut, bsr_coordinate_lut and bsr_transpose_indices.

    Every block row has a segment, so each result is written whole. With `alpha` = 0 the tables are
    empty (or the inner dimension is 0), and with `beta` = 0 there is no `input`: what the
    contract says must not be read can't be.

    Attention must have been decomposed; a dynamic size that no operand tells is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BuildStagesPass : Pass<"blocksparse-build-stages"> {
  let summary = "Cut products into the stages and work lists of persistent kernels";
  let description = [{
    Gives a planned_dsd the operands `stages`, where its schedule names a kernel that walks
    compile-time lists ("cuda.wgmma", "cuda.stream") and it fits that kernel: constant, unsplit
    tables; values, dense operand and result of one 16-bit float type and of static shape; whole
    blocks of the dense operand's rows; a multiple of 64 columns. tile_n of the schedule becomes the
    width of a panel of columns, which divides the result. Where the values of a stream kernel are a
    constant, `packed` holds them in the order of the stages. All others are left alone: they run
    on kernels without stages, whose tables stay beside these. See blocksparse/Plan/Stages.h.

    A planned_sdd of such operands gets `tiles` where its schedule names "cuda.wgmma", blocks are
    multiples of 64 x 64 or have 16, 32 or 64 rows and columns, none sticks out of the pattern,
    nothing is added and the reduction is a multiple of 8. With "cuda.wgmma_turned" they are those
    of factors along k, where blocks have less than 64 rows or columns and a factor lies across
    it. See blocksparse/Plan/SampledTiles.h.
  }];
  let options = [
    Option<"workers", "workers", "int64_t", /*default=*/"0",
           "Thread blocks that share the tiles; 0: those of an H100.">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def BalanceLoadPass : Pass<"blocksparse-balance-load"> {
  let summary = "Order segments for even work and split those that the schedule finds too long";
  let description = [{
    Rewrites constant segment tables of planned operations, longest segment first. A segment of
    planned_dsd of more than `split` (of its schedule) blocks is cut into equal runs that write
    partial sums to reduction slots; the `combine` table adds them in ascending order, so results do
    not depend on timing. Segments of planned_sdd are cut without combining; a softmax row
    is never cut, nor one of an operation with stages. Tables made at run time and operations that
    have a combine table are left alone.
  }];
  let options = [
    Option<"workers", "workers", "int64_t", /*default=*/"1",
           "Number of workers of order=dealt.">,
    Option<"order", "order", "std::string", /*default=*/"\"longest-first\"",
           "longest-first, for workers that take the next segment when free; dealt, for "
           "workers that take equal contiguous shares; or kept.">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def VerifyPlanPass : Pass<"blocksparse-verify-plan"> {
  let summary = "Check the look-up tables of planned operations";
  let description = [{
    For constant tables: indices lie within the operands; every entry stands in one segment; no
    value block occurs twice, and all or (for a product that is not computed) none occur; each
    tile is written by one segment, or by one combine row that adds all its slots in ascending
    order; a coordinate LUT holds no block twice. Stages hold the entries of the segments, each
    once, and their tiles make up the result. No sparse tensor may be left. Tables made at
    run time are not looked at.
  }];
}

#endif // BLOCKSPARSE_TRANSFORMS_PASSES_TD
