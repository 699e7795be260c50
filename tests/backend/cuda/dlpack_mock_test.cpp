// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <devplace/io/dlpack.hpp>

#include <cstddef>
#include <string>
#include <utility>

#include "support/catch.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock_cuda = devplace::test::mock_cuda;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string calls_as_text() {
  std::string text;
  for (const std::string& call : mock_cuda::calls()) text += call + "\n";
  return text;
}

}  // namespace

TEST_CASE("a tensor on a GPU carries the number of CUDA's runtime", "[cuda]") {
  using first = dp::on<dp::cuda<0>>;
  dp::set_device_map({{0, 1}});
  dp::tensor<float, dp::extents<4>, first> x(dp::extents<4>{});
  mock_cuda::clear_calls();
  dp::dlpack_handle handle = dp::to_dlpack(std::move(x));
  CHECK_THAT(calls_as_text(), ContainsSubstring("cudaStreamSynchronize"));
  CHECK(handle->tensor.device.type == dp::dlpack::device_type::cuda);
  CHECK(handle->tensor.device.id == 1);

  void* const data = handle->tensor.data;
  {
    auto back = dp::from_dlpack<float, dp::extents<4>, first>(std::move(handle));
    CHECK(back.data().get() == data);
    CHECK(mock_cuda::live_blocks() == 1);
    mock_cuda::clear_calls();
  }
  // The importer waits for its own work; the exporter frees after the work of the consumer's stream.
  const std::string calls = calls_as_text();
  CHECK_THAT(calls, ContainsSubstring("cudaEventRecord") && ContainsSubstring("on legacy default stream"));
  CHECK(calls.find("cudaStreamSynchronize") < calls.find("cudaFreeAsync"));
  CHECK(calls.find("cudaStreamWaitEvent") < calls.find("cudaFreeAsync"));
  CHECK(mock_cuda::live_blocks() == 0);

  // 0 also denotes the default stream, by its handle in CUDA and in PyTorch.
  handle = dp::to_dlpack(dp::tensor<float, dp::extents<4>, first>(dp::extents<4>{}), {.stream = 0});
  mock_cuda::clear_calls();
  handle.reset();
  CHECK_THAT(calls_as_text(), ContainsSubstring("cudaEventRecord") && ContainsSubstring("on legacy default stream"));

  handle = dp::to_dlpack(dp::tensor<float, dp::extents<4>, first>(dp::extents<4>{}));
  handle->tensor.device.id = 0;
  CHECK_THROWS_WITH((dp::view_dlpack<float, dp::extents<4>, first>(handle)),
                    ContainsSubstring("is on CUDA device 0, but cuda:0 was asked for, which is on CUDA device 1"));
  CHECK(mock_cuda::violations().empty());
}
