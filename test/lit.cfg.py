# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Parameters: --param verify-roundtrip=1 makes every run of blocksparse-opt print, parse
# and compare its input in text and bytecode; --param wheel=FILE names the wheel that tests
# install (tools/dev.sh wheel). Environment: BLOCKSPARSE_GPU=1 says that
# tests may use a GPU (feature `gpu`); all run on the simulated GPU (feature `simulator`).

import importlib.util
import os
import shutil
import subprocess
import sys

import lit.formats

config.name = "blocksparse"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "Unit", "Fuzz", "embedding"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.blocksparse_build_root, "test")

bin_dir = os.path.join(config.blocksparse_build_root, "bin")
config.environment["PATH"] = os.pathsep.join(
    [bin_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)
for name in ("BLOCKSPARSE_GPU", "OMP_NUM_THREADS", "ASAN_OPTIONS", "LSAN_OPTIONS", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

opt = "blocksparse-opt"
if lit_config.params.get("verify-roundtrip", "0") not in ("", "0", "false"):
    opt += " --verify-roundtrip"
config.substitutions += [
    # Replaces the bare word as a command, but not a part of a path or of a longer name.
    (r"(?<![\w/.-])blocksparse-opt(?![\w/.-])", opt),
    ("%python", '"%s"' % sys.executable),
    ("%source_root", config.blocksparse_source_root),
    ("%build_root", config.blocksparse_build_root),
    ("%llvm_tools", config.llvm_tools_dir),
    ("%mlir_include", config.mlir_include_dir),
    ("%host_cc", config.host_cc),
    ("%host_cxx", config.host_cxx),
]

# Two tests run side by side, so an idle thread must not spin on a core that another test needs: it
# sleeps at once.
config.environment["KMP_BLOCKTIME"] = "0"
config.environment["KMP_USE_YIELD"] = "0"

ptxas = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
if importlib.util.find_spec("matplotlib"):
    config.available_features.add("matplotlib")
# The Python package runs from the source tree on the libraries of the build. torch is not
# installed with the rest; BLOCKSPARSE_TORCH_PYTHON names the interpreter of a virtual environment with it.
# Compiled programs are kept from run to run, until the compiler's library changes.
package = (
    "env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=%s BLOCKSPARSE_LIBRARY_DIR=%s BLOCKSPARSE_CACHE_DIR=%s "
    "BLOCKSPARSE_CACHE_LIMIT=64 "
) % (
    os.path.join(config.blocksparse_source_root, "python"),
    os.path.join(config.blocksparse_build_root, "lib"),
    os.path.join(config.blocksparse_build_root, "test", "python-cache"),
)
torch_python = os.environ.get("BLOCKSPARSE_TORCH_PYTHON")
if not torch_python and importlib.util.find_spec("torch"):
    torch_python = sys.executable
if torch_python:
    config.available_features.add("torch")
    if os.path.exists(os.path.join(config.blocksparse_build_root, "lib", "libblocksparse_torch.so")):
        config.available_features.add("torch-operators")
    if subprocess.call([torch_python, "-c", "import sklearn"], stderr=subprocess.DEVNULL) == 0:
        config.available_features.add("scikit-learn")
    config.substitutions.append(("%torch_python", '"%s"' % torch_python))
    config.substitutions.append(("%package_torch_python", '%s"%s"' % (package, torch_python)))
jax_python = os.environ.get("BLOCKSPARSE_JAX_PYTHON")
find_jax = "import importlib.util, sys; sys.exit(importlib.util.find_spec('jax') is None)"
if jax_python and subprocess.call([jax_python, "-c", find_jax]) == 0:
    config.available_features.add("jax")
    config.substitutions.append(("%package_jax_python", '%s"%s"' % (package, jax_python)))
wheel = lit_config.params.get("wheel")
if wheel:
    config.available_features.add("wheel")
    config.substitutions.append(("%wheel", wheel))
config.substitutions.append(("%package_python", '%s"%s"' % (package, sys.executable)))
if os.environ.get("BLOCKSPARSE_GPU") == "1":
    config.available_features.add("gpu")
# A directory whose tests would be slow there removes it.
config.available_features.add("simulator")
if config.blocksparse_asan:
    config.available_features.add("asan")
