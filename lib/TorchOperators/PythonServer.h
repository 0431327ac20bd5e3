// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Servers of Python: the compiled functions of one operation, of which a call finds the one that
// serves its tensors.

#ifndef BLOCKSPARSE_LIB_TORCHOPERATORS_PYTHONSERVER_H
#define BLOCKSPARSE_LIB_TORCHOPERATORS_PYTHONSERVER_H

#include "PythonObjects.h"

#include <cstdint>
#include <vector>

namespace blocksparse::torch_operators {

/// Returns a new type of Python, or null with an exception.
Reference makeServerType();

/// Returns the list of results of the function of a server that serves the tensors of a tuple or a
/// list. Null without an exception if there is none, or if it refuses.
Reference callServer(PyObject *server, PyObject *tensors);

/// Reads a tuple of integers.
std::vector<int64_t> readSizes(PyObject *tuple);

} // namespace blocksparse::torch_operators

#endif // BLOCKSPARSE_LIB_TORCHOPERATORS_PYTHONSERVER_H
