// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <devplace/base/parse_number.hpp>

namespace devplace::parallel::detail {

/// The first host of one of Slurm's lists: `node01` of `node[01-03,7],other`; empty if there is none.
inline std::string first_slurm_host(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    if (list.front() != '[') {
      host += list.front();
      list.remove_prefix(1);
      continue;
    }
    const std::size_t end = list.find(']');
    const std::string_view ranges = list.substr(1, end == std::string_view::npos ? end : end - 1);
    host += ranges.substr(0, ranges.find_first_of(",-"));
    if (end == std::string_view::npos) return {};
    list.remove_prefix(end + 1);
  }
  return host;
}

/// The number of tasks on node `node` of a list: `2(x3),1` is 2, 2, 2, 1; -1 if the list does not have the node.
inline int slurm_tasks_on_node(std::string_view list, int node) {
  for (int first = 0; !list.empty();) {
    const std::string_view entry = list.substr(0, list.find(','));
    const std::size_t times = entry.find("(x");
    int nodes = 1;
    if (times != std::string_view::npos)
      nodes =
          entry.back() == ')' ? devplace::detail::whole_number(entry.substr(times + 2, entry.size() - times - 3)) : -1;
    if (nodes < 1) return -1;
    if (node - first < nodes) return devplace::detail::whole_number(entry.substr(0, times));
    first += nodes;
    list.remove_prefix(entry.size() == list.size() ? list.size() : entry.size() + 1);
  }
  return -1;
}

}  // namespace devplace::parallel::detail
