// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cuda/planned_failures.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <set>
#include <utility>

#include <devplace/tensor/dtype.hpp>

namespace devplace::test::mock_cublaslt {

namespace {

struct layout {
  cudaDataType_t type;
  std::uint64_t rows, columns;
  std::int64_t ld;
  std::int32_t batch = 1;
  std::int64_t stride = 0;
};

struct operation {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* vector = nullptr;
};

struct preference {
  std::uint64_t workspace = 0;
  std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::array<std::uint32_t, 4> alignments{256, 256, 256, 256};  ///< of a, b, c and d
};

/// A query of the heuristics.
struct query {
  product of;
  preference preferred;
};

/// The answer to a query, stored in the bytes of cublasLtMatmulAlgo_t.
struct algorithm {
  std::uint64_t query, flags;  ///< the query's number, from 1
};
static_assert(sizeof(algorithm) <= sizeof(cublasLtMatmulAlgo_t));

constexpr std::size_t workspace_of_algorithms = std::size_t{4} << 20;

struct library {
  std::size_t handles = 0;
  std::set<void*> descriptors;
  std::vector<product> products;
  std::vector<std::string> calls, violations;
  planned_failures<cublasStatus_t> failures;
  std::set<cublasLtEpilogue_t> refused;
  std::vector<std::uint64_t> offered;
  std::vector<query> queries;
};

library& of_process() {
  static library& one = *new library;
  return one;
}

cublasStatus_t begin(const std::string& function) {
  of_process().calls.push_back(function);
  return of_process().failures.next(function);
}

void violate(const std::string& what) { of_process().violations.push_back(what); }

template <class Mine, class Handle> cublasStatus_t create(const char* function, Handle* handle, const Mine& value) {
  const cublasStatus_t status = begin(function);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  auto* mine = new Mine(value);
  of_process().descriptors.insert(mine);
  *handle = reinterpret_cast<Handle>(mine);
  return status;
}
template <class Mine, class Handle> cublasStatus_t destroy(const char* function, Handle handle) {
  const cublasStatus_t status = begin(function);
  if (of_process().descriptors.erase(handle) == 0) {
    violate(std::string(function) + ": no descriptor");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  delete reinterpret_cast<Mine*>(handle);
  return status;
}

/// An attribute of a descriptor: its number, and the bytes of a member.
struct attribute {
  template <class Member> attribute(int n, Member& m) : number(n), member(&m), bytes(sizeof m) {}

  int number;
  void* member;
  std::size_t bytes;
};
cublasStatus_t set(const char* function, int number, const void* value, std::size_t bytes,
                   std::initializer_list<attribute> attributes) {
  const cublasStatus_t status = begin(function);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  for (const attribute& a : attributes)
    if (a.number == number && a.bytes == bytes && value != nullptr) {
      std::memcpy(a.member, value, bytes);
      return CUBLAS_STATUS_SUCCESS;
    }
  return CUBLAS_STATUS_INVALID_VALUE;
}

/// Returns the sizes of a product, or zeros if the layouts do not match.
product sizes_of(const operation& o, const layout& a, const layout& b, const layout& d) {
  product p{};
  p.m = o.op_a == CUBLAS_OP_N ? a.rows : a.columns;
  p.k = o.op_a == CUBLAS_OP_N ? a.columns : a.rows;
  p.n = o.op_b == CUBLAS_OP_N ? b.columns : b.rows;
  const std::uint64_t k_of_b = o.op_b == CUBLAS_OP_N ? b.rows : b.columns;
  if (a.type != b.type || k_of_b != p.k || d.rows != p.m || d.columns != p.n || a.batch != d.batch ||
      b.batch != d.batch)
    return {};
  p.batch = d.batch, p.stride_a = a.stride, p.stride_b = b.stride, p.stride_d = d.stride;
  p.lda = a.ld, p.ldb = b.ld, p.ldd = d.ld;
  p.op_a = o.op_a, p.op_b = o.op_b, p.type = d.type, p.operand_type = a.type, p.compute = o.compute,
  p.epilogue = o.epilogue;
  return p;
}

/// Returns the bytes of an element; 0 for types that the mock does not support.
std::uint32_t size_of(cudaDataType_t type) {
  return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : type == CUDA_R_16BF || type == CUDA_R_16F ? 2 : 0;
}

bool has_vector(const operation& o) {
  return o.epilogue == CUBLASLT_EPILOGUE_BIAS || o.epilogue == CUBLASLT_EPILOGUE_BGRADB;
}

std::uint64_t native_flags(const product& p) {
  if (p.type == CUDA_R_64F)
    return CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F |
           CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;
  const std::uint64_t input = p.operand_type == CUDA_R_16BF               ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF
                              : p.operand_type == CUDA_R_16F              ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F
                              : p.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32
                                                                          : CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
  return input | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
         (input == CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F ? CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA
                                                           : CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA);
}

/// Rounds to the nearest value with ten mantissa bits, as a tensor core reads a float in TF32.
double as_tf32(double x) {
  auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  if (std::isfinite(x)) bits = (bits + 0x1000u) & ~0x1fffu;
  return std::bit_cast<float>(bits);
}

/// Multiplies as the header specifies. With the compute type TF32, operands are rounded to TF32. The epilogue's vector
/// has D's type.
template <class T, class D>
void multiply_one(const product& p, double alpha, const T* a, const T* b, double beta, const D* c, D* d,
                  const void* vector) {
  const auto read = [&p](T x) {
    return p.compute == CUBLAS_COMPUTE_32F_FAST_TF32 ? as_tf32(static_cast<double>(x)) : static_cast<double>(x);
  };
  const auto at = [](const T* matrix, std::int64_t ld, cublasOperation_t op, std::uint64_t row, std::uint64_t column) {
    const auto stride = static_cast<std::uint64_t>(ld);
    return op == CUBLAS_OP_N ? matrix[row + column * stride] : matrix[column + row * stride];
  };
  for (std::uint64_t j = 0; j < p.n; ++j)
    for (std::uint64_t i = 0; i < p.m; ++i) {
      double sum = 0;
      for (std::uint64_t k = 0; k < p.k; ++k)
        sum += read(at(a, p.lda, p.op_a, i, k)) * read(at(b, p.ldb, p.op_b, k, j));
      const std::uint64_t position = i + j * static_cast<std::uint64_t>(p.ldd);
      double x = alpha * sum;
      if (beta != 0) x += beta * static_cast<double>(c[position]);
      if (p.epilogue == CUBLASLT_EPILOGUE_BIAS) x += static_cast<double>(static_cast<const D*>(vector)[i]);
      d[position] = static_cast<D>(x);
    }
  if (p.epilogue == CUBLASLT_EPILOGUE_BGRADB)
    for (std::uint64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (std::uint64_t k = 0; k < p.k; ++k) sum += static_cast<double>(at(b, p.ldb, p.op_b, k, j));
      static_cast<D*>(const_cast<void*>(vector))[j] = static_cast<D>(sum);
    }
}

/// Multiplies all matrices of a batch.
template <class T, class D>
void multiply(const product& p, double alpha, const void* a, const void* b, double beta, const void* c, void* d,
              const void* vector) {
  for (std::int64_t k = 0; k < p.batch; ++k)
    multiply_one(p, alpha, static_cast<const T*>(a) + k * p.stride_a, static_cast<const T*>(b) + k * p.stride_b, beta,
                 static_cast<const D*>(c) + k * p.stride_d, static_cast<D*>(d) + k * p.stride_d, vector);
}

bool is_aligned(const void* address, std::uint64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

template <class Mine, class Handle> Mine& value_of(Handle handle) { return *reinterpret_cast<Mine*>(handle); }

}  // namespace

const std::vector<product>& products() { return of_process().products; }
const std::vector<std::string>& calls() { return of_process().calls; }
void clear_calls() { of_process().calls.clear(); }
void fail(const std::string& function, cublasStatus_t status, int nth) {
  of_process().failures.plan(function, status, nth);
}
void refuse(cublasLtEpilogue_t epilogue) { of_process().refused.insert(epilogue); }
void offer(std::vector<std::uint64_t> flags) { of_process().offered = std::move(flags); }
std::uint32_t allowed_reductions() { return of_process().queries.back().preferred.reductions; }
std::uint64_t allowed_workspace() { return of_process().queries.back().preferred.workspace; }
std::size_t live_handles() { return of_process().handles; }
std::size_t live_descriptors() { return of_process().descriptors.size(); }
const std::vector<std::string>& violations() { return of_process().violations; }

extern "C" {

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED       ? "the resource allocation failed"
         : status == CUBLAS_STATUS_EXECUTION_FAILED ? "the function failed to launch on the GPU"
         : status == CUBLAS_STATUS_NOT_SUPPORTED    ? "the operation is not supported"
                                                    : "an error of the mock";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  const cublasStatus_t status = begin("cublasLtCreate");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  *handle = reinterpret_cast<cublasLtHandle_t>(&++of_process().handles);
  return status;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* created, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t ld) {
  return create("cublasLtMatrixLayoutCreate", created, layout{type, rows, columns, ld});
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle, cublasLtMatrixLayoutAttribute_t name,
                                                const void* value, std::size_t bytes) {
  auto& l = value_of<layout>(handle);
  return set("cublasLtMatrixLayoutSetAttribute", name, value, bytes,
             {{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, l.batch}, {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, l.stride}});
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t handle) {
  return destroy<layout>("cublasLtMatrixLayoutDestroy", handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* created, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return create("cublasLtMatmulDescCreate", created, operation{compute, scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t handle) {
  return destroy<operation>("cublasLtMatmulDescDestroy", handle);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle, cublasLtMatmulDescAttributes_t name,
                                              const void* value, std::size_t bytes) {
  auto& o = value_of<operation>(handle);
  return set("cublasLtMatmulDescSetAttribute", name, value, bytes,
             {{CUBLASLT_MATMUL_DESC_TRANSA, o.op_a},
              {CUBLASLT_MATMUL_DESC_TRANSB, o.op_b},
              {CUBLASLT_MATMUL_DESC_EPILOGUE, o.epilogue},
              {CUBLASLT_MATMUL_DESC_BIAS_POINTER, o.vector}});
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* created) {
  return create("cublasLtMatmulPreferenceCreate", created, preference{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t handle) {
  return destroy<preference>("cublasLtMatmulPreferenceDestroy", handle);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t handle,
                                                    cublasLtMatmulPreferenceAttributes_t name, const void* value,
                                                    std::size_t bytes) {
  auto& p = value_of<preference>(handle);
  return set("cublasLtMatmulPreferenceSetAttribute", name, value, bytes,
             {{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, p.workspace},
              {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, p.reductions},
              {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.alignments[0]},
              {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.alignments[1]},
              {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.alignments[2]},
              {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.alignments[3]}});
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation_handle,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference_handle, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  const cublasStatus_t status = begin("cublasLtMatmulAlgoGetHeuristic");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  library& l = of_process();
  const auto& o = value_of<operation>(operation_handle);
  const auto& preferred = value_of<preference>(preference_handle);
  const product p = sizes_of(o, value_of<layout>(a), value_of<layout>(b), value_of<layout>(d));
  l.queries.push_back({p, preferred});
  *found = 0;
  if (p.m == 0) {
    violate("cublasLtMatmulAlgoGetHeuristic: layouts that do not fit together");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const cublasLtMatrixLayout_t each : {a, b, c, d})
    if (const auto& x = value_of<layout>(each); x.ld < static_cast<std::int64_t>(x.rows) || size_of(x.type) == 0)
      return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 1 || p.n == 1 || p.k == 1) return CUBLAS_STATUS_INVALID_VALUE;
  if ((o.epilogue != CUBLASLT_EPILOGUE_DEFAULT && !has_vector(o)) || l.refused.count(o.epilogue) != 0)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  const std::uint32_t element = size_of(p.type), of_operands = size_of(p.operand_type);
  if (p.operand_type != p.type && !(of_operands == 2 && p.type == CUDA_R_32F)) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (std::size_t k = 0; k != 4; ++k)
    if (preferred.alignments[k] < (k < 2 ? of_operands : element)) return CUBLAS_STATUS_NOT_SUPPORTED;
  for (const std::uint64_t flags : l.offered.empty() ? std::vector{native_flags(p)} : l.offered) {
    if (*found == wanted) break;
    const algorithm chosen{l.queries.size(), flags};
    cublasLtMatmulHeuristicResult_t& result = results[(*found)++];
    result = cublasLtMatmulHeuristicResult_t{};
    std::memcpy(&result.algo, &chosen, sizeof chosen);
    result.workspaceSize = workspace_of_algorithms;
    result.state = workspace_of_algorithms <= preferred.workspace ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* handle,
                                                 cublasLtMatmulAlgoCapAttributes_t name, void* value, std::size_t bytes,
                                                 std::size_t* written) {
  const cublasStatus_t status = begin("cublasLtMatmulAlgoCapGetAttribute");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const auto flags = value_of<const algorithm>(handle).flags;
  if (name != CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS || bytes != sizeof flags) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, &flags, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation_handle, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* handle, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  const cublasStatus_t status = begin("cublasLtMatmul");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const auto& chosen = value_of<const algorithm>(handle);
  const auto& o = value_of<operation>(operation_handle);
  const query& asked = of_process().queries.at(chosen.query - 1);
  product p = sizes_of(o, value_of<layout>(a_layout), value_of<layout>(b_layout), value_of<layout>(d_layout));
  if (p != asked.of) violate("an algorithm that was chosen for another product");
  if (c == d && c_layout != d_layout) violate("in place with two descriptors");
  const std::int64_t element = size_of(p.type), of_operands = size_of(p.operand_type);
  const void* const addresses[]{a, b, c, d};
  const std::int64_t strides[]{p.stride_a * of_operands, p.stride_b * of_operands, p.stride_d * element,
                               p.stride_d * element};
  for (std::size_t k = 0; k != 4; ++k) {
    const std::uint32_t alignment = asked.preferred.alignments[k];
    if (!is_aligned(addresses[k], alignment)) violate("less aligned than the heuristics were told");
    if (strides[k] % alignment != 0) violate("a batch less aligned than the heuristics were told");
  }
  if (p.batch > 1 && p.stride_d == 0) violate("results of a batch in one place");
  if (workspace_bytes < workspace_of_algorithms || workspace == nullptr || !is_aligned(workspace, 256))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (has_vector(o) && o.vector == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const bool into_float = p.type == CUDA_R_32F;
  const auto multiplied = p.operand_type == CUDA_R_64F    ? multiply<double, double>
                          : p.operand_type == CUDA_R_32F  ? multiply<float, float>
                          : p.operand_type == CUDA_R_16BF ? (into_float ? multiply<bf16, float> : multiply<bf16, bf16>)
                                                          : (into_float ? multiply<half, float> : multiply<half, half>);
  // The factors are the host's, which may change them after the call.
  const auto factor = [in_double = p.type == CUDA_R_64F](const void* x) {
    return in_double ? *static_cast<const double*>(x) : double{*static_cast<const float*>(x)};
  };
  const auto work = [=, by = factor(alpha), old = factor(beta), vector = o.vector] {
    if (violations().empty()) multiplied(p, by, a, b, old, c, d, vector);
  };
  if (mock_cuda::launch_of_library("cublasLtMatmul", stream, work) != cudaSuccess)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  const auto uses = [stream](const void* matrix, cublasLtMatrixLayout_t of, bool writes) {
    const auto& l = value_of<layout>(of);
    const std::int64_t elements =
        (l.batch - 1) * l.stride + static_cast<std::int64_t>(l.columns - 1) * l.ld + static_cast<std::int64_t>(l.rows);
    mock_cuda::library_uses("cublasLtMatmul", stream, matrix, static_cast<std::size_t>(elements) * size_of(l.type),
                            writes);
  };
  uses(a, a_layout, false);
  uses(b, b_layout, false);
  if (factor(beta) != 0) uses(c, c_layout, false);
  uses(d, d_layout, true);
  if (has_vector(o)) {
    const bool reads = o.epilogue == CUBLASLT_EPILOGUE_BIAS;
    mock_cuda::library_uses("cublasLtMatmul", stream, o.vector, (reads ? p.m : p.n) * size_of(p.type), !reads);
  }
  p.algorithm = chosen.query, p.flags = chosen.flags, p.workspace = workspace, p.stream = stream;
  of_process().products.push_back(p);
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"

}  // namespace devplace::test::mock_cublaslt
