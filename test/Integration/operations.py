# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists one builder for each operation, which adds a valid use of it to a function.

Every builder is `add_<op>(f, pick)`. `pick(name, options)` chooses; the first option is the
simplest one, which the fuzzer prefers when it shrinks. A builder takes operands from `pick.pool`
(values that earlier operations left there) or makes arguments, and adds its results to the pool.
"""

from conversions import (add_add, add_disassemble, add_from_dense, add_slice, add_to_dense,
                         add_transpose)
from products import (add_bsr_addmm, add_dds, add_dsd, add_matmul, add_sampled_addmm,
                      add_scatter_mm, add_sdd)
from softmax import (add_attention, add_attention_chain, add_attention_grad, add_attention_merge,
                     add_attention_sink_grad, add_softmax, add_softmax_grad)

OPERATIONS = {
    "sdd": add_sdd,
    "dsd": add_dsd,
    "dds": add_dds,
    "bsr_addmm": add_bsr_addmm,
    "sampled_addmm": add_sampled_addmm,
    "scatter_mm": add_scatter_mm,
    "softmax": add_softmax,
    "softmax_grad": add_softmax_grad,
    "attention": add_attention,
    "attention_grad": add_attention_grad,
    "attention_merge": add_attention_merge,
    "attention_sink_grad": add_attention_sink_grad,
    "attention_chain": add_attention_chain,
    "matmul": add_matmul,
    "to_dense": add_to_dense,
    "from_dense": add_from_dense,
    "transpose": add_transpose,
    "slice": add_slice,
    "disassemble": add_disassemble,
    "add": add_add,
}


def give_results(f, pick):
    """Returns every value of the pool that no operation has used."""
    f.give(*[value for value in pick.pool if value not in pick.used])
