# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes: a fork after the package was used, an end while a program is compiled, and what is pickled."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
import scipy.sparse

import blocksparse
from blocksparse import Layout, _specialise

RNG = np.random.default_rng(0)
LAYOUT = Layout.from_mask([[1, 0, 1], [1, 1, 0]], 4)


def random(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@blocksparse.jit
def product(layout, values, x):
    return blocksparse.dsd(layout, values, x) * 2


def in_fork(function):
    """Calls a function in a forked process and returns its exit status; a process that hangs is ended."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "a process that hangs"


class Fork(unittest.TestCase):
    def test_fork_after_use(self):
        values, x = random(4, 4, 4), random(12, 5)
        expected = blocksparse.dsd(LAYOUT, values, x)
        function = product.compiled(LAYOUT, values, x)
        # The threads of the compiler work on a program of two functions.
        two = product.gradients(LAYOUT, values, x)[0]
        self.assertIn("planned_dsd", two.plan)

        def use():
            # Code that is there, the stages of a program that was parsed, and a new program.
            np.testing.assert_array_equal(blocksparse.dsd(LAYOUT, values, x), expected)
            assert "planned_dsd" in two.plan
            np.testing.assert_allclose(function(values, x), 2 * expected, rtol=1e-6)
            wide = random(12, 7 + os.getpid() % 50)
            np.testing.assert_allclose(blocksparse.dsd(LAYOUT, values, wide),
                                       blocksparse.to_dense(LAYOUT, values) @ wide, rtol=1e-4, atol=1e-5)

        self.assertEqual(in_fork(use), 0)
        # The parent goes on as well.
        use()

    def test_fork_while_a_thread_compiles(self):
        values, x = random(4, 4, 4), random(12, 5)
        functions = [blocksparse.compile(product.compiled(LAYOUT, values, random(12, size)).mlir)
                     for size in range(60, 64)]
        compiling = threading.Thread(target=lambda: [one.addresses for one in functions])
        compiling.start()
        for function in functions:
            size = function.parameters[1][2][1]
            self.assertEqual(in_fork(lambda: function(values, np.ones((12, size), np.float32))), 0)
        compiling.join()

    def test_fork_while_a_pattern_is_compiled(self):
        bsr = scipy.sparse.bsr_matrix((random(4, 4, 4), [0, 2, 0, 1], [0, 2, 4]), shape=(8, 12))
        with _specialise._compiling, _specialise._lock:
            self.assertEqual(in_fork(lambda: [blocksparse.bsr_dense_mm(bsr, random(12, 5)) for _ in range(3)]), 0)


class End(unittest.TestCase):
    def test_end_while_a_pattern_is_compiled(self):
        # The second call starts the compiler in a thread; the process ends as if it had not.
        script = ("import numpy as np, scipy.sparse, blocksparse, threading\n"
                  "blocks = np.random.default_rng().random((40, 16, 16)).astype(np.float32)\n"
                  "bsr = scipy.sparse.bsr_matrix((blocks, np.arange(40) % 5, np.arange(0, 41, 5)), shape=(128, 80))\n"
                  "for _ in range(2):\n"
                  "    y = blocksparse.bsr_dense_mm(bsr, np.ones((80, 33), np.float32))\n"
                  "names = [one.name for one in threading.enumerate()]\n"
                  "assert 'blocksparse compiler' in names, names\n"
                  "print('ends', flush=True)\n")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "BLOCKSPARSE_CACHE_DIR": ""}
        with subprocess.Popen([sys.executable, "-c", script], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            self.assertEqual(process.stdout.readline(), "ends\n", process.stderr.read() if process.poll() else "")
            begin = time.monotonic()
            _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors), (0, ""))
        print(f"the process ended after {time.monotonic() - begin:.2f} s", file=sys.stderr)


class Pickle(unittest.TestCase):
    def test_traced_functions(self):
        self.assertIs(pickle.loads(pickle.dumps(product)), product)
        with self.assertRaises((pickle.PicklingError, AttributeError)):
            pickle.dumps(blocksparse.jit(lambda x: x * 2))

    def test_layouts_and_compiled_functions(self):
        values, x = random(4, 4, 4), random(12, 5)
        function = product.compiled(LAYOUT, values, x)
        layout, other = pickle.loads(pickle.dumps((LAYOUT, function)))
        self.assertEqual(layout, LAYOUT)
        np.testing.assert_array_equal(other(values, x), function(values, x))


if __name__ == "__main__":
    unittest.main()
