# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Matrices in block compressed sparse row form, and their operations with patterns that are data.

The programs depend on shapes and types, and not on the indices, so that new indices compile nothing.
"""

import math
import sys

import numpy as np

from blocksparse import _arrays, _operations, _specialise, _text
from blocksparse._errors import ArgumentError
from blocksparse.compiler import compile as compile_text

ELEMENTS = (*_arrays.FLOATS, "i8")


class Bsr:
    """A matrix, or a batch of them: crow [R + 1] or [B, R + 1], col [nnz] or [B, nnz], values [..., bm, bn].

    `batches` are the leading dimensions as the user wrote them, which are one dimension B here.
    """

    def __init__(self, crow, col, values, size, batches):
        self.crow, self.col, self.values, self.size, self.batches = crow, col, values, tuple(size), batches
        self.block = tuple(values.shape[-2:])
        self.element = _arrays.element_of("values", values)

    @property
    def is_batched(self):
        return self.crow.ndim == 2

    @property
    def count(self):
        """Number of matrices; 1 also for a matrix without batch."""
        return self.crow.shape[0] if self.is_batched else 1

    def kind(self, function, element=None):
        """Returns the type of the sparse tensor in a program."""
        width = _arrays.element_of("crow_indices", self.crow)
        encoding = f"#blocksparse.bsr<{self.block[0]}x{self.block[1]}, {width}>"
        leading = (self.count, 1) if self.is_batched else ()
        return _text.tensor((*leading, *self.size), element or self.element, encoding)

    def values_of(self, function, result):
        """Returns the values of a sparse tensor in a program, whose indices are those that the caller has."""
        width = _arrays.element_of("crow_indices", self.crow)
        batch = (self.count,) if self.is_batched else ()
        parts = [_text.tensor((*batch, None, *self.block), self.element),
                 _text.tensor((*batch, self.size[0] // self.block[0] + 1), width), _text.tensor((*batch, None), width)]
        return function.operation("disassemble", [result], parts)[:1]

    @property
    def key(self):
        """Returns what the programs depend on: all but the number of blocks and the indices."""
        return (self.size, self.count if self.is_batched else None, self.block, self.element,
                _arrays.element_of("crow_indices", self.crow))

    def arguments(self, values=None):
        """Returns the arrays of the tensor as a program takes them."""
        return self.crow, self.col, self.values if values is None else values

    def with_values(self, values):
        """Returns the matrix with the same pattern and other values."""
        return Bsr(self.crow, self.col, values, self.size, self.batches)

    def expanded(self, batches):
        """Returns a batch of this pattern and these values for each of `batches`."""
        if self.is_batched or not batches:
            return self
        count = math.prod(batches)

        def repeat(array):
            shape = (count, *array.shape)
            if _arrays.is_torch(array):
                return array.unsqueeze(0).expand(shape).contiguous()
            return np.ascontiguousarray(np.broadcast_to(array, shape))

        return Bsr(repeat(self.crow), repeat(self.col), repeat(self.values), self.size, tuple(batches))


    def broadcast(self, batches):
        """Returns a batch of matrices with the batches of this one, if it has any, broadcast to `batches`."""

        def repeat(array):
            if self.is_batched:
                array = array.reshape((*self.batches, *array.shape[1:]))
            shape = (*batches, *array.shape[len(self.batches):])
            array = array.expand(shape) if _arrays.is_torch(array) else np.broadcast_to(array, shape)
            return array.reshape((math.prod(batches), *shape[len(batches):]))

        return Bsr(repeat(self.crow), repeat(self.col), repeat(self.values), self.size, tuple(batches))


def unpack(argument, value, check, unique=False):
    """Returns the Bsr of a torch.sparse_bsr tensor or a scipy.sparse.bsr_matrix.

    check: whether the indices are checked where they are in memory of the host; unique: whether a column
    may stand once in a row only.
    """
    if _arrays.is_torch(value) and value.layout is sys.modules["torch"].sparse_bsr:
        crow, col, values = value.crow_indices(), value.col_indices(), value.values()
        batches = tuple(value.shape[:-2])
        size = value.shape[-2:]
    elif getattr(value, "format", None) == "bsr":
        crow, col, values = value.indptr, value.indices, value.data
        batches, size = (), value.shape
    else:
        kind = str(value.layout) if _arrays.is_torch(value) else repr(type(value).__name__)
        raise ArgumentError(argument, "a torch.sparse_bsr tensor or a scipy.sparse.bsr_matrix", kind)
    return from_arrays(argument, crow, col, values, size, batches, check, unique)


def from_arrays(argument, crow, col, values, size, batches, check, unique=False):
    """Returns the Bsr of its arrays; see `unpack`."""
    if len(values.shape) != len(batches) + 3:
        raise ArgumentError(argument, "blocks of numbers", f"values of shape {list(values.shape)}")
    if batches:
        count = math.prod(batches)
        crow, col, values = (part.reshape((count, *part.shape[len(batches):])) for part in (crow, col, values))
    element = _arrays.element_of(argument, values)
    if element not in ELEMENTS:
        raise ArgumentError(argument, f"an element type of {', '.join(_arrays.NAMES[one] for one in ELEMENTS)}",
                            _arrays.NAMES[element])
    result = Bsr(crow, _arrays.cast(col, _arrays.element_of(argument, crow)), values, size, batches)
    # Compiled code relies on these lengths.
    for name, part, length in (("crow_indices", result.crow, size[0] // result.block[0] + 1),
                               ("col_indices", result.col, values.shape[-3])):
        if part.shape[-1] != length:
            raise ArgumentError(argument, f"{length} {name}", part.shape[-1])
    if check and _arrays.device_of(values) is None:
        _check_indices(argument, result, unique)
    return result


def _check_indices(argument, bsr, unique):
    crow, col = (np.atleast_2d(part.numpy() if _arrays.is_torch(part) else part) for part in (bsr.crow, bsr.col))
    rows, cols = (size // length for size, length in zip(bsr.size, bsr.block))
    counts = np.diff(crow, axis=1)
    if np.any(crow[:, 0] != 0) or np.any(counts < 0) or np.any(crow[:, -1] != col.shape[1]):
        raise ArgumentError(argument, f"crow_indices that start at 0, do not decrease and end at {col.shape[1]}",
                            crow[0].tolist() if crow.shape[1] < 20 else "others")
    if col.size and (col.min() < 0 or col.max() >= cols):
        raise ArgumentError(argument, f"col_indices from 0 to {cols - 1}", col[(col < 0) | (col >= cols)][0])
    if unique and col.size:
        offset = np.arange(len(crow))[:, None] * rows
        row_of = np.stack([np.repeat(np.arange(rows), one) for one in counts]) + offset
        cells = np.sort((row_of * cols + col).reshape(-1))
        twice = cells[1:][cells[1:] == cells[:-1]]
        if len(twice):
            raise ArgumentError(argument, "each column once in a row",
                                f"column {twice[0] % cols} twice in row {twice[0] // cols % rows}")


def pack(like, bsr, values):
    """Returns values with the pattern of `bsr` as a matrix of the kind of `like`."""
    if _arrays.is_torch(like):
        parts = [part.reshape((*bsr.batches, *part.shape[1:])) if bsr.is_batched else part
                 for part in (bsr.crow, bsr.col, values)]
        return of_parts((*bsr.batches, *bsr.size), *parts)
    import scipy.sparse

    return scipy.sparse.bsr_matrix((values, bsr.col, bsr.crow), shape=bsr.size)


def of_parts(shape, crow, col, values):
    """Returns a torch.sparse_bsr tensor of indices that are those of a tensor that has been checked."""
    return sys.modules["torch"].sparse_bsr_tensor(crow, col, values, shape, check_invariants=False)


def packed(like, result):
    """Returns an array as it is, and values with their Bsr as a matrix of the kind of `like`."""
    if isinstance(result, tuple):
        values, bsr = result
        return pack(like, bsr, values)
    return result


def finish(result, out):
    """Returns the result, written into `out` where that is given."""
    if out is None:
        return result
    if _arrays.is_torch(out) != _arrays.is_torch(result) or tuple(out.shape) != tuple(result.shape) or (
            _arrays.element_of("out", out) != _arrays.element_of("result", result)):
        raise ArgumentError("out", _arrays.show(result), _arrays.show(out))
    _arrays.assign(out, result)
    return out


def _dense_kind(array):
    return _text.tensor(array.shape, _arrays.element_of("dense", array))


def _fill_in(array, batched):
    """Returns an operand [B, rows, columns] as [B, 1, rows, columns] where the sparse tensor has batches."""
    return array.reshape((array.shape[0], 1, *array.shape[1:])) if batched and array.ndim == 3 else array


def _leave_out(array, batched):
    """Returns a result [B, 1, rows, columns] as [B, rows, columns] where the sparse tensor has batches."""
    return array.reshape((array.shape[0], *array.shape[2:])) if batched else array


def addmm(bsr, dense, values, extra, alpha, beta, result, policy="never"):
    """Returns left_alpha * (alpha * bsr @ dense) * right_alpha + beta * input.

    dense [K, N] or [B, K, N]; extra: arrays of input, left_alpha and right_alpha or None; result: element
    type of the result; policy: see _specialise.
    """
    batched = bsr.is_batched
    dense = _fill_in(dense, batched)
    extra = {name: array for name, array in extra.items() if array is not None}
    if "input" in extra:
        extra["input"] = _fill_in(extra["input"], batched)
    names = ("input", "left_alpha", "right_alpha")

    def build(layout=None):
        function = _text.function("bsr_addmm")
        sparse = function.argument("bsr", bsr.kind(function) if layout is None else
                                   _text.tensor(bsr.size, bsr.element, function.layout(layout)))
        operand = function.argument("dense", _dense_kind(dense))
        groups = [(name, [function.argument(name, _dense_kind(extra[name]))] if name in extra else None)
                  for name in names]
        # One dense matrix may serve all sparse ones.
        batches = (bsr.count, 1) if batched else dense.shape[:-2]
        kind = _text.tensor((*batches, bsr.size[0], dense.shape[-1]), result)
        suffix = _text.attributes(alpha=float(alpha), beta=float(beta))
        return function.finish(function.operation("bsr_addmm", [sparse, operand], [kind], groups, suffix))

    key = ("bsr_addmm", bsr.key, tuple(dense.shape), float(alpha), float(beta), result,
           tuple((name, tuple(array.shape), _arrays.element_of(name, array)) for name, array in extra.items()))
    arrays = [extra[name] for name in names if name in extra]
    static = _specialise.program(bsr, policy, key,
                                 lambda layout: compile_text(build(layout), target=_operations.target_of(dense)))
    if static is not None:
        return static(values, dense, *arrays)
    call = _operations.compiled(key, dense, build)
    found = call(*bsr.arguments(values), dense, *arrays)
    return _leave_out(found, batched)


def transposed_mm(bsr, dense, values):
    """Returns bsr^T @ dense."""
    dense = _fill_in(dense, bsr.is_batched)

    def build():
        function = _text.function("bsr_transposed_mm")
        operands = [function.argument("bsr", bsr.kind(function)), function.argument("dense", _dense_kind(dense))]
        kind = _text.tensor((*dense.shape[:-2], bsr.size[1], dense.shape[-1]), bsr.element)
        return function.finish(function.operation("dsd", operands, [kind], suffix=" {transpose_a}"))

    key = ("bsr_transposed_mm", bsr.key, tuple(dense.shape))
    found = _operations.compiled(key, dense, build)(*bsr.arguments(values), dense)
    return _leave_out(found, bsr.is_batched)


def addmm_gradient(bsr, gradient, dense, values, alpha, needed):
    """Returns [gradient of the values, gradient of dense] of alpha * bsr @ dense in one program, without those for which
    `needed` is not set. All arrays have the batches of bsr, or none."""
    gradient, dense = (_fill_in(array, bsr.is_batched) for array in (gradient, dense))
    of_values, of_dense = needed

    def build():
        function = _text.function("bsr_addmm_gradient")
        kind = bsr.kind(function)
        operands = [function.argument("bsr", kind), function.argument("gradient", _dense_kind(gradient))]
        results = []
        if of_values:
            factor = function.argument("dense", _dense_kind(dense))
            suffix = _text.attributes(alpha=float(alpha), beta=0.0, transpose_b=True)
            found, = function.operation("sampled_addmm", [*operands, factor], [kind], suffix=suffix)
            results += bsr.values_of(function, found)
        if of_dense:
            kind = _text.tensor((*gradient.shape[:-2], bsr.size[1], gradient.shape[-1]), bsr.element)
            suffix = _text.attributes(transpose_a=True, alpha=float(alpha))
            results += function.operation("dsd", operands, [kind], suffix=suffix)
        return function.finish(results)

    key = ("bsr_addmm_gradient", bsr.key, tuple(gradient.shape), tuple(dense.shape), float(alpha), of_values, of_dense)
    found = _operations.compiled(key, gradient, build)(*bsr.arguments(values), gradient, *[dense] * of_values)
    found = [found] if of_values != of_dense else list(found)
    if of_dense:
        found[-1] = _leave_out(found[-1], bsr.is_batched)
    return found


def sampled(bsr, a, b, values, alpha, beta, transpose_b=False):
    """Returns the values of beta * bsr + alpha * a @ op(b) at the blocks of bsr."""
    a, b = _fill_in(a, bsr.is_batched), _fill_in(b, bsr.is_batched)

    def build():
        function = _text.function("sampled_addmm")
        kind = bsr.kind(function)
        operands = [function.argument("bsr", kind), function.argument("a", _dense_kind(a)),
                    function.argument("b", _dense_kind(b))]
        suffix = _text.attributes(alpha=float(alpha), beta=float(beta), transpose_b=transpose_b)
        result, = function.operation("sampled_addmm", operands, [kind], suffix=suffix)
        return function.finish(bsr.values_of(function, result))

    key = ("sampled_addmm", bsr.key, tuple(a.shape), tuple(b.shape), float(alpha), float(beta), transpose_b)
    return _operations.compiled(key, a, build)(*bsr.arguments(values), a, b)


def factors_gradient(bsr, gradient, a, b, alpha, needed):
    """Returns [gradient of a, gradient of b^T] of alpha * a @ b at the blocks of bsr in one program, without those for
    which `needed` is not set; gradient: that of the values."""
    a, transposed = _fill_in(a, bsr.is_batched), _fill_in(b.swapaxes(-1, -2), bsr.is_batched)
    batches = (bsr.count, 1) if bsr.is_batched else ()

    def build():
        function = _text.function("sampled_addmm_gradient")
        sparse = function.argument("gradient", bsr.kind(function))
        results = []
        if needed[0]:
            factor = function.argument("b", _dense_kind(transposed))
            kind = _text.tensor((*batches, bsr.size[0], a.shape[-1]), bsr.element)
            results += function.operation("bsr_addmm", [sparse, factor], [kind],
                                          suffix=_text.attributes(alpha=float(alpha), beta=0.0))
        if needed[1]:
            factor = function.argument("a", _dense_kind(a))
            kind = _text.tensor((*batches, bsr.size[1], a.shape[-1]), bsr.element)
            results += function.operation("dsd", [sparse, factor], [kind],
                                          suffix=_text.attributes(transpose_a=True, alpha=float(alpha)))
        return function.finish(results)

    key = ("sampled_addmm_gradient", bsr.key, tuple(a.shape), tuple(b.shape), float(alpha), *needed)
    found = _operations.compiled(key, gradient, build)(*bsr.arguments(gradient), *[transposed] * needed[0],
                                                       *[a] * needed[1])
    found = [found] if needed[0] != needed[1] else list(found)
    return [_leave_out(one, bsr.is_batched) for one in found]


def softmax(bsr, values, scale=1.0):
    """Returns the values of the softmax over the stored elements of each row."""

    def build():
        function = _text.function("bsr_softmax")
        kind = bsr.kind(function)
        rows = ((bsr.count, 1) if bsr.is_batched else ()) + (bsr.size[0],)
        results = function.operation("softmax", [function.argument("bsr", kind)],
                                     [kind, _text.tensor(rows, _arrays.ACCUMULATION[bsr.element])],
                                     suffix=_text.attributes(scale=float(scale)))
        return function.finish(bsr.values_of(function, results[0]))

    return _operations.compiled(("bsr_softmax", bsr.key, float(scale)), values, build)(*bsr.arguments(values))


def attention(bsr, q, k, v, scale, returns_weights=False):
    """Returns softmax(scale * q @ k^T at the blocks of bsr) @ v in one program, and the values of the softmax behind it
    with `returns_weights`. The values of bsr are not read."""
    q, k, v = (_fill_in(array, bsr.is_batched) for array in (q, k, v))

    def build():
        function = _text.function("bsr_attention")
        kind = bsr.kind(function)
        rows = ((bsr.count, 1) if bsr.is_batched else ()) + (bsr.size[0],)
        pattern, *factors = [function.argument("bsr", kind),
                             *(function.argument(name, _dense_kind(array)) for name, array in zip("qkv", (q, k, v)))]
        scores = function.operation("sampled_addmm", [pattern, *factors[:2]], [kind],
                                    suffix=_text.attributes(beta=0.0, transpose_b=True))
        weights = function.operation("softmax", scores, [kind, _text.tensor(rows, _arrays.ACCUMULATION[bsr.element])],
                                     suffix=_text.attributes(scale=float(scale)))
        # A matrix with batches has those of all operands; v may have one batch for all of them.
        batches = (bsr.count, 1) if bsr.is_batched else v.shape[:-2]
        result = _text.tensor((*batches, bsr.size[0], v.shape[-1]), bsr.element)
        results = function.operation("bsr_addmm", [weights[0], factors[2]], [result],
                                     suffix=_text.attributes(alpha=1.0, beta=0.0))
        return function.finish(results + (bsr.values_of(function, weights[0]) if returns_weights else []))

    key = ("bsr_attention", bsr.key, tuple(q.shape), tuple(k.shape), tuple(v.shape), float(scale), returns_weights)
    found = _operations.compiled(key, q, build)(*bsr.arguments(), q, k, v)
    found, *weights = found if returns_weights else (found,)
    found = _leave_out(found, bsr.is_batched)
    return (found, *weights) if returns_weights else found


def attention_gradient(bsr, q, k, v, weights, gradient, scale):
    """Returns the gradients of q, k and v of an attention in one program; weights: the values of the softmax."""
    q, k, v, gradient = (_fill_in(array, bsr.is_batched) for array in (q, k, v, gradient))

    def build():
        function = _text.function("bsr_attention_gradient")
        kind = bsr.kind(function)
        softmax_of_scores, *factors = [
            function.argument("weights", kind),
            *(function.argument(name, _dense_kind(array))
              for name, array in (("q", q), ("k", k), ("v", v), ("gradient", gradient)))]
        of_q, of_k, of_v, of_result = factors

        def times(left, right, transposed):
            """Adds a product of a sparse matrix, or of its transpose, with a dense one."""
            suffix = _text.attributes(transpose_a=True) if transposed else _text.attributes(alpha=1.0, beta=0.0)
            rows = bsr.size[1 if transposed else 0]
            shape = (*gradient.shape[:-2], rows, right[1].shape[-1])
            return function.operation("dsd" if transposed else "bsr_addmm", [left, right],
                                      [_text.tensor(shape, bsr.element)], suffix=suffix)

        d_weights, = function.operation("sampled_addmm", [softmax_of_scores, of_result, of_v], [kind],
                                        suffix=_text.attributes(beta=0.0, transpose_b=True))
        d_scores, = function.operation("softmax_grad", [softmax_of_scores, d_weights], [kind],
                                       suffix=_text.attributes(scale=float(scale)))
        return function.finish(times(d_scores, of_k, False) + times(d_scores, of_q, True)
                               + times(softmax_of_scores, of_result, True))

    key = ("bsr_attention_gradient", bsr.key, tuple(q.shape), tuple(k.shape), tuple(v.shape), float(scale))
    found = _operations.compiled(key, q, build)(*bsr.arguments(weights), q, k, v, gradient)
    return [_leave_out(one, bsr.is_batched) for one in found]


def softmax_gradient(bsr, y, dy, scale=1.0):
    """Returns the gradient of the values of a softmax."""

    def build():
        function = _text.function("bsr_softmax_gradient")
        kind = bsr.kind(function)
        operands = [function.argument("y", kind), function.argument("dy", kind)]
        result, = function.operation("softmax_grad", operands, [kind], suffix=_text.attributes(scale=float(scale)))
        return function.finish(bsr.values_of(function, result))

    call = _operations.compiled(("bsr_softmax_gradient", bsr.key, float(scale)), y, build)
    return call(*bsr.arguments(y), *bsr.arguments(dy))
