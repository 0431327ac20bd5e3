# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package."""

import contextlib


class ArgumentError(ValueError):
    """Says which argument does not fit, what was expected and what came."""

    def __init__(self, argument, expected, got):
        super().__init__(f"argument '{argument}': expects {expected}, but got {got}")
        self.argument = argument
        self._expected, self._got = str(expected), str(got)

    def renamed(self, argument):
        """Returns the error as one of another argument."""
        return type(self)(argument, self._expected, self._got)

    def __reduce__(self):
        # An exception of a worker process comes back to its parent by pickle, which gives the message alone.
        return type(self), (self.argument, self._expected, self._got)


@contextlib.contextmanager
def renamed(**names):
    """Has an ArgumentError of the calls inside name the caller's arguments: renamed(mask="layout")."""
    try:
        yield
    except ArgumentError as error:
        if error.argument not in names:
            raise
        raise error.renamed(names[error.argument]) from None


class CompileError(RuntimeError):
    """Holds the errors of the compiler, each with its location."""


class LibraryError(ImportError):
    """Says that a shared library of the project is missing or has the wrong version."""


class RunError(RuntimeError):
    """Holds the reason for which a compiled function refused a call or a device failed."""
