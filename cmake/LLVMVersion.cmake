# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Reads the major version of LLVM that this project is written for from the file LLVM_VERSION, and
# sets where that LLVM is. tools/dev.sh and tools/gpu-bundle.sh read the same file; the environment
# variable LLVM_ROOT names another place for all of them.
#
#   BLOCKSPARSE_LLVM_VERSION  major version
#   BLOCKSPARSE_LLVM_ROOT     installation, /usr/lib/llvm-<version> of Debian's packages by default

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/../LLVM_VERSION" BLOCKSPARSE_LLVM_VERSION LIMIT_COUNT 1)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_LIST_DIR}/../LLVM_VERSION")
if(DEFINED ENV{LLVM_ROOT})
  set(default_root "$ENV{LLVM_ROOT}")
else()
  set(default_root "/usr/lib/llvm-${BLOCKSPARSE_LLVM_VERSION}")
endif()
set(BLOCKSPARSE_LLVM_ROOT "${default_root}" CACHE PATH "Installation of LLVM and MLIR")
