// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>
#include <string>

namespace devplace::detail {

/// The environment variables that number GPUs: CUDA_DEVICE_ORDER orders the machine's devices, CUDA_VISIBLE_DEVICES
/// selects some. CUDA reads both at its first call.
struct device_numbering {
  bool order_given = false;
  bool choice_given = false;
  std::string order;   ///< CUDA_DEVICE_ORDER
  std::string choice;  ///< CUDA_VISIBLE_DEVICES

  static device_numbering of_environment() {
    device_numbering found;
    if (const char* order = std::getenv("CUDA_DEVICE_ORDER")) {
      found.order_given = true;
      found.order = order;
    }
    if (const char* choice = std::getenv("CUDA_VISIBLE_DEVICES")) {
      found.choice_given = true;
      found.choice = choice;
    }
    return found;
  }

  /// Whether either variable is set; numbers may then differ from nvidia-smi's.
  bool given() const { return order_given || choice_given; }

  /// `devices are numbered by CUDA_DEVICE_ORDER=PCI_BUS_ID among those of CUDA_VISIBLE_DEVICES="2,1"`.
  std::string text() const {
    std::string result = "devices are numbered by CUDA_DEVICE_ORDER=";
    if (!order_given)
      result += "FASTEST_FIRST, CUDA's default,";
    else if (order == "FASTEST_FIRST" || order == "PCI_BUS_ID")
      result += order;
    else
      result.append("\"").append(order).append("\", which is neither FASTEST_FIRST nor PCI_BUS_ID,");
    if (choice_given)
      result.append(" among those of CUDA_VISIBLE_DEVICES=\"").append(choice).append("\"");
    else
      result += " among all (CUDA_VISIBLE_DEVICES is not set)";
    return result;
  }
};

}  // namespace devplace::detail
