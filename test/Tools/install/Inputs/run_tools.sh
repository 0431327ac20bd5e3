#!/usr/bin/env bash
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# run_tools.sh TREE SCRATCH CC: runs each program of an install tree.
set -eu
tree=$1 scratch=$2 cc=$3
examples=$tree/share/doc/blocksparse/docs/examples
here=$(dirname "$0")
for tool in bench compile lsp-server opt run tune; do
  "$tree/bin/blocksparse-$tool" --version
done
"$tree/bin/blocksparse-opt" "$examples/product.mlir" --blocksparse-to-planned > /dev/null
"$tree/bin/blocksparse-run" "$examples/product.mlir" --check
inputs=$here/../../Inputs
"$tree/bin/blocksparse-compile" "$inputs/product.mlir" -o "$scratch/libproduct.so" --emit-header="$scratch/product.h"
"$cc" -std=c99 -I"$scratch" "$inputs/product.c" "$scratch/libproduct.so" -Wl,-rpath,"$scratch" -o "$scratch/product"
"$scratch/product"
"$tree/bin/blocksparse-compile" "$inputs/product.mlir" --target=cpu,cuda:sm_90a -o "$scratch/libboth.so"
readelf -d "$scratch/libboth.so"
