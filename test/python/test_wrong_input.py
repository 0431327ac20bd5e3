# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong arguments of every public function: each is one ArgumentError that names the argument, and never another
exception, a crash or a silent result of other numbers."""

import unittest

import numpy as np
import scipy.sparse

import blocksparse
from blocksparse import ArgumentError, Layout

try:
    import torch
except ImportError:
    torch = None

RNG = np.random.default_rng(0)
LAYOUT = Layout.from_mask([[1, 0, 1], [1, 1, 0]], 4)


def random(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


BSR = scipy.sparse.bsr_matrix((random(4, 4, 4), [0, 2, 0, 1], [0, 2, 4]), shape=(8, 12))
Q, K, V = random(2, 8, 5), random(2, 12, 5), random(2, 12, 6)
# Each function with arguments that it takes.
CALLS = {
    "sdd": (LAYOUT, random(8, 5), random(5, 12)),
    "dsd": (LAYOUT, random(4, 4, 4), random(12, 5)),
    "dds": (LAYOUT, random(5, 8), random(4, 4, 4)),
    "softmax": (LAYOUT, random(4, 4, 4)),
    "to_dense": (LAYOUT, random(4, 4, 4)),
    "from_dense": (LAYOUT, random(8, 12)),
    "attention": (Q, K, V, LAYOUT),
    "bsr_dense_mm": (BSR, random(12, 5)),
    "bsr_dense_addmm": (random(8, 5), BSR, random(12, 5)),
    "sampled_addmm": (BSR, random(8, 5), random(5, 12)),
    "bsr_softmax": (BSR,),
    "scaled_dot_product_attention": (Q[0], K[0], V[0], BSR),
    "matmul": (random(3, 4), random(4, 5)),
    "matmul_4d": (random(1, 2, 3, 4), random(1, 2, 4, 5)),
    "score_4d_matmul": (random(1, 4, 24), 4, None),
    "context_4d_matmul": (random(1, 2, 4, 4), random(1, 4, 24), 4),
}
OPTIONS = {
    "sdd": {}, "dsd": {"bias": random(5)}, "dds": {"bias": random(12)},
    "softmax": {"scale": 0.5, "rpe": random(8, 12), "key_padding_mask": random(12), "attention_mask": random(8, 12),
                "attention_mask_mode": "add"},
    "attention": {"scale": 0.5, "rpe": random(8, 12), "key_padding_mask": random(12), "attention_mask": random(8, 12),
                  "attention_mask_mode": "mul"},
    "bsr_dense_addmm": {"beta": 2.0, "alpha": 3.0, "left_alpha": random(8), "right_alpha": random(5),
                        "out": random(8, 5)},
    "sampled_addmm": {"beta": 2.0, "alpha": 3.0},
    "scaled_dot_product_attention": {"dropout_p": 0.0, "scale": 0.5},
    "matmul": {"bias": random(5), "activation": "relu"},
    "score_4d_matmul": {"scale": 0.5},
}


class Closed:
    """A file that was closed, as far as an array of numbers can be one: nothing of it can be read."""

    @property
    def shape(self):
        raise ValueError("I/O operation on closed file")


# These stand in place of an array.
NO_ARRAYS = [None, "text", object(), [[1.0, 2.0]], 3.5, Layout, Closed()]


def wrong_arrays(array):
    """Yields arrays that cannot stand for one that is right: of another type, rank or size."""
    for dtype in (np.complex64, np.uint8, object, "U3", "datetime64[s]"):
        yield np.zeros(array.shape, dtype)
    yield np.zeros(array.shape, np.int64)
    yield np.zeros(array.shape, np.float64)
    yield np.ma.masked_array(array)
    yield array[..., None, None, None, None]
    yield np.zeros(())
    yield np.zeros(tuple(size + 1 for size in array.shape), array.dtype)


class WrongInput(unittest.TestCase):
    def check(self, name, position, value, label):
        """Calls a function with one argument replaced."""
        arguments, options = list(CALLS[name]), dict(OPTIONS.get(name, {}))
        if isinstance(position, int):
            arguments[position] = value
        else:
            options[position] = value
        function = getattr(blocksparse, name)
        with self.subTest(function=name, argument=position, value=label), self.assertRaises(ArgumentError) as raised:
            function(*arguments, **options)
        return raised

    def parts(self):
        for name, arguments in CALLS.items():
            yield from ((name, position, value) for position, value in enumerate(arguments))
            yield from ((name, key, value) for key, value in OPTIONS.get(name, {}).items())

    def test_the_calls_are_right(self):
        for name, arguments in CALLS.items():
            with self.subTest(name):
                getattr(blocksparse, name)(*arguments, **OPTIONS.get(name, {}))

    def test_no_arrays(self):
        for name, position, value in self.parts():
            if isinstance(value, np.ndarray):
                for wrong in NO_ARRAYS:
                    # An option may be left out, and so may what a beta of 0 does not read.
                    if wrong is None and isinstance(position, str):
                        continue
                    self.check(name, position, wrong, repr(wrong))

    def test_wrong_arrays(self):
        for name, position, value in self.parts():
            if isinstance(value, np.ndarray):
                for wrong in wrong_arrays(value):
                    if self.is_allowed(name, position, wrong):
                        continue
                    self.check(name, position, wrong, f"{wrong.dtype} {wrong.shape}")

    @staticmethod
    def is_allowed(name, position, wrong):
        """Tells whether an array is right after all: masks, and the only array of a function, may be of f64."""
        alone = {"to_dense": 1, "from_dense": 1, "softmax": 1, "score_4d_matmul": 0}.get(name)
        return wrong.dtype == np.float64 and wrong.ndim and (
            alone == position or position in ("rpe", "key_padding_mask", "attention_mask"))

    def test_layouts_and_sparse_matrices(self):
        for name, position, value in self.parts():
            if isinstance(value, (Layout, scipy.sparse.bsr_matrix)):
                for wrong in (None, "text", 3, random(8, 12), object()):
                    self.check(name, position, wrong, repr(wrong))

    def test_numbers_and_names(self):
        for name, position, value in self.parts():
            if isinstance(value, (int, float, str)):
                for wrong in ("text", object(), [1], 1j):
                    self.check(name, position, wrong, repr(wrong))

    def test_others(self):
        jitted = blocksparse.jit(lambda x: blocksparse.to_dense(LAYOUT, x))
        config = blocksparse.FixedSparsityConfig(num_heads=2, block=4)
        attention = blocksparse.SparseSelfAttention(config, max_seq_length=16)
        x = random(1, 2, 16, 5)
        utilities = blocksparse.SparseAttentionUtils
        cases = {
            "values": lambda: jitted(random(4, 4, 3)),
            "x": lambda: blocksparse.jit(lambda x: blocksparse.to_dense(LAYOUT, x) + 1)("text"),
            "arguments": lambda: jitted("text"),
            "rpe": lambda: attention(x, x, x, rpe=[[1.0]]),
            "attn_mask": lambda: attention(x, x, x, attn_mask=[[1.0]]),
            "key_padding_mask": lambda: attention(x, x, x, key_padding_mask=random(3)),
            "query": lambda: attention(x[:, :1], x[:, :1], x[:, :1]),
            "block_size": lambda: utilities.pad_to_block_size(0, np.zeros((1, 3), np.int64), *[None] * 4, 0, None),
            "counts": lambda: Layout.from_topk([[0, 1]], 3, 4, counts=[3]),
            "cols": lambda: Layout.from_topk([[0, 1]], 3.5, 4),
            "indices": lambda: Layout.from_topk([[0.5, 1]], 3, 4),
            "crow_indices": lambda: Layout(4, (2, 2), [0, 1, 3], [0, 1]),
            "col_indices": lambda: Layout(4, (2, 2), [0, 1, 2], [0, 2]),
            "block": lambda: Layout.from_mask([[1]], 0),
            "grid": lambda: Layout.pattern("causal", 4, (1, 2, 3, 4)),
            "pattern": lambda: Layout.pattern("causal", 4, (2, 2), width=object()),
            "mask": lambda: Layout.from_mask(Closed(), 4),
            "text": lambda: blocksparse.compile(3),
        }
        for argument, call in cases.items():
            with self.subTest(argument), self.assertRaises(ArgumentError) as raised:
                call()
            if raised is not None and argument not in ("x", "mask", "pattern"):
                self.assertEqual(raised.exception.argument, argument)


@unittest.skipIf(torch is None, "torch is not installed")
class WrongTensors(unittest.TestCase):
    """Does the same with tensors of torch, and gives what they can be that arrays cannot."""

    def tensors(self):
        """Yields (call, position, tensor) for each tensor of each call that takes tensors alone."""
        for name, arguments in CALLS.items():
            options = OPTIONS.get(name, {})
            if any(isinstance(one, scipy.sparse.bsr_matrix) for one in arguments):
                continue
            given = [torch.tensor(one) if isinstance(one, np.ndarray) else one for one in arguments]
            named = {key: torch.tensor(one) if isinstance(one, np.ndarray) else one for key, one in options.items()}
            for position in [*range(len(given)), *named]:
                value = given[position] if isinstance(position, int) else named[position]
                if isinstance(value, torch.Tensor):
                    def call(wrong, name=name, position=position, given=given, named=named):
                        arguments, options = list(given), dict(named)
                        (arguments if isinstance(position, int) else options)[position] = wrong
                        return getattr(blocksparse, name)(*arguments, **options)

                    count = sum(isinstance(one, torch.Tensor) for one in (*given, *named.values()))
                    yield f"{name} {position}", call, value, count

    def test_tensors(self):
        for label, call, value, count in self.tensors():
            call(value)
            wrongs = [value.to("meta"), value.to_sparse(), torch.nested.nested_tensor([value]), value.to(torch.complex64),
                      value[..., None, None, None, None], torch.zeros(())]
            if count > 1:
                # An array of numpy in place of one of several tensors.
                wrongs.append(value.numpy())
            for wrong in wrongs:
                with self.subTest(label, wrong=type(wrong)), self.assertRaises(ArgumentError):
                    call(wrong)
            # Any strides are right.
            torch.testing.assert_close(call(value.mT.contiguous().mT if value.ndim > 1 else value), call(value))

    def test_transforms_of_functions(self):
        values, x = torch.randn(4, 4, 4), torch.randn(2, 12, 5)
        bsr = torch.sparse_bsr_tensor(torch.tensor([0, 2, 4]), torch.tensor([0, 2, 0, 1]), values, (8, 12))
        for name, call in {"dsd": lambda one: blocksparse.dsd(LAYOUT, values, one),
                           "bsr_dense_mm": lambda one: blocksparse.bsr_dense_mm(bsr, one),
                           "matmul": lambda one: blocksparse.matmul(one, one.mT)}.items():
            for _ in range(2):
                with self.subTest(name), self.assertRaisesRegex(ArgumentError, "outside of torch.vmap"):
                    torch.vmap(call)(x)
                call(x[0])

    def test_gradients_that_are_asked_for(self):
        for label, call, value, _ in self.tensors():
            if not value.is_floating_point():
                continue
            asked = value.clone().requires_grad_()
            with self.subTest(label):
                try:
                    result = call(asked)
                except ArgumentError as error:
                    self.assertRegex(str(error), "without requires_grad")
                    continue
                results = [one for one in (result if isinstance(result, tuple) else (result,))
                           if isinstance(one, torch.Tensor) and one.is_floating_point()]
                # Whatever depends on the tensor has a gradient.
                gradient, = torch.autograd.grad(sum(one.sum() for one in results), asked)
                self.assertEqual(gradient.shape, value.shape)

    def test_gradients_of_what_has_none(self):
        x, mask = torch.randn(4, 4, 4), torch.zeros(8, 12, requires_grad=True)
        function = blocksparse.jit(lambda x: blocksparse.to_dense(LAYOUT, x)).compiled(x)
        cases = {
            "attention_mask": lambda: blocksparse.softmax(LAYOUT, x, attention_mask=mask),
            "scale": lambda: blocksparse.softmax(LAYOUT, x, scale=torch.tensor(0.5, requires_grad=True)),
            "x": lambda: function(x.clone().requires_grad_()),
        }
        for argument, call in cases.items():
            with self.subTest(argument), self.assertRaisesRegex(ArgumentError, "without requires_grad") as raised:
                call()
            self.assertEqual(raised.exception.argument, argument)
        with torch.no_grad():
            function(x.clone().requires_grad_())

    def test_matrices_of_stk(self):
        from blocksparse import stk

        data, rows, cols, offsets = torch.randn(2, 4, 4), torch.tensor([0, 1]), torch.tensor([0, 1]), torch.tensor([0, 1, 2])
        stk.Matrix((8, 8), data, rows, cols, offsets).validate()
        for position, wrong in enumerate(([1.0], rows.numpy(), cols[None], offsets.to("meta")), 1):
            arguments = [(8, 8), data, rows, cols, offsets]
            arguments[position] = wrong
            with self.subTest(position), self.assertRaises(ArgumentError):
                stk.Matrix(*arguments)
        for wrong in (torch.tensor([0, 1, 3]), torch.tensor([0, 2, 1]), torch.tensor([1, 1, 2])):
            with self.subTest(wrong), self.assertRaises(ArgumentError):
                stk.ops.to_dense(stk.Matrix((8, 8), data, rows, cols, wrong))


if __name__ == "__main__":
    unittest.main()
