// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_PASSES_TD
#define BLOCKSPARSE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandLayoutsPass : Pass<"blocksparse-expand-layouts", "::mlir::ModuleOp"> {
  let summary = "Writes every static layout in canonical CSR form.";
  let description = [{
    Named patterns, masks and layouts of other dialects (every attribute that implements
    LayoutAttrInterface) become `#blocksparse.layout<... csr ...>`. Equal patterns are then equal
    attributes and give equal types. A layout that cannot be resolved is an error.
  }];
}

def CoalesceLayoutsPass : Pass<"blocksparse-coalesce-layouts"> {
  let summary = "Gives intermediate sparse tensors larger blocks if these are full.";
  let description = [{
    The storage of a sparse tensor is invisible outside if sdd or from_dense produces it, it passes
    only through softmax, softmax_grad, sampled_addmm and add, and dsd, dds, bsr_addmm or to_dense
    consume it. If neighbouring blocks of its layout fill larger blocks completely, the pass gives
    the complete group of such tensors the layout of the larger blocks: the same elements are
    computed in fewer and larger tiles, and no block is added that the layout lacks. The pass does
    not change groups with an argument, a result of the function, or an operation that has a
    schedule.
  }];
  let options = [
    Option<"maxBlock", "max-block", "int64_t", /*default=*/"64",
           "Largest number of rows and of columns of a larger block.">,
  ];
}

def DecomposeAttentionPass : Pass<"blocksparse-decompose-attention"> {
  let summary = "Rewrites attention and its gradient as sdd, softmax and dsd.";
  let description = [{
    attention becomes s = sdd(q, k^T) in the accumulation type, (p, lse) = softmax(s), out = dsd(p,
    v). attention_grad computes p = softmax(s, known_lse = lse) again from q and k, then dv = p^T
    dout, dp = sdd(dout, v^T), (ds, drpe) = softmax_grad(p, dp, out, dout), dq = ds k, dk = ds^T q.
    Where a mask or `causal` forbids elements, each dsd has `skip_zeros`. Operands of the products
    keep the element type of q. If an operand is broadcast over batch or heads, its gradient is
    summed over them by a matmul with a row of ones. The heads of k and v that heads of q share are
    copied for each. With `soft_cap` the scores pass through tanh, and with a sink the result is
    that of a merge with it; merges and the gradient of a sink are loops of linalg.

    attention, or its gradient, that a fused kernel of the target computes is left as it is, unless its
    schedule names another family; see blocksparse/Plan/KernelFamilies.h. A remark says why a gradient
    is decomposed for a GPU.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"target", "target", "::blocksparse::TargetInfo",
           /*default=*/"::blocksparse::TargetInfo()",
           "The target (docs/Targets.md), whose fused kernels decide.">,
  ];
}

def FuseAttentionPass : Pass<"blocksparse-fuse-attention"> {
  let summary = "Rewrites sdd, softmax and dsd of one layout as attention.";
  let description = [{
    s = sdd(q, k^T), (p, lse) = softmax(s), out = dsd(p, v) become one attention if nothing else
    uses s and p and no operation has a schedule. The masks and the bias of the softmax are those of
    attention, and its scale is that of sdd times that of the softmax. Results change by rounding
    alone: where a mask may forbid elements, dsd must have `skip_zeros`, as products of attention
    have. `score_element` keeps the element type of s for the case that attention is decomposed
    again: that gives the same three operations.

    Where a dsd of a softmax of an sdd is not fused, a remark at the dsd says why.
  }];
}

def GenerateGradientsPass : Pass<"blocksparse-generate-gradients", "::mlir::ModuleOp"> {
  let summary = "Writes the vector-Jacobian products of functions as functions.";
  let description = [{
    A function `f` gets two others. `f_forward` takes the arguments of `f` and returns its results and
    what is saved. `f_backward` takes the arguments of `f`, all that `f_forward` returned and the
    cotangents of the floating-point results, and returns the gradients of the floating-point
    arguments. `f` has one block, of the operations sdd, dsd, dds, bsr_addmm, sampled_addmm, matmul
    (of the form linear), softmax, attention, to_dense, from_dense, transpose and add, of `arith`
    addf, subf, mulf, divf, negf, extf and truncf, and of `tensor` expand_shape and collapse_shape. An
    operation without a rule is an error.

    What is saved is decided by bytes. The result of a product is saved if the backward function
    needs it. Any other result is computed again, if its operands are at hand or need fewer bytes to
    be saved than the result has, and saved otherwise. The argument of an activation is no value of
    the program: its product is computed again.

    The mask of a softmax has the gradient 0, and a cotangent has the element type of its value.
  }];
  let options = [
    ListOption<"functions", "functions", "std::string", "Names of the functions to differentiate.">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def DecomposeSlicesPass : Pass<"blocksparse-decompose-slices"> {
  let summary = "Rewrites slices of block columns as slices of block rows of the transpose.";
  let description = [{
    slice(x) becomes transpose(slice(transpose(slice(x)))), of which the inner slice takes the block
    rows and the outer one the block columns. What follows folds the transpositions into products
    that use the result. A slice of block rows stays.
  }];
}

def SelectSchedulePass : Pass<"blocksparse-select-schedule"> {
  let summary = "Chooses a kernel family and its tile sizes for every operation.";
  let description = [{
    The pass puts a `#blocksparse.schedule` on each operation that has none. An existing schedule is
    kept, but it must name a kernel family that computes the operation on the target, and the kernel
    must honour all its parameters; else the error says what it expects. See
    blocksparse/Plan/KernelFamilies.h for the families, blocksparse/Plan/Schedule.h for their
    parameters, and blocksparse/Transforms/Schedule.h for how sizes are chosen. If `database`
    names a file of measured schedules, which blocksparse-tune writes, the pass looks up an
    operation there before it uses the cost model. An entry that is not legal for the operation is
    skipped with a warning.
  }];
  let options = [
    Option<"target", "target", "::blocksparse::TargetInfo",
           /*default=*/"::blocksparse::TargetInfo()",
           "The target (docs/Targets.md): cpu, cpu:<chip> or cuda:<chip>, then optionally ,key=value "
           "(simd, registers, device, workers).">,
    Option<"database", "database", "std::string", /*default=*/"",
           "Path of a file of measured schedules; empty: none.">,
  ];
}

def CheckExtentsPass : Pass<"blocksparse-check-extents", "::mlir::func::FuncOp"> {
  let summary = "Inserts run-time checks that dynamic extents agree.";
  let description = [{
    A verifier cannot check that a dynamic extent (`?`) equals another extent. In every such case
    the pass inserts an assertion before the operation that compares the two: the inner extents of a
    product, leading dimensions, results and epilogue operands, masks, and the parts of a sparse
    tensor with a dynamic pattern. The message names the operation; `{0}` and `{1}` in it stand for
    the left and the right value of the comparison (see blocksparse-return-status). A dynamic N
    of a sparse tensor with a dynamic pattern is not checked, because nothing determines it. The
    cost is one or two comparisons for each dynamic extent, and nothing in a program with static
    shapes. Extents are known on the host: a GPU program compares them before it launches kernels.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::tensor::TensorDialect"];
}

def CheckIndicesPass : Pass<"blocksparse-check-indices", "::mlir::func::FuncOp"> {
  let summary = "Inserts run-time checks of indices in front of operations that use them.";
  let description = [{
    The indices of a dynamic pattern and the index tensors of scatter_mm are addresses: one that is
    out of range reads or writes memory of others. The pass inserts a `check_pattern` for each
    source of indices (an argument, an `assemble`), in front of the first operation that uses them,
    and a `check_scatter_indices` in front of each scatter_mm. Indices are read as they were given,
    before a table narrows them to 32 bits. Where the number of columns of a sparse tensor is open,
    each operation that uses it checks its columns against its other operands.

    A column that occurs twice in a block row is an error where an operation has no meaning for it
    (sdd, sampled_addmm, from_dense, softmax and its gradient); dsd, dds, bsr_addmm, to_dense and
    transpose take it as two blocks, whose products are added. The cost is linear in the stored
    blocks. The pass runs after `blocksparse-check-extents`, whose assertions come first.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def MaterializeLutsPass : Pass<"blocksparse-materialize-luts", "::mlir::ModuleOp"> {
  let summary = "Rewrites operations on sparse tensors to the planned form with look-up tables.";
  let description = [{
    Afterwards no sparse tensor type is left, in the signatures of functions and in scf operations
    either: a static one becomes its values, and a dynamic one becomes (crow_indices, col_indices,
    values), in this order. Each operation becomes its planned form, which writes to a
    `tensor.empty`. Tables of static layouts are constants (`dense_resource` if they have more than
    1024 elements), which are verified against the layout. Tables of dynamic patterns are computed
    at run time by bsr_row_lut, bsr_coordinate_lut and bsr_transpose_indices.

    Every block row has a segment, so each result is written completely. If `alpha` is 0 the tables
    are empty (or the inner dimension is 0), and if `beta` is 0 there is no `input`: operands that
    must not be read cannot be read.

    attention becomes planned_attention, and attention_grad planned_attention_grad; those without a
    planned form, of open sizes for example, must have been decomposed. A dynamic extent
    that no operand determines is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BuildStagesPass : Pass<"blocksparse-build-stages"> {
  let summary = "Cuts products into the stages and work lists of persistent kernels.";
  let description = [{
    A planned_dsd gets the operands `stages` if its schedule names a kernel family with work lists
    ("cuda.wgmma", "cuda.stream") and it satisfies the requirements of that kernel: constant tables
    without split tiles; values, dense operand and result of one 16-bit float type and of static
    shape; a number of rows of the dense operand that is a multiple of the block; and a multiple of
    64 columns. A schedule that leaves its tile to the kernel gets the widest column tile that
    divides the columns of the result. If the values of a stream kernel are a constant, `packed`
    holds them in the order of the stages. Other operations are not changed: they are computed by
    kernels without stages, which use the other tables. If the schedule of such an operation names a
    family with work lists, a warning says why. See blocksparse/Plan/Stages.h.

    A planned_sdd gets the operands `tiles` if its schedule names "cuda.wgmma", its operands have
    one 16-bit float type and static shapes, its blocks are multiples of 64 x 64 or have 16, 32 or
    64 rows and columns, no block extends beyond the result, nothing is added, and the reduction is
    a multiple of 8. With "cuda.wgmma_transposed" the tiles are those of K-major factors, if blocks
    have less than 64 rows or columns and a factor is MN-major. See blocksparse/Plan/SampledTiles.h.

    A planned_attention or planned_attention_grad gets the operands `lists` if its schedule names
    "cuda.attention" and that family computes it. See blocksparse/Plan/AttentionPlan.h and
    AttentionGradPlan.h, and AttentionOrderPlan.h for one kernel.
  }];
  let options = [
    Option<"target", "target", "::blocksparse::TargetInfo",
           /*default=*/"::blocksparse::TargetInfo::h100()",
           "The target: cuda:<chip>, whose SMs share the tiles, or cpu, which has no stages.">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def BalanceLoadPass : Pass<"blocksparse-balance-load"> {
  let summary = "Orders segments for even work, and splits those that are too long.";
  let description = [{
    The pass sorts the constant segment tables of planned operations, longest segment first. It cuts
    a segment of planned_dsd with more blocks than the `split` of its schedule into equal runs,
    which write partial sums to slots. The rows of the `combine` table add the slots in ascending
    order, so results do not depend on timing. Segments of planned_sdd are cut without combining,
    because their results are disjoint. A softmax row is never cut, and neither is a segment of an
    operation with stages. Tables that are computed at run time, and operations that already have a
    combine table, are not changed.
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
  let summary = "Verifies the look-up tables of planned operations.";
  let description = [{
    The pass verifies constant tables. Indices are in the range of the operands. Every entry is in
    one segment. No value block occurs twice, and either all occur, or none in a product that is not
    computed. Each tile is written by one segment, or by one combine row that adds all its slots in
    ascending order. A coordinate LUT lists no block twice. Stages contain each entry of the
    segments once, and their tiles cover the result. No sparse tensor is left. Tables that are
    computed at run time are not verified.
  }];
  let options = [
    Option<"target", "target", "::blocksparse::TargetInfo",
           /*default=*/"::blocksparse::TargetInfo::h100()",
           "The target that stages were built for.">,
  ];
}

#endif // BLOCKSPARSE_TRANSFORMS_PASSES_TD
