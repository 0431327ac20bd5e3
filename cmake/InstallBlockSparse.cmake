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

# The license, the documents and the examples that they speak of.
install(FILES
    "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
    "${PROJECT_SOURCE_DIR}/CONTRIBUTING.md" "${PROJECT_SOURCE_DIR}/RELEASING.md" "${PROJECT_SOURCE_DIR}/SECURITY.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# The static libraries of a standalone build need targets that only that build has (StaticMLIR.cmake).
if(BLOCKSPARSE_STANDALONE)
  return()
endif()

get_property(libraries GLOBAL PROPERTY BLOCKSPARSE_LIBS)
blocksparse_export(BlockSparseCompilerFlags)
blocksparse_export(BlockSparseMLIRFlags)
install(TARGETS ${libraries} BlockSparseCompilerFlags BlockSparseMLIRFlags
  EXPORT BlockSparseTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT Development)
install(EXPORT BlockSparseTargets NAMESPACE BlockSparse::
  DESTINATION "${BLOCKSPARSE_INSTALL_CMAKEDIR}" COMPONENT Development)
export(EXPORT BlockSparseTargets NAMESPACE BlockSparse::
  FILE "${PROJECT_BINARY_DIR}/lib/cmake/BlockSparse/BlockSparseTargets.cmake")

# Another project uses the install tree or, with BlockSparse_DIR, this build tree.
get_property(BLOCKSPARSE_EXPORTED_TARGETS GLOBAL PROPERTY BLOCKSPARSE_EXPORTED_TARGETS)
set(BLOCKSPARSE_CONFIG_DIRS "
set(BLOCKSPARSE_INCLUDE_DIRS \"${PROJECT_SOURCE_DIR}/include\" \"${PROJECT_BINARY_DIR}/include\")
set(BLOCKSPARSE_LIBRARY_DIR \"${PROJECT_BINARY_DIR}/lib\")
set(BLOCKSPARSE_TOOLS_DIR \"${PROJECT_BINARY_DIR}/bin\")")
configure_package_config_file(cmake/BlockSparseConfig.cmake.in
  "${PROJECT_BINARY_DIR}/lib/cmake/BlockSparse/BlockSparseConfig.cmake"
  INSTALL_DESTINATION "${PROJECT_BINARY_DIR}/lib/cmake/BlockSparse"
  INSTALL_PREFIX "${PROJECT_BINARY_DIR}")
set(BLOCKSPARSE_CONFIG_DIRS "
set_and_check(BLOCKSPARSE_INCLUDE_DIRS \"\${PACKAGE_PREFIX_DIR}/${CMAKE_INSTALL_INCLUDEDIR}\")
set_and_check(BLOCKSPARSE_LIBRARY_DIR \"\${PACKAGE_PREFIX_DIR}/${CMAKE_INSTALL_LIBDIR}\")
set(BLOCKSPARSE_TOOLS_DIR \"\${PACKAGE_PREFIX_DIR}/${CMAKE_INSTALL_BINDIR}\")")
configure_package_config_file(cmake/BlockSparseConfig.cmake.in
  "${PROJECT_BINARY_DIR}/cmake/BlockSparseConfig.cmake"
  INSTALL_DESTINATION "${BLOCKSPARSE_INSTALL_CMAKEDIR}")
foreach(folder cmake lib/cmake/BlockSparse)
  write_basic_package_version_file("${PROJECT_BINARY_DIR}/${folder}/BlockSparseConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
endforeach()
install(FILES
    "${PROJECT_BINARY_DIR}/cmake/BlockSparseConfig.cmake"
    "${PROJECT_BINARY_DIR}/cmake/BlockSparseConfigVersion.cmake"
  DESTINATION "${BLOCKSPARSE_INSTALL_CMAKEDIR}" COMPONENT Development)
