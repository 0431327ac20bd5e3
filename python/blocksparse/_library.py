# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shared library of the compiler, called by ctypes.

No other module of the package knows a C function. The library is loaded when first needed: from the
folder that the environment variable BLOCKSPARSE_LIBRARY_DIR names, else from the folder `lib` of the
package, which the build of the wheel fills.
"""

import ctypes
import functools
import json
import os
import pathlib
import threading

from blocksparse._errors import ArgumentError, CompileError, LibraryError, RunError

API_MAJOR = 2
# The stages that Program.print_stage knows, in their order.
STAGES = ("parse", "optimise", "schedule", "plan", "bufferize", "lower", "llvm")

_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_INDICES = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
                            ctypes.c_void_p)


class _Options(ctypes.Structure):
    """Mirrors BlocksparseCompileOptions of blocksparse-c/Compiler.h."""

    _fields_ = [("size", ctypes.c_size_t), ("target", ctypes.c_char_p), ("cpu", ctypes.c_char_p),
                ("features", ctypes.c_char_p), ("ptx_version", ctypes.c_int), ("opt_level", ctypes.c_int),
                ("cubin", ctypes.c_int), ("check_indices", ctypes.c_int),
                ("tuning_database", ctypes.c_char_p), ("functions", ctypes.c_char_p),
                ("symbol_prefix", ctypes.c_char_p), ("packed_entry_points", ctypes.c_int)]

    def __init__(self, target):
        super().__init__()
        _compiler().blocksparseCompileOptionsInit(self, ctypes.sizeof(self))
        self.target = target.encode()


class _Diagnostic(ctypes.Structure):
    """Mirrors BlocksparseDiagnostic of blocksparse-c/Compiler.h."""

    _fields_ = [("size", ctypes.c_size_t), ("severity", ctypes.c_int), ("message", ctypes.c_char_p),
                ("file", ctypes.c_char_p), ("line", ctypes.c_uint), ("column", ctypes.c_uint),
                ("location", ctypes.c_char_p)]


_DIAGNOSTIC = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Diagnostic), ctypes.c_void_p)
_ERROR = 3


class _Errors:
    """Collects the errors of a call, a line "<location>: error: <message>" each."""

    def __init__(self):
        self.lines = []
        self.callback = _DIAGNOSTIC(self._receive)

    def _receive(self, diagnostic, _):
        found = diagnostic.contents
        if found.severity != _ERROR:
            return
        message = found.message.decode("utf-8", "replace")
        place = f"{found.location.decode('utf-8', 'replace')}: " if found.file else ""
        self.lines.append(f"{place}error: {message}")

    def get(self):
        return "\n".join(self.lines)


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


def _load(name):
    path = folder() / name
    if not path.exists():
        raise LibraryError(f"expects {name} in '{folder()}', but got no such file: install the package with "
                           "its libraries, or set BLOCKSPARSE_LIBRARY_DIR to the folder 'lib' of a build")
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(f"expects to load '{path}', but got: {error}") from error


def _declare(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments


@functools.cache
def _compiler():
    """Returns the library of the compiler after a check of its version."""
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
    options = ctypes.POINTER(_Options)
    _declare(library, "blocksparseCompileOptionsInit", None, options, ctypes.c_size_t)
    _declare(library, "blocksparseProgramParse", pointer, string, ctypes.c_size_t, string, string,
             _DIAGNOSTIC, pointer)
    _declare(library, "blocksparseProgramDestroy", None, pointer)
    _declare(library, "blocksparseProgramDescribe", integer, pointer, options, _TEXT, _DIAGNOSTIC, pointer)
    _declare(library, "blocksparseProgramPrintStage", integer, pointer, options, string, _TEXT,
             _DIAGNOSTIC, pointer)
    _declare(library, "blocksparseProgramEmitHeader", integer, pointer, options, string, _TEXT,
             _DIAGNOSTIC, pointer)
    _declare(library, "blocksparseProgramLoad", pointer, pointer, options, _DIAGNOSTIC, pointer)
    _declare(library, "blocksparseExecutableDestroy", None, pointer)
    _declare(library, "blocksparseExecutableLookup", pointer, pointer, string, _DIAGNOSTIC, pointer)
    _declare(library, "blocksparseExecutableLastError", string)
    _declare(library, "blocksparseLayoutDescribePatterns", None, _TEXT, pointer)
    _declare(library, "blocksparseLayoutFromPattern", integer, ctypes.c_int64 * 5, string, string,
             _INDICES, _TEXT, _TEXT, pointer)
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
        errors = _Errors()
        self._library = _compiler()
        self._handle = self._library.blocksparseProgramParse(data, len(data), name.encode(), None,
                                                             errors.callback, None)
        if not self._handle:
            raise CompileError(errors.get())

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.blocksparseProgramDestroy(self._handle)

    def _ask(self, function, *arguments):
        """Calls a function that gives a text."""
        text, errors = _Text(), _Errors()
        if function(self._handle, *arguments, text.callback, errors.callback, None):
            raise CompileError(errors.get())
        return text.get()

    def describe(self, target="cpu"):
        """Returns the public functions: the list `functions` of blocksparseProgramDescribe."""
        text = self._ask(self._library.blocksparseProgramDescribe, _Options(target))
        return json.loads(text)["functions"]

    def print_stage(self, stage, target):
        """Returns the IR after a stage of STAGES."""
        if stage not in STAGES:
            raise ArgumentError("stage", f"one of {', '.join(STAGES)}", repr(stage))
        return self._ask(self._library.blocksparseProgramPrintStage, _Options(target), stage.encode())

    def load(self, target):
        """Compiles the program into memory and returns it as an Executable."""
        options, errors = _Options(target), _Errors()
        header = self._ask(self._library.blocksparseProgramEmitHeader, options, b"GUARD")
        handle = self._library.blocksparseProgramLoad(self._handle, options, errors.callback, None)
        if not handle:
            raise CompileError(errors.get())
        return Executable(handle, header)


class Executable:
    """Compiled code in memory. Any thread may call it."""

    def __init__(self, handle, header):
        self._library = _compiler()
        self._handle = handle
        self._header = header

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.blocksparseExecutableDestroy(self._handle)

    def _find(self, name, result):
        errors = _Errors()
        address = self._library.blocksparseExecutableLookup(self._handle, name.encode(), errors.callback,
                                                            None)
        if not address:
            raise CompileError(errors.get())
        return ctypes.CFUNCTYPE(result)(address)

    def lookup(self, name):
        """Returns an entry point as a callable of addresses and numbers that raises RunError.

        The callable keeps the code in memory.
        """
        returns_status = f"int32_t {name}(" in self._header
        on_stream = f"int32_t {name}_on_stream(" in self._header
        function = self._find(f"{name}_on_stream" if on_stream else name,
                              ctypes.c_int32 if returns_status else None)

        def call(*arguments):
            if on_stream:
                arguments += (ctypes.c_void_p(getattr(_thread, "stream", None)),)
            if function(*arguments):
                reason = self._library.blocksparseExecutableLastError()
                raise RunError(reason.decode("utf-8", "replace"))

        return call


_thread = threading.local()


def set_stream(stream):
    """Sets the CUDA stream on which this thread's calls put their work; 0 is the default one."""
    _thread.stream = stream
