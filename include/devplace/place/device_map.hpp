// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/base/error.hpp>
#include <devplace/base/parse_number.hpp>
#include <devplace/config.hpp>
#include <devplace/place/place.hpp>

namespace devplace {

/// Binds the place `cuda<logical>` to the device with number `visible` in this process.
struct device_map_entry {
  int logical = 0;  ///< the place's ordinal
  int visible = 0;  ///< the device's number among the visible ones, from 0
};

namespace detail {

/// Upper bound of the ordinals of cuda places.
inline constexpr int counted_ordinals = 64;

/// The visible device of each logical ordinal; `origin` in messages says where the map comes from.
struct device_bindings {
  device_bindings() {
    for (int& device : visible) device = -1;
  }
  bool operator==(const device_bindings&) const = default;

  void add(const device_map_entry& entry, const std::string& origin) {
    if (entry.logical < 0 || entry.visible < 0)
      throw argument_error({origin, ", and ", entry.logical, ":", entry.visible,
                            " in it has a negative number. Logical ordinals and visible devices count from 0."});
    if (entry.logical >= counted_ordinals)
      throw argument_error({origin, ", and ", entry.logical, ":", entry.visible,
                            " in it is beyond the last logical ordinal, ", counted_ordinals - 1,
                            ". Use lower ordinals."});
    if (visible[entry.logical] >= 0)
      throw argument_error({origin, ", which gives the logical ordinal ", entry.logical,
                            " twice. Give each logical ordinal one visible device."});
    visible[entry.logical] = entry.visible;
    ++count;
  }

  /// Checks that the logical ordinals are 0 to count - 1.
  const device_bindings& complete(const std::string& origin) const {
    if (count == 0)
      throw argument_error(origin + ", which binds nothing. Bind cuda:0 to one visible device at least, as in 0:0.");
    for (int logical = 0; logical < count; ++logical)
      if (visible[logical] < 0)
        throw argument_error({origin, ", which leaves out the logical ordinal ", logical, " of ", count,
                              ". Logical ordinals count from 0 without a gap; bind that one too."});
    return *this;
  }

  int count = 0;
  int visible[counted_ordinals];
};

/// Binds logical ordinals to visible devices, as given by a text such as `0:0,1:0` (the environment) or by set().
/// Without a given map, binds them to this process's share of the devices: all devices unless share() was called. The
/// first use() freezes the map. Thread-safe.
class device_map {
 public:
  /// Whether the processes of a host see the same devices and divide them, or each process sees only its own devices.
  enum class devices : unsigned char { of_host, of_process };

  /// `environment` is the value of DEVPLACE_DEVICE_MAP, null if unset; throws argument_error if it is invalid.
  explicit device_map(const char* environment) {
    if (environment != nullptr) read(environment);
  }

  /// The process's map. Never destroyed, because tensors with static storage duration may use it at exit.
  static device_map& of_process() {
    static device_map& map = *new device_map(std::getenv("DEVPLACE_DEVICE_MAP"));
    return map;
  }

  void set(const std::vector<device_map_entry>& entries) {
    std::string text;
    for (const device_map_entry& entry : entries)
      text = joined({text, text.empty() ? "" : ",", entry.logical, ":", entry.visible});
    const std::string origin = joined({"set_device_map was called with \"", text, "\""});
    device_bindings given;
    for (const device_map_entry& entry : entries) given.add(entry, origin);
    given.complete(origin);
    const std::lock_guard lock(mutex_);
    if (frozen_.load(std::memory_order_relaxed))
      throw error({origin, " after cuda places had been used, first by ", used_by_, ", with the map: ", describe(),
                   ". The map of places in use cannot change; call set_device_map at the beginning of main."});
    if (from_environment_) {
      if (given != bindings_)
        throw argument_error(
            {origin, ", but ", origin_,
             ", which is another map. Unset the variable, or call set_device_map only if it is not set."});
      return;
    }
    bindings_ = given;
    origin_ = origin;
  }

  /// Gives this process, number `local_rank` of `local_size` on its host, its share of the visible devices, unless a
  /// map is given before the first use. Does nothing after the first use.
  void share(int local_rank, int local_size) {
    const std::lock_guard lock(mutex_);
    if (frozen_.load(std::memory_order_relaxed)) return;
    local_rank_ = local_rank;
    local_size_ = local_size;
  }

  /// Freezes the map and returns the number of logical devices for `visible_count` visible ones. Later messages name
  /// `used_by` as the first use. Throws argument_error if the map names a visible device that does not exist. Without
  /// visible devices, returns 0 and checks nothing: the same settings then work on a machine without devices.
  DEVPLACE_COMPILABLE([[gnu::noinline]])
  int use(int visible_count, const char* used_by, devices seen = devices::of_host) {
    if (frozen_.load(std::memory_order_acquire)) return count_;
    const std::lock_guard lock(mutex_);
    if (frozen_.load(std::memory_order_relaxed)) return count_;
    if (seen == devices::of_process) local_size_ = 1;
    if (!given() && local_size_ > 1) bind_share(visible_count);
    for (int logical = 0; visible_count > 0 && logical < bindings_.count; ++logical)
      if (bindings_.visible[logical] >= visible_count)
        throw argument_error({origin_, ", which binds ", name(logical), " to visible device ",
                              bindings_.visible[logical], ", but this process sees ", visible_count,
                              " device(s), counted from 0. Bind it to one of 0 to ", visible_count - 1,
                              ", or make more devices visible (CUDA_VISIBLE_DEVICES)."});
    count_ = visible_count == 0 || !given() ? visible_count : bindings_.count;
    used_by_ = used_by;
    frozen_.store(true, std::memory_order_release);
    return count_;
  }

  /// The visible device of a logical device; call use() before.
  int visible(int logical) const {
    return logical >= 0 && logical < bindings_.count ? bindings_.visible[logical] : logical;
  }

  /// Whether the environment or a call has given a map; call use() before.
  bool given() const { return bindings_.count != 0; }

  /// Why a logical ordinal is not in the given map, and the fix.
  DEVPLACE_COMPILABLE([[gnu::noinline]]) std::string why_absent(int logical) const {
    const int size = bindings_.count;
    return joined({name(logical), " does not exist: ", origin_, ", which binds ",
                   size == 1 ? "cuda:0 alone" : "cuda:0 to " + name(size - 1), "; ",
                   is_share_ ? "start fewer processes, set DEVPLACE_DEVICE_MAP"
                             : joined({"bind ", logical, " too, as in ", logical, ":0"}),
                   ", or use a lower ordinal"});
  }

  /// `cuda:0 is visible device 1, cuda:1 is visible device 0 (from DEVPLACE_DEVICE_MAP)`.
  std::string description() const {
    const std::lock_guard lock(mutex_);
    return describe();
  }

 private:
  /// Binds an equal number of consecutive devices to each process of the host. Processes share devices if there are
  /// fewer devices than processes.
  void bind_share(int visible_count) {
    if (visible_count == 0) return;
    const int each = visible_count < local_size_ ? 1 : visible_count / local_size_;
    for (int logical = 0; logical < each && logical < counted_ordinals; ++logical)
      bindings_.visible[bindings_.count++] = (local_rank_ * each + logical) % visible_count;
    is_share_ = true;
    origin_ = joined({"the processes of a host share its devices, and this is ", share_text(), " with ", visible_count,
                      " visible device(s)"});
  }
  std::string share_text() const { return joined({"process ", local_rank_, " of ", local_size_, " on its host"}); }

  static std::string name(int logical) { return joined({"cuda:", logical}); }

  DEVPLACE_COMPILABLE([[gnu::noinline]]) void read(const char* environment) {
    origin_ = joined({"the environment variable DEVPLACE_DEVICE_MAP is \"", environment, "\""});
    from_environment_ = true;
    device_bindings given;
    for (std::string_view text = environment;;) {
      const std::size_t comma = text.find(',');
      given.add(parse(text.substr(0, comma)), origin_);
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 1);
    }
    bindings_ = given.complete(origin_);
  }

  device_map_entry parse(std::string_view item) const {
    const std::size_t colon = item.find(':');
    device_map_entry entry;
    if (colon != std::string_view::npos)
      entry = {whole_number(item.substr(0, colon)), whole_number(item.substr(colon + 1))};
    if (colon == std::string_view::npos || entry.logical < 0 || entry.visible < 0)
      throw argument_error({origin_, ", and \"", item,
                            "\" in it is not <logical>:<visible> with two whole numbers from 0. Write the map as "
                            "0:0,1:0, or unset the variable to use the devices in their own order."});
    return entry;
  }

  std::string describe() const {
    if (!given() && local_size_ > 1 && !frozen_.load(std::memory_order_relaxed))
      return "from the first use of a cuda place on, the share of " + share_text();
    if (!given()) return "cuda:I is visible device I";
    std::string text;
    for (int logical = 0; logical < bindings_.count; ++logical)
      text += joined({logical == 0 ? "" : ", ", name(logical), " is visible device ", bindings_.visible[logical]});
    if (is_share_) return joined({text, " (the share of ", share_text(), ")"});
    return text + (from_environment_ ? " (from DEVPLACE_DEVICE_MAP)" : " (from set_device_map)");
  }

  mutable std::mutex mutex_;
  device_bindings bindings_;  // none: the identity; constant once frozen
  std::string origin_;
  bool from_environment_ = false;
  int local_rank_ = 0, local_size_ = 1;  // 1: not shared
  bool is_share_ = false;                // whether the bindings are this process's share
  std::atomic<bool> frozen_{false};
  int count_ = 0;
  const char* used_by_ = "";
};
DEVPLACE_COMPILED(int device_map::use(int, const char*, devices))
DEVPLACE_COMPILED(std::string device_map::why_absent(int) const)
DEVPLACE_COMPILED(void device_map::read(const char*))

}  // namespace detail

/// Binds logical ordinals to visible devices, as DEVPLACE_DEVICE_MAP=0:0,1:0 does: {{0, 0}, {1, 0}}. The logical
/// ordinals must be 0 to n - 1, each once, in any order. Several ordinals may share a device; each ordinal then has its
/// own memory, worker and statistics, and copies between these ordinals are real copies. Call it before the first query
/// of a cuda place or allocation there; later calls throw an error that names the first use. Throws argument_error if
/// the map differs from the environment's. The first use reports a visible device that does not exist.
inline void set_device_map(const std::vector<device_map_entry>& map) { detail::device_map::of_process().set(map); }

/// The bindings of this process's logical ordinals and their origin, for logs.
inline std::string device_map_description() { return detail::device_map::of_process().description(); }

}  // namespace devplace

namespace devplace::detail {

/// The environment variables that number GPUs: CUDA_DEVICE_ORDER orders the machine's devices, CUDA_VISIBLE_DEVICES
/// selects some. CUDA reads both at its first call.
struct device_numbering {
  std::string order;   ///< CUDA_DEVICE_ORDER
  std::string choice;  ///< CUDA_VISIBLE_DEVICES
  bool has_order = false, has_choice = false;

  static device_numbering of_environment() {
    const char* const order = std::getenv("CUDA_DEVICE_ORDER");
    const char* const choice = std::getenv("CUDA_VISIBLE_DEVICES");
    return {order == nullptr ? "" : order, choice == nullptr ? "" : choice, order != nullptr, choice != nullptr};
  }

  /// Whether either variable is set; numbers may then differ from nvidia-smi's.
  bool given() const { return has_order || has_choice; }

  /// `devices are numbered by CUDA_DEVICE_ORDER=PCI_BUS_ID among those of CUDA_VISIBLE_DEVICES="2,1"`.
  std::string text() const {
    std::string result = "devices are numbered by CUDA_DEVICE_ORDER=";
    if (!has_order)
      result += "FASTEST_FIRST, CUDA's default,";
    else if (order == "FASTEST_FIRST" || order == "PCI_BUS_ID")
      result += order;
    else
      result.append("\"").append(order).append("\", which is neither FASTEST_FIRST nor PCI_BUS_ID,");
    if (has_choice)
      result.append(" among those of CUDA_VISIBLE_DEVICES=\"").append(choice).append("\"");
    else
      result += " among all (CUDA_VISIBLE_DEVICES is not set)";
    return result;
  }
};

}  // namespace devplace::detail
