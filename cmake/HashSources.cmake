# This file is licensed under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cmake -DROOT=folder -DSOURCES=a;b;... -DNAME=name -DOUTPUT=file -P HashSources.cmake
#   Defines the string `name`: 12 digits that change with the contents or names of the sources,
#   which are relative to ROOT. The file stays as it is where they did not change.

set(sums "")
list(SORT SOURCES)
foreach(source IN LISTS SOURCES)
  file(SHA256 "${ROOT}/${source}" sum)
  string(APPEND sums "${source} ${sum}\n")
endforeach()
string(SHA256 sum "${sums}")
string(SUBSTRING "${sum}" 0 12 digits)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define ${NAME} \"${digits}\"\n")
