// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_cuda/mock_cublaslt.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
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
  std::uint32_t align_a = 256, align_b = 256, align_c = 256, align_d = 256;
};

/// The problem that an algorithm was returned for; stored in the bytes of cublasLtMatmulAlgo_t.
struct algorithm {
  std::uint64_t query, flags, workspace, shape;
  std::uint32_t align_a, align_b, align_c, align_d;
};
static_assert(sizeof(algorithm) <= sizeof(cublasLtMatmulAlgo_t));

struct planned_failure {
  cublasStatus_t status;
  int calls_left;
};

struct library {
  std::set<void*> handles, descriptors;
  std::vector<product> products;
  std::vector<std::string> calls, violations;
  std::map<std::string, planned_failure> failures;
  std::set<cublasLtEpilogue_t> refused;
  std::vector<std::uint64_t> offered;
  std::uint64_t queries = 0;
  preference last;
};

library& of_process() {
  static library& one = *new library;
  return one;
}

cublasStatus_t begin(const std::string& function) {
  library& l = of_process();
  l.calls.push_back(function);
  const auto planned = l.failures.find(function);
  if (planned != l.failures.end() && --planned->second.calls_left == 0) {
    const cublasStatus_t status = planned->second.status;
    l.failures.erase(planned);
    return status;
  }
  return CUBLAS_STATUS_SUCCESS;
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

template <class Member> cublasStatus_t set(Member& member, const void* value, std::size_t bytes) {
  if (value == nullptr || bytes != sizeof(Member)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&member, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
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

/// Returns a hash that distinguishes the problems of algorithms.
std::uint64_t shape_of(const product& p) {
  std::uint64_t shape = 0;
  for (const std::uint64_t part :
       {p.m, p.n, p.k, static_cast<std::uint64_t>(p.lda), static_cast<std::uint64_t>(p.ldb),
        static_cast<std::uint64_t>(p.ldd), std::uint64_t{p.op_a}, std::uint64_t{p.op_b}, std::uint64_t{p.type},
        std::uint64_t{p.operand_type}, std::uint64_t{p.compute}, std::uint64_t{p.epilogue},
        static_cast<std::uint64_t>(p.batch), static_cast<std::uint64_t>(p.stride_a),
        static_cast<std::uint64_t>(p.stride_b), static_cast<std::uint64_t>(p.stride_d)})
    shape = shape * 1000003 + part;
  return shape;
}

/// Returns the bytes of an element; 0 for types that the mock does not support.
std::uint32_t size_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return 8;
    case CUDA_R_32F:
      return 4;
    case CUDA_R_16BF:
    case CUDA_R_16F:
      return 2;
    default:
      return 0;
  }
}

bool is_layout_right(const layout& l) { return l.ld >= static_cast<std::int64_t>(l.rows) && size_of(l.type) != 0; }

bool reads_vector(cublasLtEpilogue_t e) { return e == CUBLASLT_EPILOGUE_BIAS; }
bool writes_vector(cublasLtEpilogue_t e) { return e == CUBLASLT_EPILOGUE_BGRADB; }

std::uint64_t native_flags(const product& p) {
  if (p.type == CUDA_R_64F)
    return CUBLASLT_NUMERICAL_IMPL_FLAGS_DMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_64F |
           CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_64F;
  if (p.operand_type == CUDA_R_16BF || p.operand_type == CUDA_R_16F)
    return CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
           (p.operand_type == CUDA_R_16F ? CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16F
                                         : CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_16BF);
  if (p.compute == CUBLAS_COMPUTE_32F_FAST_TF32)
    return CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
           CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_TF32;
  return CUBLASLT_NUMERICAL_IMPL_FLAGS_FMA | CUBLASLT_NUMERICAL_IMPL_FLAGS_ACCUMULATOR_32F |
         CUBLASLT_NUMERICAL_IMPL_FLAGS_INPUT_32F;
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

template <class Mine, class Handle> const Mine& value_of(Handle handle) {
  return *reinterpret_cast<const Mine*>(handle);
}

}  // namespace

const std::vector<product>& products() { return of_process().products; }
const std::vector<std::string>& calls() { return of_process().calls; }
void clear_calls() { of_process().calls.clear(); }
void fail(const std::string& function, cublasStatus_t status, int nth) {
  of_process().failures[function] = {status, nth};
}
void refuse(cublasLtEpilogue_t epilogue) { of_process().refused.insert(epilogue); }
void offer(std::vector<std::uint64_t> flags) { of_process().offered = std::move(flags); }
std::uint32_t allowed_reductions() { return of_process().last.reductions; }
std::uint64_t allowed_workspace() { return of_process().last.workspace; }
std::size_t live_handles() { return of_process().handles.size(); }
std::size_t live_descriptors() { return of_process().descriptors.size(); }
const std::vector<std::string>& violations() { return of_process().violations; }

}  // namespace devplace::test::mock_cublaslt

namespace mock = devplace::test::mock_cublaslt;

extern "C" {

const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_ALLOC_FAILED       ? "the resource allocation failed"
         : status == CUBLAS_STATUS_EXECUTION_FAILED ? "the function failed to launch on the GPU"
         : status == CUBLAS_STATUS_NOT_SUPPORTED    ? "the operation is not supported"
                                                    : "an error of the mock";
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  const cublasStatus_t status = mock::begin("cublasLtCreate");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  mock::of_process().handles.insert(*handle);
  return status;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* created, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t ld) {
  return mock::create("cublasLtMatrixLayoutCreate", created, mock::layout{type, rows, columns, ld});
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t handle,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  const cublasStatus_t status = mock::begin("cublasLtMatrixLayoutSetAttribute");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  auto& l = *reinterpret_cast<mock::layout*>(handle);
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return mock::set(l.batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return mock::set(l.stride, value, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return mock::destroy<mock::layout>("cublasLtMatrixLayoutDestroy", layout);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* created, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return mock::create("cublasLtMatmulDescCreate", created, mock::operation{compute, scale});
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  return mock::destroy<mock::operation>("cublasLtMatmulDescDestroy", operation);
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t handle, cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t bytes) {
  const cublasStatus_t status = mock::begin("cublasLtMatmulDescSetAttribute");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  auto& o = *reinterpret_cast<mock::operation*>(handle);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return mock::set(o.op_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return mock::set(o.op_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return mock::set(o.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return mock::set(o.vector, value, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* created) {
  return mock::create("cublasLtMatmulPreferenceCreate", created, mock::preference{});
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return mock::destroy<mock::preference>("cublasLtMatmulPreferenceDestroy", preference);
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t handle,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* value,
                                                    std::size_t bytes) {
  const cublasStatus_t status = mock::begin("cublasLtMatmulPreferenceSetAttribute");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  auto& p = *reinterpret_cast<mock::preference*>(handle);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return mock::set(p.workspace, value, bytes);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return mock::set(p.reductions, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return mock::set(p.align_a, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return mock::set(p.align_b, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return mock::set(p.align_c, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return mock::set(p.align_d, value, bytes);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[], int* found) {
  cublasStatus_t status = mock::begin("cublasLtMatmulAlgoGetHeuristic");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  mock::library& l = mock::of_process();
  const auto& o = mock::value_of<mock::operation>(operation);
  const auto& prefers = mock::value_of<mock::preference>(preference);
  const auto p = mock::sizes_of(o, mock::value_of<mock::layout>(a), mock::value_of<mock::layout>(b),
                                mock::value_of<mock::layout>(d));
  l.last = prefers;
  ++l.queries;
  *found = 0;
  if (p.m == 0) {
    mock::violate("cublasLtMatmulAlgoGetHeuristic: layouts that do not fit together");
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  for (const cublasLtMatrixLayout_t each : {a, b, c, d})
    if (!mock::is_layout_right(mock::value_of<mock::layout>(each))) return CUBLAS_STATUS_INVALID_VALUE;
  if (p.m == 1 || p.n == 1 || p.k == 1) return CUBLAS_STATUS_INVALID_VALUE;
  const bool known =
      o.epilogue == CUBLASLT_EPILOGUE_DEFAULT || mock::reads_vector(o.epilogue) || mock::writes_vector(o.epilogue);
  if (!known || l.refused.count(o.epilogue) != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  const bool sixteen_bits = mock::size_of(p.operand_type) == 2;
  if (p.operand_type != p.type && !(sixteen_bits && p.type == CUDA_R_32F)) return CUBLAS_STATUS_NOT_SUPPORTED;
  const std::uint32_t element = mock::size_of(p.type), of_operands = mock::size_of(p.operand_type);
  if (prefers.align_a < of_operands || prefers.align_b < of_operands || prefers.align_c < element ||
      prefers.align_d < element)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  std::vector<std::uint64_t> flags = l.offered;
  if (flags.empty()) flags.push_back(mock::native_flags(p));
  for (const std::uint64_t each : flags) {
    if (*found == wanted) break;
    const mock::algorithm chosen{
        l.queries,       each,           std::uint64_t{4} << 20, mock::shape_of(p), prefers.align_a, prefers.align_b,
        prefers.align_c, prefers.align_d};
    cublasLtMatmulHeuristicResult_t& result = results[(*found)++];
    result = cublasLtMatmulHeuristicResult_t{};
    std::memcpy(&result.algo, &chosen, sizeof chosen);
    result.workspaceSize = chosen.workspace;
    result.state = chosen.workspace <= prefers.workspace ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCapGetAttribute(const cublasLtMatmulAlgo_t* algorithm,
                                                 cublasLtMatmulAlgoCapAttributes_t attribute, void* value,
                                                 std::size_t bytes, std::size_t* written) {
  const cublasStatus_t status = mock::begin("cublasLtMatmulAlgoCapGetAttribute");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  mock::algorithm mine;
  std::memcpy(&mine, algorithm, sizeof mine);
  if (attribute != CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS || bytes != sizeof mine.flags)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(value, &mine.flags, bytes);
  *written = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  const cublasStatus_t status = mock::begin("cublasLtMatmul");
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  mock::algorithm chosen;
  std::memcpy(&chosen, algorithm, sizeof chosen);
  const auto& o = mock::value_of<mock::operation>(operation);
  mock::product p = mock::sizes_of(o, mock::value_of<mock::layout>(a_layout), mock::value_of<mock::layout>(b_layout),
                                   mock::value_of<mock::layout>(d_layout));
  if (p.m == 0 || mock::shape_of(p) != chosen.shape) mock::violate("an algorithm that was chosen for another product");
  if (c == d && c_layout != d_layout) mock::violate("in place with two descriptors");
  if (stream == nullptr) mock::violate("on the default stream");
  if (!mock::is_aligned(a, chosen.align_a) || !mock::is_aligned(b, chosen.align_b) ||
      !mock::is_aligned(c, chosen.align_c) || !mock::is_aligned(d, chosen.align_d))
    mock::violate("less aligned than the heuristics were told");
  const std::int64_t element = mock::size_of(p.type), of_operands = mock::size_of(p.operand_type);
  for (const auto& [stride, alignment] :
       {std::pair(p.stride_a * of_operands, chosen.align_a), std::pair(p.stride_b * of_operands, chosen.align_b),
        std::pair(p.stride_d * element, chosen.align_d)})
    if (stride % std::int64_t{alignment} != 0) mock::violate("a batch less aligned than the heuristics were told");
  if (p.batch > 1 && p.stride_d == 0) mock::violate("results of a batch in one place");
  if (workspace_bytes < chosen.workspace || workspace == nullptr || !mock::is_aligned(workspace, 256))
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool with_vector = mock::reads_vector(o.epilogue) || mock::writes_vector(o.epilogue);
  if (with_vector && o.vector == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  using devplace::bf16, devplace::half;
  const bool into_float = p.type == CUDA_R_32F;
  const auto multiply = p.operand_type == CUDA_R_64F   ? mock::multiply<double, double>
                        : p.operand_type == CUDA_R_32F ? mock::multiply<float, float>
                        : p.operand_type == CUDA_R_16BF
                            ? (into_float ? mock::multiply<bf16, float> : mock::multiply<bf16, bf16>)
                            : (into_float ? mock::multiply<half, float> : mock::multiply<half, half>);
  // The factors are the host's, which may change them after the call.
  const bool in_double = p.type == CUDA_R_64F;
  const auto factor = [in_double](const void* x) {
    return in_double ? *static_cast<const double*>(x) : double{*static_cast<const float*>(x)};
  };
  const auto work = [=, by = factor(alpha), old = factor(beta), vector = o.vector] {
    if (mock::violations().empty()) multiply(p, by, a, b, old, c, d, vector);
  };
  if (devplace::test::mock_cuda::launch_of_library("cublasLtMatmul", stream, work) != cudaSuccess)
    return CUBLAS_STATUS_EXECUTION_FAILED;
  const auto uses = [stream](const void* matrix, cublasLtMatrixLayout_t handle, bool writes) {
    const auto& l = mock::value_of<mock::layout>(handle);
    const std::int64_t elements =
        (l.batch - 1) * l.stride + static_cast<std::int64_t>(l.columns - 1) * l.ld + static_cast<std::int64_t>(l.rows);
    devplace::test::mock_cuda::library_uses("cublasLtMatmul", stream, matrix,
                                            static_cast<std::size_t>(elements) * mock::size_of(l.type), writes);
  };
  uses(a, a_layout, false);
  uses(b, b_layout, false);
  if (factor(beta) != 0) uses(c, c_layout, false);
  uses(d, d_layout, true);
  if (with_vector)
    devplace::test::mock_cuda::library_uses("cublasLtMatmul", stream, o.vector,
                                            (mock::reads_vector(o.epilogue) ? p.m : p.n) * mock::size_of(p.type),
                                            mock::writes_vector(o.epilogue));
  p.algorithm = chosen.query, p.flags = chosen.flags, p.workspace = workspace, p.stream = stream;
  mock::of_process().products.push_back(p);
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
