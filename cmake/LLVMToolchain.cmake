# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The toolchain of the presets: clang and lld of the LLVM that the project builds against.
include("${CMAKE_CURRENT_LIST_DIR}/LLVMVersion.cmake")

set(CMAKE_C_COMPILER "${BLOCKSPARSE_LLVM_ROOT}/bin/clang")
set(CMAKE_CXX_COMPILER "${BLOCKSPARSE_LLVM_ROOT}/bin/clang++")
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-fuse-ld=lld")
endforeach()
# The checks of compilers that CMake makes in projects of their own read this file as well.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BLOCKSPARSE_LLVM_ROOT)
