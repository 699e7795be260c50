// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A Python module that exchanges tensors by DLPack; dlpack_exchange_test.py calls it.

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include <devplace/io/dlpack.hpp>
#include <devplace/memory/statistics.hpp>

namespace {

namespace dp = devplace;
using dp::dyn;
using matrix = dp::tensor<float, dp::extents<dyn, dyn>, dp::on<dp::cpu>>;

template <class Managed>
constexpr const char* capsule_name =
    std::is_same_v<Managed, dp::dlpack::managed_tensor_versioned> ? "dltensor_versioned" : "dltensor";
template <class Managed>
constexpr const char* used_capsule_name =
    std::is_same_v<Managed, dp::dlpack::managed_tensor_versioned> ? "used_dltensor_versioned" : "used_dltensor";

/// Gives a tensor to Python. A capsule that no consumer has used returns the tensor.
template <class Managed> PyObject* capsule(std::unique_ptr<Managed, dp::dlpack::give_back> handle) {
  PyObject* const made = PyCapsule_New(handle.get(), capsule_name<Managed>, [](PyObject* self) {
    if (PyCapsule_IsValid(self, capsule_name<Managed>))
      dp::dlpack::give_back()(static_cast<Managed*>(PyCapsule_GetPointer(self, capsule_name<Managed>)));
  });
  if (made != nullptr) static_cast<void>(handle.release());
  return made;
}

/// Takes a tensor from Python, whose capsule is marked as used; empty if the capsule is of another kind.
template <class Managed> std::unique_ptr<Managed, dp::dlpack::give_back> taken(PyObject* from) {
  if (!PyCapsule_IsValid(from, capsule_name<Managed>)) return nullptr;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(from, capsule_name<Managed>));
  PyCapsule_SetName(from, used_capsule_name<Managed>);
  return std::unique_ptr<Managed, dp::dlpack::give_back>(managed);
}

/// Calls `f` with the handle of either kind.
template <class F> auto with_handle(PyObject* from, F f) {
  if (auto handle = taken<dp::dlpack::managed_tensor_versioned>(from)) return f(std::move(handle));
  return f(taken<dp::dlpack::managed_tensor>(from));
}

/// A function of the module; converts devplace's exceptions to Python's.
template <PyObject* (*Function)(PyObject*)> PyObject* guarded(PyObject*, PyObject* arguments) noexcept {
  try {
    return Function(arguments);
  } catch (const std::exception& failure) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_ValueError, failure.what());
    return nullptr;
  }
}
void require(int parsed) {
  if (parsed == 0) throw std::runtime_error("wrong arguments");
}

/// counting(rows, columns, versioned): 0, 1, 2, ...
PyObject* counting(PyObject* arguments) {
  int rows = 0, columns = 0, versioned = 0;
  require(PyArg_ParseTuple(arguments, "iip", &rows, &columns, &versioned));
  matrix x(dp::extents<dyn, dyn>(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns)));
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i);
  return versioned != 0 ? capsule(dp::to_dlpack(std::move(x))) : capsule(dp::to_dlpack_unversioned(std::move(x)));
}

/// transposed_to_read(): a view of const elements with strides, [[0, 2], [1, 3]].
PyObject* transposed_to_read(PyObject*) {
  const auto x = std::make_shared<const dp::tensor<double, dp::extents<2, 2>, dp::on<dp::cpu>>>(
      dp::tensor<double, dp::extents<2, 2>, dp::on<dp::cpu>>{{0, 1}, {2, 3}});
  return capsule(dp::to_dlpack(x->permute(dp::axis<1>{}, dp::axis<0>{}), x));
}

template <class T> PyObject* three_of() {
  return capsule(dp::to_dlpack(dp::tensor<T, dp::extents<3>, dp::on<dp::cpu>>{1, 2, 3}));
}

/// three(type): 1, 2, 3 of a type.
PyObject* three(PyObject* arguments) {
  const char* name = nullptr;
  require(PyArg_ParseTuple(arguments, "s", &name));
  const std::string type = name;
  if (type == "half") return three_of<dp::half>();
  if (type == "bf16") return three_of<dp::bf16>();
  if (type == "int64") return three_of<std::int64_t>();
  return three_of<std::uint8_t>();
}

/// weighted_sum(capsule): the sum of element (i, j) times i + 10 j, for any strides.
PyObject* weighted_sum(PyObject* arguments) {
  PyObject* from = nullptr;
  require(PyArg_ParseTuple(arguments, "O", &from));
  return with_handle(from, [](const auto& handle) {
    const auto x = dp::view_dlpack<const float, dp::extents<dyn, dyn>>(handle);
    double sum = 0;
    for (std::size_t i = 0; i < x.extent(0); ++i)
      for (std::size_t j = 0; j < x.extent(1); ++j) sum += x(i, j) * static_cast<double>(i + 10 * j);
    return PyFloat_FromDouble(sum);
  });
}

std::optional<matrix> kept;  // another library's tensor, which outlives Python

/// keep(capsule, value): writes element (0, 0) and keeps the tensor.
PyObject* keep(PyObject* arguments) {
  PyObject* from = nullptr;
  float value = 0;
  require(PyArg_ParseTuple(arguments, "Of", &from, &value));
  with_handle(from, [&](auto handle) {
    kept.emplace(dp::from_dlpack<float, dp::extents<dyn, dyn>>(std::move(handle)));
    (*kept)(0, 0) = value;
  });
  Py_RETURN_NONE;
}

/// drop(): destroys the kept tensor on a thread unknown to Python.
PyObject* drop(PyObject*) {
  Py_BEGIN_ALLOW_THREADS std::thread([] { kept.reset(); }).join();
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/// allocated(): bytes of devplace's tensors.
PyObject* allocated(PyObject*) { return PyLong_FromSize_t(dp::memory_statistics<dp::cpu>().allocated); }

PyMethodDef functions[] = {{"counting", &guarded<&counting>, METH_VARARGS, nullptr},
                           {"transposed_to_read", &guarded<&transposed_to_read>, METH_VARARGS, nullptr},
                           {"three", &guarded<&three>, METH_VARARGS, nullptr},
                           {"weighted_sum", &guarded<&weighted_sum>, METH_VARARGS, nullptr},
                           {"keep", &guarded<&keep>, METH_VARARGS, nullptr},
                           {"drop", &guarded<&drop>, METH_VARARGS, nullptr},
                           {"allocated", &guarded<&allocated>, METH_VARARGS, nullptr},
                           {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition{
    PyModuleDef_HEAD_INIT, "dlpack_exchange", nullptr, -1, functions, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_dlpack_exchange() { return PyModule_Create(&definition); }
