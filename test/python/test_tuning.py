# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""First-use tuning on the CPU: when schedules are measured, which one is used, and how results are kept and shipped."""

import contextlib
import io
import json
import os
import pathlib
import re
import tempfile
import unittest
import warnings
from unittest import mock

import numpy as np

import blocksparse
from blocksparse import ArgumentError, Layout, cache, compiler, tuning

RNG = np.random.default_rng(5)
LAYOUT = Layout.pattern("causal", 16, (4, 4))
VALUES = RNG.standard_normal((LAYOUT.nnz, 16, 16)).astype(np.float32)
X = RNG.standard_normal((64, 48)).astype(np.float32)
EXPECTED = blocksparse.to_dense(LAYOUT, VALUES) @ X


def schedule():
    """Returns the schedule of the product, after a check of its result."""
    with blocksparse.compiled_functions() as functions:
        np.testing.assert_allclose(blocksparse.dsd(LAYOUT, VALUES, X), EXPECTED, rtol=1e-4, atol=1e-4)
    return re.search(r"#blocksparse\.schedule<[^>]*>", functions[0].plan)[0]


def times(fastest):
    """Returns a measurement for which the candidate of a number is the fastest."""
    numbers = iter(range(1000))
    return lambda call, clock: 1.0 if next(numbers) == fastest else 2.0


def no_measurement():
    return mock.patch.object(tuning, "_measure", side_effect=AssertionError("measured"))


class Tuning(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        environment = mock.patch.dict(os.environ, {"BLOCKSPARSE_CACHE_DIR": self.folder.name + "/cache"})
        listed = compiler._Compiled._operations

        def first_ones(program):
            """Lists six schedules, to save time."""
            return [{**one, "schedules": one["schedules"][:6]} for one in listed(program)]

        for patch in (environment, mock.patch.object(compiler._Compiled, "_operations", first_ones)):
            patch.start()
            self.addCleanup(patch.stop)
        self.forget()
        self.addCleanup(self.forget)

    @staticmethod
    def forget():
        """Makes this process one that has just started."""
        tuning._loaded.clear()
        tuning._known.clear()
        compiler.clear_memory()

    def tune(self, fastest, **options):
        with blocksparse.autotune(progress=False, **options), mock.patch.object(
                tuning, "_measure", side_effect=times(fastest)) as measure:
            return schedule(), measure.call_count

    def results(self):
        return list(pathlib.Path(self.folder.name).glob("cache/*.tuning"))

    def test_nothing_is_tuned_unless_asked_for(self):
        with no_measurement():
            schedule()
        self.assertEqual(self.results(), [])

    def test_fastest_schedule(self):
        default = schedule()
        first, tried = self.tune(0)
        self.assertEqual(first, default)
        self.assertGreater(tried, 4)
        self.forget()
        for path in self.results():
            path.unlink()
        third, _ = self.tune(2)
        self.assertNotEqual(third, default)
        self.assertEqual(len(self.results()), 1)
        # Outside of the block, and in a process that does not tune, the default counts.
        self.assertEqual(schedule(), default)

    def test_real_measurement(self):
        with blocksparse.autotune(progress=False):
            tuned = schedule()
            # A later process finds the result and the code.
            self.forget()
            with no_measurement():
                self.assertEqual(schedule(), tuned)

    def test_other_process(self):
        tuned, _ = self.tune(3)
        self.forget()
        with no_measurement(), blocksparse.autotune():
            self.assertEqual(schedule(), tuned)

    def test_file(self):
        default, (tuned, _) = schedule(), self.tune(4)
        path = self.folder.name + "/tuning.json"
        self.assertEqual(tuning.save(path), 1)
        self.assertNotEqual(tuned, default)
        # Another machine, where nothing was measured and nothing is tuned.
        self.forget()
        for entry in pathlib.Path(self.folder.name).glob("cache/*"):
            entry.unlink()
        self.assertEqual(schedule(), default)
        with no_measurement():
            self.assertEqual(tuning.load(path), 1)
            self.assertEqual(schedule(), tuned)
            compiler.clear_memory()
            with mock.patch.object(blocksparse._library, "Program", side_effect=AssertionError("compiled again")):
                np.testing.assert_allclose(blocksparse.dsd(LAYOUT, VALUES, X), EXPECTED, rtol=1e-4, atol=1e-4)

    def test_wrong_results_are_not_used(self):
        with mock.patch.object(tuning, "_are_close", side_effect=lambda one, other: one is other):
            with self.assertWarnsRegex(UserWarning, "gives other results than the default one, and is not used"):
                tuned, _ = self.tune(2)
        self.assertEqual(tuned, schedule())

    def test_are_close(self):
        a = np.array([1.0, -np.inf, 3.0], np.float32)
        self.assertTrue(tuning._are_close([a], [a + np.float32(1e-4)]))
        for b in ([1.1, -np.inf, 3], [1, np.inf, 3], [1, np.nan, 3], [1, 2, 3]):
            self.assertFalse(tuning._are_close([np.array(b, np.float32)], [a]), b)

    def test_time_limit(self):
        tuned, tried = self.tune(0, seconds=1e-9)
        self.assertEqual((tuned, tried), (schedule(), 0))
        self.assertEqual(self.results(), [])

    def test_several_operations(self):
        @blocksparse.jit
        def twice(values, x):
            return blocksparse.dsd(LAYOUT, values, blocksparse.dsd(LAYOUT, values, x))

        with blocksparse.autotune(progress=False):
            result = twice(VALUES, X)
        np.testing.assert_allclose(result, blocksparse.to_dense(LAYOUT, VALUES) @ EXPECTED, rtol=1e-3, atol=1e-3)
        # Both products have one key.
        self.assertEqual(len(self.results()), 1)

    def test_progress(self):
        error = io.StringIO()
        with contextlib.redirect_stderr(error), blocksparse.autotune():
            schedule()
        self.assertIn("tuning dsd of dsd", error.getvalue())

    def test_commands(self):
        self.tune(1)
        path, output = self.folder.name + "/tuning.json", io.StringIO()
        with contextlib.redirect_stdout(output):
            self.assertEqual(tuning.main(["save", path]), 0)
            self.assertEqual(cache.main(["stats"]), 0)
            self.assertEqual(cache.main(["verify"]), 0)
        self.assertRegex(output.getvalue(), r"tuning.json: 1 results\n.*, 1 of them results of tuning\n.*, 0 are not")
        self.assertEqual(len(json.loads(pathlib.Path(path).read_text())["entries"]), 1)

    def test_errors(self):
        path = pathlib.Path(self.folder.name) / "file"
        for text, message in (
                ("{", "'path': expects a tuning database, but got '.*file': "),
                ("[]", "expects a tuning database of format blocksparse-tuning and version 3, but got '.*file': list"),
                ('{"format": "blocksparse-tuning", "version": 1}', "version 3, but got .*'version': 1"),
                ('{"format": "blocksparse-tuning", "version": 3}', "with entries, but got '.*file': NoneType"),
                ('{"format": "blocksparse-tuning", "version": 3, "entries": {"a": {"schedule": 3}}}',
                 "expects entries with a schedule and milliseconds, but got '.*file': 'a'")):
            path.write_text(text)
            with self.subTest(text), self.assertRaisesRegex(ArgumentError, message):
                tuning.load(path)
        with self.assertRaisesRegex(ArgumentError, "'path': expects a tuning database, but got '.*absent': "):
            tuning.load(path.with_name("absent"))
        with self.assertRaisesRegex(ArgumentError, "'seconds': expects a number above 0, but got 0"):
            blocksparse.autotune(seconds=0)

    def test_environment(self):
        for text, enabled in (("", False), ("0", False), ("1", True)):
            with mock.patch.dict(os.environ, {"BLOCKSPARSE_AUTOTUNE": text}):
                self.assertEqual(tuning._of_environment().enabled, enabled)
        with mock.patch.dict(os.environ, {"BLOCKSPARSE_AUTOTUNE": "yes"}), self.assertWarnsRegex(
                UserWarning, "expects BLOCKSPARSE_AUTOTUNE as 0 or 1, but got 'yes'"):
            self.assertFalse(tuning._of_environment().enabled)

    def test_illegal_schedules_of_a_file_are_ignored(self):
        self.tune(1)
        path = pathlib.Path(self.folder.name) / "tuning.json"
        tuning.save(path)
        data = json.loads(path.read_text())
        for entry in data["entries"].values():
            entry["schedule"] = "#blocksparse.schedule<gpu.wgmma>"
        path.write_text(json.dumps(data))
        self.forget()
        default = schedule()
        tuning.load(path)
        self.assertEqual(schedule(), default)


if __name__ == "__main__":
    warnings.simplefilter("default")
    unittest.main()
