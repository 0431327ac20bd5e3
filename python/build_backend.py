# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The build backend of the Python package (PEP 517): a wheel of the modules and the shared libraries.

The libraries are those of the folder that the setting `library-dir` or the environment variable
BLOCKSPARSE_LIBRARY_DIR names (`lib` of a build or of an installation). Without it CMake builds them in the
folder `build` of the clone, the compiler with LLVM inside. The setting `plat-name` names the platform of the
wheel, such as linux_x86_64. Without it this is the manylinux platform of the newest glibc that a symbol of the
libraries asks for, if they need nothing else that a system may lack.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sysconfig
import zipfile

import elf

HERE = pathlib.Path(__file__).resolve().parent
CLONE = HERE.parent
LIBRARIES = ("libblocksparse_compiler.so", "libblocksparse_runtime.so")
# LLVM's OpenMP runtime, which compiled programs use and the compiler looks for beside itself.
OPENMP = "libomp.so.5"
# The operators of torch, which the package needs to be quick and not to be right.
TORCH_OPERATORS = "libblocksparse_torch.so"
# Libraries that every system of a manylinux platform has (PEP 600), and those that torch brings.
SYSTEM_LIBRARIES = {"ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0",
                    "librt.so.1", "libz.so.1"}
TORCH_LIBRARIES = {"libtorch_cpu.so", "libstdc++.so.6"}
SETTINGS = ("library-dir", "plat-name")


class UnsupportedOperation(Exception):
    """Says that this backend makes no source distribution."""


def get_requires_for_build_wheel(config_settings=None):
    """Returns no requirement."""
    return []


def build_sdist(sdist_directory, config_settings=None):
    """Refuses: the sources of the libraries are in the clone around this folder."""
    raise UnsupportedOperation("the package is built from a clone: python -m build --wheel python")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel and returns its file name."""
    settings = dict(config_settings or {})
    unknown = sorted(set(settings) - set(SETTINGS))
    if unknown:
        raise SystemExit(f"expects settings {' and '.join(SETTINGS)}, but got '{unknown[0]}'")
    version = _version()
    named = settings.get("library-dir") or os.environ.get("BLOCKSPARSE_LIBRARY_DIR")
    libraries = _libraries([pathlib.Path(named)] if named else _build())
    system = settings.get("plat-name") or _platform(libraries)
    name = f"blocksparse-{version}-py3-none-{system}.whl"
    information = f"blocksparse-{version}.dist-info"
    files = {f"blocksparse/{path.name}": path.read_bytes()
             for path in sorted((HERE / "blocksparse").glob("*.py"))}
    files.update({f"blocksparse/lib/{entry}": path.read_bytes() for entry, path in libraries.items()})
    files[f"{information}/licenses/LICENSE"] = (CLONE / "LICENSE").read_bytes()
    files[f"{information}/METADATA"] = _metadata(version)
    files[f"{information}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: blocksparse\nRoot-Is-Purelib: false\n"
                                     f"Tag: py3-none-{system}\n").encode()
    record = "".join(f"{path},sha256={_digest(data)},{len(data)}\n" for path, data in files.items())
    files[f"{information}/RECORD"] = f"{record}{information}/RECORD,,\n".encode()
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            # A fixed time makes equal inputs equal wheels.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if ".so" in path else 0o644) << 16
            wheel.writestr(entry, data)
    return name


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _version():
    """Returns the version of the project, which CMakeLists.txt holds."""
    text = (CLONE / "CMakeLists.txt").read_text(encoding="utf-8")
    found = re.search(r"project\(\s*BlockSparse\s[^)]*?VERSION\s+([\d.]+)", text, re.IGNORECASE)
    if not found:
        raise SystemExit(f"expects project(BlockSparse ... VERSION ...) in '{CLONE / 'CMakeLists.txt'}'")
    return found.group(1)


def _metadata(version):
    return (f"Metadata-Version: 2.4\nName: blocksparse\nVersion: {version}\n"
            "Summary: Block-sparse linear algebra for numpy and torch, compiled for the pattern at hand\n"
            "License-Expression: Apache-2.0 WITH LLVM-exception\nLicense-File: LICENSE\n"
            "Requires-Python: >=3.10\nRequires-Dist: numpy>=1.24\n"
            "Provides-Extra: torch\nRequires-Dist: torch>=2.10; extra == 'torch'\n").encode()


def _libraries(folders):
    """Returns {name: path} of the libraries; the first folder that has one is taken."""
    def find(name, places):
        return next((folder / name for folder in places if (folder / name).exists()), None)

    listed = " or ".join(f"'{folder}'" for folder in folders)
    found = {name: find(name, folders) for name in LIBRARIES}
    for name, path in found.items():
        if path is None:
            raise SystemExit(f"expects {' and '.join(LIBRARIES)} in {listed}, but got no {name}")
    operators = find(TORCH_OPERATORS, folders)
    if operators:
        found[TORCH_OPERATORS] = operators
    else:
        print(f"the wheel has no {TORCH_OPERATORS}: BLOCKSPARSE_TORCH_PYTHON names no interpreter with torch",
              flush=True)
    llvm = os.environ.get("LLVM_ROOT") or f"/usr/lib/llvm-{(CLONE / 'LLVM_VERSION').read_text().strip()}"
    found[OPENMP] = find(OPENMP, [*folders, pathlib.Path(llvm) / "lib"])
    if found[OPENMP] is None:
        raise SystemExit(f"expects {OPENMP} in {listed} or in '{llvm}/lib' (LLVM_ROOT), but got none")
    return found


def _platform(libraries):
    """Returns the platform on which libraries can be loaded."""
    newest = (2, 5)
    for name, path in libraries.items():
        needs = elf.Needs(path.read_bytes())
        provided = SYSTEM_LIBRARIES | (TORCH_LIBRARIES if name == TORCH_OPERATORS else set())
        missing = sorted(set(needs.libraries) - provided)
        if missing:
            print(f"the wheel is for this system: {name} needs {', '.join(missing)}", flush=True)
            return re.sub(r"[-.]", "_", sysconfig.get_platform())
        versions = [version.removeprefix("GLIBC_") for version in needs.versions if version.startswith("GLIBC_")]
        newest = max([newest, *(tuple(map(int, version.split("."))) for version in versions)])
    return f"manylinux_{newest[0]}_{newest[1]}_{platform.machine()}"


def _build():
    """Builds the libraries, the compiler's with LLVM inside, and returns the folders in which they are."""
    print("building the libraries: some minutes on a few cores", flush=True)
    operators = ["BlockSparseTorchOperators"] if os.environ.get("BLOCKSPARSE_TORCH_PYTHON") else []
    try:
        subprocess.run(["cmake", "--preset", "default"], cwd=CLONE, check=True)
        subprocess.run(["cmake", "--build", "--preset", "default", "--target", "BlockSparseCompilerStandalone",
                        "BlockSparseRuntime", *operators], cwd=CLONE, check=True)
    except FileNotFoundError:
        raise SystemExit("expects the program cmake (bash tools/dev.sh setup installs it), or the setting "
                         "library-dir with the folder of built libraries, but got neither") from None
    return [CLONE / "build" / "standalone", CLONE / "build" / "lib"]
