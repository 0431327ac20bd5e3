#!/usr/bin/env bash
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Packs dist/gpu-bundle.tar.gz: what the GPU tests need on a machine that has a driver and Python
# but neither LLVM nor a network. There:
#
#   tar xzf gpu-bundle.tar.gz && gpu-bundle/run-gpu-tests
#
# Usage: tools/gpu-bundle.sh [build directory]
# blocksparse-run, -bench and -tune (one program, see tools/gpu-bundle-tools.cpp) are linked statically
# against LLVM and MLIR here; the glibc there must not be older than the one here. The benchmarks of
# python/benchmarks are in gpu-bundle/benchmarks (docs/Benchmarking.md). Where ncu is installed,
# gpu-bundle/compare-ncu compares its counters with those of the simulated GPU.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$root/build}
llvm=${LLVM_ROOT:-/usr/lib/llvm-$(cat "$root/LLVM_VERSION")}
bundle=$root/dist/gpu-bundle

ninja=${BLOCKSPARSE_NINJA:-ninja -C "$build"}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
$ninja blocksparse-run BlockSparseRuntime BlockSparseSimulatedGPU BlockSparseRuntimeTests BlockSparseLaunchCost >"$log" ||
  { grep -a -A5 -e FAILED -e error "$log" >&2; exit 1; }

rm -rf "$bundle"
mkdir -p "$bundle"/{bin,lib,cases/generated,cases/field,unit,benchmarks}

# Static archives of everything; the linker drops what is not reached.
link() {
  local output=$1 object=$2
  local archives
  archives=$(find "$llvm/lib" -name 'libMLIR*.a' -o -name 'libLLVM*.a' |
             grep -v -e Test -e CAPI -e libMLIRMlirOptMain | sort)
  # shellcheck disable=SC2046,SC2086
  "$llvm/bin/clang++" -fuse-ld=lld -O2 -Wl,--gc-sections,--icf=all,-s -static-libstdc++ \
    -static-libgcc "$object" -Wl,--start-group $(find "$build/lib" -name 'lib*.a') $archives \
    -Wl,--end-group -Wl,-Bstatic -lz -lzstd -Wl,-Bdynamic -lpthread -ldl -lm -lrt -o "$output"
}
"$llvm/bin/clang++" -std=c++20 -O2 -I "$root/include" -c "$root/tools/gpu-bundle-tools.cpp" \
  -o "$bundle/tools.o"
link "$bundle/bin/blocksparse-run" "$bundle/tools.o"
rm "$bundle/tools.o"
ln -s blocksparse-run "$bundle/bin/blocksparse-bench"
ln -s blocksparse-run "$bundle/bin/blocksparse-tune"

cp -P "$build"/lib/libblocksparse_runtime.so* "$build"/lib/libblocksparse_simgpu.so "$bundle/lib/"
cp -L "$(find -L "$llvm/lib" /usr/lib/x86_64-linux-gnu -name libomp.so.5 | head -1)" "$bundle/lib/"
cp "$build"/test/Unit/BlockSparse{RuntimeTests,LaunchCost} "$bundle/unit/"
strip "$bundle"/unit/* "$bundle"/lib/*

python3 "$root/test/Integration/generate_cases.py" --output "$bundle/cases/generated"
python3 "$root/tools/blocksparse-fuzz.py" --write 200 --seed 1 --output "$bundle/cases/fuzz"
cp "$root"/test/Integration/Cases/*.mlir "$bundle/cases/field/"
if [ -d "$root/test/Integration/GPU" ]; then cp -r "$root/test/Integration/GPU" "$bundle/cases/gpu"; fi
install -m 755 "$root/tools/run-gpu-tests.py" "$bundle/run-gpu-tests"
install -m 755 "$root/tools/compare-ncu.py" "$bundle/compare-ncu"
cp "$root"/python/benchmarks/*.py "$root"/python/benchmarks/*.json "$bundle/benchmarks/"
git -C "$root" rev-parse --short HEAD > "$bundle/revision"

tar -C "$root/dist" -c gpu-bundle | gzip -6 > "$root/dist/gpu-bundle.tar.gz"
size=$(stat -c %s "$root/dist/gpu-bundle.tar.gz")
echo "$root/dist/gpu-bundle.tar.gz: $((size / 1024 / 1024)) MiB"
if [ "$size" -gt $((60 * 1024 * 1024)) ]; then
  echo "expects a bundle of at most 60 MiB, but got $size bytes" >&2
  exit 1
fi
