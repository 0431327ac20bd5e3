# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every public function with each of its arguments changed in every way that its kind allows.

A change that keeps the numbers (strides, order of bytes, width of indices) must leave the result as it is, unless the
call is refused. Every refusal is one ArgumentError that names an argument of the function, what was expected and what
came. Arrays hold small integers, so that each element type holds them exactly.

usage: test_each_argument.py [STEP]: every STEP-th function (1)
"""

import inspect
import re
import sys
import types
import unittest
import warnings

import numpy as np
import scipy.sparse

import blocksparse
from blocksparse import ArgumentError, Layout

try:
    import torch
except ImportError:
    torch = None

STEP = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 1
MASK = [[1, 0, 1], [1, 1, 0]]
LAYOUT = Layout.from_mask(MASK, 4)
SQUARE = Layout.from_mask(np.ones((2, 3, 3)), 4)
RNG = np.random.default_rng(0)


def small(*shape, dtype=np.float32):
    return RNG.integers(-2, 3, shape).astype(dtype)


def of_numpy(array):
    """Returns an argument as it is for calls with numpy: a pair (blocks, shape) is a sparse matrix."""
    if isinstance(array, Pattern):
        return scipy.sparse.bsr_matrix((array.values, array.col, array.crow), shape=array.shape)
    return array


def of_torch(array):
    """Returns an argument for calls with torch."""
    if isinstance(array, Pattern):
        return torch.sparse_bsr_tensor(*map(torch.tensor, (array.crow, array.col, array.values)), array.shape)
    return torch.tensor(array) if isinstance(array, np.ndarray) else array


class Pattern:
    """Is a sparse matrix until the library of a call is known."""

    def __init__(self, dtype=np.float32):
        self.crow, self.col, self.shape = np.array([0, 2, 4]), np.array([0, 2, 0, 1]), (8, 12)
        self.values = small(4, 4, 4, dtype=dtype)


def index(*numbers):
    return np.array(numbers)


def calls():
    """Returns {name: (function, {argument: value})}: what each function takes. Values are of numpy or Pattern."""
    q, k, v = small(2, 8, 4), small(2, 12, 4), small(2, 12, 4)
    x = small(1, 2, 12, 4)
    masks = {"rpe": small(8, 12), "key_padding_mask": small(12), "attention_mask": small(8, 12),
             "key_padding_mask_mode": "add", "attention_mask_mode": "add"}
    positions = {"causal": True, "causal_offset": 4, "window": (6, 3), "soft_cap": 5.0, "key_lengths": index(11),
                 "query_lengths": index(7), "query_segments": np.zeros(8, np.int64),
                 "key_segments": np.zeros(12, np.int64), "sink": np.ones(2, np.float32)}
    attention = {"q": q, "k": k, "v": v, "layout": LAYOUT, "scale": 0.5, **masks, **positions}
    out, lse = blocksparse.attention(**attention, return_lse=True)
    config = blocksparse.FixedSparsityConfig(num_heads=2, block=4)
    self_attention = blocksparse.SparseSelfAttention(config, max_seq_length=16)
    found = {
        "sdd": {"layout": LAYOUT, "a": small(8, 5), "b": small(5, 12), "transpose_a": False, "transpose_b": False},
        "dsd": {"layout": LAYOUT, "a": small(4, 4, 4), "b": small(12, 5), "bias": small(5)},
        "dds": {"layout": LAYOUT, "a": small(5, 8), "b": small(4, 4, 4), "bias": small(12)},
        "to_dense": {"layout": LAYOUT, "values": small(4, 4, 4)},
        "from_dense": {"layout": LAYOUT, "matrix": small(8, 12)},
        "softmax": {"layout": LAYOUT, "x": small(4, 4, 4), "scale": 0.5, **masks, **{
            name: one for name, one in positions.items() if name not in ("soft_cap", "sink")}},
        "attention": attention,
        "attention_backward": {"dout": small(2, 8, 4), **attention, "out": out, "lse": lse,
                               "dlse": small(*lse.shape)},
        "bsr_dense_mm": {"bsr": Pattern(), "dense": small(12, 5), "out": small(8, 5), "specialize": "never"},
        "bsr_dense_addmm": {"input": small(8, 5), "bsr": Pattern(), "dense": small(12, 5), "beta": 2.0, "alpha": 3.0,
                            "left_alpha": small(8), "right_alpha": small(5), "out": small(8, 5)},
        "_int_bsr_dense_addmm": {"input": small(8, 5, dtype=np.int32), "bsr": Pattern(np.int8),
                                 "dense": small(12, 5, dtype=np.int8), "beta": 2, "alpha": 3},
        "sampled_addmm": {"input": Pattern(), "mat1": small(8, 5), "mat2": small(5, 12), "beta": 2.0, "alpha": 3.0},
        "bsr_softmax": {"input": Pattern()},
        "scaled_dot_product_attention": {"query": q[0], "key": k[0], "value": v[0], "attn_mask": Pattern(),
                                         "dropout_p": 0.0, "is_causal": False, "scale": 0.5},
        "scatter_mm": {"blocks": small(2, 4, 4), "others": small(2, 4, 5),
                       "indices_data": ("scatter_mm", index(0, 2, 3), np.array([[0, 0], [1, 0], [0, 1]])),
                       "accumulators": small(2, 4, 5)},
        "bsr_scatter_mm": {"bsr": Pattern(), "other": small(12, 5)},
        "bsr_scatter_mm_indices_data": {"bsr": Pattern(), "other": small(12, 5), "indices_format": "scatter_mm"},
        "matmul": {"a": small(3, 4), "b": small(4, 5), "bias": small(5), "activation": "relu"},
        "matmul_4d": {"a": small(1, 2, 3, 4), "b": small(1, 2, 4, 5)},
        "score_4d_matmul": {"input": small(1, 4, 24), "head_size": 4, "input_mask": None, "scale": 0.5},
        "context_4d_matmul": {"prob": small(1, 2, 4, 4), "input": small(1, 4, 24), "head_size": 4},
        "MatMul": {"layout": np.array(MASK), "block": 4, "mode": "sdd", "trans_a": False, "trans_b": False},
        "Softmax": {"layout": np.array(MASK), "block": 4},
        "SparseSelfAttention": {"sparsity_config": config, "key_padding_mask_mode": "add", "attn_mask_mode": "mul",
                                "max_seq_length": 16},
    }
    found = {name: (getattr(blocksparse, name), arguments) for name, arguments in found.items()}
    return {
        **found,
        "MatMul()": (blocksparse.MatMul(LAYOUT, 4, "sdd"), {"a": small(8, 5), "b": small(5, 12)}),
        "Softmax()": (blocksparse.Softmax(LAYOUT, 4), {
            "x": small(4, 4, 4), "scale": 0.5, "rpe": small(8, 12), "key_padding_mask": small(12),
            "attn_mask": small(8, 12), "key_padding_mask_mode": "add", "attn_mask_mode": "mul"}),
        "SparseSelfAttention()": (self_attention, {
            "query": x, "key": small(*x.shape), "value": small(*x.shape), "rpe": small(12, 12),
            "key_padding_mask": small(1, 12), "attn_mask": np.ones((12, 12), np.float32)}),
        "Layout": (Layout, {"block": 4, "grid": (2, 3), "crow_indices": index(0, 2, 4),
                            "col_indices": index(0, 2, 0, 1)}),
        "Layout.from_mask": (Layout.from_mask, {"mask": np.array(MASK), "block": 4}),
        "Layout.from_dense": (Layout.from_dense, {"matrix": small(8, 12), "block": 4}),
        "Layout.from_topk": (Layout.from_topk, {"indices": np.array([[0, 2], [0, 1]]), "cols": 3, "block": 4,
                                                "counts": index(2, 1)}),
        "Layout.from_scipy": (Layout.from_scipy, {"matrix": of_numpy(Pattern()), "block": 4}),
        "Layout.pattern": (Layout.pattern, {"name": "causal", "block": 4, "grid": (2, 2)}),
        **{name: (getattr(blocksparse, f"{name}SparsityConfig"), {"num_heads": 2, "block": 4})
           for name in ("Dense", "Fixed", "Variable", "BigBird", "BSLongformer", "LocalSlidingWindow")},
        "make_layout": (config.make_layout, {"seq_len": 16}),
        "pad_to_block_size": (blocksparse.SparseAttentionUtils.pad_to_block_size, {
            "block_size": 4, "input_ids": np.ones((1, 3), np.int64), "attention_mask": np.ones((1, 3), np.int64),
            "token_type_ids": np.ones((1, 3), np.int64), "position_ids": np.ones((1, 3), np.int64),
            "inputs_embeds": None, "pad_token_id": 0, "model_embeddings": None}),
        "unpad_sequence_output": (blocksparse.SparseAttentionUtils.unpad_sequence_output, {
            "pad_len": 1, "sequence_output": small(1, 4, 3)}),
        "compile": (blocksparse.compile, {"text": blocksparse.jit(lambda x: blocksparse.to_dense(LAYOUT, x)).compiled(
            small(4, 4, 4)).mlir, "target": "cpu"}),
    }


def torch_calls():
    """Returns what takes tensors of torch alone, as `calls` does."""
    from blocksparse import nn, stk

    linear = torch.nn.Linear(12, 8)
    rows = torch.tensor([0, 0, 1, 1], dtype=torch.int32)
    cols, offsets = (torch.tensor(one, dtype=torch.int32) for one in ([0, 2, 0, 1], [0, 2, 4]))
    matrix = stk.Matrix((8, 12), torch.ones(4, 4, 4), rows, cols, offsets)
    return {
        "BlockSparseLinear": (nn.BlockSparseLinear, {"layout": LAYOUT, "bias": True}),
        "BlockSparseLinear.from_linear": (nn.BlockSparseLinear.from_linear, {
            "linear": linear, "block": 4, "density": 0.5, "layout": None}),
        "BlockSparseLinear()": (nn.BlockSparseLinear(LAYOUT).forward, {"x": small(5, 12)}),
        "magnitude_layout": (nn.magnitude_layout, {"weight": small(8, 12), "block": 4, "density": 0.5}),
        "sparsify_": (nn.sparsify_, {"model": torch.nn.Sequential(linear), "block": 4, "density": 0.5}),
        "stk.Matrix": (stk.Matrix, {"size": (8, 12), "data": small(4, 4, 4), "row_indices": rows,
                                    "column_indices": cols, "offsets": offsets}),
        "stk.dsd": (stk.ops.dsd, {"a": matrix, "b": small(12, 5)}),
        "stk.dds": (stk.ops.dds, {"a": small(5, 8), "b": matrix}),
        "stk.sdd": (stk.ops.sdd, {"a": small(8, 5), "b": small(5, 12), "topo": matrix}),
        "stk.to_sparse": (stk.ops.to_sparse, {"x": small(8, 12), "blocking": 4}),
    }


# These are no arrays, no layouts, no numbers and no names.
NOTHING = [object(), {}, b"bytes", Layout, 1j, [object()], types.SimpleNamespace(shape=(8, 12))]


def same_arrays(array):
    """Yields (label, array with the same numbers); those of other types may be refused."""
    if isinstance(array, np.ndarray):
        read_only = array.copy()
        read_only.flags.writeable = False
        yield "read-only", read_only
        yield "order F", np.asfortranarray(array)
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        yield "stride 2", wide[..., ::2]
        yield "stride -1", np.ascontiguousarray(array[..., ::-1])[..., ::-1]
        yield "other byte order", array.astype(array.dtype.newbyteorder())
        packed = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
        packed[...] = array
        yield "not aligned", packed
        for dtype in ("f2", "f8", "i1", "i2", "i4", "i8", "u8", "c8", "O", "?"):
            # Numbers that the type cannot hold are other numbers.
            if (array.astype(dtype) == array).all():
                yield dtype, array.astype(dtype)
        yield "list", array.tolist()
        if torch:
            yield "torch", torch.tensor(array)
    else:
        yield "stride 2", torch.stack([array, array], -1)[..., 0]
        yield "expanded", array.clone()[None].expand(2, *array.shape)[1]
        yield "transposed", array.mT.contiguous().mT if array.ndim > 1 else array
        yield "inference", inference_copy(array)
        yield "numpy", array.numpy()
        yield "parameter", torch.nn.Parameter(array.clone(), requires_grad=False)
        if array.is_floating_point():
            yield "neg", torch._neg_view(-array)
            yield "requires_grad", array.clone().requires_grad_()
        for dtype in (torch.half, torch.bfloat16, torch.double, torch.int8, torch.int32, torch.int64, torch.cfloat):
            yield str(dtype), array.to(dtype)
        yield "sparse", array.to_sparse()


def inference_copy(array):
    with torch.inference_mode():
        return array.clone()


def other_arrays(array):
    """Yields (label, array with other numbers, sizes or places)."""
    is_numpy = isinstance(array, np.ndarray)
    library = np if is_numpy else torch
    yield "rank 0", array.reshape(-1)[0]
    yield "rank + 1", array[None]
    yield "rank + 6", array[(None,) * 6]
    yield "rank - 1", array[0]
    for axis, size in enumerate(array.shape):
        yield f"empty {axis}", library.zeros([0 if one == axis else full for one, full in enumerate(array.shape)],
                                             dtype=array.dtype)
        yield f"one more {axis}", library.concatenate([array, array[(slice(None),) * axis + (slice(0, 1),)]], axis)
        if size > 1:
            yield f"one less {axis}", array[(slice(None),) * axis + (slice(0, size - 1),)]
    if "float" in str(array.dtype):
        yield "nan", library.full_like(array, np.nan)
        yield "inf", library.full_like(array, np.inf)
    else:
        yield "negative", library.full_like(array, -1)
        yield "out of range", library.full_like(array, 2**31 - 1 if "8" not in str(array.dtype)[3:] else 100)
        yield "backwards", array[::-1] if is_numpy else array.flip(0)
    if not is_numpy:
        yield "meta", array.to("meta")
        yield "nested", torch.nested.nested_tensor([array])


def other_matrices(matrix):
    """Yields (label, sparse matrix of another kind)."""
    crow, col, values = np.array([0, 2, 4]), np.array([0, 2, 0, 1]), small(4, 4, 4)
    parts = {
        "order": (crow, np.array([2, 0, 0, 1]), values), "twice": (crow, np.array([0, 0, 0, 1]), values),
        "column": (crow, np.array([0, 3, 0, 1]), values), "below 0": (crow, np.array([0, -1, 0, 1]), values),
        "decreasing": (np.array([0, 5, 4]), col, values), "start": (np.array([1, 2, 4]), col, values),
        "end": (np.array([0, 2, 3]), col, values), "f8": (crow, col, values.astype("f8")),
        "i4": (crow, col, values.astype("i4")), "c8": (crow, col, values.astype("c8")),
        "nan": (crow, col, np.full_like(values, np.nan)),
    }
    for label, (crow, col, values) in parts.items():
        if isinstance(matrix, scipy.sparse.spmatrix):
            wrong = matrix.copy().astype(values.dtype)
            wrong.indptr, wrong.indices, wrong.data = crow.astype("i4"), col.astype("i4"), values
        else:
            wrong = torch.sparse_bsr_tensor(*map(torch.tensor, (crow, col, values)), (8, 12), check_invariants=False)
        yield label, wrong
    if isinstance(matrix, scipy.sparse.spmatrix):
        yield from (("csr", matrix.tocsr()), ("dia", matrix.todia()), ("empty", scipy.sparse.bsr_matrix((8, 12))),
                    ("dense", matrix.toarray()), ("block", matrix.tocsr().tobsr((2, 2))), ("T", matrix.T))
    else:
        yield from (("csr", matrix.to_dense().to_sparse_csr()), ("dense", matrix.to_dense()),
                    ("bsc", matrix.to_dense().to_sparse_bsc((4, 4))), ("asked", matrix.clone().requires_grad_(matrix.is_floating_point())),
                    ("batched", torch.stack([matrix.to_dense()] * 2).to_sparse_bsr((4, 4))),
                    ("empty", torch.zeros(8, 12).to_sparse_bsr((4, 4))))


NUMBERS = [0, -1, 10**400, float("nan"), float("inf"), -0.0, 1.5, np.float16(1), np.int8(1), np.array(1.0), np.ones(2),
           True, "1", 1j, None, [1], 2**63]
# Numbers in place of sizes: large ones would only take memory.
SIZES = [0, -1, 1.5, float("nan"), np.int64(4), np.array(4), "4", None, [4], (4, 4, 4), 10**30, 3, True]
NAMES = ["", "none", None, 3, b"add", ["add"], "\0", "é"]
LAYOUTS = [LAYOUT.block, Layout.from_mask(MASK, 2), Layout.from_mask(np.ones((3, 2)), 4), SQUARE, None, "causal",
           Layout.from_mask(np.zeros((2, 3)), 4), np.array(MASK)]


def changes(name, value):
    """Yields (label, changed value, whether the numbers are the same) for an argument."""
    if isinstance(value, np.ndarray) or blocksparse._arrays.is_torch(value) and value.layout is torch.strided:
        yield from ((label, one, True) for label, one in same_arrays(value))
        yield from ((label, one, False) for label, one in other_arrays(value))
    elif isinstance(value, scipy.sparse.spmatrix) or blocksparse._arrays.is_torch(value):
        yield from ((label, one, False) for label, one in other_matrices(value))
    elif isinstance(value, Layout):
        yield from ((repr(one), one, False) for one in LAYOUTS)
    elif isinstance(value, str):
        yield from ((repr(one), one, False) for one in NAMES)
    elif isinstance(value, (bool, float, int)):
        sizes = name in ("block", "cols", "num_heads", "seq_len", "max_seq_length", "head_size", "block_size", "pad_len")
        yield from ((repr(one)[:40], one, False) for one in (SIZES if sizes else NUMBERS))
    elif isinstance(value, tuple):
        for position, part in enumerate(value):
            yield from ((f"[{position}] {label}", (*value[:position], one, *value[position + 1 :]), same)
                        for label, one, same in changes(name, part))
        yield from (("shorter", value[:-1], False), ("longer", (*value, 1), False), ("list", list(value), False))
    yield from ((repr(one)[:40], one, False) for one in (None, *NOTHING))


def numbers_of(result):
    """Returns the numbers of a result as arrays of f64, to compare results of any library and type."""
    if isinstance(result, (tuple, list)):
        return [array for one in result for array in numbers_of(one)]
    if blocksparse._arrays.is_torch(result):
        result = (result.to_dense() if result.layout is not torch.strided else result).detach().double().numpy()
    elif isinstance(result, scipy.sparse.spmatrix):
        result = result.toarray()
    return [np.asarray(result, np.float64)] if isinstance(result, np.ndarray) else []


class EachArgument(unittest.TestCase):
    def check(self, label, function, arguments, names, expected):
        """Calls a function; returns what is wrong with the outcome, None if nothing is."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = function(**arguments)
        except ArgumentError as error:
            if error.__cause__ is not None or not re.fullmatch(
                    r"(?s)argument '.*': expects .+, but got .*", str(error)):
                return f"an error that does not say what is wrong: {error}"
            # A pattern that cannot be built is named as such; its parameters stand in the message.
            if not any(one in re.split(r"\W+", error.argument) for one in (*names, "pattern")):
                return f"names no argument of the function: {error}"
            return None
        except blocksparse.RunError as error:
            # Indices are checked by compiled code as well.
            return None if re.search(r"expects .* but got", str(error)) else f"RunError: {str(error)[:150]}"
        except blocksparse.CompileError as error:
            # A program and the name of a target are read by the compiler, which says what it expects.
            return None if "text" in arguments else f"CompileError: {str(error)[:150]}"
        except Exception as error:  # pylint: disable=broad-except
            # torch says this of every layer.
            if "Inference tensors cannot be saved" in str(error):
                return None
            return f"{type(error).__name__}: {str(error)[:150]}"
        if expected is not None:
            for one, other in zip(numbers_of(result), expected, strict=True):
                if one.shape != other.shape or not np.allclose(one, other, rtol=0.05, atol=0.05, equal_nan=True):
                    return "another result"
        return None

    def run_all(self, functions, convert):
        for name, (function, arguments) in list(functions.items())[::STEP]:
            fresh = {key: convert(one) if not isinstance(one, tuple) else tuple(map(convert, one))
                     for key, one in arguments.items()}
            names = set(inspect.signature(function).parameters)
            if name.endswith("scatter_mm"):
                # These name the arrays of indices_data, and the operands of scatter_mm.
                names |= {"c_offsets", "pq", "c_indices", "r_offsets", "p_offsets", "q_offsets", "blocks", "others"}
            if name == "bsr_scatter_mm":
                fresh["indices_data"] = blocksparse.bsr_scatter_mm_indices_data(fresh["bsr"], fresh["other"])

            def copied(fresh=fresh):
                # Some arguments are written.
                return {key: one.copy() if isinstance(one, np.ndarray) else one.clone() if
                        blocksparse._arrays.is_torch(one) and one.layout is torch.strided else one
                        for key, one in fresh.items()}

            expected = numbers_of(function(**copied()))
            for argument, value in fresh.items():
                for label, changed, is_same in changes(argument, value):
                    wrong = self.check(label, function, {**copied(), argument: changed}, names,
                                       expected if is_same else None)
                    with self.subTest(function=name, argument=argument, change=label):
                        self.assertIsNone(wrong)
            for argument in fresh:
                left = copied()
                del left[argument]
                if inspect.signature(function).parameters[argument].default is not inspect.Parameter.empty:
                    with self.subTest(function=name, argument=argument, change="left out"):
                        self.assertIsNone(self.check("left out", function, left, names, None))

    def test_numpy(self):
        self.run_all(calls(), of_numpy)

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_torch(self):
        self.run_all({**torch_calls(), **calls()}, of_torch)


if __name__ == "__main__":
    unittest.main()
