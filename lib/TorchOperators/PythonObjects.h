// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Objects of Python in C++, by Python's stable interface, and what calls need of torch. No variable
// of Python is used: the library can be loaded where there is none, as long as no function is
// called.

#ifndef BLOCKSPARSE_LIB_TORCHOPERATORS_PYTHONOBJECTS_H
#define BLOCKSPARSE_LIB_TORCHOPERATORS_PYTHONOBJECTS_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>

#include <ATen/dlpack.h>

#include <utility>

namespace blocksparse::torch_operators {

/// Owns a reference to an object of Python.
class Reference {
public:
  Reference() = default;
  /// Takes over a new reference, which may be null.
  explicit Reference(PyObject *object) : object(object) {}
  Reference(Reference &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Reference &operator=(Reference &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Reference() { Py_XDECREF(object); }

  static Reference share(PyObject *object) {
    Py_XINCREF(object);
    return Reference(object);
  }
  PyObject *get() const { return object; }
  PyObject *release() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object != nullptr; }

private:
  PyObject *object = nullptr;
};

/// Holds what `connect` gets of torch, and names of attributes.
struct Torch {
  const DLPackExchangeAPI *exchange = nullptr;
  Reference tensorType, parameterType, empty, isGradEnabled, makeBsr;
  Reference none, yes, isNeg, requiresGrad, shape, crowIndices, colIndices, values;
  /// The keyword arguments of makeBsr.
  Reference bsrOptions;
};

/// Returns what the process has of torch.
Torch &getTorch();

/// Returns a new reference to None.
PyObject *makeNone();

/// Tells whether an object is a tensor or a parameter, and not of another class.
bool isTensor(PyObject *object);

} // namespace blocksparse::torch_operators

#endif // BLOCKSPARSE_LIB_TORCHOPERATORS_PYTHONOBJECTS_H
