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
import threading

from blocksparse._errors import ArgumentError, CompileError, LibraryError, RunError

API_MAJOR = 2
# The stages that Program.print_stage knows, in their order.
STAGES = ("parse", "optimise", "schedule", "plan", "bufferize", "lower", "llvm")

# Values of BlocksparseSeverity, BlocksparseFormat and BlocksparseCheck in blocksparse-c/Compiler.h.
_SEVERITIES = ("note", "remark", "warning", "error")
_FORMAT_OBJECT, _FORMAT_PTX = 2, 4

_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
_PACKED = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
_NUMBERS = ctypes._SimpleCData
_INDICES = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
                            ctypes.c_void_p)


class _Options(ctypes.Structure):
    """Mirrors BlocksparseCompileOptions of blocksparse-c/Compiler.h."""

    _fields_ = [("size", ctypes.c_size_t), ("target", ctypes.c_char_p), ("cpu", ctypes.c_char_p),
                ("features", ctypes.c_char_p), ("ptx_version", ctypes.c_int), ("opt_level", ctypes.c_int),
                ("cubin", ctypes.c_int), ("check_indices", ctypes.c_int),
                ("tuning_database", ctypes.c_char_p), ("functions", ctypes.c_char_p),
                ("symbol_prefix", ctypes.c_char_p), ("packed_entry_points", ctypes.c_int)]


class _Diagnostic(ctypes.Structure):
    """Mirrors BlocksparseDiagnostic."""

    _fields_ = [("size", ctypes.c_size_t), ("severity", ctypes.c_int), ("message", ctypes.c_char_p),
                ("file", ctypes.c_char_p), ("line", ctypes.c_uint), ("column", ctypes.c_uint),
                ("location", ctypes.c_char_p)]


_DIAGNOSE = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Diagnostic), ctypes.c_void_p)


class _Diagnostics:
    """Collects the diagnostics of a call."""

    def __init__(self):
        self.lines = []
        self.callback = _DIAGNOSE(self._receive)

    def _receive(self, diagnostic, _):
        found = diagnostic.contents
        place = f"{_decode(found.file)}:{found.line}:{found.column}: " if found.file else ""
        self.lines.append(f"{place}{_SEVERITIES[found.severity]}: {_decode(found.message)}")

    def error(self):
        """Returns the exception of a call that failed."""
        return CompileError("\n".join(self.lines))


class _Text:
    """Collects what a text callback receives."""

    def __init__(self):
        self.parts = []
        self.callback = _TEXT(self._receive)

    def _receive(self, address, length, _):
        self.parts.append(ctypes.string_at(address, length))

    def data(self):
        return b"".join(self.parts)

    def get(self):
        return self.data().decode("utf-8", "replace")


def _uninterrupted(call, *arguments):
    """Returns call(*arguments) of a function that receives data by a callback, apart from the main thread.

    Handlers of signals run in the main thread alone. What they raise inside a callback, ctypes would drop together with
    the data of the callback. Here a KeyboardInterrupt is raised when the call has ended, as in any call of C.
    """
    if threading.current_thread() is not threading.main_thread():
        return call(*arguments)
    results, errors = [], []

    def run():
        try:
            results.append(call(*arguments))
        except BaseException as error:  # pylint: disable=broad-except
            errors.append(error)

    thread = threading.Thread(target=run, name="blocksparse call")
    try:
        thread.start()
    except RuntimeError:
        # There are no new threads when the interpreter ends.
        return call(*arguments)
    while thread.is_alive():
        try:
            thread.join()
        except BaseException as interrupt:  # pylint: disable=broad-except
            errors.append(interrupt)
    if errors:
        raise errors[0]
    return results[0]


def _decode(text):
    return text.decode("utf-8", "replace")


def folder():
    """Returns the folder with the shared libraries."""
    named = os.environ.get("BLOCKSPARSE_LIBRARY_DIR")
    return named or os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib")


def compiler_path():
    """Returns the path of the compiler's library."""
    return os.path.join(folder(), "libblocksparse_compiler.so")


def _load(path):
    if not os.path.exists(path):
        raise LibraryError(f"expects {os.path.basename(path)} in '{os.path.dirname(path)}', but got no such file: install "
                           "the package with its libraries, or set BLOCKSPARSE_LIBRARY_DIR to the folder 'lib' of a build")
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise LibraryError(f"expects to load '{path}', but got: {error}") from error


def _declare(library, name, result, *arguments):
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments


@functools.cache
def _compiler():
    """Returns the library of the compiler after a check of its version."""
    library = _load(compiler_path())
    integer, pointer, string = ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p
    _declare(library, "blocksparseCompilerApiVersion", None, ctypes.POINTER(integer),
             ctypes.POINTER(integer))
    major, minor = integer(), integer()
    library.blocksparseCompilerApiVersion(major, minor)
    if major.value != API_MAJOR:
        raise LibraryError(f"expects version {API_MAJOR} of the compiler's C interface, but got "
                           f"{major.value}.{minor.value} in '{folder()}'")
    _declare(library, "blocksparseCompilerVersion", string)
    options, size = ctypes.POINTER(_Options), ctypes.c_size_t
    _declare(library, "blocksparseCompileOptionsInit", None, options, size)
    _declare(library, "blocksparseProgramParse", pointer, string, size, string, string, _DIAGNOSE, pointer)
    _declare(library, "blocksparseProgramDestroy", None, pointer)
    _declare(library, "blocksparseProgramDescribe", integer, pointer, options, _TEXT, _DIAGNOSE, pointer)
    _declare(library, "blocksparseProgramListSchedules", integer, pointer, options, _TEXT, _DIAGNOSE, pointer)
    _declare(library, "blocksparseProgramPrintGradients", integer, pointer, string, _TEXT, _DIAGNOSE, pointer)
    _declare(library, "blocksparseProgramPrintStage", integer, pointer, options, string, _TEXT, _DIAGNOSE,
             pointer)
    _declare(library, "blocksparseProgramEmitToMemory", integer, pointer, options, integer, _TEXT, _DIAGNOSE,
             pointer)
    _declare(library, "blocksparseExecutableLoad", pointer, string, size, _DIAGNOSE, pointer)
    _declare(library, "blocksparseExecutableDestroy", None, pointer)
    _declare(library, "blocksparseExecutableLookup", pointer, pointer, string, _DIAGNOSE, pointer)
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
    _uninterrupted(_compiler().blocksparseLayoutDescribePatterns, text.callback, None)
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

    failed = _uninterrupted(
        _compiler().blocksparseLayoutFromPattern, (ctypes.c_int64 * 5)(*shape), name.encode(), json.dumps(parameters).encode(), _INDICES(receive),
        _TEXT(note), error.callback, None)
    if failed:
        raise ValueError(error.get())
    return found[0], found[1], notes


# Programs -----------------------------------------------------------------------------------------


def _options(target, database=None):
    """Returns the options of a compilation for memory; `database` is the path of a tuning database."""
    options = _Options()
    _compiler().blocksparseCompileOptionsInit(options, ctypes.sizeof(options))
    options.target = target.encode()
    options.packed_entry_points = 1
    options.tuning_database = os.fsencode(database) if database else None
    return options


class Program:
    """A parsed and verified module. One thread at a time may use it, in the process that parsed it: the threads of
    the compiler do not live on in a process that was forked."""

    def __init__(self, text, name="<program>"):
        self._process = os.getpid()
        data = text.encode() if isinstance(text, str) else bytes(text)
        diagnostics = _Diagnostics()
        self._library = _compiler()
        self._handle = _uninterrupted(self._library.blocksparseProgramParse, data, len(data), name.encode(), None,
                                      diagnostics.callback, None)
        if not self._handle:
            raise diagnostics.error()

    def __del__(self):
        # A fork leaves the memory: to free it would wait for threads that are not there.
        if getattr(self, "_handle", None) and self.is_of_this_process():
            self._library.blocksparseProgramDestroy(self._handle)

    def is_of_this_process(self):
        """Tells whether this process has parsed the program."""
        return self._process == os.getpid()

    def _text(self, function, *arguments):
        """Calls a function that passes text to a callback and returns the text."""
        text, diagnostics = _Text(), _Diagnostics()
        if _uninterrupted(function, self._handle, *arguments, text.callback, diagnostics.callback, None):
            raise diagnostics.error()
        return text

    def describe(self, target):
        """Returns the entry points: the list `functions` of blocksparseProgramDescribe."""
        text = self._text(self._library.blocksparseProgramDescribe, _options(target))
        return json.loads(text.get())["functions"]

    def list_schedules(self, target):
        """Returns the operations with their keys and schedules: the list of blocksparseProgramListSchedules."""
        text = self._text(self._library.blocksparseProgramListSchedules, _options(target))
        return json.loads(text.get())["operations"]

    def print_stage(self, stage, target, database=None):
        """Returns the IR after a stage of STAGES."""
        if stage not in STAGES:
            raise ArgumentError("stage", f"one of {', '.join(STAGES)}", repr(stage))
        return self._text(self._library.blocksparseProgramPrintStage, _options(target, database),
                          stage.encode()).get()

    def gradients(self, function):
        """Returns the text of a program of two functions, those named FUNCTION_forward and FUNCTION_backward."""
        return self._text(self._library.blocksparseProgramPrintGradients, function.encode()).get()

    def ptx(self, target, database=None):
        """Returns the kernels of a program for a GPU."""
        return self._text(self._library.blocksparseProgramEmitToMemory, _options(target, database),
                          _FORMAT_PTX).get()

    def object(self, target, database=None):
        """Compiles the program and returns the bytes of an object for Executable."""
        return self._text(self._library.blocksparseProgramEmitToMemory, _options(target, database),
                          _FORMAT_OBJECT).data()


class Executable:
    """Compiled code in memory, of the bytes of Program.object. Any thread may call it."""

    def __init__(self, data):
        diagnostics = _Diagnostics()
        self._library = _compiler()
        self._handle = self._library.blocksparseExecutableLoad(data, len(data), diagnostics.callback, None)
        if not self._handle:
            raise diagnostics.error()

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.blocksparseExecutableDestroy(self._handle)

    def lookup(self, name):
        """Returns an entry point as a callable of arguments, ctypes objects, that raises RunError. Its member
        `address` is that of the code."""
        diagnostics = _Diagnostics()
        address = self._library.blocksparseExecutableLookup(self._handle, f"{name}.packed".encode(),
                                                            diagnostics.callback, None)
        if not address:
            raise diagnostics.error()
        function = _PACKED(address)

        def call(*arguments):
            count = len(arguments)
            # An argument that is a descriptor is passed by its address, and each by the address of that.
            values = [argument if isinstance(argument, _NUMBERS) else ctypes.c_void_p(ctypes.addressof(argument))
                      for argument in arguments]
            if function((ctypes.c_void_p * count)(*map(ctypes.addressof, values))):
                raise RunError(_decode(self._library.blocksparseExecutableLastError()))

        call.address = address
        return call
