// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <utility>

namespace devplace::detail {

/// Takes an option and does nothing. A class, because nvcc's front end rejects a generic lambda in has_options.
struct ignored_option {
  void operator()(const char*, const auto&, const auto&...) const {}
};

/// A type that lists its options: `static void for_each_option(auto& self, auto&& f)` calls f(name, self.member) or
/// f(name, self.member, range) for each option. The function is static and takes the object as an argument, so that one
/// list serves to read const objects and to write others.
template <class T>
concept has_options = requires(T& object) { T::for_each_option(object, ignored_option{}); };

/// Calls f(name, value) for each option of an object; does nothing for types without options.
template <class T, class F> void for_each_option(T& object, const F& f) {
  if constexpr (has_options<T>) {
    T::for_each_option(object, [&f]<class... Range>(const char* name, auto&& value, const Range&...) {
      constexpr bool named = sizeof...(Range) == 0 || requires { T::name; };
      static_assert(named,
                    "devplace: for_each_option: an option with a range needs the name of the class for error messages: "
                    "add static constexpr const char* name = \"my_rule\";");
      f(name, std::forward<decltype(value)>(value));
    });
  } else {
    constexpr bool lists_members = requires { object.for_each_option(ignored_option{}); };
    static_assert(!lists_members,
                  "devplace: for_each_option is static and takes the object: static void for_each_option(auto& self, "
                  "auto&& f) { f(\"factor\", self.factor); }");
  }
}

}  // namespace devplace::detail
