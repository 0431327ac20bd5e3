# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled functions: MLIR text in, a callable on arrays out."""

import collections
import ctypes
import os
import sys
import threading

from blocksparse import _arrays, _library, cache, tuning
from blocksparse._errors import ArgumentError

# Compiled programs that the process keeps; the least recently used one leaves first.
MAX_PROGRAMS = 512

_NUMBERS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i1": ctypes.c_bool, "i8": ctypes.c_int8,
            "i32": ctypes.c_int32, "i64": ctypes.c_int64, "index": ctypes.c_int64}


class _Compiled:
    """A program and its code for one target: from the cache on disk, or compiled when it is first called."""

    def __init__(self, text, target):
        self.text, self.target = text, target
        self._lock = threading.Lock()
        self._program = self._code = self._executable = None
        # Pairs of the key of an operation and its schedule that was measured.
        self._schedules = tuning.schedules_of(self._operations()) if tuning.in_use() else ()
        self._key = cache.key(text, target, self._schedules)
        found = cache.load(self._key)
        if found:
            functions, self._code = found
        else:
            functions = self._parsed().describe(target)
        self.functions = {entry["source_name"]: entry for entry in functions}

    def forget_locks(self):
        """Frees the lock in a process that was forked while another thread held it."""
        self._lock = threading.Lock()

    def _parsed(self):
        if self._program is None or not self._program.is_of_this_process():
            self._program = _library.Program(self.text)
        return self._program

    def _operations(self):
        """Returns the operations that schedules are chosen for, from the cache if they are there."""
        name = cache.key(self.text, self.target, "operations")
        found = cache.load(name)
        if found:
            return found[0]
        operations = self._parsed().list_schedules(self.target)
        cache.store(name, operations, b"")
        return operations

    def stage(self, name):
        """Returns the IR after a stage."""
        with self._lock, tuning.database(self._schedules) as database:
            return self._parsed().print_stage(name, self.target, database)

    def ptx(self):
        """Returns the kernels of a program for a GPU."""
        with self._lock, tuning.database(self._schedules) as database:
            return self._parsed().ptx(self.target, database)

    def tune(self, title, prepare, like):
        """Chooses the schedules by measurement, if there is no code in memory yet; see tuning.Search."""
        def compile_with(schedules):
            with tuning.database(schedules) as database:
                return _library.Program(self.text).object(self.target, database)

        with self._lock:
            if self._executable is not None:
                return
            schedules = tuning.Search(title, compile_with, prepare, like).run(self._operations())
            if schedules != self._schedules:
                self._schedules, self._code = schedules, None
                self._key = cache.key(self.text, self.target, schedules)

    def lookup(self, name):
        """Returns an entry point of the code in memory, which is made when it is first asked for."""
        with self._lock:
            if self._executable is None:
                if self._code is None:
                    with tuning.database(self._schedules) as database:
                        self._code = self._parsed().object(self.target, database)
                    cache.store(self._key, list(self.functions.values()), self._code)
                self._executable = _library.Executable(self._code)
                self._code = None
            return self._executable.lookup(name)


class _Programs:
    """The programs of the process by everything that decides their code."""

    def __init__(self):
        self._lock = threading.Lock()
        self._programs = collections.OrderedDict()

    def get(self, text, target):
        """Returns the program of a text and a target, from memory if it is there."""
        key = (text, target)
        with self._lock:
            found = self._programs.get(key)
            if found is not None:
                self._programs.move_to_end(key)
                return found
        # Two threads may parse one text at once: the first one that comes back is kept.
        made = _Compiled(text, target)
        with self._lock:
            made = self._programs.setdefault(key, made)
            while len(self._programs) > MAX_PROGRAMS:
                self._programs.popitem(last=False)
        return made

    def clear(self):
        with self._lock:
            self._programs.clear()

    def forget_locks(self):
        """Frees the locks in a process that was forked while another thread held them."""
        self._lock = threading.Lock()
        for program in self._programs.values():
            program.forget_locks()


_programs = _Programs()
os.register_at_fork(after_in_child=_programs.forget_locks)


class _Parameter:
    """Describes one argument or result of a function."""

    __slots__ = ("name", "number", "element", "shape", "static")

    def __init__(self, entry):
        self.name, self.element, self.shape = entry["name"], entry["element"], tuple(entry["shape"])
        # A tensor of i1 has a byte for each element, and the header calls it i8.
        if entry["type"].endswith("xi1>"):
            self.element = "i1"
        self.number = _NUMBERS.get(entry["element"]) if entry["role"] == "number" else None
        self.static = -1 not in self.shape

    def check_number(self, value):
        """Returns a number as ctypes passes it; raises ArgumentError."""
        try:
            # Numbers of numpy are numbers of Python here.
            value = value.item() if hasattr(value, "item") else value
            number = self.number(value)
            fits = self.element in ("f32", "f64") or number.value == value
        except (TypeError, ValueError, RuntimeError):
            fits = False
        if not fits:
            raise ArgumentError(self.name, f"a number of type {self.element}", repr(value))
        return number

    def check(self, value):
        """Returns an array that fits; raises ArgumentError."""
        array = _arrays.check(self.name, value)
        element = _arrays.element_of(self.name, array)
        shape = tuple(array.shape)
        if element != self.element or shape != self.shape and (
                self.static or len(shape) != len(self.shape)
                or any(size not in (-1, got) for size, got in zip(self.shape, shape))):
            sizes = ", ".join("?" if size < 0 else str(size) for size in self.shape)
            raise ArgumentError(self.name, f"{_arrays.NAMES[self.element]} [{sizes}]", _arrays.show(array))
        return array


def _describe(array):
    """Returns the descriptor of an array as compiled code reads it."""
    address, sizes, strides = _arrays.descriptor(array)
    return (ctypes.c_int64 * (3 + 2 * len(sizes)))(address, address, 0, *sizes, *strides)


class CompiledFunction:
    """A function of a compiled program, called with arrays in the order of its parameters.

    A sparse tensor of a static layout is passed as its values, one of a run-time pattern as crow_indices,
    col_indices and values. Results are new arrays of the library and in the memory of the arguments: one
    array, or a tuple.
    """

    def __init__(self, compiled, name):
        self._compiled = compiled
        self.name = name
        entry = compiled.functions[name]
        self.arguments = [_Parameter(parameter) for parameter in entry["arguments"]]
        self.results = [_Parameter(parameter) for parameter in entry["results"]]
        self._names = entry
        for parameter in self.arguments + self.results:
            if parameter.number is None and parameter.element not in _arrays.NAMES:
                raise ArgumentError(parameter.name, f"an element type of {', '.join(_arrays.NAMES)}",
                                    parameter.element)
        self._entry = None
        self._size_entry = None
        # The server (_torch_servers) calls the function on tensors of torch like those of earlier calls.
        self.server = None
        self._has_numbers = any(one.number for one in self.arguments)

    def __reduce__(self):
        return compile, (self.mlir, self.name, self.target)

    def __repr__(self):
        return f"<compiled function {self.name} for {self.target}>"

    @property
    def target(self):
        """The target that the code is made for."""
        return self._compiled.target

    @property
    def mlir(self):
        """The program as it was written."""
        return self._compiled.text

    @property
    def plan(self):
        """The program after planning: look-up tables, segments and schedules."""
        return self._compiled.stage("plan")

    def stage(self, name):
        """Returns the program after a stage: parse, optimise, schedule, plan, bufferize, lower or llvm."""
        return self._compiled.stage(name)

    @property
    def ptx(self):
        """The kernels of a program for one GPU, as PTX."""
        return self._compiled.ptx()

    @property
    def parameters(self):
        """Names, element types and shapes of the arguments; -1 is a size that is open."""
        return [(one.name, one.element, one.shape) for one in self.arguments]

    def _lookup(self, lookup):
        """Returns the entry points of code, (size function or None, function); lookup finds one by name."""
        names = self._names
        sizes = lookup(names["size_function"]) if names["size_function"] else None
        # Work for a GPU goes to the stream that is the last argument.
        return sizes, lookup(names["stream_function"] or names["name"])

    def _load(self):
        self._size_entry, self._entry = self._lookup(self._compiled.lookup)
        return self._entry

    def _tune(self, passed, like, stream):
        """Chooses the schedules of the program by calls with these arguments."""
        def prepare(code):
            executable = _library.Executable(code)
            size_entry, entry = self._lookup(executable.lookup)
            results = [_arrays.empty(shape, parameter.element, like) for shape, parameter
                       in zip(self._open_sizes(size_entry, passed), self.results)]
            described = [_describe(array) for array in results]
            # The code lives as long as the executable does.
            return (lambda _=executable: entry(*passed, *described, *stream)), results

        self._compiled.tune(self.name, prepare, like)

    @property
    def addresses(self):
        """Addresses of the code and of the code that computes open sizes (None without it)."""
        entry = self._entry or self._load()
        return entry.address, self._size_entry.address if self._size_entry else None

    def _open_sizes(self, size_entry, passed):
        """Returns the shapes of the results, with open sizes from the size function."""
        count = sum(size < 0 for one in self.results for size in one.shape)
        if not count:
            return [one.shape for one in self.results]
        sizes = (ctypes.c_int64 * count)()
        address = ctypes.addressof(sizes)
        size_entry(*passed, (ctypes.c_int64 * 5)(address, address, 0, count, 1))
        found = iter(sizes)
        return [tuple(next(found) if size < 0 else size for size in one.shape) for one in self.results]

    def __call__(self, *values, out=None):
        """Calls the function. `out` gives the array of the only result, or a tuple of them all."""
        if len(values) != len(self.arguments):
            raise TypeError(f"{self.name}() expects {len(self.arguments)} arguments "
                            f"({', '.join(one.name for one in self.arguments)}), but got {len(values)}")
        if out is None and not self._has_numbers and _arrays.is_torch(values[0] if values else None):
            found = _torch_functions().run_function(self, values)
            if found is not None:
                return found
        arrays, passed = [], []
        for parameter, value in zip(self.arguments, values):
            if parameter.number is not None:
                passed.append(parameter.check_number(value))
                continue
            array = parameter.check(value)
            arrays.append((parameter.name, array))
            passed.append(array)
        if not arrays:
            raise ArgumentError("function", "a function with an argument that is an array", self.name)
        _arrays.check_same_place(arrays)
        _arrays.check_no_gradient(arrays)
        return self._run(arrays, passed, out)

    def run(self, arrays, note=True):
        """Calls a function of arrays alone that the caller has checked: of one place, of the shapes and
        element types of the parameters, and with strides that `_arrays.check` allows. note: whether
        operators of torch learn of the call."""
        return self._run([("", array) for array in arrays], arrays, None, note)

    def _run(self, arrays, passed, out, note=True):
        """Calls the code with arrays and numbers; `arrays` are the arrays of `passed` with their names."""
        like = arrays[0][1]
        if _arrays.is_fake(like):
            # torch.compile asks what the results look like.
            results = [_arrays.empty(one.shape, one.element, like) for one in self.results]
            return results[0] if len(results) == 1 else tuple(results)
        values = passed
        passed = [one if self.arguments[position].number else _describe(one)
                  for position, one in enumerate(passed)]
        device = _arrays.device_of(like)
        if (device is not None) != self.target.startswith("cuda"):
            raise ArgumentError(arrays[0][0], f"an array for the target {self.target}",
                                "memory of the host" if device is None else f"device cuda:{device}")
        stream = () if device is None else (_current_stream(device),)
        if self._entry is None and tuning.is_active():
            self._tune(passed, like, stream)
        entry = self._entry or self._load()
        outs = None if out is None else self._check_out(out, arrays)
        # Compiled code writes where nothing is read and no other result lies.
        apart = outs is not None and not any(_arrays.overlap(*pair) for pair in _pairs(
            outs, [array for _, array in arrays]))
        results = outs if apart else [_arrays.empty(shape, parameter.element, like) for shape, parameter
                                      in zip(self._open_sizes(self._size_entry, passed), self.results)]
        described = [_describe(array) for array in results]
        entry(*passed, *described, *stream)
        if outs is not None and not apart:
            for target, source in zip(outs, results):
                _arrays.assign(target, source)
            results = outs
        found = results[0] if len(results) == 1 else tuple(results)
        if note and outs is None and results and not self._has_numbers and _arrays.is_torch(like):
            _torch_functions().note_call(self, values, found)
        return found

    def _check_out(self, out, arrays):
        outs = out if isinstance(out, (tuple, list)) else (out,)
        if len(outs) != len(self.results):
            raise ArgumentError("out", f"{len(self.results)} arrays", len(outs))
        results = []
        for parameter, value in zip(self.results, outs):
            array = parameter.check(value)
            if array is not value or not _is_writable(array):
                raise ArgumentError("out", "an array that can be written in place", _arrays.show(value))
            results.append(array)
        _arrays.check_same_place(arrays + [("out", array) for array in results])
        return results


def _torch_functions():
    from blocksparse import _torch_functions as module

    return module


def _current_stream(device):
    """Returns the stream on which torch puts its work for a device."""
    return ctypes.c_void_p(sys.modules["torch"].cuda.current_stream(device).cuda_stream)


def _pairs(outs, arrays):
    """Yields each output with each array that it must not overlap."""
    for position, out in enumerate(outs):
        for other in arrays + outs[:position]:
            yield out, other


def _is_writable(array):
    return _arrays.is_torch(array) or array.flags.writeable


def compile(text, function=None, target="cpu"):  # pylint: disable=redefined-builtin
    """Compiles MLIR text and returns one of its public functions as a CompiledFunction.

    function: its name; it may be left out if there is only one. target: "cpu", or "cuda:<chip>"
    (docs/Targets.md). Programs are kept in memory by text and target, so that a second call is quick.
    Raises CompileError with the compiler's messages.
    """
    if not isinstance(text, (str, bytes)):
        raise ArgumentError("text", "MLIR text", repr(type(text).__name__))
    if not isinstance(target, str):
        raise ArgumentError("target", "cpu, cuda:<chip> or cuda:native", repr(target))
    compiled = _programs.get(text, target)
    names = list(compiled.functions)
    if function is None and len(names) == 1:
        function = names[0]
    if function not in names:
        raise ArgumentError("function", f"one of {', '.join(names) or 'no public function'}", repr(function))
    return CompiledFunction(compiled, function)


_cleared = []


def on_clear(function):
    """Has a function called when the compiled programs are forgotten."""
    _cleared.append(function)


def clear_memory():
    """Forgets the compiled programs of this process."""
    for function in _cleared:
        function()
    _programs.clear()
