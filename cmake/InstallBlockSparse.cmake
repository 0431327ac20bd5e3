# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The install tree: tools, headers, libraries and the CMake package BlockSparse. What is only
# for building on top of it is in the component Development.
include(CMakePackageConfigHelpers)

set(BLOCKSPARSE_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/BlockSparse")

foreach(directory blocksparse blocksparse-c)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/${directory}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT Development
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/include/blocksparse"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT Development
  FILES_MATCHING PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)

# The static libraries of a standalone build need targets that only that build has (StaticMLIR.cmake).
if(BLOCKSPARSE_STANDALONE)
  return()
endif()

get_property(libraries GLOBAL PROPERTY BLOCKSPARSE_LIBS)
install(TARGETS ${libraries} BlockSparseCompilerFlags BlockSparseMLIRFlags
  EXPORT BlockSparseTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Development)
install(EXPORT BlockSparseTargets DESTINATION "${BLOCKSPARSE_INSTALL_CMAKEDIR}"
  COMPONENT Development)
configure_package_config_file(cmake/BlockSparseConfig.cmake.in
  "${PROJECT_BINARY_DIR}/cmake/BlockSparseConfig.cmake"
  INSTALL_DESTINATION "${BLOCKSPARSE_INSTALL_CMAKEDIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/BlockSparseConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/cmake/BlockSparseConfig.cmake"
    "${PROJECT_BINARY_DIR}/cmake/BlockSparseConfigVersion.cmake"
  DESTINATION "${BLOCKSPARSE_INSTALL_CMAKEDIR}" COMPONENT Development)
