// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstddef>
#include <string>
#include <vector>

#include <devplace/data/loader.hpp>
#include <devplace/memory/stream.hpp>

#include "support/catch.hpp"
#include "support/labelled_samples.hpp"
#include "support/mock_cuda/mock_cuda.hpp"

namespace dp = devplace;
namespace mock = devplace::test::mock_cuda;
using device = dp::on<dp::cuda<0>>;

TEST_CASE("bytes are copied as bytes and scaled on the copying stream", "[data]") {
  const dp::image_set data = support::numbered_images(41);
  {
    const dp::stream<dp::cuda<0>> side;
    mock::name_stream(side.native_handle(), "copies");  // returned to the pool here; the loader gets this stream
  }
  dp::loader<device> batches{data, {.batch = 8, .shuffle = dp::seed{1}}};
  mock::clear_calls();
  std::size_t read = 0;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& batch : batches.epoch(epoch)) {
      const std::size_t rows = batch.labels.extent(0);
      std::vector<std::string> work;
      for (const std::string& call : mock::calls())
        if (!call.starts_with("cudaGetDevice ") && !call.starts_with("cudaEventQuery ")) work.push_back(call);
      CHECK(work == std::vector<std::string>{
                        "cudaEventRecord device 0", "cudaStreamWaitEvent device 0 on copies",
                        "cudaMemcpyAsync device 0 to device, " + std::to_string(rows * 6) + " bytes on copies",
                        "cudaLaunchKernelExC device 0 scale_bytes_kernel<float>, 1 blocks of 256 on copies",
                        "cudaMemcpyAsync device 0 to device, " + std::to_string(rows) + " bytes on copies",
                        "cudaEventRecord device 0 on copies", "cudaStreamWaitEvent device 0"});
      mock::clear_calls();
      read += rows;
    }
  CHECK(read == 82);
  CHECK(mock::violations() == std::vector<std::string>{});
}
