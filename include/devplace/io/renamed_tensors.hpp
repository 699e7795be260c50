// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <devplace/base/joined.hpp>
#include <devplace/io/detail/json_text.hpp>
#include <devplace/io/safetensors.hpp>
#include <devplace/tensor/extents.hpp>

namespace devplace {

/// A tensor's name in a file and in a model: `{"features.0.weight", "0.weight"}`. If the name in the file ends with a
/// dot or is empty, both names are prefixes: `{"module.", ""}`, `{"", "net."}`.
struct parameter_rename {
  std::string in_file;   ///< the name or prefix in the file
  std::string in_model;  ///< its replacement in the model

  /// Whether the renaming applies to this name in a file.
  bool applies_to(std::string_view name) const {
    return in_file.empty() || in_file.ends_with('.') ? name.starts_with(in_file) : name == in_file;
  }
  /// Returns the name in the model.
  std::string applied_to(std::string_view name) const { return in_model + std::string(name.substr(in_file.size())); }
};

}  // namespace devplace

namespace devplace::detail {

/// The tensors of a file under the model's names, and their differences from the wanted tensors.
class renamed_tensors {
 public:
  explicit renamed_tensors(const safetensors_file& file, const std::vector<parameter_rename>& renames = {}) {
    std::vector<bool> used(renames.size());
    for (const safetensors_entry& entry : file.tensors()) {
      std::size_t i = 0;
      while (i < renames.size() && !renames[i].applies_to(entry.name)) ++i;
      if (i < renames.size()) used[i] = true;
      tensors_.push_back({i < renames.size() ? renames[i].applied_to(entry.name) : entry.name, &entry});
    }
    std::stable_sort(tensors_.begin(), tensors_.end(), [](auto& a, auto& b) { return a.name < b.name; });
    for (std::size_t i = 1; i < tensors_.size(); ++i)
      if (tensors_[i - 1].name == tensors_[i].name)
        append(joined({described(tensors_[i - 1]), " and ", described(tensors_[i]), " get the same name"}));
    for (std::size_t i = 0; i < renames.size(); ++i)
      if (!used[i]) append(unused(file, renames[i].in_file));
  }

  /// Returns the tensor with this name in the model, or null.
  const safetensors_entry* find(std::string_view name) const {
    const auto at = position_of(name);
    return at == tensors_.size() ? nullptr : tensors_[at].entry;
  }

  void append(const std::string& difference) { differences_ += (differences_.empty() ? "" : "; ") + difference; }
  /// Adds a difference if the file lacks this tensor, or has it with another type or shape.
  void require(const safetensors_entry& wanted) {
    const auto at = position_of(wanted.name);
    if (at == tensors_.size()) return append(json_string(wanted.name) + " is missing");
    tensors_[at].wanted = true;
    const safetensors_entry& found = *tensors_[at].entry;
    if (found.dtype != wanted.dtype || found.extents != wanted.extents)
      append(joined({described(tensors_[at]), " is ", type_and_shape(found), " instead of ", type_and_shape(wanted)}));
  }
  /// Adds a difference, "is not in the <owner>", for each tensor that was not required, unless `left_out(entry)`.
  template <class LeftOut> void refuse_others(const char* owner, const LeftOut& left_out) {
    for (const tensor& t : tensors_)
      if (!t.wanted && !left_out(*t.entry)) append(joined({described(t), " is not in the ", owner}));
  }

  const std::string& differences() const { return differences_; }

 private:
  struct tensor {
    std::string name;
    const safetensors_entry* entry;
    bool wanted = false;
  };

  static std::string unused(const safetensors_file& file, const std::string& in_file) {
    const std::string prefix = in_file + ".";
    const bool begins = std::any_of(file.tensors().begin(), file.tensors().end(),
                                    [&](const auto& entry) { return entry.name.starts_with(prefix); });
    return joined({"the rename of ", json_string(in_file), " applies to no name in the file",
                   begins ? "; some names begin with " + json_string(prefix) : std::string()});
  }
  std::size_t position_of(std::string_view name) const {
    const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                     [](const tensor& t, std::string_view wanted) { return t.name < wanted; });
    return at != tensors_.end() && at->name == name ? static_cast<std::size_t>(at - tensors_.begin()) : tensors_.size();
  }
  static std::string described(const tensor& t) {
    std::string text = json_string(t.entry->name);
    if (t.name != t.entry->name) text += joined({", renamed to ", json_string(t.name), ","});
    return text;
  }
  static std::string type_and_shape(const safetensors_entry& entry) {
    return joined({entry.dtype, " of shape ", sizes_text(entry.extents)});
  }

  std::vector<tensor> tensors_;
  std::string differences_;
};

}  // namespace devplace::detail
