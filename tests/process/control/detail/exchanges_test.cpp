// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <devplace/process/control/detail/exchanges.hpp>

#include "support/catch.hpp"

namespace inner = devplace::parallel::detail;
using Catch::Matchers::ContainsSubstring;

namespace {

using bytes = std::vector<std::byte>;

void append(bytes& to, const void* from, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + size);
}

/// The message of a process in an exchange of `members` (empty: all processes); the key identifies the exchange.
bytes message(std::uint64_t key, const std::vector<std::int32_t>& members, const std::string& text, bool equal = true) {
  bytes result;
  const inner::control_gather head{key, static_cast<std::uint32_t>(members.size()), equal};
  append(result, &head, sizeof head);
  append(result, members.data(), members.size() * sizeof(std::int32_t));
  append(result, text.data(), text.size());
  return result;
}

/// Four processes, and the answers of process 0.
struct hub {
  hub() : all(4), answers(4) {
    for (std::size_t r = 0; r != all.size(); ++r) all[r].rank = static_cast<int>(r);
  }
  bool take(std::size_t rank, const bytes& body) { return open.take(rank, body, all.size()); }
  std::string serve(double now) {
    return open.serve(now, all, 60, [this](std::size_t r, const bytes& result) {
      answers[r] += std::string(reinterpret_cast<const char*>(result.data()), result.size()) + ";";
    });
  }

  inner::control_exchanges open;
  inner::watched_processes all;
  std::vector<std::string> answers;
};

}  // namespace

TEST_CASE("concurrent exchanges of all processes and of parts are independent", "[process][control_plane]") {
  hub h;
  CHECK(h.take(0, message(1, {}, "a")));
  CHECK(h.take(3, message(2, {3, 1}, "d")));
  CHECK(h.take(2, message(1, {}, "c")));
  CHECK(h.serve(1).empty());
  CHECK(h.answers == std::vector<std::string>(4));
  CHECK(h.take(1, message(2, {3, 1}, "b")));
  CHECK(h.serve(2).empty());
  CHECK(h.answers == std::vector<std::string>{"", "db;", "", "db;"});  // in the order of the members
  CHECK(h.take(1, message(1, {}, "b")));
  CHECK(h.take(3, message(1, {}, "d")));
  CHECK(h.take(0, message(3, {0}, "alone")));
  CHECK(h.serve(3).empty());
  CHECK(h.answers == std::vector<std::string>{"abcd;alone;", "db;abcd;", "abcd;", "db;abcd;"});
}

TEST_CASE("only exchanges of equal size require the same number of bytes from each member",
          "[process][control_plane]") {
  hub h;
  CHECK(h.take(0, message(1, {0, 1}, "", false)));
  CHECK(h.take(1, message(1, {0, 1}, "long", false)));
  CHECK(h.serve(1).empty());
  CHECK(h.answers[0] == "long;");
  CHECK(h.take(0, message(1, {0, 1}, "")));
  CHECK(h.take(1, message(1, {0, 1}, "long")));
  CHECK_THAT(h.serve(2), ContainsSubstring("rank 1 (") && ContainsSubstring("gives 4 bytes to an exchange"));
}

TEST_CASE("a dead or late member of an exchange is named, unless a collective call reports it",
          "[process][control_plane]") {
  hub h;
  for (const std::size_t r : {0u, 1u, 3u}) CHECK(h.take(r, message(1, {}, "x")));
  CHECK(h.serve(1).empty());
  CHECK(h.serve(60).empty());
  CHECK_THAT(h.serve(62), ContainsSubstring("waits for rank 2 (") && ContainsSubstring("after 60 s."));
  h.all[2].left = true;
  CHECK_THAT(h.serve(2), ContainsSubstring("waits for rank 2 (") && ContainsSubstring("which is gone."));
  h.all[0].state.entered = 1;  // still in the call
  CHECK(h.serve(62).empty());
  hub part;
  CHECK(part.take(1, message(1, {1, 2}, "x")));
  CHECK(part.serve(1).empty());
  CHECK(part.serve(1000).empty());  // no timeout for parts
  part.all[2].left = true;
  CHECK_THAT(part.serve(1001), ContainsSubstring("waits for rank 2 ("));
}

TEST_CASE("messages that no process of the group would send are rejected", "[process][control_plane]") {
  hub h;
  CHECK_FALSE(h.take(1, bytes(3)));
  bytes cut = message(1, {0, 1}, "");
  cut.resize(cut.size() - 1);
  CHECK_FALSE(h.take(1, cut));
  CHECK_FALSE(h.take(1, message(2, {0, 1, 2, 3, 0}, "more members than processes")));
  CHECK_FALSE(h.take(1, message(3, {0, 4}, "no such rank")));
  CHECK_FALSE(h.take(1, message(4, {1, -1}, "no such rank")));
  h.all[2].left = true;
  CHECK_FALSE(h.take(1, message(5, {0, 2}, "of others")));
  CHECK(h.serve(1).empty());  // no pending exchange
  CHECK(h.take(1, message(6, {0, 1}, "x")));
  CHECK_FALSE(h.take(1, message(6, {0, 1}, "again")));
  CHECK_FALSE(h.take(0, message(6, {1, 0}, "another order")));
}
