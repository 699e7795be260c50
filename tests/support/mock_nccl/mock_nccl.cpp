// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "support/mock_nccl/mock_nccl.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <new>

#include "support/mock_cuda/mock_cuda.hpp"
#include "support/mock_cuda/planned_failures.hpp"

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

/// The numbers of posts in shared memory, and of those that all readers have read.
struct post_counts {
  std::atomic<std::uint64_t> posted{0}, read{0};
};

/// A rank's part of the calls of a communicator. A rank posts a call when all have read its previous one.
struct rank_slot : post_counts {
  call_text call;
  alignas(64) unsigned char data[most_bytes];
};

/// A message from one rank to another. A rank posts a message when the other has read the previous one.
struct mailbox : post_counts {
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
  int delay;
  ncclResult_t outcome;
  bool posted = false;
  std::vector<message> messages{};
};

}  // namespace

}  // namespace devplace::test::mock_nccl

struct ncclComm {
  devplace::test::mock_nccl::clique* with;
  int size, rank, device;
  std::uint64_t number = 0;  ///< number of the last executed call
  std::deque<devplace::test::mock_nccl::operation> queue{};
  ncclResult_t failed = ncclSuccess;
  bool finalizing = false;
  int calls_of_group = 0;   ///< in the group that is open, without messages
  bool exchanging = false;  ///< has messages in the group that is open
};

namespace devplace::test::mock_nccl {

namespace {

struct library {
  world* shared = nullptr;
  int version = NCCL_VERSION_CODE;
  int delay = 0;
  bool hangs = false;
  int depth = 0;
  bool group_failed = false;
  bool moved = false;  ///< whether an operation, or a part of one, has advanced
  std::string last_error;
  planned_failures<ncclResult_t> failures, later_failures;
  std::vector<std::string> calls, violations;
  std::vector<cudaStream_t> streams;
  std::vector<ncclComm*> live;
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
ncclResult_t begin(const std::string& function, const std::string& text = {}) {
  library& l = of_process();
  l.calls.push_back(text.empty() ? function : function + " " + text);
  const ncclResult_t planned = l.failures.next(function);
  l.group_failed = l.group_failed || planned != ncclSuccess;
  return planned;
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

/// NCCL's element types in the order of their numbers. The mock does not add those of 16 bits.
constexpr struct {
  const char* name;
  std::size_t bytes;
  void (*combine)(void*, const void*, std::size_t, int);
} element_types[]{{"int8", 1, combine<std::int8_t>},
                  {"uint8", 1, combine<std::uint8_t>},
                  {"int32", 4, combine<std::int32_t>},
                  {"uint32", 4, combine<std::uint32_t>},
                  {"int64", 8, combine<std::int64_t>},
                  {"uint64", 8, combine<std::uint64_t>},
                  {"float16", 2, nullptr},
                  {"float32", 4, combine<float>},
                  {"float64", 8, combine<double>},
                  {"bfloat16", 2, nullptr}};

/// Returns the bytes that a rank passes to a call.
std::size_t bytes_given(const call_text& call, int size) {
  const std::size_t parts = std::strcmp(call.name, "ncclReduceScatter") == 0 ? static_cast<std::size_t>(size) : 1;
  return parts * call.count * element_types[call.type].bytes;
}

/// Executes a call for one rank; all ranks' elements are in the slots.
void execute(ncclComm* c, const operation& o) {
  const std::string name = o.call.name;
  const std::size_t bytes = o.call.count * element_types[o.call.type].bytes;
  const auto data = [&](int rank) -> unsigned char* { return c->with->ranks[rank].data; };
  if (name == "ncclBroadcast") {
    std::memcpy(o.to, data(o.call.root), bytes);
  } else if (name == "ncclAllGather") {
    for (int rank = 0; rank != c->size; ++rank)
      std::memcpy(static_cast<char*>(o.to) + static_cast<std::size_t>(rank) * bytes, data(rank), bytes);
  } else if (name != "ncclReduce" || o.call.root == c->rank) {
    const std::size_t first = name == "ncclReduceScatter" ? static_cast<std::size_t>(c->rank) * bytes : 0;
    std::vector<unsigned char> total(data(0) + first, data(0) + first + bytes);
    const auto combined = element_types[o.call.type].combine;
    if (combined == nullptr && c->size > 1) return violate(name + ": of a type that the mock does not add");
    for (int rank = 1; rank != c->size; ++rank) combined(total.data(), data(rank) + first, o.call.count, o.call.op);
    std::memcpy(o.to, total.data(), bytes);
  }
}

/// Advances a message and returns whether it is done. Messages from one rank to another arrive in order.
bool advance(ncclComm* c, message& m) {
  mailbox& box = m.sends ? c->with->mail[c->rank][m.peer] : c->with->mail[m.peer][c->rank];
  const std::uint64_t read = box.read.load(std::memory_order_acquire);
  const std::uint64_t posted = box.posted.load(std::memory_order_acquire);
  const std::size_t bytes = m.count * element_types[m.type].bytes;
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
  const auto all = [&](auto counter, std::uint64_t number) {
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
    const std::size_t bytes = bytes_given(o.call, c->size);
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

/// Adds an operation to a communicator's queue.
operation& add(ncclComm* c, const char* name, ncclResult_t outcome, std::uint64_t count = 0, int type = 0, int op = 0,
               int root = 0, const void* from = nullptr, void* to = nullptr) {
  call_text call{{}, count, type, op, root};
  std::strncpy(call.name, name, sizeof call.name - 1);
  return c->queue.emplace_back(operation{call, from, to, of_process().delay, outcome});
}

/// Begins a call that enqueues work on a stream; returns its failure, or sets the `outcome` that the work will have.
ncclResult_t begin_on(cudaStream_t stream, ncclComm* c, const char* name, std::uint64_t count, int type,
                      const std::string& what, ncclResult_t& outcome) {
  if (!is_live(c, name)) return ncclInvalidArgument;
  library& l = of_process();
  const ncclResult_t now = begin(name, rank_text(c) + ", " + std::to_string(count) + " " + element_types[type].name +
                                           what + ", on device " + std::to_string(c->device));
  if (now != ncclSuccess) return now;
  outcome = l.later_failures.next(name);
  if (l.depth == 0 && c->size > 1) violate(std::string(name) + ": outside of a group");
  if (c->finalizing) violate(std::string(name) + ": after ncclCommFinalize");
  if (current_device() != c->device) violate(std::string(name) + ": another device is the current one");
  if (!c->queue.empty() && c->calls_of_group == 0 && !c->exchanging)
    violate(std::string(name) + ": an earlier call is still in progress");
  l.streams.push_back(stream);
  return mock_cuda::launch_of_library(name, stream) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t enqueue(const char* name, ncclComm* c, const void* from, void* to, std::size_t count, int type, int op,
                     int root, cudaStream_t stream) {
  const std::string what = op == ncclSum ? ", sum" : op == ncclMax ? ", max" : op == ncclMin ? ", min" : "";
  ncclResult_t outcome = ncclSuccess;
  const ncclResult_t now =
      begin_on(stream, c, name, count, type, what + (root >= 0 ? ", root " + std::to_string(root) : ""), outcome);
  if (now != ncclSuccess) return now;
  const operation& o = add(c, name, outcome, count, type, op, root, from, to);
  const std::size_t parts = std::strcmp(name, "ncclAllGather") == 0 ? static_cast<std::size_t>(c->size) : 1;
  mock_cuda::library_uses(name, stream, from, bytes_given(o.call, c->size), false);
  mock_cuda::library_uses(name, stream, to, parts * count * element_types[type].bytes, true);
  ++c->calls_of_group;
  return of_process().depth > 0 ? ncclSuccess : ncclInProgress;
}

ncclResult_t enqueue(ncclComm* c, message m, cudaStream_t stream) {
  const char* const name = m.sends ? "ncclSend" : "ncclRecv";
  ncclResult_t outcome = ncclSuccess;
  const ncclResult_t now = begin_on(stream, c, name, m.count, m.type,
                                    (m.sends ? ", to rank " : ", from rank ") + std::to_string(m.peer), outcome);
  if (now != ncclSuccess) return now;
  if (m.peer < 0 || m.peer >= c->size || m.peer == c->rank) return ncclInvalidArgument;
  mock_cuda::library_uses(name, stream, m.data, m.count * element_types[m.type].bytes, !m.sends);
  operation& o = c->exchanging ? c->queue.back() : add(c, "messages", ncclSuccess);
  c->exchanging = true;
  if (outcome != ncclSuccess) o.outcome = outcome;
  o.messages.push_back(m);
  return ncclSuccess;
}

void end_group() {
  for (ncclComm* const c : of_process().live) c->calls_of_group = 0, c->exchanging = false;
}

void forget(ncclComm* c) {
  std::erase(of_process().live, c);
  delete c;
}

}  // namespace

void meet_in_shared_memory() { static_cast<void>(shared_world()); }
void set_version(int code) { of_process().version = code; }
void set_delay(int questions) { of_process().delay = questions; }
void fail(const std::string& function, ncclResult_t code, int nth) {
  of_process().failures.plan(function, code, nth, std::numeric_limits<int>::max());
}
void fail_later(const std::string& function, ncclResult_t code, int nth) {
  of_process().later_failures.plan(function, code, nth, std::numeric_limits<int>::max());
}
void hang() { of_process().hangs = true; }
void recover() {
  of_process().failures = of_process().later_failures = {};
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

// The functions of NCCL that devplace calls. A missing one is a linker error.

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = of_process().version;
  return begin("ncclGetVersion");
}

const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError   ? "remote process exited or there was a network error"
         : result == ncclSystemError ? "unhandled system error (run with NCCL_DEBUG=INFO for details)"
                                     : "an error of the mock";
}

const char* ncclGetLastError(ncclComm_t) { return of_process().last_error.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const ncclResult_t code = begin("ncclGetUniqueId");
  if (code != ncclSuccess) return code;
  std::memset(id, 0, sizeof *id);
  const int number = shared_world().made.fetch_add(1) % most_cliques;
  clique& reused = shared_world().cliques[number];
  for (rank_slot& slot : reused.ranks) slot.posted = slot.read = 0;
  for (auto& from : reused.mail)
    for (mailbox& box : from) box.posted = box.read = 0;
  std::memcpy(id->internal, &number, sizeof number);
  id->internal[NCCL_UNIQUE_ID_BYTES - 1] = 'x';
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config) {
  const ncclResult_t code =
      begin("ncclCommInitRankConfig", "rank " + std::to_string(rank) + " of " + std::to_string(ranks) + ", on device " +
                                          std::to_string(current_device()));
  if (code != ncclSuccess) return code;
  library& l = of_process();
  if (config == nullptr || config->magic != 0xcafebeef || config->blocking != 0)
    violate("ncclCommInitRankConfig: a communicator that blocks");
  if (id.internal[NCCL_UNIQUE_ID_BYTES - 1] != 'x') violate("ncclCommInitRankConfig: not an id of this library");
  if (l.depth == 0) violate("ncclCommInitRankConfig: outside of a group");
  if (rank < 0 || rank >= ranks || ranks > most_ranks) return ncclInvalidArgument;
  int number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  *made = new ncclComm{&shared_world().cliques[number], ranks, rank, current_device()};
  add(*made, "init", l.later_failures.next("ncclCommInitRankConfig"), 0, 0, 0, ranks);
  (*made)->calls_of_group = 1;
  l.live.push_back(*made);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t* state) {
  if (!is_live(c, "ncclCommGetAsyncError")) return ncclInvalidArgument;
  if (const ncclResult_t planned = of_process().failures.next("ncclCommGetAsyncError"); planned != ncclSuccess)
    return planned;
  if (of_process().depth != 0) violate("ncclCommGetAsyncError: inside of a group");
  advance_all();
  *state = c->failed != ncclSuccess ? c->failed : c->queue.empty() ? ncclSuccess : ncclInProgress;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  const ncclResult_t code = begin("ncclGroupStart");
  if (code != ncclSuccess) return code;
  if (of_process().depth++ == 0) {
    end_group();
    of_process().group_failed = false;
  }
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  library& l = of_process();
  const ncclResult_t code = begin("ncclGroupEnd");
  if (l.depth == 0) {
    violate("ncclGroupEnd without ncclGroupStart");
    return ncclInvalidUsage;
  }
  if (--l.depth != 0) return code;
  bool works = false;
  for (const ncclComm* const c : l.live) {
    works = works || c->calls_of_group != 0 || c->exchanging;
    // All ranks of this process take part in a collective, with equal numbers of calls.
    for (const ncclComm* const other : l.live)
      if (!l.group_failed && other->with == c->with && other->calls_of_group < c->calls_of_group)
        violate("ncclGroupEnd: the devices of this process make different numbers of calls");
  }
  end_group();
  return code == ncclSuccess && works ? ncclInProgress : code;
}

ncclResult_t ncclCommFinalize(ncclComm_t c) {
  if (!is_live(c, "ncclCommFinalize")) return ncclInvalidArgument;
  const ncclResult_t code = begin("ncclCommFinalize", rank_text(c));
  if (code != ncclSuccess) return code;
  if (c->finalizing) violate("ncclCommFinalize twice");
  if (!c->queue.empty()) violate("ncclCommFinalize: an earlier call is still in progress");
  add(c, "finalize", of_process().later_failures.next("ncclCommFinalize"));
  c->finalizing = true;
  ++c->calls_of_group;
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t c) {
  if (!is_live(c, "ncclCommDestroy")) return ncclInvalidArgument;
  const ncclResult_t code = begin("ncclCommDestroy", rank_text(c));
  if (!c->finalizing || !c->queue.empty()) violate("ncclCommDestroy before ncclCommFinalize is done");
  if (code != ncclSuccess) return code;
  forget(c);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t c) {
  if (!is_live(c, "ncclCommAbort")) return ncclInvalidArgument;
  const ncclResult_t code = begin("ncclCommAbort", rank_text(c));
  ++of_process().aborted;
  forget(c);
  return code;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t c, cudaStream_t stream) {
  return enqueue("ncclAllReduce", c, from, to, count, type, op, -1, stream);
}
ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t c, cudaStream_t stream) {
  return enqueue("ncclReduce", c, from, to, count, type, op, root, stream);
}
ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root, ncclComm_t c,
                           cudaStream_t stream) {
  return enqueue("ncclBroadcast", c, from, to, count, type, -1, root, stream);
}
ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t c, cudaStream_t stream) {
  return enqueue("ncclReduceScatter", c, from, to, count, type, op, -1, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t c,
                           cudaStream_t stream) {
  return enqueue("ncclAllGather", c, from, to, count, type, -1, -1, stream);
}
ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c,
                      cudaStream_t stream) {
  return enqueue(c, {true, const_cast<void*>(from), count, type, peer}, stream);
}
ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t c, cudaStream_t stream) {
  return enqueue(c, {false, to, count, type, peer}, stream);
}

}  // extern "C"

}  // namespace devplace::test::mock_nccl
