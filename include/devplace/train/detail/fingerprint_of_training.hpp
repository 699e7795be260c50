// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <devplace/base/type_text.hpp>
#include <devplace/config.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/parallel/fingerprint.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/version.hpp>

namespace devplace::train::detail {

using devplace::detail::type_text;

/// Returns the options of a training that must be equal in all processes.
template <class Policy, class Loss>
parallel::fingerprint fingerprint_of_options(const Loss& loss, std::size_t batches) {
  parallel::fingerprint result;
  result.add("version of devplace",
             std::to_string(DEVPLACE_VERSION_MAJOR).append(".").append(std::to_string(DEVPLACE_VERSION_MINOR)));
  result.add("policy", type_text<Policy>());
  result.add("batches of an update", batches);
  result.add("loss", type_text<Loss>());
  result.add_options("loss's ", loss);
  return result;
}

/// Adds a batch's loader, epoch and number; nothing for null.
inline void add_note(parallel::fingerprint& to, const parallel::batch_note* note) {
  if (note == nullptr) return;
  to.add(note->loader);
  to.add("epoch", note->epoch);
  to.add("batch of the epoch", note->number);
}

/// Adds the names and types of parameters, the layers, and then, if `Values`, checksums of the first place's
/// parameters. Copies these parameters to the host.
template <class Net, class Backend, bool Values = true, class S>
void add_parameters(parallel::fingerprint& to, const runtime::model_state<S>& state) {
  using parameter = typename runtime::replica<S>::parameter;
  using plan = runtime::network_plan<Net>;
  const runtime::replica<S>& r = state.replicas.front();
  std::vector<parameter> values(Values ? plan::arena_elements : 0);
  devplace::detail::copy_out<Backend>(r.ordinal, values.data(), r.parameter_data(), values.size() * sizeof(parameter));
  parallel::fingerprint of_values;
  to.add("places of a process", state.replicas.size());
  plan::visit_parameters([&](const std::string& name, const auto& entry, std::size_t offset) {
    std::string shape = dtype_name<parameter>();
    for (std::size_t axis = 0; axis != entry.shape.rank; ++axis)
      shape.append(axis == 0 ? " " : "x").append(std::to_string(entry.shape.extent[axis]));
    to.add("parameter " + name, shape);
    if constexpr (!Values) return;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i != entry.shape.size(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, &values[offset + i], sizeof(parameter));
      sum += bits * (2 * i + 1);
    }
    of_values.add("checksum of parameter " + name, sum);
  });
  to.add("network", type_text<Net>());
  to.add(of_values);
}

}  // namespace devplace::train::detail
