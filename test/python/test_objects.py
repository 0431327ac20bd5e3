# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Objects of the package that are pickled and copied, first calls in many threads, and calls that are interrupted."""

import copy
import pickle
import signal
import tempfile
import threading
import types
import unittest

import numpy as np
import scipy.sparse

import blocksparse
from blocksparse import Layout

try:
    import torch
except ImportError:
    torch = None

RNG = np.random.default_rng(0)
LAYOUT = Layout.from_mask([[1, 0, 1], [1, 1, 0]], 4)


def random(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def copies(value):
    """Yields (label, copy) for each way to copy an object."""
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        yield f"pickle {protocol}", pickle.loads(pickle.dumps(value, protocol))
    yield "deepcopy", copy.deepcopy(value)
    yield "copy", copy.copy(value)
    if torch:
        with tempfile.TemporaryFile() as file:
            torch.save(value, file)
            file.seek(0)
            yield "torch.save", torch.load(file, weights_only=False)


class Copies(unittest.TestCase):
    def check(self, value, use):
        """Compares what copies of an object do with what it does, before it was used and after."""
        for state in ("new", "used"):
            made = list(copies(value))
            expected = use(value)
            for label, one in made:
                with self.subTest(type=type(value).__name__, copy=label, state=state):
                    self.assertIs(type(one), type(value))
                    np.testing.assert_array_equal(use(one), expected)

    def test_objects(self):
        a, b, x = random(8, 5), random(5, 12), random(1, 2, 12, 4)
        values = blocksparse.sdd(LAYOUT, a, b)
        config = blocksparse.FixedSparsityConfig(num_heads=2, block=4)
        self.check(LAYOUT, lambda one: blocksparse.sdd(one, a, b))
        self.check(blocksparse.MatMul(LAYOUT, 4, "sdd"), lambda one: one(a, b))
        self.check(blocksparse.Softmax(LAYOUT, 4), lambda one: one(values))
        self.check(blocksparse.SparseSelfAttention(config, max_seq_length=16), lambda one: one(x, x, x))
        for name in ("Dense", "Fixed", "Variable", "BigBird", "BSLongformer", "LocalSlidingWindow"):
            made = getattr(blocksparse, f"{name}SparsityConfig")(num_heads=2, block=4)
            self.check(made, lambda one: one.make_layout(32).mask())
        program = blocksparse.jit(lambda x: blocksparse.to_dense(LAYOUT, x)).compiled(values)
        self.check(program, lambda one: one(values))

    def test_errors(self):
        # A pool of processes and a loader of data send the errors of their workers by pickle.
        with self.assertRaises(blocksparse.ArgumentError) as raised:
            blocksparse.sdd(LAYOUT, random(8, 5), random(4, 12))
        for error in (raised.exception, blocksparse.CompileError("one"), blocksparse.RunError("two"),
                      blocksparse.LibraryError("three")):
            for label, one in copies(error):
                with self.subTest(error=error, copy=label):
                    self.assertEqual((type(one), str(one)), (type(error), str(error)))
                    self.assertEqual(getattr(one, "argument", None), getattr(error, "argument", None))

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_modules(self):
        from blocksparse import stk
        from blocksparse.nn import BertSparseSelfAttention, BlockSparseLinear

        x, hidden = torch.randn(5, 12), torch.randn(1, 32, 24)
        settings = types.SimpleNamespace(hidden_size=24, num_attention_heads=3)

        def train(layer, x):
            # A copy that shared its parameters would see the gradient of another one.
            layer.zero_grad()
            layer(x).sum().backward()
            return np.concatenate([one.grad.numpy().reshape(-1) for one in layer.parameters()])

        self.check(BlockSparseLinear(LAYOUT), lambda one: train(one, x))
        self.check(BertSparseSelfAttention(settings, blocksparse.DenseSparsityConfig(3)), lambda one: train(one, hidden))
        self.check(stk.ops.to_sparse(torch.randn(8, 12), 4), lambda one: stk.ops.dsd(one, x.mT).numpy())


class Threads(unittest.TestCase):
    def run_all(self, call, expected):
        """Makes a call that was never made in 8 threads at once."""
        start, found = threading.Barrier(8), [None] * 8

        def work(position):
            start.wait()
            try:
                found[position] = call()
            except Exception as error:  # pylint: disable=broad-except
                found[position] = error

        threads = [threading.Thread(target=work, args=(position,)) for position in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        for one in found:
            if isinstance(one, Exception):
                raise one
            np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-5)

    def test_first_calls(self):
        values, x = random(4, 4, 4), random(12, 9)
        dense = blocksparse.to_dense(LAYOUT, values)
        bsr = scipy.sparse.bsr_matrix((values, [0, 2, 0, 1], [0, 2, 4]), shape=(8, 12))
        function = blocksparse.jit(lambda values, x: blocksparse.dsd(LAYOUT, values, x) * 2)
        self.run_all(lambda: blocksparse.dsd(LAYOUT, values, x), dense @ x)
        self.run_all(lambda: blocksparse.bsr_dense_mm(bsr, x), dense @ x)
        self.run_all(lambda: function(values, x), 2 * (dense @ x))
        self.run_all(lambda: Layout.pattern("causal", 4, (3, 3)).mask(), np.tril(np.ones((1, 3, 3))))

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_first_calls_with_gradients(self):
        values, x = torch.randn(4, 4, 4), torch.randn(12, 11)
        dense = blocksparse.to_dense(LAYOUT, values)
        bsr = torch.sparse_bsr_tensor(torch.tensor([0, 2, 4]), torch.tensor([0, 2, 0, 1]), values, (8, 12))
        expected = dense.mT @ torch.ones(8, 11)

        def gradient(product):
            asked = x.clone().requires_grad_()
            product(asked).sum().backward()
            return asked.grad

        self.run_all(lambda: gradient(lambda one: blocksparse.dsd(LAYOUT, values, one)), expected)
        self.run_all(lambda: gradient(lambda one: blocksparse.bsr_dense_mm(bsr, one)), expected)


@unittest.skipUnless(hasattr(signal, "setitimer"), "signals are not there")
class Interrupted(unittest.TestCase):
    def test_interrupted_calls(self):
        # The signal comes at another time of each first call: before the compiler, in it, and behind it.
        def interrupt(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        values, interrupted = random(4, 4, 4), 0
        dense = blocksparse.to_dense(LAYOUT, values)
        for number in range(20):
            x = random(12, 20 + number)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001 * 1.4**number)
                blocksparse.dsd(LAYOUT, values, x)
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            for _ in range(2):
                np.testing.assert_allclose(blocksparse.dsd(LAYOUT, values, x), dense @ x, rtol=1e-4, atol=1e-5)
        self.assertGreater(interrupted, 3)


if __name__ == "__main__":
    unittest.main()
