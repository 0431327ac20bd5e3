# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every public name has its gradients checked by torch's gradcheck in f64, with all operands that can ask for one at
once, or stands here with the reason why it has none. A name in no table, or in two, is a failure.

Transposes, batches, types and single operands are in the test of each module.
"""

import types
import unittest
import warnings

import torch

import blocksparse
from blocksparse import ArgumentError, Layout, nn, stk

warnings.filterwarnings("ignore", message="Sparse BSR tensor support is in beta")
torch.manual_seed(5)
# Two heads of 3 x 2 blocks of 4 x 4, 11 rows and 8 columns: what is smaller than the blocks is cut off.
HEADS, ROWS, COLS = 2, 11, 8
LAYOUT = Layout.from_mask([[[1, 0], [1, 1], [0, 1]], [[0, 1], [1, 0], [1, 1]]], 4)
ONE = Layout.from_mask([[1, 0], [1, 1]], 4)
CONFIG = blocksparse.LocalSlidingWindowSparsityConfig(2, 4)
CROW, COL = torch.tensor([0, 1, 3]), torch.tensor([0, 0, 1])
# Each mask and each rule of positions allows some element of most rows.
POSITIONS = {"causal": True, "causal_offset": 3, "window": (6, 2), "key_lengths": torch.tensor([7]),
             "query_lengths": torch.tensor([10]), "query_segments": torch.arange(ROWS) // 6,
             "key_segments": torch.arange(COLS) // 5}
MASKS = {"key_padding_mask": torch.tensor([1, 1, 0, 1, 1, 1, 1, 1]) > 0,
         "attention_mask": torch.randn(ROWS, COLS, dtype=torch.float64), "attention_mask_mode": "add"}


def random(*shape, dtype=torch.float64):
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def bsr_of(values):
    return torch.sparse_bsr_tensor(CROW, COL, values, (8, 8), check_invariants=True)


def matrix_of(values):
    return stk.Matrix((8, 8), values, torch.tensor([0, 1, 1]), COL, CROW)


def without_infinities(result):
    """Makes lse = -inf of rows without an allowed element, where there is no gradient, a constant."""
    out, lse = result
    return out, torch.where(lse > -torch.inf, lse, 0)


def module_call(module, *inputs):
    """Returns (a function of the inputs and the parameters of a module, these)."""
    names = [name for name, _ in module.named_parameters()]
    return (lambda *tensors: torch.func.functional_call(module, dict(zip(names, tensors[len(inputs):])),
                                                        tensors[:len(inputs)]), *inputs, *module.parameters())


def bert():
    config = types.SimpleNamespace(hidden_size=8, num_attention_heads=2)
    layer = nn.BertSparseSelfAttention(config, CONFIG).double()
    return module_call(layer, random(1, 8, 8))


def self_attention():
    attend = blocksparse.SparseSelfAttention(CONFIG, max_seq_length=16)
    keep = (torch.arange(8) < 7).double().log()[None]
    lower = torch.ones(8, 8, dtype=torch.float64).tril(3)
    return (lambda q, k, v, rpe: attend(q, k, v, rpe=rpe, key_padding_mask=keep, attn_mask=lower),
            *(random(1, 2, 8, 3) for _ in range(3)), random(8, 8))


@blocksparse.jit
def traced(layout, q, k, v, rpe):
    scores = blocksparse.sdd(layout, q, k, transpose_b=True)
    return blocksparse.dsd(layout, blocksparse.softmax(layout, scores, 0.5, rpe=rpe), v)


def pad(embeddings):
    added, *_, padded = blocksparse.SparseAttentionUtils.pad_to_block_size(
        4, None, None, None, None, embeddings, 0, lambda tokens: torch.ones(*tokens.shape, 3, dtype=torch.float64))
    return padded, blocksparse.SparseAttentionUtils.unpad_sequence_output(added, padded * padded)


# Functions that return (a function of tensors, tensors that ask for a gradient), several where a class has modes.
CHECKED = {
    "sdd": [lambda: (lambda a, b: blocksparse.sdd(LAYOUT, a, b), random(2, 12, 3), random(2, 3, 8))],
    "dsd": [lambda: (lambda a, b, bias: blocksparse.dsd(LAYOUT, a, b, bias=bias),
                     random(LAYOUT.nnz, 4, 4), random(2, 8, 3), random(3))],
    "dds": [lambda: (lambda a, b, bias: blocksparse.dds(LAYOUT, a, b, bias=bias),
                     random(2, 3, 12), random(LAYOUT.nnz, 4, 4), random(8))],
    "softmax": [lambda: (lambda x, rpe: blocksparse.softmax(
        LAYOUT, x, 0.5, rpe=rpe, key_padding_mask=MASKS["key_padding_mask"], attention_mask=torch.eye(12, 8).double(),
        **{**POSITIONS, "query_segments": torch.arange(12) // 6}), random(LAYOUT.nnz, 4, 4), random(12, 8))],
    "attention": [lambda: (lambda q, k, v, rpe, sink: without_infinities(blocksparse.attention(
        q, k, v, LAYOUT, rpe=rpe, sink=sink, soft_cap=1.5, return_lse=True, **POSITIONS, **MASKS)),
                           random(HEADS, ROWS, 3), random(1, COLS, 3), random(HEADS, COLS, 2), random(ROWS, COLS),
                           random(HEADS))],
    "to_dense": [lambda: (lambda x: blocksparse.to_dense(LAYOUT, x), random(LAYOUT.nnz, 4, 4))],
    "from_dense": [lambda: (lambda x: blocksparse.from_dense(LAYOUT, x), random(2, 12, 7))],
    "MatMul": [lambda: (blocksparse.MatMul(LAYOUT, 4, "sdd", trans_b=True), random(2, 12, 3), random(2, 8, 3)),
               lambda: (blocksparse.MatMul(LAYOUT, 4, "dsd"), random(LAYOUT.nnz, 4, 4), random(2, 8, 3)),
               lambda: (blocksparse.MatMul(LAYOUT, 4, "dds"), random(2, 3, 12), random(LAYOUT.nnz, 4, 4))],
    "Softmax": [lambda: (lambda x, rpe: blocksparse.Softmax(LAYOUT, 4)(
        x, 0.5, rpe, MASKS["key_padding_mask"].double()[None], torch.ones(12, 8).tril().double(), "mul", "mul"),
                         random(LAYOUT.nnz, 4, 4), random(12, 8))],
    "SparseSelfAttention": [self_attention],
    "SparseAttentionUtils": [lambda: (pad, random(1, 6, 3))],
    "bsr_dense_mm": [lambda: (lambda values, x: blocksparse.bsr_dense_mm(bsr_of(values), x, specialize="never"),
                              random(3, 4, 4), random(8, 3))],
    "bsr_dense_addmm": [lambda: (lambda added, values, x: blocksparse.bsr_dense_addmm(
        added, bsr_of(values), x, beta=0.5, alpha=2, left_alpha=torch.arange(8.0).double(),
        right_alpha=torch.arange(1, 4).double(), specialize="never"), random(8, 3), random(3, 4, 4), random(8, 3))],
    "sampled_addmm": [lambda: (lambda values, a, b: blocksparse.sampled_addmm(
        bsr_of(values), a, b, beta=0.5, alpha=2).values(), random(3, 4, 4), random(8, 3), random(3, 8))],
    "bsr_softmax": [lambda: (lambda values: blocksparse.bsr_softmax(bsr_of(values)).values(), random(3, 4, 4))],
    "scaled_dot_product_attention": [lambda: (lambda q, k, v: blocksparse.scaled_dot_product_attention(
        q, k, v, bsr_of(torch.ones(3, 4, 4, dtype=torch.float64)), scale=0.7),
                                              random(2, 8, 3), random(2, 8, 3), random(2, 8, 5))],
    "jit": [lambda: (lambda *tensors: traced(ONE, *tensors), random(8, 3), random(8, 3), random(8, 2), random(8, 8))],
    "nn.BlockSparseLinear": [lambda: module_call(nn.BlockSparseLinear(ONE, dtype=torch.float64), random(2, 3, 8))],
    "nn.BertSparseSelfAttention": [bert],
    "stk.ops.dsd": [lambda: (lambda values, x: stk.ops.dsd(matrix_of(values), x), random(3, 4, 4), random(8, 3))],
    "stk.ops.dds": [lambda: (lambda x, values: stk.ops.dds(x, matrix_of(values)), random(3, 8), random(3, 4, 4))],
    "stk.ops.sdd": [lambda: (lambda a, b: stk.ops.sdd(a, b, matrix_of(torch.zeros(3, 4, 4).double())).data,
                             random(8, 3), random(3, 8))],
    "stk.ops.mul": [lambda: (lambda a, b: stk.ops.mul(matrix_of(a), matrix_of(b)).data, random(3, 4, 4),
                             random(3, 4, 4))],
    "stk.ops.sum": [lambda: (lambda values: stk.ops.sum(matrix_of(values)), random(3, 4, 4))],
    "stk.ops.to_dense": [lambda: (lambda values: stk.ops.to_dense(matrix_of(values)), random(3, 4, 4))],
    "stk.ops.to_sparse": [lambda: (lambda x: stk.ops.to_sparse(x, 4).data, random(8, 8))],
    "stk.Matrix": [lambda: (lambda values: matrix_of(values).t().clone().to(torch.float64).data, random(3, 4, 4))],
}

# Functions without gradients, as where they come from; a tensor that asks for one is refused.
REFUSED = {
    "matmul": lambda: blocksparse.matmul(random(3, 4), random(4, 5)),
    "matmul_4d": lambda: blocksparse.matmul_4d(random(1, 2, 3, 4), random(1, 2, 4, 5)),
    "score_4d_matmul": lambda: blocksparse.score_4d_matmul(random(1, 4, 24), 4, None),
    "context_4d_matmul": lambda: blocksparse.context_4d_matmul(random(1, 2, 4, 4), random(1, 4, 24), 4),
    "bsr_scatter_mm": lambda: blocksparse.bsr_scatter_mm(bsr_of(random(3, 4, 4)), random(8, 4)),
    "scatter_mm": lambda: blocksparse.scatter_mm(random(1, 4, 4), random(1, 4, 4), (
        "scatter_mm", torch.tensor([0, 1]), torch.tensor([[0, 0]]))),
    "CompiledFunction": lambda: traced.compiled(ONE, *(random(8, size).detach() for size in (3, 3, 2, 8)))(
        *(random(8, size) for size in (3, 3, 2, 8))),
    "attention_backward": lambda: blocksparse.attention_backward(*(
        random(8, 3) for _ in range(5)), random(8), ONE),
}

# These have no numbers that a gradient could be of.
WITHOUT_NUMBERS = {
    "Layout": "is a pattern", "nn.magnitude_layout": "returns a pattern", "nn.sparsify_": "changes a module",
    "_int_bsr_dense_addmm": "takes and returns integers", "bsr_scatter_mm_indices_data": "returns indices",
    "stk.ops.ones_like": "returns constants", "stk.ops.row_indices": "returns indices",
    "compile": "returns a CompiledFunction", "compiled_functions": "collects functions",
    "autotune": "returns no result of numbers", "tuning": "is a module",
}


def public_names():
    """Returns every public name of the package but exceptions and the configurations that make layouts."""
    names = {name: getattr(blocksparse, name) for name in (*blocksparse.__all__, "_int_bsr_dense_addmm")}
    names = {name: value for name, value in names.items() if not (
        isinstance(value, type) and issubclass(value, (Exception, blocksparse.SparsityConfig)))}
    return {*names, *(f"nn.{name}" for name in nn.__all__), *(f"stk.ops.{name}" for name in stk.ops.__all__),
            *(f"stk.{name}" for name in stk.__all__ if name != "ops")}


class EveryGradient(unittest.TestCase):
    def test_each_public_name_is_in_one_table(self):
        listed = [*CHECKED, *REFUSED, *WITHOUT_NUMBERS]
        self.assertEqual(sorted(listed), sorted(public_names()))

    def test_gradients(self):
        for name, cases in CHECKED.items():
            for case in cases:
                with self.subTest(name):
                    function, *tensors = case()
                    results = function(*tensors)
                    # Each operand counts: gradcheck lets one pass on which nothing depends.
                    results = results if isinstance(results, tuple) else (results,)
                    found = torch.autograd.grad(sum(one.square().sum() for one in results), tensors)
                    self.assertTrue(all(one.abs().max() > 0 for one in found))
                    self.assertTrue(torch.autograd.gradcheck(function, tensors))

    def test_functions_without_gradients_say_so(self):
        for name, call in REFUSED.items():
            with self.subTest(name), self.assertRaisesRegex(ArgumentError, "without requires_grad"):
                call()


if __name__ == "__main__":
    unittest.main()
