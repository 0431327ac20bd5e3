# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# cmake -DNM=nm -DLIBRARY=libblocksparse_runtime.so -P check-exports.cmake
# The shared library exports the C API and MLIR's entry points, nothing else.
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
                OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${symbols}")
set(count 0)
foreach(line IN LISTS lines)
  if(NOT line MATCHES "^(blocksparseRt|mgpu)")
    message(FATAL_ERROR "expects exports named blocksparseRt* or mgpu*, but got ${line}")
  endif()
  math(EXPR count "${count} + 1")
endforeach()
if(count LESS 60)
  message(FATAL_ERROR "expects at least 60 exports, but got ${count}")
endif()
