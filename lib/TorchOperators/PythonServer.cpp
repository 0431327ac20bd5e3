// This file is licensed under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PythonServer.h"
#include "ServedFunction.h"

#include <memory>

using namespace blocksparse::torch_operators;

std::vector<int64_t> blocksparse::torch_operators::readSizes(PyObject *tuple) {
  std::vector<int64_t> sizes;
  for (Py_ssize_t axis = 0; axis < PyTuple_Size(tuple); ++axis)
    sizes.push_back(PyLong_AsLongLong(PyTuple_GetItem(tuple, axis)));
  return sizes;
}

namespace {

/// Holds a function with the objects of Python that a call needs.
struct PythonFunction : ServedFunction {
  /// Keeps the code.
  Reference function;
  /// For each result, the arguments of torch.empty: its shape in a tuple unless that is open, and
  /// the names with their values.
  std::vector<Reference> shapes, options;
};

/// Holds the tensors of a call, which are read once.
class CallTensors {
public:
  /// Reads tensors, of which None is not there. Returns false for what is no plain tensor with
  /// memory; no exception is set then.
  bool read(PyObject *sequence);

  const std::vector<DLTensor> &get() const { return tensors; }

private:
  std::vector<DLTensor> tensors;
};

/// Returns an item of a tuple or a list, borrowed.
PyObject *getItem(PyObject *sequence, Py_ssize_t position) {
  return PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, position)
                                 : PyList_GetItem(sequence, position);
}

Py_ssize_t getSize(PyObject *sequence) {
  return PyTuple_Check(sequence) ? PyTuple_Size(sequence) : PyList_Size(sequence);
}

bool CallTensors::read(PyObject *sequence) {
  const Torch &torch = getTorch();
  Py_ssize_t count = getSize(sequence);
  if (count < 0) {
    PyErr_Clear();
    return false;
  }
  tensors.resize(static_cast<size_t>(count));
  for (Py_ssize_t position = 0; position < count; ++position) {
    PyObject *object = getItem(sequence, position);
    DLTensor &tensor = tensors[static_cast<size_t>(position)];
    if (object == torch.none.get()) {
      tensor.ndim = -1;
      continue;
    }
    if (!isTensor(object) || torch.exchange->dltensor_from_py_object_no_sync(object, &tensor)) {
      PyErr_Clear();
      return false;
    }
    // Memory may be missing where torch fills it in when it is looked at.
    bool isEmpty = false;
    for (int32_t axis = 0; axis < tensor.ndim; ++axis)
      isEmpty |= tensor.shape[axis] == 0;
    if (!tensor.data && !isEmpty)
      return false;
    // Lazy negation is not in memory. Integers have none.
    if (tensor.dtype.code == kDLInt || tensor.dtype.code == kDLBool)
      continue;
    Reference isNeg(PyObject_CallMethodObjArgs(object, torch.isNeg.get(), nullptr));
    if (!isNeg || isNeg.get() == torch.yes.get()) {
      PyErr_Clear();
      return false;
    }
  }
  return true;
}

/// Returns a tuple of sizes.
Reference makeShape(const std::vector<int64_t> &sizes) {
  Reference shape(PyTuple_New(static_cast<Py_ssize_t>(sizes.size())));
  for (size_t axis = 0; shape && axis < sizes.size(); ++axis)
    if (PyTuple_SetItem(shape.get(), static_cast<Py_ssize_t>(axis),
                        PyLong_FromLongLong(sizes[axis])))
      return {};
  return shape;
}

/// Calls a function on tensors that it accepts. Returns the list of results, null with `isRefused`
/// if the code refuses or a tensor has no view that it takes, or null with an exception.
Reference callFunction(const PythonFunction &function, const std::vector<DLTensor> &tensors,
                       bool &isRefused) {
  const Torch &torch = getTorch();
  isRefused = true;
  CallFrame frame(function.countDescriptors(), function.countRanks());
  if (!function.addArguments(frame, tensors))
    return {};
  void *stream = nullptr;
  bool hasStream = function.device.device_type != kDLCPU;
  if (hasStream && torch.exchange->current_work_stream(function.device.device_type,
                                                       function.device.device_id, &stream)) {
    PyErr_Clear();
    return {};
  }
  std::vector<int64_t> sizes(function.countOpenSizes());
  if (!sizes.empty() && (!function.sizeEntry || !frame.computeSizes(function.sizeEntry, sizes)))
    return {};
  isRefused = false;
  Reference results(PyList_New(static_cast<Py_ssize_t>(function.results.size())));
  if (!results)
    return {};
  auto size = sizes.begin();
  for (size_t i = 0; i < function.results.size(); ++i) {
    std::vector<int64_t> inner = function.results[i].inner;
    for (int64_t &one : inner)
      if (one < 0)
        one = *size++;
    Reference arguments;
    if (!function.shapes[i]) {
      arguments = Reference(PyTuple_New(1));
      Reference shape = makeShape(closeShape(function.results[i].outer, inner));
      if (!arguments || !shape || PyTuple_SetItem(arguments.get(), 0, shape.release()))
        return {};
    }
    PyObject *passed = arguments ? arguments.get() : function.shapes[i].get();
    Reference result(PyObject_Call(torch.empty.get(), passed, function.options[i].get()));
    DLTensor made;
    if (!result || torch.exchange->dltensor_from_py_object_no_sync(result.get(), &made))
      return {};
    frame.addContiguous(static_cast<char *>(made.data) + made.byte_offset, inner);
    PyList_SetItem(results.get(), static_cast<Py_ssize_t>(i), result.release());
  }
  PyThreadState *thread = PyEval_SaveThread();
  bool isDone = frame.call(function.entry, hasStream ? &stream : nullptr);
  PyEval_RestoreThread(thread);
  if (isDone)
    return results;
  isRefused = true;
  return {};
}

//===----------------------------------------------------------------------===//
// Server
//===----------------------------------------------------------------------===//

/// Holds the functions of one operation.
struct Server {
  PyObject_HEAD std::vector<std::shared_ptr<PythonFunction>> *functions;
};

PyObject *createServer(PyTypeObject *type, PyObject *, PyObject *) {
  // The stable interface has the allocator of a type in a slot.
  auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject *object = allocate(type, 0);
  if (object)
    reinterpret_cast<Server *>(object)->functions =
        new std::vector<std::shared_ptr<PythonFunction>>;
  return object;
}

void destroyServer(PyObject *object) {
  delete reinterpret_cast<Server *>(object)->functions;
  PyTypeObject *type = Py_TYPE(object);
  reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(reinterpret_cast<PyObject *>(type));
}

} // namespace

Reference blocksparse::torch_operators::callServer(PyObject *server, PyObject *sequence) {
  CallTensors tensors;
  if (!tensors.read(sequence))
    return {};
  for (const std::shared_ptr<PythonFunction> &function :
       *reinterpret_cast<Server *>(server)->functions)
    if (function->accepts(tensors.get())) {
      // Other threads may change the list while memory is made and while the code runs.
      std::shared_ptr<PythonFunction> kept = function;
      bool isRefused = false;
      return callFunction(*kept, tensors.get(), isRefused);
    }
  return {};
}

namespace {

PyObject *run(PyObject *self, PyObject *sequence) {
  Reference results = callServer(self, sequence);
  if (!results && !PyErr_Occurred())
    return PyList_New(0);
  return results.release();
}

void *readAddress(PyObject *object) {
  return object == getTorch().none.get() ? nullptr : PyLong_AsVoidPtr(object);
}

/// Adds a function: add(function, (address of the code, of the code for open sizes or None),
/// tensors, arguments, results). A tensor is None or (an empty tensor of its type, shape), an
/// argument (position, shape, None or (strides of the tensor, strides, offset in bytes)), and a
/// result (its shape, the shape that callers see, names and values for torch.empty).
PyObject *add(PyObject *self, PyObject *arguments) {
  PyObject *owner = nullptr, *addresses = nullptr, *tensors = nullptr, *sources = nullptr,
           *results = nullptr;
  if (!PyArg_ParseTuple(arguments, "OOOOO", &owner, &addresses, &tensors, &sources, &results))
    return nullptr;
  const Torch &torch = getTorch();
  auto function = std::make_shared<PythonFunction>();
  function->function = Reference::share(owner);
  function->entry =
      reinterpret_cast<BlocksparseTorchEntry>(readAddress(PyTuple_GetItem(addresses, 0)));
  function->sizeEntry =
      reinterpret_cast<BlocksparseTorchEntry>(readAddress(PyTuple_GetItem(addresses, 1)));
  for (Py_ssize_t i = 0; i < PyTuple_Size(tensors); ++i) {
    TensorPattern &pattern = function->tensors.emplace_back();
    PyObject *entry = PyTuple_GetItem(tensors, i);
    if (entry == torch.none.get())
      continue;
    DLTensor like;
    if (torch.exchange->dltensor_from_py_object_no_sync(PyTuple_GetItem(entry, 0), &like))
      return nullptr;
    pattern = {true, like.dtype, readSizes(PyTuple_GetItem(entry, 1))};
    function->device = like.device;
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(sources); ++i) {
    PyObject *entry = PyTuple_GetItem(sources, i), *part = PyTuple_GetItem(entry, 2);
    ArgumentSource &source = function->arguments.emplace_back();
    source.position = static_cast<size_t>(PyLong_AsLongLong(PyTuple_GetItem(entry, 0)));
    source.shape = readSizes(PyTuple_GetItem(entry, 1));
    if (part == torch.none.get())
      continue;
    source.wholeStrides = readSizes(PyTuple_GetItem(part, 0));
    source.strides = readSizes(PyTuple_GetItem(part, 1));
    source.offset = PyLong_AsLongLong(PyTuple_GetItem(part, 2));
  }
  for (Py_ssize_t i = 0; i < PyTuple_Size(results); ++i) {
    PyObject *entry = PyTuple_GetItem(results, i), *outer = PyTuple_GetItem(entry, 1);
    ResultShape &shape = function->results.emplace_back();
    shape = {readSizes(PyTuple_GetItem(entry, 0)), readSizes(outer)};
    bool isOpen = false;
    for (int64_t size : shape.outer)
      isOpen |= size < 0;
    function->shapes.emplace_back(isOpen ? nullptr : PyTuple_Pack(1, outer));
    function->options.push_back(Reference::share(PyTuple_GetItem(entry, 2)));
  }
  if (PyErr_Occurred())
    return nullptr;
  reinterpret_cast<Server *>(self)->functions->push_back(std::move(function));
  return Reference::share(torch.none.get()).release();
}

} // namespace

Reference blocksparse::torch_operators::makeServerType() {
  static PyMethodDef serverMethods[] = {
      {"run", &run, METH_O, "Returns the list of results for a tuple or list of tensors."},
      {"_add", &add, METH_VARARGS, "Adds a function."},
      {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(&createServer)},
                                {Py_tp_dealloc, reinterpret_cast<void *>(&destroyServer)},
                                {Py_tp_methods, serverMethods},
                                {0, nullptr}};
  static PyType_Spec spec = {"blocksparse.Server", static_cast<int>(sizeof(Server)), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  return Reference(PyType_FromSpec(&spec));
}
