// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_PASSES_TD
#define BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_PASSES_TD

include "mlir/Pass/PassBase.td"

def LinalgToBlockSparsePass : Pass<"convert-linalg-to-blocksparse"> {
  let summary = "Converts products of linalg to products of blocksparse.";
  let description = [{
    linalg.matmul, batch_matmul, contract and every generic that is a product of two stacks of
    matrices become blocksparse.matmul, and dsd or dds where one factor is sparse, or is the result
    of to_dense. Either factor, and the result, may be stored transposed. Leading dimensions are
    those of the result, or missing from the left in a factor. A dense factor that is stored in
    another order is copied, unless the product has the form `score` or `context`. Several loops
    that every tensor has together, or not at all, are one loop. What linalg adds the product to
    becomes the residual, unless it is filled with 0. A factor that is multiplied by a constant mask
    of 0 and 1, or that a constant mask selects, is a sparse factor if the mask consists of whole
    blocks of 16, 32, 64 or 128 rows and columns.

    The element types are those that products have: one floating-point type, accumulated in it or in
    the accumulation type, or signed i8 accumulated in i32. Sums are computed in the accumulation
    type and rounded once. Blocks that a sparse factor does not store are not multiplied, so that
    NaN in the other factor does not spread there. Other operations are not changed.
  }];
}

def SparseTensorToBlockSparsePass : Pass<"convert-sparse-tensor-to-blocksparse"> {
  let summary = "Converts matrices in the BSR format of sparse_tensor to those of blocksparse.";
  let description = [{
    Types whose encoding has the map (i, j) -> (i floordiv bm : dense, j floordiv bn : compressed,
    i mod bm : dense, j mod bn : dense) get the encoding `#blocksparse.bsr<bm x bn>`, in the whole
    program. sparse_tensor.assemble becomes blocksparse.assemble; with constant positions and
    coordinates, a product with a dense result gets a static layout. A sparse_tensor.convert to a
    dense tensor becomes to_dense. Any other operation of sparse_tensor on such a matrix is an
    error. Other encodings are not changed.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::blocksparse::BlockSparseDialect"];
}

def FuseEpiloguesPass : Pass<"blocksparse-fuse-epilogues"> {
  let summary = "Makes elementwise operations on the result of a product its epilogue.";
  let description = [{
    Operations of `arith` and `math` on whole tensors, and elementwise operations of `linalg`, that
    use the result of dsd, dds, bsr_addmm or matmul become its operands and attributes: a factor that is
    a constant, a number or a tensor of one element, vectors and matrices that are added, an activation, and what is added after it. A sum
    with a value for each row, or with a matrix before the activation, makes a dsd a bsr_addmm, as
    do vectors of factors; so does a difference. Activations are known however they are written,
    for example gelu with erf, erfc or tanh.

    The operations become part of the product if nothing else uses what they compute on the way.
    They are then computed in the accumulation type and rounded once; their order is kept. At
    -infinity, where the formulas of gelu and silu give NaN, the activations of the dialect are 0. A
    relu that makes NaN 0 is none. A factor of 0 that is no constant makes the product 0, whatever it
    holds. The result has the element type of the factors or their
    accumulation type, of 16 bits or more.

    A product whose result such operations read, but do not become part of, gets a remark with the
    reason.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def DecomposeNeighboursPass : Pass<"blocksparse-decompose-neighbours"> {
  let summary = "Rewrites upstream operations that bufferization does not know.";
  let description = [{
    linalg.softmax becomes two reductions and two elementwise loops, tensor.concat becomes insertions
    into one tensor, and tensor.from_elements of one element becomes linalg.fill.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def ElementwiseToValuesPass : Pass<"blocksparse-elementwise-to-values"> {
  let summary = "Makes elementwise operations on sparse tensors compute on their values.";
  let description = [{
    An operation of `arith` or `math`, or an elementwise linalg.generic, whose tensors have one shape
    and one pattern is applied to the stored elements: the result has the same pattern. The operands
    are taken apart by disassemble and the result is put together by assemble, where an operation of
    blocksparse uses it. A constant has equal elements. Of several dynamic patterns, the indices of
    the first operand count. The padding of edge blocks is computed like their elements.

    Any other operation of an upstream dialect on sparse tensors is an error.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // BLOCKSPARSE_TRANSFORMS_NEIGHBOURS_PASSES_TD
