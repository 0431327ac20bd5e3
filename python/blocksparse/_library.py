# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shared libraries of the compiler and of the runtime, called by ctypes.

No other module of the package knows a C function. The libraries are loaded when first needed: from the
folder that the environment variable BLOCKSPARSE_LIBRARY_DIR names, else from the folder `lib` of the
package, which the build of the wheel fills.
"""

import ctypes
import functools
import json
import os
import pathlib
import tempfile

from blocksparse._errors import ArgumentError, CompileError, LibraryError, RunError

API_MAJOR = 1
# The stages that Program.print_stage knows, in their order.
STAGES = ("parse", "optimise", "schedule", "plan", "bufferize", "lower", "llvm")

_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_INDICES = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
                            ctypes.c_void_p)


class _Options(ctypes.Structure):
    """Mirrors BlocksparseCompileOptions of blocksparse-c/Compiler.h."""

    _fields_ = [("target", ctypes.c_char_p), ("cpu", ctypes.c_char_p), ("features", ctypes.c_char_p),
                ("ptx_version", ctypes.c_int), ("optimization", ctypes.c_int)]


class _Text:
    """Collects what a text callback receives."""

    def __init__(self):
        self.parts = []
        self.callback = _TEXT(self._receive)

    def _receive(self, address, length, _):
        self.parts.append(ctypes.string_at(address, length))

    def get(self):
        return b"".join(self.parts).decode("utf-8", "replace")


def folder():
    """Returns the folder with the shared libraries."""
    named = os.environ.get("BLOCKSPARSE_LIBRARY_DIR")
    return pathlib.Path(named) if named else pathlib.Path(__file__).parent / "lib"


def _load(name, mode=ctypes.DEFAULT_MODE):
    path = folder() / name
    if not path.exists():
        raise LibraryError(f"expects {name} in '{folder()}', but got no such file: install the package with "
                           "its libraries, or set BLOCKSPARSE_LIBRARY_DIR to the folder 'lib' of a build")
    try:
        return ctypes.CDLL(str(path), mode=mode)
    except OSError as error:
        raise LibraryError(f"expects to load '{path}', but got: {error}") from error


def _declare(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments


@functools.cache
def _compiler():
    """Returns the library of the compiler after a check of its version."""
    runtime()
    library = _load("libblocksparse_compiler.so")
    integer, pointer, string = ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p
    _declare(library, "blocksparseCompilerApiVersion", None, ctypes.POINTER(integer),
             ctypes.POINTER(integer))
    major, minor = integer(), integer()
    library.blocksparseCompilerApiVersion(major, minor)
    if major.value != API_MAJOR:
        raise LibraryError(f"expects version {API_MAJOR} of the compiler's C interface, but got "
                           f"{major.value}.{minor.value} in '{folder()}'")
    _declare(library, "blocksparseCompilerVersion", string)
    _declare(library, "blocksparseProgramParse", pointer, string, ctypes.c_size_t, string, _TEXT, pointer)
    _declare(library, "blocksparseProgramDestroy", None, pointer)
    _declare(library, "blocksparseProgramDescribe", integer, pointer, _TEXT, _TEXT, pointer)
    options = ctypes.POINTER(_Options)
    _declare(library, "blocksparseProgramPrintStage", integer, pointer, options, string, _TEXT, _TEXT,
             pointer)
    _declare(library, "blocksparseProgramEmit", integer, pointer, options, string, _TEXT, pointer)
    _declare(library, "blocksparseProgramEmitHeader", integer, pointer, options, string, _TEXT, _TEXT,
             pointer)
    _declare(library, "blocksparseLayoutDescribePatterns", None, _TEXT, pointer)
    _declare(library, "blocksparseLayoutFromPattern", integer, ctypes.c_int64 * 5, string, string,
             _INDICES, _TEXT, _TEXT, pointer)
    return library


@functools.cache
def runtime():
    """Returns the library of the runtime. Compiled code finds it in the process."""
    library = _load("libblocksparse_runtime.so", ctypes.RTLD_GLOBAL)
    _declare(library, "blocksparseRtLastError", ctypes.c_char_p)
    _declare(library, "blocksparseRtSetStream", ctypes.c_int, ctypes.c_void_p)
    return library


def version():
    """Returns the version of the compiler's library, "MAJOR.MINOR.PATCH"."""
    return _compiler().blocksparseCompilerVersion().decode()


# Patterns -----------------------------------------------------------------------------------------


@functools.cache
def patterns():
    """Returns the named patterns by name and alias, as blocksparse-c/Layout.h describes them."""
    text = _Text()
    _compiler().blocksparseLayoutDescribePatterns(text.callback, None)
    table = {}
    for entry in json.loads(text.get()):
        table[entry["name"]] = entry
        if entry["alias"]:
            table[entry["alias"]] = entry
    return table


def build_pattern(name, shape, parameters):
    """Builds a named pattern; `shape` is (block rows, block columns, heads, rows, columns).

    Returns the bytes of the row offsets and of the column indices, each an array of int32, and the
    notes about parameters without effect. Raises ValueError.
    """
    found, notes, error = [], [], _Text()

    def receive(offsets, number_of_offsets, columns, number_of_columns, _):
        found.append(ctypes.string_at(offsets, 4 * number_of_offsets))
        found.append(ctypes.string_at(columns, 4 * number_of_columns) if number_of_columns else b"")

    def note(address, length, _):
        notes.append(ctypes.string_at(address, length).decode())

    failed = _compiler().blocksparseLayoutFromPattern(
        (ctypes.c_int64 * 5)(*shape), name.encode(), json.dumps(parameters).encode(), _INDICES(receive),
        _TEXT(note), error.callback, None)
    if failed:
        raise ValueError(error.get())
    return found[0], found[1], notes


# Programs -----------------------------------------------------------------------------------------


class Program:
    """A parsed and verified module. One thread at a time may use it."""

    def __init__(self, text, name="<program>"):
        data = text.encode() if isinstance(text, str) else bytes(text)
        errors = _Text()
        self._library = _compiler()
        self._handle = self._library.blocksparseProgramParse(data, len(data), name.encode(),
                                                             errors.callback, None)
        if not self._handle:
            raise CompileError(errors.get().rstrip())

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.blocksparseProgramDestroy(self._handle)

    def describe(self):
        """Returns the public functions: the list `functions` of blocksparseProgramDescribe."""
        text, errors = _Text(), _Text()
        if self._library.blocksparseProgramDescribe(self._handle, text.callback, errors.callback, None):
            raise CompileError(errors.get().rstrip())
        return json.loads(text.get())["functions"]

    def print_stage(self, stage, target):
        """Returns the IR after a stage of STAGES."""
        if stage not in STAGES:
            raise ArgumentError("stage", f"one of {', '.join(STAGES)}", repr(stage))
        text, errors = _Text(), _Text()
        if self._library.blocksparseProgramPrintStage(self._handle, _Options(target=target.encode()),
                                                      stage.encode(), text.callback, errors.callback,
                                                      None):
            raise CompileError(errors.get().rstrip())
        return text.get()

    def load(self, target):
        """Compiles the program and returns it as an Executable."""
        options, header, errors = _Options(target=target.encode()), _Text(), _Text()
        if self._library.blocksparseProgramEmitHeader(self._handle, options, b"GUARD", header.callback,
                                                      errors.callback, None):
            raise CompileError(errors.get().rstrip())
        with tempfile.TemporaryDirectory(prefix="blocksparse-") as temporary:
            path = os.path.join(temporary, "program.so")
            if self._library.blocksparseProgramEmit(self._handle, options, path.encode(),
                                                    errors.callback, None):
                raise CompileError(errors.get().rstrip())
            # The loader keeps the file's contents after the file is removed.
            return Executable(ctypes.CDLL(path), header.get())


class Executable:
    """Compiled code in memory. Any thread may call it."""

    def __init__(self, library, header):
        self._library = library
        self._header = header

    def lookup(self, name, number_of_arguments):
        """Returns an entry point as a callable of addresses and numbers that raises RunError."""
        function = getattr(self._library, name)
        if f"int32_t {name}(" not in self._header:
            function.restype = None
            return function
        function.restype = ctypes.c_int32

        def call(*arguments):
            if function(*arguments):
                raise RunError(runtime().blocksparseRtLastError().decode("utf-8", "replace"))

        return call


def set_stream(stream):
    """Sets the CUDA stream on which this thread's calls put their work; 0 is the default one."""
    if runtime().blocksparseRtSetStream(stream):
        raise RunError(runtime().blocksparseRtLastError().decode("utf-8", "replace"))
