# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-sparse linear algebra on arrays of numpy and tensors of torch: docs/Python.md.

Names are imported when they are first used; the compiler's library is loaded when it is first called.
"""

import importlib

# The module of each public name.
_MODULES = {
    "Layout": "layout",
    "CompiledFunction": "compiler",
    "compile": "compiler",
    "jit": "_jit",
    "compiled_functions": "_operations",
    "autotune": "tuning",
    **dict.fromkeys(("ArgumentError", "CompileError", "LibraryError", "RunError"), "_errors"),
    **dict.fromkeys(("MatMul", "Softmax", "SparseAttentionUtils", "SparseSelfAttention"), "deepspeed"),
    **dict.fromkeys(("BSLongformerSparsityConfig", "BigBirdSparsityConfig", "DenseSparsityConfig",
                     "FixedSparsityConfig", "LocalSlidingWindowSparsityConfig", "SparsityConfig",
                     "VariableSparsityConfig"), "sparsity"),
    **dict.fromkeys(("attention", "attention_backward", "dds", "dsd", "from_dense", "sdd", "softmax",
                     "to_dense"), "ops"),
    **dict.fromkeys(("bsr_dense_addmm", "bsr_dense_mm", "bsr_softmax", "sampled_addmm",
                     "scaled_dot_product_attention", "_int_bsr_dense_addmm"), "bsr"),
    **dict.fromkeys(("context_4d_matmul", "matmul", "matmul_4d", "score_4d_matmul"), "inference"),
    **dict.fromkeys(("bsr_scatter_mm", "bsr_scatter_mm_indices_data", "scatter_mm"), "scatter"),
}

__all__ = sorted(["tuning", *(name for name in _MODULES if not name.startswith("_"))])


def __getattr__(name):
    if name == "__version__":
        from blocksparse import _library

        return _library.version()
    if name == "tuning":
        return importlib.import_module("blocksparse.tuning")
    if name not in _MODULES:
        raise AttributeError(f"module 'blocksparse' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"blocksparse.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__
