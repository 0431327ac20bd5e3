# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of random programs, judged by finite differences in f64.

usage: test_gradients.py BLOCKSPARSE_OPT [SEED]
"""

import itertools
import re
import subprocess
import sys
import unittest

import numpy as np

import blocksparse

OPT = sys.argv.pop(1)
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 11

ALIASES = """
#one = #blocksparse.layout<4x4, grid 3x4, mask "1010/0111/0000">
#turned = #blocksparse.layout<4x4, grid 4x3, mask "100/010/110/010">
#heads = #blocksparse.layout<4x4, grid 2x3x4, mask "1010/0111/1000/1111/0010/1001">
#square = #blocksparse.layout<4x4, grid 3x3, mask "100/110/111">
"""
ACTIVATIONS = ["none", "relu", "leaky_relu, slope = 0.1", "gelu_erf", "gelu_tanh", "gelu_quick", "sigmoid", "silu"]


def shape_of(type):
    """Returns the shape of the numbers of a tensor type: the values, for a sparse one."""
    sizes = [int(size) for size in re.match(r"tensor<((?:\d+x)*)", type).group(1).split("x")[:-1]]
    layout = re.search(r"#(\w+)>", type)
    if not layout:
        return tuple(sizes)
    mask = re.search(rf"#{layout.group(1)} = .*mask \"([01/]+)\"", ALIASES).group(1)
    # One mask of several heads has the blocks of all of them.
    shared = re.search(rf"#{layout.group(1)} = .*grid (\d+x\d+x\d+)", ALIASES) is None
    blocks = mask.count("1") * (sizes[-3] if shared and len(sizes) > 2 else 1)
    return (*sizes[:-3], blocks, 4, 4)


class Program:
    """A function of f64 and its gradients."""

    def __init__(self, arguments, body, results):
        listed = ", ".join(f"%{name}: {type}" for name, type in arguments.items())
        names = ", ".join(f"%{name}" for name in results)
        types = ", ".join(results.values())
        self.text = f"{ALIASES}\nfunc.func @f({listed}) -> ({types}) {{\n{body}\n  return {names} : {types}\n}}\n"
        command = [OPT, "-blocksparse-generate-gradients=functions=f"]
        made = subprocess.run(command, input=self.text, capture_output=True, text=True)
        if made.returncode:
            raise AssertionError(made.stderr + self.text)
        self.module = made.stdout
        self.count = len(results)
        compiled = [blocksparse.compile(self.module, function=name) for name in ("f", "f_forward", "f_backward")]
        self.function, self.forward, self.backward = [self.listed(f) for f in compiled]

    @staticmethod
    def listed(function):
        def call(*arrays):
            results = function(*arrays)
            return list(results) if isinstance(results, (tuple, list)) else [results]
        return call


def check(test, arguments, body, results, rng, scale=1.0, fuses=False):
    """Compares the gradients of all arguments with differences along random directions.

    A function that fuses operations has another order of sums than its forward program, which keeps their results."""
    program = Program(arguments, body, results)
    values = {}
    for name, type in arguments.items():
        shape = shape_of(type)
        values[name] = (np.full(shape, 9, np.int32) if type.endswith("xi32>")
                        else scale * rng.standard_normal(shape))
    results = program.forward(*values.values())
    plain = results[:program.count]
    for own, other in zip(program.function(*values.values()), plain):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-14 if fuses else 0)
    cotangents = [rng.standard_normal(result.shape) for result in plain]
    gradients = program.backward(*values.values(), *results, *cotangents)

    def loss(changed):
        return sum(np.sum(c * r) for c, r in zip(cotangents, program.function(*changed.values())))

    floats = [name for name in values if values[name].dtype == np.float64]
    test.assertEqual(len(gradients), len(floats))
    step = 1e-5
    for name, gradient in zip(floats, gradients):
        test.assertEqual(gradient.shape, values[name].shape)
        direction = rng.standard_normal(values[name].shape)
        ends = [loss({**values, name: values[name] + sign * step * direction}) for sign in (1, -1)]
        expected = (ends[0] - ends[1]) / (2 * step)
        got = np.sum(gradient * direction)
        size = np.sqrt(np.sum(gradient ** 2)) + abs(expected) + 1
        test.assertLess(abs(expected - got), 1e-6 * size, f"d{name}: {got} for {expected}\n{program.module}")


def flags(*names):
    return "{" + ", ".join(name for name in names if name) + "}"


def dense(*shape):
    return f"tensor<{'x'.join(map(str, shape))}xf64>"


def stored(transposed, *shape):
    return dense(*shape[:-2], *(reversed(shape[-2:]) if transposed else shape[-2:]))


class Gradients(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(SEED)

    def test_sdd(self):
        for ta, tb, tout in itertools.product((False, True), repeat=3):
            a, b = stored(ta, 2, 12, 5), stored(tb, 2, 5, 16)
            c = "tensor<2x16x12xf64, #turned>" if tout else "tensor<2x12x16xf64, #one>"
            if tb:  # a factor that both heads share
                b = stored(tb, 5, 16)
            options = flags(ta and "transpose_a", tb and "transpose_b", tout and "transpose_out", "alpha = 0.5")
            check(self, {"a": a, "b": b}, f"  %c = blocksparse.sdd %a, %b {options} : ({a}, {b}) -> {c}", {"c": c},
                  self.rng)

    def test_dsd(self):
        for ta, tb, tout in itertools.product((False, True), repeat=3):
            s = "tensor<16x12xf64, #turned>" if ta else "tensor<12x16xf64, #one>"
            b, c = stored(tb, 3, 16, 5), stored(tout, 3, 12, 5)
            options = flags(ta and "transpose_a", tb and "transpose_b", tout and "transpose_out", "alpha = 0.5")
            check(self, {"s": s, "b": b}, f"  %c = blocksparse.dsd %s, %b {options} : ({s}, {b}) -> {c}", {"c": c},
                  self.rng)

    def test_dds(self):
        for ta, tb, tout in itertools.product((False, True), repeat=3):
            s = "tensor<16x12xf64, #turned>" if tb else "tensor<12x16xf64, #one>"
            a, c = stored(ta, 3, 5, 12), stored(tout, 3, 5, 16)
            options = flags(ta and "transpose_a", tb and "transpose_b", tout and "transpose_out", "alpha = 0.5")
            check(self, {"a": a, "s": s}, f"  %c = blocksparse.dds %a, %s {options} : ({a}, {s}) -> {c}", {"c": c},
                  self.rng)

    def test_epilogues(self):
        for activation in ACTIVATIONS:
            s, b, c, r = "tensor<12x16xf64, #one>", dense(16, 5), dense(12, 5), dense(1, 5)
            options = f"{{activation = #blocksparse.activation<{activation}>}}"
            check(self, {"s": s, "b": b, "v": dense(5), "r": r},
                  f"  %c = blocksparse.dsd %s, %b bias(%v) residual(%r) {options} : ({s}, {b}, {dense(5)}, {r}) -> {c}",
                  {"c": c}, self.rng)

    def test_matmul(self):
        for ta, tb in itertools.product((False, True), repeat=2):
            a, b, c = stored(ta, 2, 6, 5), stored(tb, 5, 7), dense(2, 6, 7)
            options = flags(ta and "transpose_a", tb and "transpose_b", "activation = #blocksparse.activation<silu>")
            check(self, {"a": a, "b": b, "v": dense(7), "r": c},
                  f"  %c = blocksparse.matmul %a, %b bias(%v) residual(%r) {options}"
                  f" : ({a}, {b}, {dense(7)}, {c}) -> {c}", {"c": c}, self.rng)

    def test_bsr_addmm(self):
        s, b, c = "tensor<12x16xf64, #one>", dense(16, 5), dense(12, 5)
        types = f"({s}, {b}, {c}, {dense(12)}, {dense(5)}, {dense(5)})"
        check(self, {"s": s, "b": b, "i": c, "l": dense(12), "r": dense(5), "v": dense(5)},
              "  %c = blocksparse.bsr_addmm %s, %b input(%i) left_alpha(%l) right_alpha(%r) bias(%v) {alpha = 2.0, "
              f"beta = 0.5, activation = #blocksparse.activation<gelu_tanh>}} : {types} -> {c}", {"c": c}, self.rng)

    def test_sampled_addmm_and_conversions(self):
        s, t = "tensor<12x16xf64, #one>", "tensor<16x12xf64, #turned>"
        a, b = dense(12, 5), dense(5, 16)
        body = f"""
  %c = blocksparse.sampled_addmm %s, %a, %b {{alpha = 0.5, beta = 2.0}} : ({s}, {a}, {b}) -> {s}
  %d = blocksparse.from_dense %x : ({dense(12, 16)}) -> {s}
  %e = blocksparse.add %c, %d {{alpha = -1.0, beta = 3.0}} : ({s}, {s}) -> {s}
  %t = blocksparse.transpose %e : ({s}) -> {t}
  %g = blocksparse.to_dense %t : ({t}) -> {dense(16, 12)}
  %h = arith.mulf %g, %g : {dense(16, 12)}
  %y = arith.subf %h, %g : {dense(16, 12)}
  %one = arith.constant dense<1.0> : {dense(16, 12)}
  %k = arith.addf %h, %one : {dense(16, 12)}
  %z = arith.divf %y, %k : {dense(16, 12)}"""
        check(self, {"s": s, "a": a, "b": b, "x": dense(12, 16)}, body, {"z": dense(16, 12)}, self.rng)

    def test_softmax(self):
        s, lse, rpe = "tensor<2x2x12x16xf64, #heads>", dense(2, 2, 12), dense(1, 12, 16)
        body = (f"  %y, %l = blocksparse.softmax %x rpe(%r) key_lengths(%n) {{causal, causal_offset = 3, scale = 0.5}}"
                f" : ({s}, {rpe}, tensor<1xi32>) -> ({s}, {lse})")
        # Rows without an allowed element have lse = -inf, which has no gradient: y is the result.
        check(self, {"x": s, "r": rpe, "n": "tensor<1xi32>"}, body, {"y": s}, self.rng)

    def test_lse(self):
        s = "tensor<12x12xf64, #square>"
        body = f"  %y, %l = blocksparse.softmax %x {{scale = 0.5}} : ({s}) -> ({s}, {dense(12)})"
        check(self, {"x": s}, body, {"y": s, "l": dense(12)}, self.rng)
        check(self, {"x": s}, body, {"l": dense(12)}, self.rng)

    def test_attention(self):
        q, k, v, lse = dense(2, 4, 12, 6), dense(2, 2, 12, 6), dense(2, 1, 12, 3), dense(2, 4, 12)
        out, rpe, sink = dense(2, 4, 12, 3), dense(4, 1, 12), dense(4)
        for options in ("{causal, scale = 0.5}", "{window = array<i64: 2, 1>, soft_cap = 1.5}"):
            body = (f"  %o, %l = blocksparse.attention %q, %k, %v rpe(%r) sink(%s) layout(#square) {options}"
                    f" : ({q}, {k}, {v}, {rpe}, {sink}) -> ({out}, {lse})")
            check(self, {"q": q, "k": k, "v": v, "r": rpe, "s": sink}, body, {"o": out, "l": lse}, self.rng)

    def test_a_layer(self):
        """Attention as three operations between two products whose weights are sparse."""
        x, w, s = dense(2, 12, 16), "tensor<12x16xf64, #one>", "tensor<2x12x12xf64, #square>"
        h = dense(2, 12, 12)
        body = f"""
  %q = blocksparse.dds %x, %w {{transpose_b}} : ({x}, {w}) -> {h}
  %s = blocksparse.sdd %q, %q {{transpose_b}} : ({h}, {h}) -> {s}
  %p = blocksparse.softmax %s {{causal, scale = 0.25}} : ({s}) -> {s}
  %o = blocksparse.dsd %p, %q {{skip_zeros}} : ({s}, {h}) -> {h}
  %y = blocksparse.dds %o, %u {{activation = #blocksparse.activation<silu>}} : ({h}, {w}) -> {x}
  %z = arith.addf %y, %x : {x}"""
        check(self, {"x": x, "w": w, "u": w}, body, {"z": x}, self.rng, scale=0.5, fuses=True)

    def test_open_and_shared_sizes(self):
        """A factor that is used twice, and reshapes."""
        a = dense(4, 6)
        body = f"""
  %b = tensor.collapse_shape %a [[0, 1]] : {a} into {dense(24)}
  %c = tensor.expand_shape %b [[0, 1]] output_shape [6, 4] : {dense(24)} into {dense(6, 4)}
  %d = blocksparse.matmul %a, %c : ({a}, {dense(6, 4)}) -> {dense(4, 4)}
  %e = arith.negf %d : {dense(4, 4)}"""
        check(self, {"a": a}, body, {"e": dense(4, 4)}, self.rng)


if __name__ == "__main__":
    unittest.main()
