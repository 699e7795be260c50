// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Not part of all.hpp: programs that describe their networks include it.

#include <cstddef>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include <devplace/base/joined.hpp>
#include <devplace/memory/detail/aligned_rows.hpp>
#include <devplace/nn/layer_summary.hpp>
#include <devplace/nn/model.hpp>
#include <devplace/nn/predictor.hpp>
#include <devplace/optim/adam.hpp>
#include <devplace/place/place.hpp>
#include <devplace/runtime/batch.hpp>
#include <devplace/tensor/bf16.hpp>
#include <devplace/tensor/precision.hpp>
#include <devplace/train/memory_plan.hpp>

namespace devplace {

namespace train::detail {

/// Returns the table of layers, with a last row of sums.
inline std::string table_of_layers(const std::vector<nn::layer_summary>& layers) {
  std::vector<std::string> cells{"layer", "type", "output", "parameters", "FLOPs"};
  const auto add_row = [&](const std::string(&row)[5]) { cells.insert(cells.end(), row, row + 5); };
  std::size_t parameters = 0, flops = 0, frozen = 0, buffers = 0;
  for (const nn::layer_summary& layer : layers) {
    std::string output;
    for (const std::size_t extent : layer.output)
      output += devplace::detail::joined({output.empty() ? "" : "x", extent});
    add_row({layer.name, layer.type, output, std::to_string(layer.parameters), std::to_string(layer.flops)});
    parameters += layer.parameters, flops += layer.flops, frozen += layer.frozen, buffers += layer.buffers;
  }
  add_row({"all", "", "", std::to_string(parameters), std::to_string(flops)});
  std::string text = devplace::detail::aligned_rows(cells, 5, 3);
  if (frozen != 0) text += devplace::detail::joined({frozen, " of the parameters are frozen\n"});
  if (buffers != 0) text += devplace::detail::joined({buffers, " elements in buffers, which are not parameters\n"});
  return text;
}

/// Returns the bytes of a network in a precision: parameters with buffers, working copy, predictor, training.
template <class Net, class P, class Batch, class Rule> std::vector<std::size_t> bytes_of_network() {
  using where = on<cpu>;
  using training = memory_plan<model<Net, where, P>, Batch, Rule>;
  return {training::parameters + training::buffers, training::working_copy,
          memory_plan<predictor<Net, where, P>, Batch>::bytes, training::bytes};
}

inline std::string table_of_bytes(std::size_t samples, const std::vector<std::size_t> (&bytes)[3]) {
  std::vector<std::string> cells{devplace::detail::joined({"bytes, batches of ", samples}), "float", "double",
                                 "mixed<bf16>"};
  const char* const names[] = {"parameters and buffers", "their copy in 16 bits", "a predictor", "a training"};
  for (std::size_t row = 0; row < 4; ++row) {
    cells.push_back(names[row]);
    for (const std::vector<std::size_t>& of_precision : bytes) cells.push_back(std::to_string(of_precision[row]));
  }
  return devplace::detail::aligned_rows(cells, 4, 1);
}

template <class X> struct network_of : std::type_identity<X> {};
template <class Net, class Where, class P> struct network_of<model<Net, Where, P>> : std::type_identity<Net> {};

}  // namespace train::detail

/// Prints two tables that describe a network, or the network of a model's type: `summary<net>(std::cout, batch<64>{})`.
/// The first has each layer's name as in PyTorch, its type, the extents of one sample's output, its number of
/// parameters (including frozen parameters), and its FLOPs for one sample. nn::layer_summaries defines and returns
/// these numbers. If layers are nn::recomputed, a line below has the FLOPs that training adds for them. The second has
/// bytes on a place, as memory_plan counts them, in float, double and mixed<bf16> (mixed<half> also needs its scale).
/// Its rows are parameters and buffers with padding, their copy in 16 bits, a predictor, and a training with `Rule`.
/// Predictor and training are for batches of `Samples` samples.
template <class Net, class Rule = optim::adam, std::size_t Samples = 1>
void summary(std::ostream& out, batch<Samples> = {}) {
  using net = typename train::detail::network_of<Net>::type;
  using sizes = batch<Samples>;
  const std::vector<std::size_t> bytes[] = {train::detail::bytes_of_network<net, float, sizes, Rule>(),
                                            train::detail::bytes_of_network<net, double, sizes, Rule>(),
                                            train::detail::bytes_of_network<net, mixed<bf16>, sizes, Rule>()};
  out << train::detail::table_of_layers(nn::layer_summaries<net>());
  if (const std::size_t repeated = 2 * runtime::network_plan<net>::cost.repeated; repeated != 0)
    out << std::to_string(repeated) << " FLOPs more in a training, which computes recomputed layers again\n";
  out << '\n' << train::detail::table_of_bytes(Samples, bytes);
}
/// Describes the network of a model: `summary(std::cout, model, batch<64>{})`.
template <class Rule = optim::adam, class Net, class Where, class P, std::size_t Samples = 1>
void summary(std::ostream& out, const model<Net, Where, P>&, batch<Samples> size = {}) {
  summary<Net, Rule>(out, size);
}

}  // namespace devplace
