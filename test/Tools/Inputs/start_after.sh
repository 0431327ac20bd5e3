#!/bin/sh
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Compares what a compilation writes that starts after each of some stages with what one from the
# source writes: start_after.sh PROGRAM FOLDER TARGET ENDING STAGE ...
set -e
program=$1
folder=$2
target=$3
ending=$4
shift 4
blocksparse-compile "$program" "--target=$target" -o "$folder/source.$ending"
for stage in "$@"; do
  blocksparse-compile "$program" "--target=$target" "--stop-after=$stage" -o "$folder/$stage.mlir"
  blocksparse-compile "$folder/$stage.mlir" "--target=$target" "--start-after=$stage" \
    -o "$folder/$stage.$ending"
  cmp "$folder/source.$ending" "$folder/$stage.$ending"
  echo "$target after $stage: the same"
done
