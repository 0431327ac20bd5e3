#!/usr/bin/env bash
# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The developer's one entry point. On a fresh Debian 12 each command installs what it misses, builds,
# and does its job; a second run is quick. Each says first what it will take, and shows its progress.
set -euo pipefail

usage() {
  cat <<TEXT
usage: bash tools/dev.sh COMMAND [ARG ...]

  setup           install the packages that the build and the tests need
  build [TARGET]  configure and build (preset: \$PRESET, else default)
  setup-torch     install torch of PyPI for the tests of the Python package: 80 s, 5.4 GB, in \$BLOCKSPARSE_TORCH_VENV
                  (default ~/.cache/blocksparse-torch); without it, or with an empty BLOCKSPARSE_TORCH_PYTHON, these
                  tests are skipped
  wheel           build the wheel of the Python package in dist, with LLVM inside, and test it in virtual environments of
                  its own
  setup-jax       install jax of PyPI for the test of its example: 0.6 GB, in \$BLOCKSPARSE_JAX_VENV (default
                  ~/.cache/blocksparse-jax)
  demo            compile, run and check a BigBird attention
  test [FILTER]   build and run every test; FILTER is a lit path below test/
  roundtrip       print and parse again what the tests of IR and passes read
  asan            build with sanitizers and run the tests that read input
  fuzz [SECONDS] [OPTION]
                  random programs, CPU against reference (default 600 s); --device=simulated:
                  on the simulated GPU
  fuzz-readers [SECONDS] [OPTION]
                  libFuzzer on every reader of data, under sanitizers (default 60 s for each), with
                  another seed each time; --seed=1: the same inputs each time; PRESET=asan: in the
                  build of asan, where coverage does not guide it, as in CI
  format [FILE]   format the C++ sources in place
  format-check [FILE]
                  fail when a C++ source is not formatted
  lint            run every hook of .pre-commit-config.yaml over the tree
  tidy [FILE]     run clang-tidy: over the plain C++ libraries, the files, or the whole tree (all)
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

# Selects a build with sanitizers: asan, or the argument. libMLIR is not instrumented: containers that
# cross into it would be misread, and what its code takes from an allocator of our code would seem to be
# poisoned. LLVM gives threads a signal stack of its own, which the sanitizer would free as if it were its.
sanitize() {
  preset=${1:-asan}
  build="$root/build-$preset"
  export ASAN_OPTIONS=use_sigaltstack=0:allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=1
  export LSAN_OPTIONS=suppressions="$root/test/lsan.supp":print_suppressions=0
  # Python loads no library that was built so, and the operators of torch are for Python alone.
  export BLOCKSPARSE_TORCH_PYTHON=
}
[ "$preset" != asan ] || sanitize

# Each entry is a package, and a file that exists if the package is installed.
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
  "python3-venv /usr/share/doc/python3-venv"
  "python3-dev /usr/bin/python3-config"
  "python3-numpy /usr/lib/python3/dist-packages/numpy/__init__.py"
  "libopenblas0-pthread /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3"
  "python3-scipy /usr/lib/python3/dist-packages/scipy/__init__.py"
  "zlib1g-dev /usr/include/zlib.h"
  "libzstd-dev /usr/include/zstd.h"
)

# The checks of the sources need these as well.
lint_packages=(
  "clang-tidy-$version $llvm/bin/clang-tidy"
  "codespell /usr/bin/codespell"
  "pre-commit /usr/bin/pre-commit"
)

# Runs apt-get and prints how many packages it has set up; its output is shown when it fails.
run_apt() {
  local log start=$SECONDS printed=0 line unpacked=0
  log=$(mktemp)
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  # The status that counts is apt's: the loop before it reads its output to the end.
  if "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" 2>&1 | tee "$log" |
    while read -r line; do
      [[ "$line" != Unpacking* ]] || unpacked=$((unpacked + 1))
      if [ $((SECONDS - start - printed)) -ge 10 ]; then
        printed=$((SECONDS - start))
        echo "apt-get $1: $printed s, $unpacked packages unpacked"
      fi
    done
  then
    echo "apt-get $1: done in $((SECONDS - start)) s"
    rm -f "$log"
  else
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
}

# Installs those of the given packages that are missing.
install_packages() {
  local missing=() entry
  for entry in "$@"; do
    [ -e "${entry#* }" ] || missing+=("${entry%% *}")
  done
  [ ${#missing[@]} -ne 0 ] || return 0
  echo "installing: ${missing[*]}"
  run_apt update
  # The two lines of apt that say what is fetched and how much disk it takes.
  LC_ALL=C apt-get install --assume-no --no-install-recommends "${missing[@]}" 2>/dev/null |
    grep -E '^(Need to get|After this operation)' || true
  run_apt install -y --no-install-recommends "${missing[@]}"
}

setup() { install_packages "${packages[@]}"; }

# Tests find the interpreter of this virtual environment unless BLOCKSPARSE_TORCH_PYTHON names another one, or none.
torch_venv=${BLOCKSPARSE_TORCH_VENV:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/blocksparse-torch}
# A virtual environment whose installation was interrupted has an interpreter and no torch.
if [ -z "${BLOCKSPARSE_TORCH_PYTHON+set}" ] && "$torch_venv/bin/python" -c \
  "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)" 2>/dev/null; then
  export BLOCKSPARSE_TORCH_PYTHON="$torch_venv/bin/python"
fi

setup_torch() {
  setup
  [ -x "$torch_venv/bin/python" ] || /usr/bin/python3 -m venv "$torch_venv"
  echo "torch: 5.4 GB in $torch_venv"
  "$torch_venv/bin/pip" install --quiet --disable-pip-version-check "torch>=2.10" numpy scipy ml_dtypes scikit-learn
}

# This is the same for jax.
jax_venv=${BLOCKSPARSE_JAX_VENV:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/blocksparse-jax}
if [ -z "${BLOCKSPARSE_JAX_PYTHON:-}" ] && [ -x "$jax_venv/bin/python" ]; then
  export BLOCKSPARSE_JAX_PYTHON="$jax_venv/bin/python"
fi

setup_jax() {
  setup
  [ -x "$jax_venv/bin/python" ] || /usr/bin/python3 -m venv "$jax_venv"
  echo "jax: 0.6 GB in $jax_venv"
  "$jax_venv/bin/pip" install --quiet --disable-pip-version-check jax
}

# Tenths of a second of one core that a step of a build takes without a compiler cache: the whole of 377
# steps takes 8 minutes on two cores (CONTRIBUTING.md).
step_tenths=25

# Tells the size of the build to come. Arguments are targets.
announce_build() {
  local steps cores minutes
  # CMake runs again first if its files have changed: the steps are known after that.
  ninja -C "$build" build.ninja >/dev/null 2>&1 || true
  steps=$(ninja -C "$build" -n "$@" 2>/dev/null | grep -c '^\[') || true
  [ "$steps" -gt 10 ] || return 0
  cores=$(nproc)
  minutes=$(((steps * step_tenths / 10 / cores + 59) / 60))
  # The 280 steps of the demo leave 223 MiB.
  echo "build: $steps steps in ${build#"$root"/}, about $minutes min on $cores cores if ccache knows none of them;" \
    "$((steps * 8 / 10)) MiB"
}

# Warnings are errors where the environment says BLOCKSPARSE_WERROR=ON, as CI does. Other builds keep
# what they were configured with.
configure() {
  setup
  local options=()
  [ -z "${BLOCKSPARSE_WERROR:-}" ] || options=("-DBLOCKSPARSE_WERROR:BOOL=$BLOCKSPARSE_WERROR")
  # The operators of torch need the headers of a torch.
  [ -z "${BLOCKSPARSE_TORCH_PYTHON:-}" ] || options+=("-DBLOCKSPARSE_TORCH_PYTHON:FILEPATH=$BLOCKSPARSE_TORCH_PYTHON")
  if [ -e "$build/build.ninja" ]; then
    local option known=1
    for option in "${options[@]}"; do
      grep -qxF -e "${option#-D}" "$build/CMakeCache.txt" || known=0
    done
    [ $known -eq 0 ] || return 0
  fi
  echo "configure: preset $preset, about 15 s"
  cmake --preset "$preset" -DCMAKE_C_COMPILER_LAUNCHER=ccache \
    -DCMAKE_CXX_COMPILER_LAUNCHER=ccache "${options[@]}" >"${TMPDIR:-/tmp}/blocksparse-configure.log" 2>&1 ||
    { cat "${TMPDIR:-/tmp}/blocksparse-configure.log"; return 1; }
}

build() {
  configure
  announce_build "$@"
  # The precompiled header is made once; ccache must then not look at its time stamp. -Werror changes no
  # object that compiles, so that builds with and without it share the cache.
  CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_IGNOREOPTIONS=-Werror NINJA_STATUS="[%f/%t] " \
    /usr/bin/python3 tools/progress.py build ninja -C "$build" "$@"
}

# Prints the given files, or else every tracked or new C++ source.
sources() {
  local file
  if [ $# -gt 0 ]; then
    for file in "$@"; do
      case "$file" in
        *.h | *.cpp | *.c) echo "$file" ;;
        *) echo "$file: is no C++ source and stays as it is" >&2 ;;
      esac
    done
    return
  fi
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

# Runs lit, shows its progress, and prints the tests that fail. The first argument is a label.
run_lit() {
  local label=$1
  shift
  /usr/bin/python3 tools/progress.py "$label" "$llvm/bin/lit" -v "$@"
}

# Runs lit and ctest on a build; the last line counts their tests. Arguments are passed to lit.
run_suite() {
  local results="$build/lit-results.json" unit="$build/unit-results.log" status=0
  run_lit tests --order=smart -o "$results" "$@" || status=1
  (cd "$build" && /usr/bin/python3 "$root/tools/progress.py" --quiet --log "$unit" "unit tests" ctest --verbose -j "$(nproc)") ||
    { status=1; grep -E '\[  FAILED  \]|Failed|Failure|error:' "$unit" | head -n 60; }
  local passed failed skipped
  read -r passed failed skipped < <(count "$results" "$unit")
  [ "$skipped" -eq 0 ] || echo "skipped: tests that need a GPU, torch (setup-torch), jax (setup-jax), or a tool that is not here (REQUIRES lines), or that sanitizers make long (UNSUPPORTED)"
  echo "$passed passed, $failed failed, $skipped skipped"
  return $status
}

run_tests() {
  build
  if [ $# -gt 0 ]; then
    run_lit tests "${@/#/$build/test/}"
  else
    run_suite "$build/test"
  fi
}

# Builds the wheel by the build that is there, and tests it where neither the sources nor the build are in reach.
run_wheel() {
  local operators=() wheels
  [ -z "${BLOCKSPARSE_TORCH_PYTHON:-}" ] || operators=(BlockSparseTorchOperators)
  build BlockSparseCompilerStandalone BlockSparseRuntime "${operators[@]}"
  [ -x "$build/wheel-venv/bin/pip" ] || /usr/bin/python3 -m venv "$build/wheel-venv"
  rm -rf dist
  "$build/wheel-venv/bin/pip" wheel --quiet --no-index --no-deps --wheel-dir dist ./python
  wheels=(dist/*.whl)
  ls -l "${wheels[@]}"
  local results="$build/wheel-results.json" status=0 passed failed skipped
  run_lit wheel --param wheel="$root/${wheels[0]}" -o "$results" "$build"/test/python/wheel-{contents,numpy,torch}.test ||
    status=1
  read -r passed failed skipped < <(count "$results")
  echo "$passed passed, $failed failed, $skipped skipped"
  return $status
}

# Prints and parses every test's input again, as text and as bytecode.
run_roundtrip() {
  build
  local results="$build/roundtrip-results.json" status=0
  run_lit "round trips" --param verify-roundtrip=1 -o "$results" "$build/test/IR" \
    "$build/test/Transforms" || status=1
  local passed failed skipped
  read -r passed failed skipped < <(count "$results")
  echo "$passed passed, $failed failed, $skipped skipped"
  return $status
}

# Runs the parts of the suite that read input: parser, verifiers, passes, tools and plain libraries.
run_asan() {
  sanitize
  build
  run_suite "$build"/test/{IR,Transforms,Pipelines,Conversion,Target,Tools,Integration/Cases}
}

# Runs every fuzz target of test/Fuzz. The build is of the libraries that read, and of no tool, unless
# it is that of the tests under sanitizers.
run_fuzz_readers() {
  [ "$preset" = asan ] || sanitize fuzz
  build fuzz-readers
  /usr/bin/python3 test/Fuzz/fuzz_readers.py --build "$build" --seconds "${1:-60}" "${@:2}"
}

# Regenerates the documents that are made from the ODS files.
docs() { build blocksparse-doc; }

generated_sum() { cat docs/Dialect/Reference.md docs/Passes/*.md | sha256sum; }

docs_check() {
  local before
  before=$(generated_sum)
  docs
  [ "$before" = "$(generated_sum)" ] ||
    { echo "generated documents are out of date: run tools/dev.sh docs"; return 1; }
}

# Runs every hook on every file; each hook is one check.
run_lint() {
  setup
  install_packages "${lint_packages[@]}"
  local log status=0
  log=$(mktemp)
  echo "lint: the hooks of .pre-commit-config.yaml, about 15 s"
  pre-commit run --all-files --color never 2>&1 | tee "$log" || status=1
  echo "$(grep -c '\.Passed$' "$log") passed, $(grep -c '\.Failed$' "$log") failed"
  rm -f "$log"
  return $status
}

# The libraries that include neither LLVM nor MLIR: clang-tidy takes two seconds of a core for a file
# of theirs, and twenty for one that includes MLIR.
tidy_libraries="Layout|Plan|Reference|Runtime|Support"

run_tidy() {
  install_packages "${lint_packages[@]}"
  if [ "${1:-}" = all ]; then
    build
    set -- "^$root/(lib|tools)/(?!Support/Precompiled)"
  elif [ $# -gt 0 ]; then
    build
    set -- "${@/#/^$root/}"
  else
    configure
    set -- "^$root/lib/($tidy_libraries)/(?!Precompiled)"
  fi
  /usr/bin/python3 tools/progress.py tidy "$llvm/bin/run-clang-tidy" -quiet -p "$build" -j "$(nproc)" \
    -clang-tidy-binary "$llvm/bin/clang-tidy" "$@"
}

command=${1:-}
shift || true
case "$command" in
  setup) setup ;;
  setup-torch) setup_torch ;;
  setup-jax) setup_jax ;;
  build) build "$@" ;;
  demo) build blocksparse-compile blocksparse-run && /usr/bin/python3 docs/examples/demo.py --bin "$build/bin" "$@" ;;
  test) run_tests "$@" ;;
  wheel) run_wheel ;;
  roundtrip) run_roundtrip ;;
  asan) run_asan ;;
  fuzz) build && /usr/bin/python3 tools/blocksparse-fuzz.py --bin "$build/bin" --seconds "${1:-600}" "${@:2}" ;;
  fuzz-readers) run_fuzz_readers "$@" ;;
  format) setup && sources "$@" | xargs -r "$llvm/bin/clang-format" -i ;;
  format-check) setup && sources "$@" | xargs -r "$llvm/bin/clang-format" --dry-run -Werror ;;
  lint) run_lint ;;
  tidy) run_tidy "$@" ;;
  docs) docs ;;
  docs-check) docs_check ;;
  *) usage; [ "$command" = help ] || exit 2 ;;
esac
