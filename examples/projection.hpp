// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>

#include <devplace/parallel/bucket_plan.hpp>

/// Projects the time of data-parallel steps on many GPUs, by a model of collectives and their overlap with the backward
/// pass. No result is measured. The model is optimistic: it ignores congestion, stragglers and failures, so also report
/// results with collectives three times as slow (`slower`).
namespace projection {

/// NCCL's all-reduce algorithms; `better` chooses the faster one.
enum class algorithm { ring, tree, better };

/// NCCL's protocols: `ll` and `ll128` have less latency and less bandwidth; `best` chooses the fastest one.
enum class protocol { ll, ll128, simple, best };

/// GPUs and their connections. Bandwidths are bus bandwidths as printed by nccl-tests, in bytes per second. The
/// defaults describe nodes of 8 H100 with one 400 Gbit/s adapter each, from published measurements.
struct machine {
  std::size_t gpus_per_node = 8;     ///< at least 1
  double within = 370e9;             ///< bus bandwidth in a node
  double between = 370e9;            ///< bus bandwidth of all adapters of a node together
  bool nvlink = true;                ///< whether GPUs in a node are connected by NVLink, else by PCI Express
  double ring_plateau = 1.4;         ///< NCCL's factor for rings over several nodes; 1.9 before compute capability 8
  double most_of_ll_within = 141e9;  ///< largest bus bandwidth of protocol `ll` in a node
  double most_of_ll_between = 35e9;  ///< largest bus bandwidth of `ll` between nodes
};

/// A bucket of gradients, in the order of reduction.
struct bucket {
  std::size_t bytes = 0;  ///< its size
  double backward = 0;    ///< seconds of the backward pass between the previous bucket and this one
};

/// The work of a GPU in a step, independent of the number of GPUs: each has a batch of constant size.
template <std::size_t Buckets> struct work {
  double forward = 0;                     ///< seconds before the backward pass
  std::array<bucket, Buckets> buckets{};  ///< the backward pass
  double optimizer = 0;                   ///< seconds after the last reduction

  /// Seconds of the backward pass.
  constexpr double backward() const {
    double seconds = 0;
    for (const bucket& b : buckets) seconds += b.backward;
    return seconds;
  }
  /// Seconds of a step of one GPU.
  constexpr double alone() const { return forward + backward() + optimizer; }
};

/// The all-reduce of a bucket: seconds since the beginning of the backward pass.
struct reduction {
  double ready = 0;  ///< the gradients are complete
  double start = 0;  ///< the previous bucket is also reduced
  double end = 0;    ///< this bucket is reduced
};

/// A projected step.
template <std::size_t Buckets> struct step {
  std::array<reduction, Buckets> reductions{};  ///< one per bucket
  double seconds = 0;                           ///< time of the step
  double efficiency = 0;                        ///< seconds of one GPU's step, divided by `seconds`
};

namespace detail {

/// Microseconds by protocol: ll, ll128, simple.
struct latencies {
  double of[3];
};

/// The constants of NCCL 2.28's src/graph/tuning.cc.
///@{
inline constexpr latencies ring_base{{6.6, 14, 8.4}}, ring_nvlink{{.6, 1.9, 3.4}}, ring_pci{{1, 2.5, 5.7}},
    ring_net{{2.7, 4, 14}}, ring_post{{1, 1, 3}};
inline constexpr latencies tree_base{{6.8, 14, 8.4}}, tree_nvlink{{.6, 1.25, 4}}, tree_pci{{1, 1.9, 6}},
    tree_net{{5, 8.5, 14}};
///@}

constexpr double smaller(double a, double b) { return b < a ? b : a; }

/// The binary logarithm of x >= 1, to 2^-40: std::log2 is not constexpr.
constexpr double log2(double x) {
  double result = 0;
  for (; x >= 2; x /= 2) result += 1;
  for (double bit = .5; bit > 1e-12; bit /= 2) {
    x *= x;
    if (x >= 2) {
      x /= 2;
      result += bit;
    }
  }
  return result;
}

/// Seconds of a ring all-reduce with one protocol, given by its position in `latencies`.
constexpr double ring_seconds(const machine& m, double bytes, double n, double nodes, std::size_t p) {
  const bool alone = nodes == 1;
  const double steps = 2 * (n - 1), inter = 2 * (nodes - 1);
  double hop = (m.nvlink ? ring_nvlink : ring_pci).of[p], bandwidth = alone ? m.within : smaller(m.within, m.between);
  if (!alone && hop < ring_post.of[p]) hop = ring_post.of[p];
  double latency = ring_base.of[p] + (steps - inter) * hop + inter * ring_net.of[p];
  if (p == 2 && !alone) latency *= m.ring_plateau;
  if (p == 0) bandwidth = smaller(bandwidth * .5, alone ? m.most_of_ll_within : m.most_of_ll_between);
  if (p == 1) bandwidth *= .92;
  return latency * 1e-6 + steps / n * bytes / bandwidth;
}

/// Seconds of an all-reduce by the double binary tree.
constexpr double tree_seconds(const machine& m, double bytes, double in_node, double nodes, std::size_t p) {
  const bool alone = nodes == 1;
  const double hop = (m.nvlink ? tree_nvlink : tree_pci).of[p];
  double bandwidth = .92 * (alone ? m.within : smaller(m.within, m.between));
  if (p == 0) bandwidth = smaller(bandwidth / 3.8, alone ? m.most_of_ll_within : m.most_of_ll_between);
  if (p == 1) bandwidth *= alone ? 7. / 9 : 120. / 128;
  return (tree_base.of[p] + 2 * ((in_node - 1) * hop + log2(nodes) * tree_net.of[p])) * 1e-6 + 2 * bytes / bandwidth;
}

}  // namespace detail

/// The projected seconds of an all-reduce of `bytes` over n >= 1 GPUs (0 for one GPU), by the formulas with which NCCL
/// chooses an algorithm, with or without NVLink. The last node may be incomplete.
constexpr double all_reduce_seconds(const machine& m, std::size_t bytes, std::size_t n,
                                    algorithm by = algorithm::better, protocol with = protocol::best) {
  if (n <= 1) return 0;
  const std::size_t nodes = (n + m.gpus_per_node - 1) / m.gpus_per_node, in_node = nodes == 1 ? n : m.gpus_per_node;
  const auto size = static_cast<double>(bytes), all = static_cast<double>(n), groups = static_cast<double>(nodes);
  double least = -1;
  for (std::size_t p = 0; p != 3; ++p) {
    // NCCL uses LL128 only over NVLink.
    if (with == protocol::best ? p == 1 && !m.nvlink : p != static_cast<std::size_t>(with)) continue;
    const double ring = detail::ring_seconds(m, size, all, groups, p),
                 tree = detail::tree_seconds(m, size, static_cast<double>(in_node), groups, p),
                 time = by == algorithm::ring   ? ring
                        : by == algorithm::tree ? tree
                                                : detail::smaller(ring, tree);
    if (least < 0 || time < least) least = time;
  }
  return least;
}

/// The buckets of a model under the policy `all_reduce`, from the trainer's plan: `of_model<model_t>(40e-6)` for a
/// backward pass of 40 us. The time is divided in proportion to elements, which is right for linear layers. For layers
/// that use parameters several times, measure and assign `backward` of each bucket.
template <class Model, class Policy = devplace::collective::all_reduce<>>
  requires(Policy::every_place_updates && !devplace::collective::updates_shares<Policy>)
constexpr auto of_model(double backward) {
  using plan = devplace::bucket_plan<Model, Policy>;
  std::array<bucket, plan::size> buckets{};
  std::size_t elements = 0;
  for (std::size_t i = 0; i != plan::size; ++i) elements += plan::at(i).count;
  for (std::size_t i = 0; i != plan::size; ++i) {
    const std::size_t count = plan::at(i).count;
    buckets[i] = {count * sizeof(typename devplace::precision_traits<typename Model::precision_type>::wire),
                  backward * static_cast<double>(count) / static_cast<double>(elements)};
  }
  return buckets;
}

/// The projected step of n >= 1 GPUs: a bucket is reduced once it is ready and the previous bucket is reduced, during
/// the backward pass; the optimizer waits for the last bucket. Every all-reduce takes `slower` times
/// `all_reduce_seconds`.
template <std::size_t Buckets>
constexpr step<Buckets> project(const machine& m, const work<Buckets>& w, std::size_t n,
                                algorithm by = algorithm::better, double slower = 1) {
  step<Buckets> result;
  double ready = 0, end = 0;
  for (std::size_t i = 0; i != Buckets; ++i) {
    ready += w.buckets[i].backward;
    const double start = end < ready ? ready : end;
    end = start + slower * all_reduce_seconds(m, w.buckets[i].bytes, n, by);
    result.reductions[i] = {ready, start, end};
  }
  result.seconds = w.forward + (end < ready ? ready : end) + w.optimizer;
  result.efficiency = w.alone() / result.seconds;
  return result;
}

/// A unit of layers of a model in shares.
struct unit {
  std::size_t bytes = 0;  ///< of its parameters as they are gathered, and of its gradients as they are reduced
  double forward = 0;     ///< seconds of its forward pass
  double backward = 0;    ///< seconds of its backward pass
};

/// The projected seconds of a step of n GPUs that have copies of a model, each in shares of `shares` GPUs: of all n, or
/// of whole nodes. While a unit computes, the next one is gathered and the last one's gradients are reduced. Gathering,
/// and reducing to shares, are half an all-reduce by NCCL's ring each; then the copies' shares are all-reduced, each
/// through its part of the nodes' adapters. Every collective takes `slower` times as long as the model says.
template <std::size_t Units>
constexpr double seconds_in_shares(const machine& m, const std::array<unit, Units>& units, double optimizer,
                                   std::size_t n, std::size_t shares, double slower = 1) {
  machine one_of_node = m;
  one_of_node.gpus_per_node = 1;
  one_of_node.between = m.between / static_cast<double>(m.gpus_per_node);
  const auto gathered = [&](std::size_t u) {
    return u < Units ? slower * all_reduce_seconds(m, units[u].bytes, shares, algorithm::ring) / 2 : 0;
  };
  const auto reduced = [&](std::size_t u) {
    return u < Units ? gathered(u) + slower * all_reduce_seconds(one_of_node, units[u].bytes / shares, n / shares) : 0;
  };
  const auto larger = [](double a, double b) { return a < b ? b : a; };
  double seconds = gathered(0) + reduced(0) + optimizer;
  for (std::size_t u = 0; u != Units; ++u)
    seconds += larger(units[u].forward, gathered(u + 1)) +
               larger(units[u].backward, gathered(u - 1) + reduced(u + 1));  // there is no unit -1
  return seconds;
}

}  // namespace projection
