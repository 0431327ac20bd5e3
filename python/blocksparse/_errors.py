# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exceptions of the package."""


class ArgumentError(ValueError):
    """Says which argument does not fit, what was expected and what came."""

    def __init__(self, argument, expected, got):
        super().__init__(f"argument '{argument}': expects {expected}, but got {got}")
        self.argument = argument


class CompileError(RuntimeError):
    """Holds the errors of the compiler, each with its location."""


class LibraryError(ImportError):
    """Says that a shared library of the project is missing or has the wrong version."""


class RunError(RuntimeError):
    """Holds the reason for which a compiled function refused a call or a device failed."""
