# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cache of compiled programs on disk: hits, what it refuses, its size, and many processes at once."""

import contextlib
import io
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

import numpy as np

import blocksparse
from blocksparse import _library, cache, compiler

PROGRAM = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
X = np.arange(4, dtype=np.float32)

# Stores entries of random keys and checks what it reads, until it is killed.
WRITER = """
import random, sys
from blocksparse import cache
cache._machine = lambda: []
while True:
    name = f"{random.randrange(int(sys.argv[1])):064x}"
    found = cache.load(name)
    if found is not None and found != ({"name": name}, name.encode() * 2000):
        sys.exit("a wrong entry")
    cache.store(name, {"name": name}, name.encode() * 2000)
"""

# Calls a program, and says whether it was compiled.
READER = """
import sys
import numpy as np
import blocksparse
from blocksparse import _library
original, compiled = _library.Program.object, []
_library.Program.object = lambda *arguments: compiled.append(1) or original(*arguments)
result = blocksparse.compile(sys.argv[1])(np.arange(4, dtype=np.float32))
print(bool(compiled), result.tolist())
"""

# Calls a product for the first time after the import of all modules and the load of the library, which takes longer
# where LLVM is not inside, and prints the milliseconds of processor time, whether the compiler ran, and the files that
# were opened.
FIRST_CALL = """
import sys, time
import numpy as np
from blocksparse import Layout, _library, cache, ops, tuning
_library.version()
compiled, opened = [], []
original = _library.Program.object
_library.Program.object = lambda *arguments: compiled.append(1) or original(*arguments)
values, dense = np.ones((3, 16, 16), np.float32), np.ones((32, 8), np.float32)
sys.addaudithook(lambda event, arguments: opened.append(arguments[0]) if event == "open" else None)
start = time.process_time()
ops.dsd(Layout(16, (2, 2), [0, 1, 3], [0, 0, 1]), values, dense)
print(1000 * (time.process_time() - start), bool(compiled), *(one for one in opened if isinstance(one, str)))
"""

# Calls a product, and prints the modules that this took beside those of numpy.
MODULES = """
import sys
import numpy as np
before = set(sys.modules)
import blocksparse
layout = blocksparse.Layout(16, (2, 2), [0, 1, 3], [0, 0, 1])
blocksparse.dsd(layout, np.ones((3, 16, 16), np.float32), np.ones((32, 8), np.float32))
print(" ".join(sorted(set(sys.modules) - before)))
"""


class CacheTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "cache"
        self.set("BLOCKSPARSE_CACHE_DIR", str(self.folder))
        self.set("BLOCKSPARSE_CACHE_LIMIT", "1024")
        cache._warned.clear()
        compiler.clear_memory()

    def set(self, name, value):
        old = os.environ.get(name)
        os.environ[name] = value
        self.addCleanup(lambda: os.environ.pop(name) if old is None else os.environ.update({name: old}))

    def run_program(self, warning=None):
        """Calls the program and returns whether it was compiled; checks the result and the warning."""
        compiler.clear_memory()
        compiled = []
        original = _library.Program.object
        _library.Program.object = lambda *arguments: compiled.append(1) or original(*arguments)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                np.testing.assert_array_equal(blocksparse.compile(PROGRAM)(X), 2 * X)
        finally:
            _library.Program.object = original
        texts = [str(entry.message) for entry in caught]
        self.assertEqual(len(texts), 0 if warning is None else 1, texts)
        if warning:
            self.assertRegex(texts[0], warning)
        return bool(compiled)

    def entries(self):
        return sorted(self.folder.glob("*.entry"))

    def test_hit(self):
        self.assertTrue(self.run_program())
        self.assertFalse(self.run_program())
        self.assertEqual(len(self.entries()), 1)
        self.assertEqual((self.folder.stat().st_mode & 0o777, self.entries()[0].stat().st_mode & 0o777),
                         (0o700, 0o600))
        # The text and the plan of a program from the cache are there, too.
        compiler.clear_memory()
        self.assertIn("func.func @f", blocksparse.compile(PROGRAM).plan)

    def test_a_process_that_compiles_nothing(self):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        for compiled in (True, False):
            output = subprocess.check_output([sys.executable, "-c", READER, PROGRAM], env=environment, text=True)
            self.assertEqual(output, f"{compiled} [0.0, 2.0, 4.0, 6.0]\n")

    def test_other_target_or_text_is_another_key(self):
        keys = {cache.key(PROGRAM, "cpu"), cache.key(PROGRAM + " ", "cpu"), cache.key(PROGRAM, "cuda:sm_90a")}
        self.assertEqual(len(keys), 3)

    def test_damage(self):
        self.run_program()
        (path,) = self.entries()
        data = path.read_bytes()
        for damaged in (data[:-1], data[:40], b"", data[:-1] + bytes([data[-1] ^ 1]), b"x" + data[1:]):
            path.write_bytes(damaged)
            cache._warned.clear()
            self.assertTrue(self.run_program("is (a wrong checksum|no entry of a cache)"))
            self.assertFalse(self.run_program())

    def test_what_others_can_write_is_refused(self):
        self.run_program()
        (path,) = self.entries()
        path.chmod(0o622)
        self.assertTrue(self.run_program("is a file of user .* with mode 622"))
        self.folder.chmod(0o777)
        cache._warned.clear()
        self.assertTrue(self.run_program("nobody else can write it, but got user .* and mode 777"))
        # The reason is told once.
        self.assertTrue(self.run_program())
        self.folder.chmod(0o700)
        target = self.folder / "elsewhere"
        self.entries()[0].rename(target)
        path.symlink_to(target)
        cache._warned.clear()
        self.assertTrue(self.run_program("symbolic links"))

    def test_warm_start_loads_few_modules(self):
        modules = [subprocess.check_output([sys.executable, "-c", MODULES], text=True).split() for _ in range(2)]
        self.assertTrue(self.entries())
        slow = {"_hashlib", "argparse", "concurrent.futures", "html", "numpy.ma", "tempfile", "torch", "tqdm", "urllib.parse"}
        self.assertEqual(slow & set(modules[1]), set())

    def test_warm_start_opens_few_files_and_is_quick(self):
        runs = [subprocess.check_output([sys.executable, "-c", FIRST_CALL], text=True).split() for _ in range(4)]
        self.assertEqual([run[1] for run in runs], ["True", "False", "False", "False"])
        for _, _, *opened in runs[1:]:
            self.assertLessEqual(set(opened), {"/proc/cpuinfo", *(os.fspath(one) for one in self.entries())})
        # Other programs on the machine make processor time longer, so that the least counts: 4 to 6 ms.
        self.assertLess(min(float(run[0]) for run in runs[1:]), 30)

    def test_folder_that_cannot_be_used(self):
        self.folder.write_text("a file")
        self.assertTrue(self.run_program("expects a folder, but got the file '.*'"))
        self.set("BLOCKSPARSE_CACHE_DIR", "/proc/no/such/folder")
        cache._warned.clear()
        self.assertTrue(self.run_program("No such file"))
        self.set("BLOCKSPARSE_CACHE_DIR", "")
        self.assertTrue(self.run_program())
        self.assertIsNone(cache.folder())

    def test_size_limit(self):
        self.set("BLOCKSPARSE_CACHE_LIMIT", "0.01")
        for index in range(8):
            cache.store(f"{index:064x}", {}, bytes(3000))
            path = self.folder / f"{index:064x}.entry"
            os.utime(path, (index, index))
        # The use of an entry keeps it.
        self.assertIsNotNone(cache.load(f"{5:064x}"))
        cache.store(f"{9:064x}", {}, bytes(3000))
        self.assertEqual([int(path.stem, 16) for path in self.entries()], [5, 7, 9])
        self.set("BLOCKSPARSE_CACHE_LIMIT", "much")
        cache._warned.clear()
        with self.assertWarnsRegex(UserWarning, "expects BLOCKSPARSE_CACHE_LIMIT as a number of MiB, but got 'much'"):
            cache.store(f"{10:064x}", {}, b"")

    def test_partial_files_of_killed_processes_are_removed(self):
        self.run_program()
        old, new = self.folder / "old.partial", self.folder / "new.partial"
        old.write_bytes(b"x")
        new.write_bytes(b"x")
        os.utime(old, (1, 1))
        cache.store("0" * 64, {}, b"")
        self.assertEqual((old.exists(), new.exists()), (False, True))

    def test_processes_that_are_killed(self):
        generator = random.Random(1)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        start = lambda: subprocess.Popen([sys.executable, "-c", WRITER, "40"], env=environment,  # noqa: E731
                                         stderr=subprocess.PIPE)
        writers = [start() for _ in range(3)]
        for _ in range(8):
            time.sleep(generator.uniform(0.1, 0.4))
            victim = writers.pop(generator.randrange(len(writers)))
            self.assertIsNone(victim.poll(), victim.stderr.read() if victim.poll() is not None else "")
            victim.send_signal(signal.SIGKILL)
            victim.communicate()
            writers.append(start())
        time.sleep(0.5)
        for writer in writers:
            writer.kill()
            writer.communicate()
        self.assertGreater(len(self.entries()), 5)
        for path in self.entries():
            self.assertEqual(cache._read(path)[0], {"name": path.stem})

    def test_command_line(self):
        self.run_program()
        for command, status, text in (("stats", 0, "1 entries, 0.0 of 1024 MiB"), ("verify", 0, "1 entries are sound, 0"),
                                      ("clear", 0, "1 of 1 entries removed"), ("stats", 0, "0 entries")):
            with contextlib.redirect_stdout(io.StringIO()) as output:
                self.assertEqual(cache.main([command]), status)
            self.assertIn(text, output.getvalue())
        (self.folder / "bad.entry").write_bytes(b"bad")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            self.assertEqual(cache.main(["verify"]), 1)
        self.assertIn("no entry of a cache", output.getvalue())


if __name__ == "__main__":
    unittest.main()
