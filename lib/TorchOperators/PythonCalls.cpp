// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A module of Python that finds the servers of calls of public functions. Tensors of torch are read
// by DLPack's exchange interface; what else is needed of torch comes from the package, so that
// nothing of libtorch_python is linked.

#include "Patterns.h"
#include "PythonServer.h"

#include <memory>

using namespace blocksparse::torch_operators;

Torch &blocksparse::torch_operators::getTorch() {
  // Objects of Python live longer than what a library destroys when the process ends.
  static Torch *torch = new Torch;
  return *torch;
}

PyObject *blocksparse::torch_operators::makeNone() {
  return Reference::share(getTorch().none.get()).release();
}

bool blocksparse::torch_operators::isTensor(PyObject *object) {
  const Torch &torch = getTorch();
  PyObject *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  return type == torch.tensorType.get() || type == torch.parameterType.get();
}

namespace {

/// Holds what is known of earlier calls, by keys of Python.
struct KnownCalls {
  /// Lists of tuples (which arrays are there, server, entry) of public functions.
  Reference calls;
  /// Lists of tuples (size of the matrix, server) of operations on BSR matrices.
  Reference bsrServers;
  /// Capsules of the Patterns of operations on BSR matrices whose patterns count.
  Reference patterns;
};

KnownCalls &getKnown() {
  static KnownCalls *known = new KnownCalls;
  return *known;
}

/// Returns an entry of a dictionary, or null. No exception is set then: a key may have no hash.
Reference find(const Reference &dictionary, PyObject *key) {
  // Keys of Python may run any code, which may replace the dictionary.
  Reference kept = Reference::share(dictionary.get());
  Reference found = Reference::share(PyDict_GetItemWithError(kept.get(), key));
  if (!found)
    PyErr_Clear();
  return found;
}

/// Puts an entry that begins with `first` into the list of a key, in place of another one that
/// does. Returns false with an exception.
bool put(const Reference &dictionary, PyObject *key, PyObject *first, Reference entry) {
  Reference list = find(dictionary, key);
  if (!list) {
    list = Reference(PyList_New(0));
    if (!list || PyDict_SetItem(dictionary.get(), key, list.get()))
      return false;
  }
  if (!entry)
    return false;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()); ++i) {
    PyObject *other = PyTuple_GetItem(PyList_GetItem(list.get(), i), 0);
    if (PyObject_RichCompareBool(other, first, Py_EQ) == 1)
      return PyList_SetItem(list.get(), i, entry.release()) == 0;
  }
  return PyList_Append(list.get(), entry.get()) == 0;
}

/// Returns a number that says how many arrays there are and which of them are not None.
long long getPresence(PyObject *arrays) {
  Py_ssize_t count = PyTuple_Size(arrays);
  unsigned long long presence = 1ull << count;
  for (Py_ssize_t i = 0; i < count; ++i)
    presence |= static_cast<unsigned long long>(PyTuple_GetItem(arrays, i) != getTorch().none.get())
                << i;
  return static_cast<long long>(presence);
}

/// Tells whether torch computes gradients and one of the arrays asks for one.
bool isGradientAsked(PyObject *arrays) {
  const Torch &torch = getTorch();
  Reference isEnabled(PyObject_CallNoArgs(torch.isGradEnabled.get()));
  if (isEnabled.get() != torch.yes.get())
    return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(arrays); ++i) {
    PyObject *array = PyTuple_GetItem(arrays, i);
    if (array == torch.none.get())
      continue;
    Reference asked(PyObject_GetAttr(array, torch.requiresGrad.get()));
    if (asked.get() == torch.yes.get())
      return true;
  }
  PyErr_Clear();
  return false;
}

PyObject *giveUp() {
  PyErr_Clear();
  return makeNone();
}

//===----------------------------------------------------------------------===//
// Public functions
//===----------------------------------------------------------------------===//

/// know(key, given, server, entry): lets `quick` find a server.
PyObject *know(PyObject *, PyObject *arguments) {
  PyObject *key = nullptr, *given = nullptr, *server = nullptr, *entry = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOOO", &key, &given, &server, &entry))
    return nullptr;
  Reference presence(PyLong_FromLongLong(getPresence(given)));
  if (!presence)
    return nullptr;
  Reference known(PyTuple_Pack(3, presence.get(), server, entry));
  return put(getKnown().calls, key, presence.get(), std::move(known)) ? makeNone() : nullptr;
}

/// quick(key, given): returns the results of a call of a public function that was made before on
/// arrays like these; None if there was none, and the entry of the call if a gradient is asked for.
PyObject *quick(PyObject *, PyObject *const *arguments, Py_ssize_t) {
  PyObject *given = arguments[1];
  Reference list = find(getKnown().calls, arguments[0]);
  if (!list)
    return giveUp();
  long long presence = getPresence(given);
  Reference known;
  for (Py_ssize_t i = 0; i < PyList_Size(list.get()) && !known; ++i) {
    PyObject *entry = PyList_GetItem(list.get(), i);
    if (PyLong_AsLongLong(PyTuple_GetItem(entry, 0)) == presence)
      known = Reference::share(entry);
  }
  if (!known)
    return giveUp();
  for (Py_ssize_t i = 0; i < PyTuple_Size(given); ++i) {
    PyObject *array = PyTuple_GetItem(given, i);
    if (array != getTorch().none.get() && !isTensor(array))
      return giveUp();
  }
  if (isGradientAsked(given))
    return Reference::share(PyTuple_GetItem(known.get(), 2)).release();
  Reference results = callServer(PyTuple_GetItem(known.get(), 1), given);
  if (!results)
    return PyErr_Occurred() ? nullptr : giveUp();
  if (PyList_Size(results.get()) == 1)
    return Reference::share(PyList_GetItem(results.get(), 0)).release();
  return PyList_AsTuple(results.get());
}

//===----------------------------------------------------------------------===//
// Operations on BSR matrices
//===----------------------------------------------------------------------===//

constexpr const char *patternsName = "blocksparse.Patterns";

Patterns *getPatterns(const Reference &capsule) {
  return static_cast<Patterns *>(PyCapsule_GetPointer(capsule.get(), patternsName));
}

void destroyPatterns(PyObject *capsule) {
  delete static_cast<Patterns *>(PyCapsule_GetPointer(capsule, patternsName));
}

/// Reads the indices of one matrix in memory of the host. Returns false for others.
bool readIndices(PyObject *crow, PyObject *col, IndexBytes &indices) {
  for (auto [object, bytes] : {std::pair(crow, &indices.crow), std::pair(col, &indices.col)}) {
    DLTensor tensor;
    if (getTorch().exchange->dltensor_from_py_object_no_sync(object, &tensor)) {
      PyErr_Clear();
      return false;
    }
    if (tensor.device.device_type != kDLCPU || tensor.ndim != 1 ||
        (tensor.shape[0] > 1 && tensor.strides[0] != 1))
      return false;
    indices.width = tensor.dtype.bits / 8;
    *bytes = {static_cast<const char *>(tensor.data) + tensor.byte_offset,
              static_cast<size_t>(tensor.shape[0]) * indices.width};
  }
  return true;
}

/// know_bsr(key, size, server): lets `quick_bsr` find a server for any pattern.
PyObject *knowBsr(PyObject *, PyObject *arguments) {
  PyObject *key = nullptr, *size = nullptr, *server = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &key, &size, &server))
    return nullptr;
  Reference known(PyTuple_Pack(2, size, server));
  return put(getKnown().bsrServers, key, size, std::move(known)) ? makeNone() : nullptr;
}

/// see_pattern(key, crow, col, is_known, server): makes the patterns of a key count. Says that one
/// was seen, or with `is_known` that it is served by a server, None for that of any pattern.
PyObject *seePattern(PyObject *, PyObject *arguments) {
  PyObject *key = nullptr, *crow = nullptr, *col = nullptr, *server = nullptr;
  int isKnown = 0;
  if (!PyArg_ParseTuple(arguments, "OOOpO", &key, &crow, &col, &isKnown, &server))
    return nullptr;
  Reference capsule = find(getKnown().patterns, key);
  if (!capsule) {
    auto made = std::make_unique<Patterns>();
    capsule = Reference(PyCapsule_New(made.get(), patternsName, &destroyPatterns));
    if (!capsule)
      return nullptr;
    [[maybe_unused]] Patterns *owned = made.release();
    if (PyDict_SetItem(getKnown().patterns.get(), key, capsule.get()))
      return nullptr;
  }
  IndexBytes indices;
  if (!readIndices(crow, col, indices))
    return makeNone();
  if (!isKnown)
    getPatterns(capsule)->see(indices);
  else
    getPatterns(capsule)->add(indices, server == getTorch().none.get() ? Reference()
                                                                       : Reference::share(server));
  return makeNone();
}

/// Returns the list of results of an operation on crow_indices, col_indices and values of a matrix
/// of a size and on other arrays, a tuple. Null without an exception if the slow way must be taken.
Reference callBsr(PyObject *key, PyObject *size, PyObject *tensors) {
  if (Reference capsule = find(getKnown().patterns, key)) {
    IndexBytes indices;
    Reference own;
    Patterns::Choice choice =
        readIndices(PyTuple_GetItem(tensors, 0), PyTuple_GetItem(tensors, 1), indices)
            ? getPatterns(capsule)->choose(indices, own)
            : Patterns::Choice::Any;
    if (choice == Patterns::Choice::Show)
      return {};
    if (choice == Patterns::Choice::Own) {
      Reference others(PyTuple_GetSlice(tensors, 2, PyTuple_Size(tensors)));
      return callServer(own.get(), others.get());
    }
  }
  Reference list = find(getKnown().bsrServers, key);
  for (Py_ssize_t i = list ? PyList_Size(list.get()) : 0; i-- > 0;) {
    Reference known = Reference::share(PyList_GetItem(list.get(), i));
    if (PyObject_RichCompareBool(PyTuple_GetItem(known.get(), 0), size, Py_EQ) == 1)
      return callServer(PyTuple_GetItem(known.get(), 1), tensors);
  }
  return {};
}

/// call_bsr(key, size, tensors): returns the list of results, empty if the slow way must be taken.
PyObject *callBsrOnTensors(PyObject *, PyObject *arguments) {
  PyObject *key = nullptr, *size = nullptr, *tensors = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOO", &key, &size, &tensors))
    return nullptr;
  Reference results = callBsr(key, size, tensors);
  return results || PyErr_Occurred() ? results.release() : PyList_New(0);
}

/// quick_bsr(key, matrix, arrays, is_matrix): returns the result of an operation on a matrix and a
/// tuple of arrays; None if no call was like this one. If a gradient is asked for, returns the
/// tuple of crow_indices, col_indices, values and the arrays.
PyObject *quickBsr(PyObject *, PyObject *const *arguments, Py_ssize_t) {
  const Torch &torch = getTorch();
  PyObject *key = arguments[0], *matrix = arguments[1], *arrays = arguments[2];
  if (!isTensor(matrix) || (!find(getKnown().bsrServers, key) && !find(getKnown().patterns, key)))
    return giveUp();
  Py_ssize_t count = PyTuple_Size(arrays);
  Reference tensors(PyTuple_New(3 + count));
  if (!tensors)
    return nullptr;
  Py_ssize_t position = 0;
  for (const Reference *part : {&torch.crowIndices, &torch.colIndices, &torch.values}) {
    PyObject *found = PyObject_CallMethodObjArgs(matrix, part->get(), nullptr);
    // The matrix has another layout.
    if (!found)
      return giveUp();
    PyTuple_SetItem(tensors.get(), position++, found);
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject *array = PyTuple_GetItem(arrays, i);
    if (!isTensor(array))
      return giveUp();
    PyTuple_SetItem(tensors.get(), position++, Reference::share(array).release());
  }
  if (isGradientAsked(tensors.get()))
    return tensors.release();
  Reference size(PyObject_GetAttr(matrix, torch.shape.get()));
  if (!size)
    return nullptr;
  Reference results = callBsr(key, size.get(), tensors.get());
  if (!results)
    return PyErr_Occurred() ? nullptr : giveUp();
  PyObject *first = PyList_GetItem(results.get(), 0);
  if (arguments[3] != torch.yes.get())
    return Reference::share(first).release();
  Reference passed(PyTuple_Pack(4, PyTuple_GetItem(tensors.get(), 0),
                                PyTuple_GetItem(tensors.get(), 1), first, size.get()));
  return passed ? PyObject_Call(torch.makeBsr.get(), passed.get(), torch.bsrOptions.get())
                : nullptr;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

/// Removes all known calls: forget().
PyObject *forget(PyObject *, PyObject *) {
  KnownCalls empty{Reference(PyDict_New()), Reference(PyDict_New()), Reference(PyDict_New())};
  if (!empty.calls || !empty.bsrServers || !empty.patterns)
    return nullptr;
  // The old tables are destroyed when this function returns. Destructors of their entries may call
  // into Python, which finds the new, empty tables.
  std::swap(getKnown(), empty);
  return makeNone();
}

/// connect(capsule of DLPack's exchange interface, Tensor, Parameter, empty, is_grad_enabled,
/// sparse_bsr_tensor, its keyword arguments, None) gives what is needed of torch, and returns
/// whether it suffices.
PyObject *connect(PyObject *, PyObject *arguments) {
  PyObject *capsule = nullptr, *tensor = nullptr, *parameter = nullptr, *empty = nullptr,
           *isGradEnabled = nullptr, *makeBsr = nullptr, *bsrOptions = nullptr, *none = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOOOOOOO", &capsule, &tensor, &parameter, &empty,
                        &isGradEnabled, &makeBsr, &bsrOptions, &none))
    return nullptr;
  const auto *exchange =
      static_cast<const DLPackExchangeAPI *>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
  if (!exchange)
    return nullptr;
  if (exchange->header.version.major != DLPACK_MAJOR_VERSION ||
      !exchange->dltensor_from_py_object_no_sync || !exchange->current_work_stream)
    return PyBool_FromLong(0);
  Torch &torch = getTorch();
  torch.exchange = exchange;
  torch.tensorType = Reference::share(tensor);
  torch.parameterType = Reference::share(parameter);
  torch.empty = Reference::share(empty);
  torch.isGradEnabled = Reference::share(isGradEnabled);
  torch.makeBsr = Reference::share(makeBsr);
  torch.bsrOptions = Reference::share(bsrOptions);
  torch.none = Reference::share(none);
  torch.yes = Reference(PyBool_FromLong(1));
  for (auto [name, text] :
       {std::pair(&torch.isNeg, "is_neg"), std::pair(&torch.requiresGrad, "requires_grad"),
        std::pair(&torch.shape, "shape"), std::pair(&torch.crowIndices, "crow_indices"),
        std::pair(&torch.colIndices, "col_indices"), std::pair(&torch.values, "values")})
    *name = Reference(PyUnicode_InternFromString(text));
  Reference forgotten(forget(nullptr, nullptr));
  return forgotten ? PyBool_FromLong(1) : nullptr;
}

/// Returns a function as the table of methods has it, which says how it is called.
template <typename T>
PyCFunction asMethod(T *function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

} // namespace

/// Returns a new reference to the module, or null with an exception. The caller holds the lock of
/// the interpreter.
extern "C" __attribute__((visibility("default"))) PyObject *blocksparseTorchPythonModule() {
  static PyMethodDef methods[] = {
      {"connect", &connect, METH_VARARGS, "Gives what is needed of torch."},
      {"know", &know, METH_VARARGS, "Lets quick find a server."},
      {"quick", asMethod(&quick), METH_FASTCALL, "Returns the results of a known call."},
      {"know_bsr", &knowBsr, METH_VARARGS, "Lets quick_bsr find a server."},
      {"see_pattern", &seePattern, METH_VARARGS, "Says what is known of a pattern."},
      {"call_bsr", &callBsrOnTensors, METH_VARARGS, "Returns the list of results."},
      {"quick_bsr", asMethod(&quickBsr), METH_FASTCALL, "Returns the result of a known call."},
      {"forget", &forget, METH_NOARGS, "Forgets all known calls."},
      {nullptr, nullptr, 0, nullptr}};
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                                   "blocksparse_calls",
                                   nullptr,
                                   -1,
                                   methods,
                                   nullptr,
                                   nullptr,
                                   nullptr,
                                   nullptr};
  Reference module(PyModule_Create(&definition));
  Reference type = makeServerType();
  if (!module || !type || PyObject_SetAttrString(module.get(), "Server", type.get()))
    return nullptr;
  return module.release();
}
