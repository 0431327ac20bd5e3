# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ways in which this project declares its libraries and tools, in one place.

# Everything that includes MLIR gets these through its link interface.
add_library(BlockSparseCompilerFlags INTERFACE)
target_compile_features(BlockSparseCompilerFlags INTERFACE cxx_std_20)
target_include_directories(BlockSparseCompilerFlags INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
  "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
  "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_options(BlockSparseCompilerFlags INTERFACE
  $<BUILD_INTERFACE:-Wall> $<BUILD_INTERFACE:-Wextra>
  $<BUILD_INTERFACE:-Wno-unused-parameter>)
if(BLOCKSPARSE_WERROR)
  target_compile_options(BlockSparseCompilerFlags INTERFACE $<BUILD_INTERFACE:-Werror>)
endif()
if(BLOCKSPARSE_ASAN)
  # A finding ends the program, so that no test passes over it.
  target_compile_options(BlockSparseCompilerFlags INTERFACE
    -gline-tables-only -fno-omit-frame-pointer
    -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all)
  # Shared libraries find the sanitizer's functions in the program that loads them.
  set(is_shared "$<IN_LIST:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY$<SEMICOLON>MODULE_LIBRARY>")
  target_link_options(BlockSparseCompilerFlags INTERFACE
    -fsanitize=address,undefined -fno-sanitize=vptr "$<${is_shared}:LINKER:-z,undefs>")
endif()

if(BLOCKSPARSE_FUZZ)
  # Fuzz targets see which parts of our code an input reaches.
  target_compile_options(BlockSparseCompilerFlags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# Debian's MLIR is built with RTTI and without exceptions.
add_library(BlockSparseMLIRFlags INTERFACE)
target_include_directories(BlockSparseMLIRFlags SYSTEM INTERFACE
  $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}> $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>)
target_compile_options(BlockSparseMLIRFlags INTERFACE $<BUILD_INTERFACE:-fno-exceptions>)
target_link_libraries(BlockSparseMLIRFlags INTERFACE BlockSparseCompilerFlags)

# blocksparse_export(Name)
#   Makes a target part of the CMake package: BlockSparseIR is BlockSparse::IR there, and here as well.
function(blocksparse_export name)
  string(REGEX REPLACE "^BlockSparse" "" short "${name}")
  set_target_properties(${name} PROPERTIES EXPORT_NAME "${short}")
  get_target_property(type ${name} TYPE)
  if(type STREQUAL "EXECUTABLE")
    add_executable(BlockSparse::${short} ALIAS ${name})
  else()
    add_library(BlockSparse::${short} ALIAS ${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY BLOCKSPARSE_EXPORTED_TARGETS "BlockSparse::${short}")
endfunction()

# blocksparse_install_shared_library(Name)
#   Installs a shared library. The link without a version is for development.
function(blocksparse_install_shared_library name)
  blocksparse_export(${name})
  install(TARGETS ${name} EXPORT BlockSparseTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_COMPONENT Development)
endfunction()

# blocksparse_add_plain_library(Name SOURCES ... LINK ...)
#   A static library of plain C++: no LLVM, no MLIR.
function(blocksparse_add_plain_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC BlockSparseCompilerFlags ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY BLOCKSPARSE_LIBS ${name})
  blocksparse_export(${name})
endfunction()

# blocksparse_add_mlir_library(Name SOURCES ... DEPENDS ... LINK ... MLIR ...)
#   A static library that includes MLIR. MLIR lists the component libraries that
#   the standalone build links; the default build gets them all from libMLIR.so.
function(blocksparse_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK;MLIR" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC BlockSparseMLIRFlags ${ARG_LINK})
  if(BLOCKSPARSE_STANDALONE)
    target_link_libraries(${name} PUBLIC ${ARG_MLIR})
  else()
    target_link_libraries(${name} PUBLIC MLIR LLVM)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  if(NOT name STREQUAL "BlockSparsePrecompiled" AND TARGET BlockSparsePrecompiled)
    target_precompile_headers(${name} REUSE_FROM BlockSparsePrecompiled)
  endif()
  set_property(GLOBAL APPEND PROPERTY BLOCKSPARSE_LIBS ${name})
  blocksparse_export(${name})
endfunction()

# blocksparse_collect_libraries(variable Name...)
#   Sets the variable to the static libraries of this project that the given ones link, without these.
function(blocksparse_collect_libraries variable)
  get_property(known GLOBAL PROPERTY BLOCKSPARSE_LIBS)
  set(found)
  set(pending ${ARGN})
  while(pending)
    list(POP_FRONT pending name)
    get_target_property(links ${name} INTERFACE_LINK_LIBRARIES)
    foreach(link ${links})
      if(link IN_LIST known AND NOT link IN_LIST found)
        list(APPEND found ${link})
        list(APPEND pending ${link})
      endif()
    endforeach()
  endwhile()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# A precompiled header that is the same each time, for ccache; ninja looks at the times of its sources.
function(blocksparse_omit_times name)
  target_compile_options(${name} PRIVATE
    "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# Position-independent code of programs is not that of libraries, and a precompiled header is for one
# of both.
function(blocksparse_compile_like_libraries name)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
endfunction()

# blocksparse_add_tool(name SOURCES ... LINK ...)
function(blocksparse_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  blocksparse_export(${name})
  install(TARGETS ${name} EXPORT BlockSparseTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()
