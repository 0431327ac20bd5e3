#!/usr/bin/env bash
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The developer's one entry point. On a fresh Debian 12 each command installs what it
# misses, builds, and does its job; a second run is quick.
set -euo pipefail

usage() {
  cat <<TEXT
usage: bash tools/dev.sh COMMAND [ARG ...]

  setup           install the packages that the build and the tests need
  build [TARGET]  configure and build (preset: \$PRESET, else default)
  demo            compile, run and check a BigBird attention
  test [FILTER]   build and run every test; FILTER is a lit path below test/
  roundtrip       print and parse again what the tests of IR and passes read
  asan            build with sanitizers and run the tests that read input
  fuzz [SECONDS]  random programs, CPU against reference (default 600 s)
  format          format the C++ sources in place
  format-check    fail when a C++ source is not formatted
  docs            regenerate docs/Dialect/Reference.md and docs/Passes/
  docs-check      fail when a generated document is out of date
TEXT
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
version=$(cat LLVM_VERSION)
llvm=${LLVM_ROOT:-/usr/lib/llvm-$version}
preset=${PRESET:-default}
case "$preset" in
  default) build="$root/build" ;;
  *) build="$root/build-$preset" ;;
esac

# What a build with sanitizers needs. libMLIR is not instrumented: containers that cross into it would
# be misread, and what its code takes from an allocator of our code would seem to be poisoned. LLVM
# gives threads a signal stack of its own, which the sanitizer would free as if it were its.
sanitize() {
  preset=asan
  build="$root/build-asan"
  export ASAN_OPTIONS=use_sigaltstack=0:allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=1
}
[ "$preset" != asan ] || sanitize

# Package, and a file that tells that it is there.
packages=(
  "cmake /usr/bin/cmake"
  "ninja-build /usr/bin/ninja"
  "ccache /usr/bin/ccache"
  "g++ /usr/bin/g++"
  "clang-$version $llvm/bin/clang"
  "lld-$version $llvm/bin/ld.lld"
  "clang-format-$version $llvm/bin/clang-format"
  "llvm-$version-dev $llvm/lib/cmake/llvm/LLVMConfig.cmake"
  "llvm-$version-tools $llvm/bin/FileCheck"
  "libmlir-$version-dev $llvm/lib/cmake/mlir/MLIRConfig.cmake"
  "mlir-$version-tools $llvm/bin/mlir-tblgen"
  "libclang-rt-$version-dev $llvm/lib/clang/$version/lib/linux/libclang_rt.asan-x86_64.a"
  "libomp-$version-dev $llvm/lib/libomp.so"
  "libgtest-dev /usr/include/gtest/gtest.h"
  "python3 /usr/bin/python3"
  "python3-numpy /usr/lib/python3/dist-packages/numpy/__init__.py"
  "python3-scipy /usr/lib/python3/dist-packages/scipy/__init__.py"
  "zlib1g-dev /usr/include/zlib.h"
  "libzstd-dev /usr/include/zstd.h"
)

setup() {
  local missing=() entry
  for entry in "${packages[@]}"; do
    [ -e "${entry#* }" ] || missing+=("${entry%% *}")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "installing: ${missing[*]}"
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  "${sudo[@]}" apt-get update -q
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

build() {
  setup
  if [ ! -e "$build/build.ninja" ]; then
    cmake --preset "$preset" -DCMAKE_C_COMPILER_LAUNCHER=ccache \
      -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"${TMPDIR:-/tmp}/blocksparse-configure.log" 2>&1 ||
      { cat "${TMPDIR:-/tmp}/blocksparse-configure.log"; return 1; }
  fi
  # The precompiled header is made once; ccache must then not look at its time stamp.
  CCACHE_SLOPPINESS=pch_defines,time_macros ninja -C "$build" --quiet "$@"
}

# Every tracked or new C++ source.
sources() {
  git ls-files -co --exclude-standard -- '*.h' '*.cpp' '*.c' | while read -r file; do
    [ -e "$file" ] && echo "$file"
  done
}

# Prints "passed failed skipped" of a lit result file and of a ctest log.
count() {
  /usr/bin/python3 - "$@" <<'PY'
import json, re, sys
codes = [test["code"] for test in json.load(open(sys.argv[1]))["tests"]]
passed = sum(code in ("PASS", "XFAIL", "FLAKYPASS") for code in codes)
skipped = sum(code in ("UNSUPPORTED", "SKIPPED", "EXCLUDED") for code in codes)
failed = len(codes) - passed - skipped
if len(sys.argv) > 2:
    text = open(sys.argv[2]).read()
    # Each unit test is a GoogleTest program of many tests, or one plain program.
    passed += sum(map(int, re.findall(r"\[  PASSED  \] (\d+) test", text)))
    skipped += sum(map(int, re.findall(r"\[  SKIPPED \] (\d+) test", text)))
    failed += sum(map(int, re.findall(r"\[  FAILED  \] (\d+) test", text)))
    verdicts = re.findall(r"^\s*\d+/\d+ Test .*?(Passed|Failed|Exception|Timeout|Not Run)", text, re.M)
    passed += verdicts.count("Passed")
    failed += len(verdicts) - verdicts.count("Passed")
print(passed, failed, skipped)
PY
}

# lit and ctest over a build; the closing line counts their tests. Arguments go to lit.
run_suite() {
  local results="$build/lit-results.json" unit="$build/unit-results.log" status=0
  "$llvm/bin/lit" -sv --order=smart -o "$results" "$@" || status=1
  (cd "$build" && ctest --verbose) >"$unit" 2>&1 ||
    { status=1; grep -E '\[  FAILED  \]|Failed|Failure|error:' "$unit" | head -n 60; }
  local passed failed skipped
  read -r passed failed skipped < <(count "$results" "$unit")
  [ "$skipped" -eq 0 ] || echo "skipped: tests that need a GPU, or a tool that is not here (REQUIRES lines)"
  echo "$passed passed, $failed failed, $skipped skipped"
  return $status
}

run_tests() {
  build
  if [ $# -gt 0 ]; then
    "$llvm/bin/lit" -sv "${@/#/$build/test/}"
  else
    run_suite "$build/test"
  fi
}

# Prints and parses every test's input again, as text and as bytecode.
run_roundtrip() {
  build
  local results="$build/roundtrip-results.json" status=0
  "$llvm/bin/lit" -sv --param verify-roundtrip=1 -o "$results" "$build/test/IR" \
    "$build/test/Transforms" || status=1
  local passed failed skipped
  read -r passed failed skipped < <(count "$results")
  echo "$passed passed, $failed failed, $skipped skipped"
  return $status
}

# The parts of the suite that read input: parser, verifiers, passes, tools and plain libraries.
run_asan() {
  sanitize
  build
  run_suite "$build"/test/{IR,Transforms,Pipelines,Conversion,Target,Tools,Integration/Cases}
}

# Regenerates what is made from the ODS files.
docs() { build blocksparse-doc; }

generated_sum() { cat docs/Dialect/Reference.md docs/Passes/*.md | sha256sum; }

docs_check() {
  local before
  before=$(generated_sum)
  docs
  [ "$before" = "$(generated_sum)" ] ||
    { echo "generated documents are out of date: run tools/dev.sh docs"; return 1; }
}

command=${1:-}
shift || true
case "$command" in
  setup) setup ;;
  build) build "$@" ;;
  demo) build && /usr/bin/python3 docs/examples/demo.py --bin "$build/bin" "$@" ;;
  test) run_tests "$@" ;;
  roundtrip) run_roundtrip ;;
  asan) run_asan ;;
  fuzz) build && /usr/bin/python3 tools/blocksparse-fuzz.py --bin "$build/bin" --seconds "${1:-600}" ;;
  format) setup && sources | xargs "$llvm/bin/clang-format" -i ;;
  format-check) setup && sources | xargs "$llvm/bin/clang-format" --dry-run -Werror ;;
  docs) docs ;;
  docs-check) docs_check ;;
  *) usage; [ "$command" = help ] || exit 2 ;;
esac
