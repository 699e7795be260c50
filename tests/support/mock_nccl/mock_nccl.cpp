// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_nccl/mock_nccl.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <new>

#include "support/mock_cuda/mock_cuda.hpp"

namespace devplace::test::mock_nccl {

namespace {

constexpr int most_ranks = 8;
constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// The next call of a rank, which all ranks read.
struct call_text {
  char name[24];
  std::uint64_t count;
  int type, op, root;

  bool operator==(const call_text&) const = default;
};

/// A rank's part of the calls of a communicator. A rank posts a call when all have read its previous one.
struct rank_slot {
  std::atomic<std::uint64_t> posted{0}, read{0};
  call_text call;
  alignas(64) unsigned char data[most_bytes];
};

/// A message from one rank to another. A rank posts a message when the other has read the previous one.
struct mailbox {
  std::atomic<std::uint64_t> posted{0}, read{0};
  std::uint64_t count;
  int type;
  alignas(64) unsigned char data[most_bytes / 16];
};

/// A communicator's memory, shared by its ranks.
struct clique {
  rank_slot ranks[most_ranks];
  mailbox mail[most_ranks][most_ranks];  ///< from, to
};

constexpr int most_cliques = 16;

struct world {
  std::atomic<int> made{0};  ///< number of ids
  clique cliques[most_cliques];
};

/// A part of an enqueued group of sends and receives.
struct message {
  bool sends;
  void* data;
  std::uint64_t count;
  int type, peer;
  bool posted = false, done = false;
};

/// An enqueued collective, or a group of messages.
struct operation {
  call_text call;
  const void* from;
  void* to;
  cudaStream_t stream;
  int delay;
  ncclResult_t outcome;
  bool posted = false;
  std::vector<message> messages{};
};

}  // namespace

}  // namespace devplace::test::mock_nccl

using devplace::test::mock_nccl::clique;
using devplace::test::mock_nccl::operation;

struct ncclComm {
  clique* with;
  int size, rank, device;
  std::uint64_t number = 0;  ///< number of the last executed call
  std::deque<operation> queue{};
  ncclResult_t failed = ncclSuccess;
  bool finalizing = false;
};

namespace devplace::test::mock_nccl {

namespace {

struct planned {
  ncclResult_t code;
  int calls_left;
  bool later;
};

struct library {
  world* shared = nullptr;
  int version = NCCL_VERSION_CODE;
  int delay = 0;
  bool hangs = false;
  int depth = 0;
  bool group_failed = false;
  bool moved = false;  ///< whether an operation, or a part of one, has advanced
  std::string last_error;
  std::map<std::string, planned> failures;
  std::vector<std::string> calls, violations;
  std::vector<cudaStream_t> streams;
  std::vector<ncclComm*> live, grouped, exchanging;
  int aborted = 0;
};

library& of_process() {
  static library& one = *new library;
  return one;
}

world& shared_world() {
  library& l = of_process();
  if (l.shared == nullptr) {
    void* const at = ::mmap(nullptr, sizeof(world), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    l.shared = ::new (at) world;
  }
  return *l.shared;
}

void violate(const std::string& what) { of_process().violations.push_back(what); }

/// Records a call; returns its planned failure.
ncclResult_t begin(const std::string& function, const std::string& text, ncclResult_t* later = nullptr) {
  library& l = of_process();
  l.calls.push_back(text.empty() ? function : function + " " + text);
  const auto at = l.failures.find(function);
  if (at == l.failures.end() || --at->second.calls_left > 0) return ncclSuccess;
  if (!at->second.later) {
    l.group_failed = true;
    return at->second.code;
  }
  if (later != nullptr) *later = at->second.code;
  return ncclSuccess;
}

bool is_live(const ncclComm* c, const char* call) {
  const auto& live = of_process().live;
  if (std::find(live.begin(), live.end(), c) != live.end()) return true;
  violate(std::string(call) + ": no communicator, or one that was destroyed or aborted");
  return false;
}

std::string rank_text(const ncclComm* c) {
  return "rank " + std::to_string(c->rank) + " of " + std::to_string(c->size);
}

const char* type_text(int type) {
  constexpr const char* names[] = {"int8",   "uint8",   "int32",   "uint32",  "int64",
                                   "uint64", "float16", "float32", "float64", "bfloat16"};
  return type >= 0 && type < 10 ? names[type] : "no type";
}
std::size_t type_bytes(int type) {
  constexpr std::size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return type >= 0 && type < 10 ? bytes[type] : 1;
}

int current_device() {
  int device = 0;
  static_cast<void>(cudaGetDevice(&device));
  return device;
}

template <class T> void combine(void* into, const void* more, std::size_t count, int op) {
  for (std::size_t i = 0; i != count; ++i) {
    T a, b;
    std::memcpy(&a, static_cast<char*>(into) + i * sizeof(T), sizeof(T));
    std::memcpy(&b, static_cast<const char*>(more) + i * sizeof(T), sizeof(T));
    a = op == ncclSum ? static_cast<T>(a + b) : op == ncclMax ? std::max(a, b) : std::min(a, b);
    std::memcpy(static_cast<char*>(into) + i * sizeof(T), &a, sizeof(T));
  }
}
void combine(void* into, const void* more, std::size_t count, int type, int op) {
  switch (type) {
    case ncclInt8:
      return combine<std::int8_t>(into, more, count, op);
    case ncclUint8:
      return combine<std::uint8_t>(into, more, count, op);
    case ncclInt32:
      return combine<std::int32_t>(into, more, count, op);
    case ncclUint32:
      return combine<std::uint32_t>(into, more, count, op);
    case ncclInt64:
      return combine<std::int64_t>(into, more, count, op);
    case ncclUint64:
      return combine<std::uint64_t>(into, more, count, op);
    case ncclFloat32:
      return combine<float>(into, more, count, op);
    case ncclFloat64:
      return combine<double>(into, more, count, op);
    default:
      violate("a reduction of a type that the mock does not know");
  }
}

/// Returns the number of elements that a rank passes, and the number that it receives.
std::uint64_t elements_given(const call_text& call, int size) {
  return std::strcmp(call.name, "ncclReduceScatter") == 0 ? call.count * static_cast<std::uint64_t>(size) : call.count;
}

/// Executes a call for one rank; all ranks' elements are in the slots.
void execute(ncclComm* c, const operation& o) {
  const std::string name = o.call.name;
  const std::size_t bytes = o.call.count * type_bytes(o.call.type);
  const auto data = [&](int rank) -> unsigned char* { return c->with->ranks[rank].data; };
  if (name == "ncclBroadcast") {
    std::memcpy(o.to, data(o.call.root), bytes);
  } else if (name == "ncclAllGather") {
    for (int rank = 0; rank != c->size; ++rank)
      std::memcpy(static_cast<char*>(o.to) + static_cast<std::size_t>(rank) * bytes, data(rank), bytes);
  } else if (name != "ncclReduce" || o.call.root == c->rank) {
    const std::size_t first = name == "ncclReduceScatter" ? static_cast<std::size_t>(c->rank) * bytes : 0;
    std::vector<unsigned char> total(data(0) + first, data(0) + first + bytes);
    for (int rank = 1; rank != c->size; ++rank)
      combine(total.data(), data(rank) + first, o.call.count, o.call.type, o.call.op);
    std::memcpy(o.to, total.data(), bytes);
  }
}

/// Advances a message and returns whether it is done. Messages from one rank to another arrive in order.
bool advance(ncclComm* c, message& m) {
  mailbox& box = m.sends ? c->with->mail[c->rank][m.peer] : c->with->mail[m.peer][c->rank];
  const std::uint64_t read = box.read.load(std::memory_order_acquire);
  const std::uint64_t posted = box.posted.load(std::memory_order_acquire);
  const std::size_t bytes = m.count * type_bytes(m.type);
  if (bytes > sizeof box.data) violate("more elements in a message than the mock has room for");
  if (m.sends && !m.posted) {
    if (posted != read) return false;
    box.count = m.count;
    box.type = m.type;
    std::memcpy(box.data, m.data, bytes);
    m.posted = of_process().moved = true;
    box.posted.store(posted + 1, std::memory_order_release);
    return false;
  }
  if (m.sends) return read == posted;
  if (posted == read) return false;
  if (box.count != m.count || box.type != m.type) {
    violate("ncclRecv: the other rank sends another number of elements, or another type");
    of_process().hangs = true;
    return false;
  }
  std::memcpy(m.data, box.data, bytes);
  box.read.store(read + 1, std::memory_order_release);
  return true;
}

/// Advances the first call of a communicator's queue and returns whether it is done.
bool advance(ncclComm* c) {
  operation& o = c->queue.front();
  rank_slot& own = c->with->ranks[c->rank];
  const auto all = [&](auto rank_slot::* counter, std::uint64_t number) {
    for (int rank = 0; rank != c->size; ++rank)
      if ((c->with->ranks[rank].*counter).load(std::memory_order_acquire) < number) return false;
    return true;
  };
  if (o.outcome != ncclSuccess) {
    c->failed = o.outcome;
    return true;
  }
  if (of_process().hangs) return false;
  if (!o.messages.empty()) {
    bool done = o.delay-- <= 0;
    for (message& m : o.messages) {
      if (!m.done && advance(c, m)) m.done = of_process().moved = true;
      done = done && m.done;
    }
    return done;
  }
  if (!o.posted) {
    if (!all(&rank_slot::read, c->number)) return false;
    own.call = o.call;
    const std::size_t bytes = elements_given(o.call, c->size) * type_bytes(o.call.type);
    if (bytes > most_bytes) violate("more elements than the mock has room for");
    if (o.from != nullptr) std::memcpy(own.data, o.from, std::min(bytes, most_bytes));
    o.posted = true;
    own.posted.store(c->number + 1, std::memory_order_release);
  }
  if (!all(&rank_slot::posted, c->number + 1) || o.delay-- > 0) return false;
  for (int rank = 0; rank != c->size; ++rank)
    if (!(c->with->ranks[rank].call == o.call)) {
      violate(std::string(o.call.name) + ": the ranks make different calls");
      of_process().hangs = true;  // NCCL's usually hang, too
      return false;
    }
  if (o.to != nullptr) execute(c, o);
  ++c->number;
  own.read.store(c->number, std::memory_order_release);
  return true;
}

/// Advances all communicators of this process, since their ranks may wait for each other.
void advance_all() {
  bool& moved = of_process().moved;
  do {
    moved = false;
    for (ncclComm* const c : of_process().live)
      if (!c->queue.empty() && c->failed == ncclSuccess && advance(c)) {
        c->queue.pop_front();
        moved = true;
      }
  } while (moved);
}

call_text text_of(const char* name, std::size_t count, int type, int op, int root) {
  call_text call{};
  std::strncpy(call.name, name, sizeof call.name - 1);
  call.count = count;
  call.type = type;
  call.op = op;
  call.root = root;
  return call;
}

ncclResult_t enqueue(const char* name, ncclComm* c, const void* from, void* to, std::size_t count, int type, int op,
                     int root, cudaStream_t stream) {
  if (!is_live(c, name)) return ncclInvalidArgument;
  const std::string what = op == ncclSum ? ", sum" : op == ncclMax ? ", max" : op == ncclMin ? ", min" : "";
  ncclResult_t later = ncclSuccess;
  const ncclResult_t now =
      begin(name,
            rank_text(c) + ", " + std::to_string(count) + " " + type_text(type) + what +
                (root >= 0 ? ", root " + std::to_string(root) : "") + ", on device " + std::to_string(c->device),
            &later);
  if (now != ncclSuccess) return now;
  library& l = of_process();
  if (l.depth == 0 && c->size > 1) violate(std::string(name) + ": outside of a group");
  if (c->finalizing) violate(std::string(name) + ": after ncclCommFinalize");
  if (current_device() != c->device) violate(std::string(name) + ": another device is the current one");
  if (!c->queue.empty() && std::find(l.grouped.begin(), l.grouped.end(), c) == l.grouped.end())
    violate(std::string(name) + ": an earlier call is still in progress");
  l.streams.push_back(stream);
  if (mock_cuda::launch_of_library(name, stream) != cudaSuccess) return ncclUnhandledCudaError;
  const std::size_t bytes = count * type_bytes(type);
  const std::size_t n = static_cast<std::size_t>(c->size);
  const std::string call = name;
  mock_cuda::library_uses(name, stream, from, call == "ncclReduceScatter" ? n * bytes : bytes, false);
  mock_cuda::library_uses(name, stream, to, call == "ncclAllGather" ? n * bytes : bytes, true);
  c->queue.push_back({text_of(name, count, type, op, root), from, to, stream, l.delay, later});
  l.grouped.push_back(c);
  return l.depth > 0 ? ncclSuccess : ncclInProgress;
}

ncclResult_t enqueue(ncclComm* c, message m, cudaStream_t stream) {
  const char* const name = m.sends ? "ncclSend" : "ncclRecv";
  if (!is_live(c, name)) return ncclInvalidArgument;
  ncclResult_t later = ncclSuccess;
  const ncclResult_t now = begin(name,
                                 rank_text(c) + ", " + std::to_string(m.count) + " " + type_text(m.type) +
                                     (m.sends ? ", to rank " : ", from rank ") + std::to_string(m.peer) +
                                     ", on device " + std::to_string(c->device),
                                 &later);
  if (now != ncclSuccess) return now;
  library& l = of_process();
  if (m.peer < 0 || m.peer >= c->size || m.peer == c->rank) return ncclInvalidArgument;
  if (l.depth == 0) violate(std::string(name) + ": outside of a group");
  if (c->finalizing) violate(std::string(name) + ": after ncclCommFinalize");
  if (current_device() != c->device) violate(std::string(name) + ": another device is the current one");
  const bool first = std::find(l.exchanging.begin(), l.exchanging.end(), c) == l.exchanging.end();
  if (!c->queue.empty() && first) violate(std::string(name) + ": an earlier call is still in progress");
  l.streams.push_back(stream);
  if (mock_cuda::launch_of_library(name, stream) != cudaSuccess) return ncclUnhandledCudaError;
  mock_cuda::library_uses(name, stream, m.data, m.count * type_bytes(m.type), !m.sends);
  if (first) {
    c->queue.push_back({text_of("messages", 0, 0, 0, 0), nullptr, nullptr, stream, l.delay, ncclSuccess});
    l.exchanging.push_back(c);
  }
  if (later != ncclSuccess) c->queue.back().outcome = later;
  c->queue.back().messages.push_back(m);
  return ncclSuccess;
}

void forget(ncclComm* c) {
  for (std::vector<ncclComm*>* const all : {&of_process().live, &of_process().grouped, &of_process().exchanging})
    all->erase(std::remove(all->begin(), all->end(), c), all->end());
  delete c;
}

}  // namespace

void meet_in_shared_memory() { static_cast<void>(shared_world()); }
void set_version(int code) { of_process().version = code; }
void set_delay(int questions) { of_process().delay = questions; }
void fail(const std::string& function, ncclResult_t code, int nth) {
  of_process().failures[function] = {code, nth, false};
}
void fail_later(const std::string& function, ncclResult_t code, int nth) {
  of_process().failures[function] = {code, nth, true};
}
void hang() { of_process().hangs = true; }
void recover() {
  of_process().failures.clear();
  of_process().hangs = false;
}
void set_last_error(const std::string& text) { of_process().last_error = text; }
const std::vector<std::string>& calls() { return of_process().calls; }
void clear_calls() {
  of_process().calls.clear();
  of_process().streams.clear();
}
const std::vector<cudaStream_t>& streams() { return of_process().streams; }
int live_communicators() { return static_cast<int>(of_process().live.size()); }
int aborted_communicators() { return of_process().aborted; }
const std::vector<std::string>& violations() { return of_process().violations; }

}  // namespace devplace::test::mock_nccl

// The functions of NCCL that devplace calls. A missing one is a linker error.

namespace mock = devplace::test::mock_nccl;

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = mock::of_process().version;
  return mock::begin("ncclGetVersion", "");
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError   ? "remote process exited or there was a network error"
         : result == ncclSystemError ? "unhandled system error (run with NCCL_DEBUG=INFO for details)"
                                     : "an error of the mock";
}

const char* ncclGetLastError(ncclComm_t) { return mock::of_process().last_error.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const ncclResult_t code = mock::begin("ncclGetUniqueId", "");
  if (code != ncclSuccess) return code;
  std::memset(id, 0, sizeof *id);
  const int number = mock::shared_world().made.fetch_add(1) % mock::most_cliques;
  for (mock::rank_slot& slot : mock::shared_world().cliques[number].ranks) {  // may be reused
    slot.posted = 0;
    slot.read = 0;
  }
  for (auto& from : mock::shared_world().cliques[number].mail)
    for (mock::mailbox& box : from) {
      box.posted = 0;
      box.read = 0;
    }
  std::memcpy(id->internal, &number, sizeof number);
  id->internal[NCCL_UNIQUE_ID_BYTES - 1] = 'x';
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  ncclResult_t later = ncclSuccess;
  const ncclResult_t code = mock::begin("ncclCommInitRankConfig",
                                        "rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                                            ", on device " + std::to_string(mock::current_device()),
                                        &later);
  if (code != ncclSuccess) return code;
  mock::library& l = mock::of_process();
  if (config == nullptr || config->magic != 0xcafebeef || config->blocking != 0)
    mock::violate("ncclCommInitRankConfig: a communicator that blocks");
  if (id.internal[NCCL_UNIQUE_ID_BYTES - 1] != 'x') mock::violate("ncclCommInitRankConfig: not an id of this library");
  if (l.depth == 0) mock::violate("ncclCommInitRankConfig: outside of a group");
  if (rank < 0 || rank >= ranks || ranks > mock::most_ranks) return ncclInvalidArgument;
  int number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  *made = new ncclComm{&mock::shared_world().cliques[number], ranks, rank, mock::current_device()};
  (*made)->queue.push_back({mock::text_of("init", 0, 0, 0, ranks), nullptr, nullptr, nullptr, l.delay, later});
  l.live.push_back(*made);
  l.grouped.push_back(*made);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t* state) {
  if (!mock::is_live(c, "ncclCommGetAsyncError")) return ncclInvalidArgument;
  const auto planned = mock::of_process().failures.find("ncclCommGetAsyncError");
  if (planned != mock::of_process().failures.end() && --planned->second.calls_left <= 0) return planned->second.code;
  if (mock::of_process().depth != 0) mock::violate("ncclCommGetAsyncError: inside of a group");
  mock::advance_all();
  *state = c->failed != ncclSuccess ? c->failed : c->queue.empty() ? ncclSuccess : ncclInProgress;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  const ncclResult_t code = mock::begin("ncclGroupStart", "");
  if (code != ncclSuccess) return code;
  if (mock::of_process().depth++ == 0) {
    mock::of_process().grouped.clear();
    mock::of_process().exchanging.clear();
    mock::of_process().group_failed = false;
  }
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  mock::library& l = mock::of_process();
  const ncclResult_t code = mock::begin("ncclGroupEnd", "");
  if (l.depth == 0) {
    mock::violate("ncclGroupEnd without ncclGroupStart");
    return ncclInvalidUsage;
  }
  if (--l.depth != 0) return code;
  // All ranks of this process take part in a collective, with equal numbers of calls.
  for (const ncclComm* const c : l.grouped)
    for (const ncclComm* const other : l.live)
      if (!l.group_failed && other->with == c->with &&
          std::count(l.grouped.begin(), l.grouped.end(), other) != std::count(l.grouped.begin(), l.grouped.end(), c))
        mock::violate("ncclGroupEnd: the devices of this process make different numbers of calls");
  const bool works = !l.grouped.empty() || !l.exchanging.empty();
  l.grouped.clear();
  l.exchanging.clear();
  if (code != ncclSuccess) return code;
  return works ? ncclInProgress : ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t c) {
  if (!mock::is_live(c, "ncclCommFinalize")) return ncclInvalidArgument;
  ncclResult_t later = ncclSuccess;
  const ncclResult_t code = mock::begin("ncclCommFinalize", mock::rank_text(c), &later);
  if (code != ncclSuccess) return code;
  if (c->finalizing) mock::violate("ncclCommFinalize twice");
  if (!c->queue.empty()) mock::violate("ncclCommFinalize: an earlier call is still in progress");
  c->queue.push_back(
      {mock::text_of("finalize", 0, 0, 0, 0), nullptr, nullptr, nullptr, mock::of_process().delay, later});
  c->finalizing = true;
  mock::of_process().grouped.push_back(c);
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t c) {
  if (!mock::is_live(c, "ncclCommDestroy")) return ncclInvalidArgument;
  const ncclResult_t code = mock::begin("ncclCommDestroy", mock::rank_text(c));
  if (!c->finalizing || !c->queue.empty()) mock::violate("ncclCommDestroy before ncclCommFinalize is done");
  if (code != ncclSuccess) return code;
  mock::forget(c);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t c) {
  if (!mock::is_live(c, "ncclCommAbort")) return ncclInvalidArgument;
  const ncclResult_t code = mock::begin("ncclCommAbort", mock::rank_text(c));
  ++mock::of_process().aborted;
  mock::forget(c);
  return code;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t c, cudaStream_t stream) {
  return mock::enqueue("ncclAllReduce", c, from, to, count, type, op, -1, stream);
}
ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t c, cudaStream_t stream) {
  return mock::enqueue("ncclReduce", c, from, to, count, type, op, root, stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root, ncclComm_t c,
                           cudaStream_t stream) {
  return mock::enqueue("ncclBroadcast", c, from, to, count, type, -1, root, stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t c, cudaStream_t stream) {
  return mock::enqueue("ncclReduceScatter", c, from, to, count, type, op, -1, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t c,
                           cudaStream_t stream) {
  return mock::enqueue("ncclAllGather", c, from, to, count, type, -1, -1, stream);
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c,
                      cudaStream_t stream) {
  return mock::enqueue(c, {true, const_cast<void*>(from), count, type, peer}, stream);
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c, cudaStream_t stream) {
  return mock::enqueue(c, {false, to, count, type, peer}, stream);
}

}  // extern "C"
