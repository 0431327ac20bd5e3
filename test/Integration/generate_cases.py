#!/usr/bin/env python3
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the generated execution tests: one .mlir for each family, with many functions.

Each function is one case of operation x element type x shape x block x layout x flags, and can be
run alone: `blocksparse-run FILE --function NAME --check`. The choices of a family are distributed
so that each option of each choice occurs equally often, in changing combinations. The same files
serve the CPU and a GPU.
"""

import argparse
import pathlib
import sys

from operations import OPERATIONS, give_results
from programs import Function, Module, Rng, mix

# Table of family: cases of the full suite, cases of the quick one, operations of one case.
FAMILIES = {
    "sdd": (180, 50, ["sdd"]),
    "dsd": (260, 80, ["dsd"]),
    "dds": (140, 40, ["dds"]),
    "bsr-addmm": (180, 55, ["bsr_addmm"]),
    "sampled-addmm": (120, 36, ["sampled_addmm"]),
    "scatter-mm": (100, 36, ["scatter_mm"]),
    "softmax": (160, 50, ["softmax"]),
    "softmax-grad": (80, 24, ["softmax_grad"]),
    "attention": (80, 24, ["attention"]),
    "attention-grad": (70, 20, ["attention_grad"]),
    "attention-merge": (40, 14, ["attention_merge"]),
    "attention-sink-grad": (30, 10, ["attention_sink_grad"]),
    "attention-chain": (60, 20, ["attention_chain"]),
    "matmul": (120, 40, ["matmul"]),
    "to-dense": (60, 18, ["to_dense"]),
    "from-dense": (50, 15, ["from_dense"]),
    "transpose": (60, 18, ["transpose"]),
    "slice": (60, 18, ["slice"]),
    "disassemble": (40, 12, ["disassemble"]),
    "add": (60, 18, ["add"]),
    "chain": (60, 20, None),
}


class Spread:
    """Chooses so that each option occurs once in every `len(options)` consecutive cases."""

    def __init__(self, family, index):
        self.family = family
        self.index = index
        self.times = {}
        self.pool = []
        self.used = []
        self.repeated = []
        self.transposed = []
        self.chosen = []

    def __call__(self, name, options):
        options = list(options)
        # A case may ask the same question twice.
        count = self.times[name] = self.times.get(name, 0) + 1
        turn, place = divmod(self.index, len(options))
        order = list(range(len(options)))
        rng = Rng(mix("spread", self.family, name, count, len(options), turn))
        for i in range(len(order) - 1, 0, -1):
            j = rng.below(i + 1)
            order[i], order[j] = order[j], order[i]
        choice = options[order[place]]
        if order[place] and isinstance(choice, (str, bool, int, float, tuple)):
            self.chosen.append(f"{name}={choice}".replace(" ", ""))
        return choice


CHAIN_STARTS = ["sdd", "from_dense", "sampled_addmm", "transpose"]
CHAIN_MIDDLES = ["softmax", "transpose", "sampled_addmm", "softmax_grad", "softmax"]
CHAIN_ENDS = ["dsd", "to_dense", "dds", "bsr_addmm"]


def chain(pick):
    return [pick("start", CHAIN_STARTS), pick("middle", CHAIN_MIDDLES),
            pick("end", CHAIN_ENDS)]


def add_case(module, family, index):
    pick = Spread(family, index)
    operations = FAMILIES[family][2] or chain(pick)
    f = Function(module, f"{family.replace('-', '_')}_{index:03d}")
    for operation in operations:
        OPERATIONS[operation](f, pick)
    give_results(f, pick)
    f.note = " ".join(pick.chosen)


def family_module(family, quick, scalar=False):
    module = Module(scalar)
    full, short, _ = FAMILIES[family]
    for index in range(short if quick else full):
        add_case(module, family, index)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default=".", type=pathlib.Path, help="directory to write to")
    parser.add_argument("--family", choices=FAMILIES, action="append",
                        help="write these families alone")
    parser.add_argument("--quick", action="store_true",
                        help="the subset that the lit suite runs")
    parser.add_argument("--list", action="store_true", help="print families and numbers of cases")
    options = parser.parse_args()
    families = options.family or list(FAMILIES)
    counts = {name: FAMILIES[name][1 if options.quick else 0] for name in families}
    if options.list:
        for name, count in counts.items():
            print(f"{name:16} {count}")
        print(f"{'all':16} {sum(counts.values())}")
        return 0
    options.output.mkdir(parents=True, exist_ok=True)
    for name in families:
        text = family_module(name, options.quick).text("// Written by generate_cases.py.\n")
        (options.output / f"{name}.mlir").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
