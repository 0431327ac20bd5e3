# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# For tools that need no LLVM at run time. The imported targets of an MLIR that was built against
# libLLVM.so name it, and some name libMLIR.so, among what they need: a program would hold LLVM
# twice. Here they need LLVM's archives instead.

add_library(BlockSparseStaticLLVM INTERFACE)
set(libraries ${LLVM_AVAILABLE_LIBS})
# Not those that want packages for what no compiler does: downloads, line editing, counters.
list(FILTER libraries EXCLUDE REGEX "Debuginfod|LineEditor|Exegesis")
foreach(library ${libraries})
  if(library MATCHES "^LLVM." AND TARGET ${library})
    get_target_property(type ${library} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      target_link_libraries(BlockSparseStaticLLVM INTERFACE ${library})
    endif()
  endif()
endforeach()
# What the archives mention but no code that is kept needs (libz3) stays out.
target_link_options(BlockSparseStaticLLVM INTERFACE
  LINKER:--as-needed LINKER:--gc-sections LINKER:--icf=all LINKER:--strip-all -static-libstdc++ -static-libgcc)

get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(target ${imported})
  get_target_property(needs ${target} INTERFACE_LINK_LIBRARIES)
  if(target MATCHES "^(LLVM|MLIR)." AND needs)
    # Polly is a plugin, whose archives packages leave out.
    list(REMOVE_ITEM needs LLVM $<LINK_ONLY:LLVM> MLIR Polly)
    if(target MATCHES "^MLIR")
      list(APPEND needs BlockSparseStaticLLVM)
    endif()
    set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES ${needs})
  endif()
endforeach()
