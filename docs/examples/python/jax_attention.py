#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block-sparse attention inside a program of JAX on the CPU, with its gradients.

A function of this package is compiled to code in memory, and XLA calls this code by JAX's foreign function
interface, without Python: jax.jit, jax.grad and jax.vmap work as usual. Needs jax and a C++ compiler, which builds
docs/examples/embedding/jax_call.cpp once.
"""

import ctypes
import os
import pathlib
import subprocess
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

import blocksparse
from blocksparse import Layout

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "embedding" / "jax_call.cpp"


def register():
    """Builds the target and makes it known to JAX."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/jax_call.so"
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++17", "-O2", "-shared", "-fPIC", SOURCE, "-o", path,
                        "-isystem", jax.ffi.include_dir()], check=True)
        library = ctypes.CDLL(path)
    jax.ffi.register_ffi_target("blocksparse", jax.ffi.pycapsule(library.blocksparseJaxCall), platform="cpu")


DTYPES = {"f16": jnp.float16, "bf16": jnp.bfloat16, "f32": jnp.float32, "f64": jnp.float64}
# Functions whose code XLA's programs call must live as long as the process.
_kept = []


def call(function, *arrays):
    """Calls a compiled function in a program of JAX."""
    _kept.append(function)
    kinds = [jax.ShapeDtypeStruct(one.shape, DTYPES[one.element]) for one in function.results]
    return jax.ffi.ffi_call("blocksparse", kinds, vmap_method="sequential")(*arrays,
                                                                          entry=np.int64(function.addresses[0]))


@blocksparse.jit
def attend(layout, q, k, v):
    return blocksparse.attention(q, k, v, layout, causal=True)


def attention(layout):
    """Returns a function of JAX: attention at the blocks of a layout, with a rule for its gradients."""
    @jax.custom_vjp
    def function(q, k, v):
        return call(attend.compiled(layout, *map(like, (q, k, v))), q, k, v)[0]

    def forward(q, k, v):
        # The first result is that of the function; all are saved.
        results = call(attend.gradients(layout, *map(like, (q, k, v)))[0], q, k, v)
        return results[0], (q, k, v, *results)

    def backward(saved, gradient):
        return tuple(call(attend.gradients(layout, *map(like, saved[:3]))[1], *saved, gradient))

    function.defvjp(forward, backward)
    return function


def like(array):
    """Returns an array of numpy that has the shape and the type of one that JAX traces, and no memory."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def dense(q, k, v):
    """Computes the same with dense attention."""
    scores = jnp.einsum("...qd,...kd->...qk", q, k) / np.sqrt(q.shape[-1])
    scores = jnp.where(np.tri(q.shape[-2], k.shape[-2], dtype=bool), scores, -jnp.inf)
    return jax.nn.softmax(scores) @ v


def main():
    register()
    layout = Layout.pattern("causal", block=16, grid=(8, 8))
    sparse = attention(layout)
    q, k, v = (jax.random.normal(key, (2, 4, 128, 32)) for key in jax.random.split(jax.random.key(0), 3))
    np.testing.assert_allclose(jax.jit(sparse)(q, k, v), dense(q, k, v), rtol=1e-4, atol=1e-5)

    def loss(function):
        return jax.jit(jax.grad(lambda *arrays: jnp.sum(jnp.sin(function(*arrays))), argnums=(0, 1, 2)))

    for ours, expected in zip(loss(sparse)(q, k, v), loss(dense)(q, k, v)):
        np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(jax.vmap(sparse)(q, k, v), dense(q, k, v), rtol=1e-4, atol=1e-5)
    print("equal to dense attention, gradients too")


if __name__ == "__main__":
    main()
