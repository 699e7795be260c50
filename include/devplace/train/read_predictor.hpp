// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that predict with parameters from files include it.

#include <cstddef>
#include <string>
#include <type_traits>

#include <devplace/io/parameters.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/place/detail/refusal.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace {

/// Appears in the compiler's message for read_predictor without the largest batch.
struct GIVE_THE_FILE_AND_THE_LARGEST_BATCH_AS_IN_batch_256;
/// Appears in the compiler's message for read_predictor without a place.
struct NAME_THE_NETWORK_AND_A_PLACE_AS_IN_read_predictor_net_cpu;

}  // namespace devplace

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// A predictor with the parameters and buffers of a file that save_parameters or PyTorch has written, as
/// load_parameters reads them, also from checkpoints, and with its options: `auto p = read_predictor<net,
/// on<cuda<0>>>("net.safetensors", batch<256>{}, {.convert = true})`. No gradients are allocated. Throws
/// file_error, which lists every name that does not fit, and failures of the places.
template <class Net, placement Where, precision P = float, std::size_t Samples>
[[nodiscard]] predictor<Net, Where, P> read_predictor(const std::string& path, batch<Samples> largest,
                                                      const load_options& options = {}) {
  return detail::predictor_access::filled<predictor<Net, Where, P>>(
      largest, [&](model<Net, Where, P>& own) { load_parameters(own, path, options); });
}
/// Without the type of the largest batch.
template <class Net, class Where = void, class P = float, class... Number,
          class FIX = GIVE_THE_FILE_AND_THE_LARGEST_BATCH_AS_IN_batch_256>
  requires(sizeof...(Number) < 2 && (std::is_arithmetic_v<Number> && ...))
detail::refusal read_predictor(const std::string&, Number...)
DEVPLACE_REFUSED(
    "read_predictor: the largest batch is known at compile time and follows the file's name: "
    "read_predictor<net, on<cpu>>(\"net.safetensors\", batch<256>{}).");
/// Without a place, or with one that is none.
template <class Net, class Where = NAME_THE_NETWORK_AND_A_PLACE_AS_IN_read_predictor_net_cpu, std::size_t Samples,
          class... Renames>
  requires(!placement<Where>)
detail::refusal read_predictor(const std::string&, batch<Samples>, const Renames&...)
DEVPLACE_REFUSED(
    "read_predictor: name the network and a place: read_predictor<net, on<cpu>>(\"net.safetensors\", batch<256>{}).");

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
