# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures and checks the peers of peers.py: the kernels that torch and the CUDA toolkit have.

Kernels.prepare(point, layout file, errors) returns {(group, name): function}; each function
measures once and returns {"ms", "rate", "ok"}. Groups are "reference" (cuBLAS dense) and "peers".
"""

import ctypes
import glob
import itertools
import os
import statistics
import time

import numpy
import torch

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
# The sets of operands together exceed the L2 cache, as in blocksparse-bench.
ROTATE_BYTES = 128 << 20


def uniform(*shape, dtype, low=-1, high=1):
    """Returns random numbers with the distribution of blocksparse-bench, because power, and with it
    the clock, depends on the data."""
    # A generator of our own is used, because a failed graph capture can make torch's generator
    # unusable.
    if not hasattr(uniform, "generator"):
        uniform.generator = torch.Generator(device="cuda").manual_seed(0)
    return torch.empty(shape, device="cuda", dtype=dtype).uniform_(low, high,
                                                                   generator=uniform.generator)


def some_rows(extent, count=64):
    return torch.randint(extent, (count,)).cuda()


def copies(tensors):
    """Returns sets of operands with equal contents that together exceed the cache."""
    size = sum(t.numel() * t.element_size() for t in tensors)
    count = min(64, max(2, -(-ROTATE_BYTES // max(size, 1))))
    return [tensors] + [[t.clone() for t in tensors] for _ in range(count - 1)]


def elapsed(run, count):
    start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    for _ in range(count):
        run()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop)


def capture(calls):
    """Captures all calls in one CUDA graph, so that only their kernels count; returns None if that
    fails."""
    try:
        for call in calls:
            call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for call in calls:
                call()
        graph.replay()
        torch.cuda.synchronize()
        return graph
    except Exception:
        torch.cuda.synchronize()
        return None


def median_time(calls, eager=False, samples=10, sample_ms=10.0):
    """Returns the milliseconds of a call: the median of samples that rotate over the sets."""
    for call in calls[:2]:
        call()
    torch.cuda.synchronize()
    graph = None if eager else capture(calls)

    def all_calls():
        for call in calls:
            call()

    run = graph.replay if graph else all_calls
    elapsed(run, 1)
    turns = max(1, min(2000 // len(calls) + 1, int(sample_ms / max(elapsed(run, 1), 1e-3)) + 1))
    for _ in range(3):  # clocks rise with the load
        elapsed(run, turns)
    times = [elapsed(run, turns) / (turns * len(calls)) for _ in range(samples)]
    return statistics.median(times), graph is not None


class Layout:
    """Holds a block pattern as CSR, from the file that blocksparse-bench wrote, or a random one."""

    def __init__(self, point, path):
        block = point.get("block", 64)
        self.bm, self.bn = block if isinstance(block, list) else (block, block)
        op = point["op"]
        rows = point["k"] if op == "dds" else point["m"]
        cols = point["k"] if op in ("dsd", "bsr_addmm") else point["n"]
        self.shape = (rows, cols)
        self.rows, self.cols = -(-rows // self.bm), -(-cols // self.bn)
        if path is not None and os.path.exists(path):
            flat = numpy.load(path)
            self.crow, self.col = flat[:self.rows + 1], flat[self.rows + 1:]
        elif point.get("layout", "random_balanced") == "random_balanced":
            count = round(point.get("density", 0.25) * self.cols)
            generator = numpy.random.default_rng(1)
            picks = [numpy.sort(generator.choice(self.cols, count, replace=False))
                     for _ in range(self.rows)]
            self.crow = numpy.arange(self.rows + 1) * count
            self.col = numpy.concatenate(picks)
        else:
            raise RuntimeError(f"expects the layout '{point['layout']}' from blocksparse-bench")
        self.nnz = len(self.col)

    def tensors(self):
        return (torch.tensor(self.crow, dtype=torch.int32, device="cuda"),
                torch.tensor(self.col, dtype=torch.int32, device="cuda"))

    def bsr(self, values):
        crow, col = self.tensors()
        return torch.sparse_bsr_tensor(crow, col, values, size=self.shape, check_invariants=False)

    def mask(self):
        mask = torch.zeros(self.rows, self.cols, dtype=torch.bool, device="cuda")
        row = numpy.repeat(numpy.arange(self.rows), numpy.diff(self.crow))
        mask[torch.tensor(row, device="cuda"), torch.tensor(self.col.astype(numpy.int64),
                                                            device="cuda")] = True
        return mask

    def stored(self):
        return self.nnz * self.bm * self.bn


def within(result, reference, magnitude, terms, dtype):
    """Returns whether errors stay within rounding, by a simple form of the bound of
    blocksparse-bench."""
    unit = torch.finfo(dtype).eps / 2
    bound = (terms + 16) * 2.0**-23 * magnitude + 1.01 * unit * reference.abs() + 2.0**-24
    error = (result.double() - reference).abs()
    return bool(torch.isfinite(result).all()) and bool((error <= bound).all())


class Kernels:
    def __init__(self, options):
        self.options = options
        self.skip = {name for name in options.skip.split(",") if name}
        self.tuned = {}
        self.cusparse = None
        torch.manual_seed(0)

    def describe(self):
        properties = torch.cuda.get_device_properties(0)
        about = {"device": properties.name, "torch": torch.__version__, "cuda": torch.version.cuda}
        try:
            import triton
            about["triton"] = triton.__version__
        except Exception:
            pass
        try:
            about["copy_gbps"] = self.copy_runner(1 << 29)()["rate"]
        except Exception as error:
            print(f"device copy: {error}", flush=True)
        return about

    def release(self):
        torch.cuda.empty_cache()

    def prepare(self, point, path, errors):
        """Returns the peers that support the point. A peer that cannot be set up leaves its error
        in `errors`."""
        runners = {}
        makers = {"dsd": [self.cublas, self.torch_bsr, self.blocked_ell],
                  "bsr_addmm": [self.cublas, self.torch_bsr],
                  "dds": [self.cublas], "matmul": [self.cublas],
                  "sdd": [self.cublas, self.torch_sampled],
                  "softmax": [self.device_copy, self.torch_softmax],
                  "softmax_grad": [self.device_copy],
                  "attention": [self.flex_attention]}[point["op"]]
        layout = None if point["op"] == "matmul" else Layout(point, path)
        for maker in makers:
            if maker.__name__ in self.skip:
                continue
            try:
                runners.update(maker(point, layout))
            except Exception as error:
                errors[maker.__name__] = (str(error).strip() or type(error).__name__)[:400]
        return runners

    def timed(self, calls, work, check, scale=1e-9, eager=False):
        """Returns a runner. `work` is in operations (scale 1e-9) or bytes (1e-6) of a call. `eager`
        is for calls that a graph cannot capture; they must take longer than Python needs to start
        them."""
        def run():
            time_ms, graphed = median_time(calls, eager or self.options.eager)
            return {"ms": time_ms, "rate": work / time_ms * scale, "ok": check(), "graph": graphed}
        return run

    # ---- dense ---------------------------------------------------------------

    def cublas(self, point, layout):
        dtype, heads = DTYPES[point["type"]], point.get("heads", 1)
        m, n, k = point["m"], point["n"], point["k"]
        sets = copies([uniform(heads, m, k, dtype=dtype), uniform(heads, k, n, dtype=dtype),
                       torch.empty(heads, m, n, device="cuda", dtype=dtype)])
        if heads == 1:
            sets = [[t[0] for t in tensors] for tensors in sets]
        calls = [lambda a=a, b=b, c=c: torch.matmul(a, b, out=c) for a, b, c in sets]

        def check():
            a, b, c = (t if t.dim() == 2 else t[0] for t in sets[0])
            rows = some_rows(m)
            left, right = a[rows].double(), b.double()
            return within(c[rows], left @ right, left.abs() @ right.abs(), k, dtype)
        return {("reference", "cuBLAS"): self.timed(calls, 2.0 * heads * m * n * k, check)}

    # ---- memory --------------------------------------------------------------

    def copy_runner(self, count):
        """Returns the runner of a copy that reads and writes `count` bytes."""
        sets = copies([torch.randint(0, 256, (count,), dtype=torch.uint8, device="cuda"),
                       torch.empty(count, dtype=torch.uint8, device="cuda")])
        calls = [lambda a=a, b=b: b.copy_(a) for a, b in sets]
        # A copy in a CUDA graph reaches only three quarters of the rate.
        return self.timed(calls, 2.0 * count, lambda: torch.equal(*sets[0]), scale=1e-6, eager=True)

    def device_copy(self, point, layout):
        """Returns the runner of a copy of as many bytes as the operands and the result have."""
        operands = 3 if point["op"] == "softmax_grad" else 2
        stored = point.get("heads", 1) * layout.stored() * torch.finfo(DTYPES[point["type"]]).bits // 8
        return {("reference", "device copy"): self.copy_runner(operands * stored // 2)}

    # ---- torch ---------------------------------------------------------------

    def sparse_check(self, layout, values, dense, result, dtype):
        """Returns a check of 64 rows of sparse @ dense."""
        def check():
            rows = torch.randint(layout.shape[0], (64,)).tolist()
            for row in rows:
                block, inside = divmod(row, layout.bm)
                first, last = int(layout.crow[block]), int(layout.crow[block + 1])
                left = values[first:last, inside].reshape(-1).double()
                columns = torch.tensor(layout.col[first:last].astype(numpy.int64), device="cuda")
                index = (columns[:, None] * layout.bn +
                         torch.arange(layout.bn, device="cuda")).reshape(-1)
                right = dense[index].double()
                if not within(result()[row], left @ right, left.abs() @ right.abs(), len(left), dtype):
                    return False
            return True
        return check

    def torch_bsr(self, point, layout):
        from torch.sparse import _triton_ops
        dtype = DTYPES[point["type"]]
        n, m = point["n"], layout.shape[0]
        sets = copies([uniform(layout.nnz, layout.bm, layout.bn, dtype=dtype),
                       uniform(layout.shape[1], n, dtype=dtype),
                       torch.full((m, n), float("nan"), device="cuda", dtype=dtype)])
        operands = [(layout.bsr(values), dense, out) for values, dense, out in sets]

        def calls_with(meta):
            return [lambda b=b, d=d, o=o: _triton_ops.bsr_dense_addmm(o, b, d, beta=0, alpha=1, out=o,
                                                                      meta=dict(meta))
                    for b, d, o in operands]

        meta = self.tune(point, layout, calls_with)
        values, dense, out = sets[0]
        run = self.timed(calls_with(meta), 2.0 * layout.stored() * n,
                         self.sparse_check(layout, values, dense, lambda: out, dtype))
        return {("peers", "torch BSR"): lambda: {**run(), "meta": meta}}

    def tune(self, point, layout, calls_with):
        """Returns the fastest parameters. The first point of a block and N searches for working
        ones for three times --tune-seconds, because each must be compiled. Later points choose
        among those."""
        n = point["n"]
        key = (layout.bm, layout.bn, n, point["type"])
        space = self.tuned.get(key)
        searching = space is None
        if searching:
            tiles = [tile for tile in (128, 64, 256, 32) if n % tile == 0] or [n]
            space = [{"SPLIT_N": n // tile, "GROUP_SIZE_ROW": group, "num_warps": warps,
                      "num_stages": stages}
                     for group, (warps, stages), tile in itertools.product(
                         (4, 1, 8), ((4, 3), (8, 3), (4, 4), (4, 2), (2, 4), (8, 4)), tiles)]
        deadline = time.monotonic() + 3 * self.options.tune_seconds
        working, error = [], None
        for meta in space:
            if searching and working and time.monotonic() > deadline:
                break
            try:
                time_ms, _ = median_time(calls_with(meta)[:2], self.options.eager, samples=2,
                                         sample_ms=3)
                working.append((time_ms, meta))
            except Exception as failure:  # too much shared memory, for example
                error = failure
                if time.monotonic() > deadline + 20:
                    break
        if not working:
            raise RuntimeError(f"no parameters work: {error}")
        if searching:
            self.tuned[key] = [meta for _, meta in working]
        return min(working, key=lambda entry: entry[0])[1]

    def torch_sampled(self, point, layout):
        from torch.sparse import _triton_ops
        dtype = DTYPES[point["type"]]
        m, n, k = point["m"], point["n"], point["k"]
        sets = copies([torch.zeros(layout.nnz, layout.bm, layout.bn, device="cuda", dtype=dtype),
                       uniform(m, k, dtype=dtype), uniform(k, n, dtype=dtype)])
        operands = [(layout.bsr(values), a, b) for values, a, b in sets]
        calls = [lambda s=s, a=a, b=b: _triton_ops.sampled_addmm(s, a, b, beta=0.0, alpha=1.0, out=s,
                                                                 skip_checks=True)
                 for s, a, b in operands]

        def check():
            sparse, a, b = operands[0]
            values = sparse.values()
            rows = numpy.repeat(numpy.arange(layout.rows), numpy.diff(layout.crow))
            for block in numpy.random.default_rng(0).integers(layout.nnz, size=16):
                r, c = int(rows[block]) * layout.bm, int(layout.col[block]) * layout.bn
                left, right = a[r:r + layout.bm].double(), b[:, c:c + layout.bn].double()
                if not within(values[int(block)], left @ right, left.abs() @ right.abs(), k, dtype):
                    return False
            return True
        return {("peers", "torch sampled_addmm"): self.timed(calls, 2.0 * layout.stored() * k, check,
                                                          eager=True)}

    def torch_softmax(self, point, layout):
        from torch.sparse import _triton_ops
        dtype = DTYPES[point["type"]]
        sets = copies([uniform(layout.nnz, layout.bm, layout.bn, dtype=dtype, low=-4, high=4)])
        operands = [layout.bsr(values) for values, in sets]
        longest = int(numpy.diff(layout.crow).max()) * layout.bn
        results = {}

        def call(index):
            results[index] = _triton_ops.bsr_softmax(operands[index], longest)

        def check():
            call(0)
            values, out = operands[0].values(), results[0].values()
            for row in torch.randint(layout.shape[0], (64,)).tolist():
                block, inside = divmod(row, layout.bm)
                part = slice(int(layout.crow[block]), int(layout.crow[block + 1]))
                x = values[part, inside].reshape(-1).double()
                y = torch.softmax(x, 0)
                if not within(out[part, inside].reshape(-1), y, y * (1 + x.abs().max()), len(x), dtype):
                    return False
            return True
        calls = [lambda i=i: call(i) for i in range(len(operands))]
        size = 2.0 * layout.stored() * torch.finfo(dtype).bits / 8
        return {("peers", "torch bsr_softmax"): self.timed(calls, size, check, scale=1e-6,
                                                        eager=True)}

    def flex_attention(self, point, layout):
        from torch.nn.attention.flex_attention import create_block_mask, flex_attention
        dtype, heads = DTYPES[point["type"]], point.get("heads", 1)
        m, n, d = point["m"], point["n"], point["k"]
        allowed, causal = layout.mask(), point.get("causal", False)

        def mask_mod(batch, head, q, kv):
            keep = allowed[q // layout.bm, kv // layout.bn]
            return keep & (kv <= q) if causal else keep
        block_mask = create_block_mask(mask_mod, None, None, m, n, device=allowed.device)
        compiled = torch.compile(flex_attention, dynamic=False)
        sets = copies([uniform(1, heads, m, d, dtype=dtype), uniform(1, heads, n, d, dtype=dtype),
                       uniform(1, heads, n, d, dtype=dtype)])
        results = {}

        def call(index):
            q, k, v = sets[index]
            results[index] = compiled(q, k, v, block_mask=block_mask)
            return results[index]

        def check():
            out = call(0)
            q, k, v = (t[0, 0].double() for t in sets[0])
            rows = some_rows(m, 32)
            scores = q[rows] @ k.T / d**0.5
            keep = allowed[rows // layout.bm].repeat_interleave(layout.bn, 1)[:, :n]
            if causal:
                keep = keep & (torch.arange(n, device="cuda")[None] <= rows[:, None])
            p = torch.softmax(scores.masked_fill(~keep, float("-inf")), 1).nan_to_num()
            error = (out[0, 0, rows].double() - p @ v).abs()
            unit = torch.finfo(dtype).eps
            return bool((error <= 4 * unit * (p @ v.abs()) + unit).all())
        calls = [lambda i=i: call(i) for i in range(len(sets))]
        work = 4.0 * heads * layout.stored() * d
        return {("peers", "FlexAttention"): self.timed(calls, work, check, eager=True)}

    # ---- cuSPARSE --------------------------------------------------------------

    def blocked_ell(self, point, layout):
        lengths = numpy.diff(layout.crow)
        if lengths.min() != lengths.max() or layout.bm != layout.bn:
            raise RuntimeError("expects rows of equal length and square blocks for Blocked-ELL")
        if self.cusparse is None:
            self.cusparse = CuSparse()
        dtype, n = DTYPES[point["type"]], point["n"]
        rows, cols = layout.shape
        values = uniform(layout.nnz, layout.bm, layout.bn, dtype=dtype)
        width = int(lengths[0]) * layout.bn
        # The columns are [rows, width], row-major: the blocks of a block row are adjacent.
        ell = values.view(layout.rows, int(lengths[0]), layout.bm, layout.bn).transpose(1, 2) \
            .reshape(rows, width).contiguous()
        column = torch.tensor(layout.col, dtype=torch.int32, device="cuda")
        dense = uniform(cols, n, dtype=dtype)
        sets = copies([ell, dense, torch.full((rows, n), float("nan"), device="cuda", dtype=dtype)])
        products = [self.cusparse.product(e, column, layout.bm, cols, d, o) for e, d, o in sets]
        check = self.sparse_check(layout, values, dense, lambda: sets[0][2], dtype)
        run = self.timed(products, 2.0 * layout.stored() * n, check)
        return {("peers", "cuSPARSE ELL"): run}


class CuSparse:
    """Computes the product of a Blocked-ELL and a dense matrix with the C API of cuSPARSE."""

    R_32F, R_16F, R_16BF = 0, 2, 14
    INDEX_32I, ORDER_ROW, ELL_ALGORITHM = 2, 2, 13

    def __init__(self):
        self.library = None
        root = os.path.dirname(os.path.dirname(torch.__file__))
        names = glob.glob(os.path.join(root, "nvidia", "*", "lib", "libcusparse.so*")) + [
            "libcusparse.so.12", "libcusparse.so.13", "libcusparse.so.11", "libcusparse.so"] + \
            glob.glob("/usr/local/cuda*/lib64/libcusparse.so*")
        for name in names:
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError:
                continue
        if self.library is None:
            raise RuntimeError("no libcusparse found")
        self.handle = ctypes.c_void_p()
        self.check(self.library.cusparseCreate(ctypes.byref(self.handle)), "cusparseCreate")

    @staticmethod
    def check(status, what):
        if status != 0:
            raise RuntimeError(f"{what} gave status {status}")

    def product(self, ell, columns, block, inner, dense, out):
        """Returns a function that computes out = sparse @ dense."""
        kind = {torch.float16: self.R_16F, torch.bfloat16: self.R_16BF,
                torch.float32: self.R_32F}[dense.dtype]
        i64, pointer = ctypes.c_int64, ctypes.c_void_p
        a, b, c = pointer(), pointer(), pointer()
        self.check(self.library.cusparseCreateBlockedEll(
            ctypes.byref(a), i64(ell.shape[0]), i64(inner), i64(block), i64(ell.shape[1]),
            pointer(columns.data_ptr()), pointer(ell.data_ptr()), self.INDEX_32I, 0, kind),
            "cusparseCreateBlockedEll")
        for descriptor, tensor in ((b, dense), (c, out)):
            self.check(self.library.cusparseCreateDnMat(
                ctypes.byref(descriptor), i64(tensor.shape[0]), i64(tensor.shape[1]),
                i64(tensor.shape[1]), pointer(tensor.data_ptr()), kind, self.ORDER_ROW),
                "cusparseCreateDnMat")
        one, zero, size = ctypes.c_float(1), ctypes.c_float(0), ctypes.c_size_t()
        arguments = [self.handle, 0, 0, ctypes.byref(one), a, b, ctypes.byref(zero), c, self.R_32F,
                     self.ELL_ALGORITHM]
        self.check(self.library.cusparseSpMM_bufferSize(*arguments, ctypes.byref(size)),
                   "cusparseSpMM_bufferSize")
        buffer = torch.empty(max(size.value, 1), dtype=torch.uint8, device="cuda")
        keep = (ell, columns, dense, out, buffer, one, zero)

        def run():
            stream = pointer(torch.cuda.current_stream().cuda_stream)
            self.check(self.library.cusparseSetStream(self.handle, stream), "cusparseSetStream")
            self.check(self.library.cusparseSpMM(*arguments, pointer(keep[4].data_ptr())),
                       "cusparseSpMM")
        return run
