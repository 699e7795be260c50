// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that keep parameters in files include it.

#include <algorithm>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/host_memory.hpp>
#include <devplace/base/seed.hpp>
#include <devplace/config.hpp>
#include <devplace/io/detail/safetensors_format.hpp>
#include <devplace/io/detail/safetensors_layout.hpp>
#include <devplace/io/file_text.hpp>
#include <devplace/io/renamed_tensors.hpp>
#include <devplace/io/safetensors.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/wait_for_replicas.hpp>
#include <devplace/place/placement.hpp>
#include <devplace/process/process_group.hpp>
#include <devplace/runtime/arena.hpp>
#include <devplace/runtime/model_state.hpp>
#include <devplace/runtime/network.hpp>
#include <devplace/runtime/replica.hpp>
#include <devplace/tensor/dtype.hpp>
#include <devplace/tensor/extents.hpp>
#include <devplace/tensor/precision.hpp>

namespace devplace {

/// Options of load_parameters and read_predictor for files that differ from the model: `{.convert = true}`.
struct load_options {
  bool convert = false;        ///< converts float, double, half and bf16 to the parameters' type, rounded to nearest
  bool ignore_others = false;  ///< skips tensors that the model does not have
  /// Renames the file's tensors: `{.renames = {{"features.", ""}, {"classifier.1.weight", "8.weight"}}}`. For each
  /// name, uses the first entry that applies. Throws file_error for an entry that applies to no name, and for two
  /// tensors that get the same name.
  std::vector<parameter_rename> renames = {};
};

}  // namespace devplace

namespace devplace::detail {

/// A parameter or buffer of a network and its offset in the arena.
struct kept_parameter {
  safetensors_entry entry;
  bool is_buffer;
  std::size_t at;  ///< offset in elements

  template <class T> T* in(T* parameters, T* buffers) const { return (is_buffer ? buffers : parameters) + at; }
};

/// Lists a network's parameters, then its buffers, with elements of type T.
template <class Net, class T> std::vector<kept_parameter> kept_parameters() {
  std::vector<kept_parameter> result;
  bool is_buffer = false;
  const auto append = [&](const std::string& name, const auto& entry, std::size_t offset) {
    const auto& shape = entry.shape;
    const std::vector<std::size_t> extents(shape.extent, shape.extent + shape.rank);
    result.push_back({{name, dtype_of<T>->safetensors, extents, 0, shape.size() * sizeof(T)}, is_buffer, offset});
  };
  using plan = runtime::network_plan<Net>;
  plan::visit_parameters(append);
  is_buffer = true;
  plan::visit_buffers(append);
  return result;
}

/// Whether this is `num_batches_tracked` of PyTorch's batch norm. This counter changes no result and has no counterpart
/// here.
inline bool is_batch_count(const safetensors_entry& entry) {
  return entry.dtype == "I64" && entry.extents.empty() && entry.name.ends_with(".num_batches_tracked");
}

/// Calls `f(T{})` for the floating-point type of this name. Returns whether the type exists.
bool with_floating_type(std::string_view dtype, const auto& f) {
  const auto call = [&]<class T>(T x) {
    if constexpr (std::is_integral_v<T>)
      return false;
    else
      return dtype == dtype_of<T>->safetensors && (f(x), true);
  };
  return [&]<class... T>(const dtype_table<T...>&) { return (call(T{}) || ...); }(dtypes);
}

/// Returns the tensors of a file, renamed. Throws file_error with all differences from `wanted`.
inline renamed_tensors fitting_tensors(const safetensors_file& file, const std::vector<kept_parameter>& wanted,
                                       const load_options& options, const std::string& path) {
  renamed_tensors result(file, options.renames);
  for (const kept_parameter& kept : wanted) {
    safetensors_entry entry = kept.entry;
    const auto* const found = result.find(entry.name);
    if (options.convert && found != nullptr && with_floating_type(found->dtype, [](auto) {}))
      entry.dtype = found->dtype;
    result.require(entry);
  }
  const bool is_checkpoint = std::any_of(file.metadata().begin(), file.metadata().end(),
                                         [](const auto& text) { return text.first == "checkpoint"; });
  result.refuse_others("model", [&](const safetensors_entry& entry) {
    return options.ignore_others || is_batch_count(entry) ||
           (is_checkpoint && (entry.name.starts_with("optimizer/") || entry.name.starts_with("extra/")));
  });
  if (!result.differences().empty())
    throw file_error({"load_parameters: ", in_quotes(path),
                      " does not fit the model, which was left unchanged: ", result.differences(),
                      ". Give a file of the same network and precision, set renames for its names, or use "
                      "nn::named; {.convert = true} converts other floating-point types, and {.ignore_others = "
                      "true} leaves out tensors that are not in the model."});
  return result;
}

}  // namespace devplace::detail

namespace devplace::inline DEVPLACE_CONFIGURATION {

/// Writes a model's parameters and buffers as a safetensors file with PyTorch's names:
/// `safetensors.torch.load_file(path)` returns a state_dict. Of several replicas, writes the first. In mixed precision
/// writes the master parameters, in float. The seed, the number of passes and optimizers are not in the file. Waits for
/// the places. Replaces an old file when the new one is complete, as write_npy does. Throws file_error, and failures of
/// the places.
template <class Net, placement Where, precision P>
void save_parameters(const model<Net, Where, P>& m, const std::string& path) try {
  using backend_type = placement_backend_t<Where>;
  using parameter = typename precision_traits<P>::parameter;
  const auto& state = m.state();
  detail::wait_for_replicas<backend_type>(state.ordinals);
  const auto& first = state.replicas.front();
  const parameter* parameters = first.parameter_data();
  const parameter* buffers = first.buffer_data();
  std::vector<parameter> on_host[2];
  if constexpr (!std::is_same_v<backend_type, backend::cpu>) {
    const auto copied = [&](const detail::memory_block& arena, std::vector<parameter>& to) {
      to.resize(arena.bytes() / sizeof(parameter));
      detail::copy_out<backend_type>(first.ordinal, to.data(), arena.data(), arena.bytes());
      return to.data();
    };
    parameters = copied(first.parameters, on_host[0]);
    buffers = copied(first.buffers, on_host[1]);
  }
  std::vector<detail::safetensors_source> sources;
  for (const detail::kept_parameter& kept : detail::kept_parameters<Net, parameter>())
    sources.push_back({kept.entry, kept.in(parameters, buffers)});
  detail::write_safetensors_file(path, "save_parameters", sources, {{"format", "pt"}});
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the file of save_parameters");
}

/// Reads parameters and buffers to every place of a model, from a file written by save_parameters or
/// `safetensors.torch.save_file(module.state_dict(), path)`; each process reads the file. The model's trainers and
/// optimizers continue with the new values. Waits for the copies. Throws file_error with every name that is missing,
/// unknown or of another type or shape, and failures of the places. After an error the model is unchanged, unless a
/// place failed. Skips `num_batches_tracked` of PyTorch's batch norms. In a checkpoint, skips everything except
/// parameters and buffers. `options` are for files of another precision, with other names or with more tensors.
template <class Net, placement Where, precision P>
void load_parameters(model<Net, Where, P>& m, const std::string& path, const load_options& options = {}) try {
  using plan = runtime::network_plan<Net>;
  using storage = typename precision_traits<P>::storage;
  using parameter = typename precision_traits<P>::parameter;
  auto& state = m.state();
  const runtime::sole_use use(state);
  const safetensors_file file(path);
  const std::vector<detail::kept_parameter> wanted = detail::kept_parameters<Net, parameter>();
  const detail::renamed_tensors stored = detail::fitting_tensors(file, wanted, options, path);
  runtime::model_state<storage> read;
  auto& host = read.replicas.emplace_back();
  constexpr auto purpose = memory_purpose::parameters;
  runtime::assign_zeros<parameter, backend::cpu>(host.parameters, 0, plan::arena_elements, purpose);
  runtime::assign_zeros<parameter, backend::cpu>(host.buffers, 0, plan::buffer_elements, purpose);
  for (const detail::kept_parameter& kept : wanted) {
    const auto& entry = *stored.find(kept.entry.name);
    parameter* const to = kept.in(host.parameter_data(), host.buffer_data());
    detail::with_floating_type(entry.dtype, [&]<class T>(T) {
      if constexpr (std::is_same_v<T, parameter>) {
        file.read_elements(entry, to);
      } else {
        std::vector<T> elements(kept.entry.bytes / sizeof(parameter));
        file.read_elements(entry, elements.data());
        std::copy(elements.begin(), elements.end(), to);
      }
    });
  }
  runtime::copy_parameters<placement_backend_t<Where>, backend::cpu>(state, read);
} catch (const std::bad_alloc&) {
  detail::fail_without_memory("the parameters of load_parameters");
}

/// For models in shares. All processes call it, and the first process writes.
template <class Net, stores_shares Where, precision P>
void save_parameters(const model<Net, Where, P>& m, const std::string& path) {
  const auto whole = to<cpu>(m);
  if (!spans_processes<Where> || is_main_process()) save_parameters(whole, path);
}
template <class Net, stores_shares Where, precision P>
void load_parameters(model<Net, Where, P>& m, const std::string& path, const load_options& options = {}) {
  model<Net, cpu, P> whole{seed{0}};
  load_parameters(whole, path, options);
  m.assign(whole);
}

}  // namespace devplace::inline DEVPLACE_CONFIGURATION
