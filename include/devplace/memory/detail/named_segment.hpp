// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <devplace/base/divided_up.hpp>
#include <devplace/base/error.hpp>
#include <devplace/base/file_descriptor.hpp>
#include <devplace/base/first_difference.hpp>
#include <devplace/memory/block.hpp>
#include <devplace/memory/detail/shared_pages.hpp>

namespace devplace::detail {

/// Texts of a segment's errors: the calling function, the cause and fix if the segment does not exist, and the fix if
/// its contents differ.
struct segment_error_texts {
  const char* caller;
  const char* absent = "";
  const char* different = "";
};

/// Shared memory that other processes of this user open by name. The name appears when the contents are complete, and
/// the last process that has the segment removes the name. The next create() in any program of this user removes
/// segments of killed processes.
class named_segment {
 public:
  static constexpr std::size_t most_extents = 8;
  using extents_type = std::uint64_t[most_extents];

  /// Creates a segment with `bytes` of zeroed data and no name yet. `text` describes the data, one property per line.
  static std::shared_ptr<named_segment> create(const segment_error_texts& texts, std::string_view name,
                                               const std::string& text, std::span<const std::size_t> sizes,
                                               std::size_t bytes) {
    const auto segment = std::make_shared<named_segment>(texts, name);
    remove_abandoned_segments();
    require_space(bytes);
    header& head = segment->head_;
    head.text_bytes = text.size();
    head.data_begin = data_begin_after(text.size());
    if (bytes > PTRDIFF_MAX - head.data_begin) throw_unaddressable(bytes);
    head.total_bytes = head.data_begin + bytes;
    for (std::size_t i = 0; i < sizes.size(); ++i) head.extents[i] = sizes[i];
    segment->file_ = file_descriptor(::open(segment_folder, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!segment->file_) segment->refuse_system_call("open of " + std::string(segment_folder));
    if (::fchmod(segment->file_.get(), S_IRUSR | S_IWUSR) != 0) segment->refuse_system_call("fchmod");
    if (const int failed = take_pages(segment->file_.get(), head.total_bytes); failed != 0)
      refuse_memory(head.total_bytes, failed);
    segment->map(head.total_bytes);
    std::memcpy(segment->data_, &head, sizeof head);
    std::memcpy(segment->data_ + sizeof head, text.data(), text.size());
    return segment;
  }

  /// Gives the segment its name, after its data is complete.
  void publish() const {
    if (!share_lock(file_.get())) refuse_system_call("flock");
    if (::linkat(AT_FDCWD, own_link().c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return;
    if (errno != EEXIST) refuse_system_call("linkat");
    struct ::stat found = {};
    if (::lstat(path_.c_str(), &found) == 0) require_own(found);
    throw argument_error(subject() + " exists already, and a process uses it; choose another name, or open it.");
  }

  /// Opens a segment of another process or of this one. Throws argument_error if the segment's text or number of bytes
  /// differs from the result of `needs(segment)`, or if data lies outside the file. If another program of this user
  /// truncates the file later, access to the data raises SIGBUS.
  static std::shared_ptr<named_segment> open(const segment_error_texts& texts, std::string_view name,
                                             const auto& needs) {
    const auto segment = std::make_shared<named_segment>(texts, name);
    struct ::stat found = {};
    segment->file_ = file_descriptor(open_segment_file(segment->path_, found));
    const int file = segment->file_.get();
    segment->require_own(found);
    if (file < 0 && errno != ENOENT) segment->refuse_system_call("open of " + segment->path_);
    const bool used = file >= 0 && !remove_unused_segment(segment->path_);
    if (used && !share_lock(file)) segment->refuse_lock();
    if (!used || ::fstat(file, &found) != 0 || found.st_nlink == 0)
      throw argument_error({segment->subject(), " does not exist; ", texts.absent});
    if (static_cast<std::size_t>(found.st_size) < sizeof(header)) segment->refuse_header();
    segment->map(static_cast<std::size_t>(found.st_size));
    std::memcpy(&segment->head_, segment->data_, sizeof(header));
    const header& head = segment->head_;
    if (head.magic != header{}.magic || head.total_bytes != segment->bytes_ ||
        head.text_bytes > segment->bytes_ - sizeof(header) || head.data_begin != data_begin_after(head.text_bytes) ||
        head.data_begin > segment->bytes_)
      segment->refuse_header();
    const auto [text, bytes] = needs(*segment);
    segment->require(text);
    if (bytes != segment->bytes_ - head.data_begin) segment->refuse_header();
    return segment;
  }

  /// Opens no file yet.
  named_segment(const segment_error_texts& texts, std::string_view name)
      : texts_(texts), name_(name), path_(segment_path(name, texts.caller)) {}
  named_segment& operator=(named_segment&&) = delete;
  /// Releases the lock before it tests for other locks, because forked processes share the lock.
  ~named_segment() {
    if (data_ != nullptr) ::munmap(data_, bytes_);
    const bool had_file(file_);
    file_ = {};
    if (had_file) static_cast<void>(remove_unused_segment(path_));
  }

  std::int64_t process() const { return head_.process; }
  const extents_type& extents() const { return head_.extents; }
  /// Whether the calling process was forked from the process that created or opened the segment.
  bool inherited() const { return ::getpid() != user_; }
  const std::string& name() const { return name_; }
  void* data() const { return data_ + head_.data_begin; }
  [[noreturn]] void refuse_header() const {
    throw argument_error({subject(), " has a header that does not fit its file: another program made or changed ",
                          path_, ". Choose another name, or remove the file."});
  }

  /// Releases the lock of this process and of the processes that it forked.
  void unlock() noexcept { lock_file(file_.get(), LOCK_UN); }
  /// Unlocks the segment, waits until no process holds a lock, and removes the name. Waits without a limit, because
  /// other processes of this user use the memory that the caller frees next.
  void wait_for_others() noexcept {
    const file_descriptor again(::open(own_link().c_str(), O_RDWR | O_CLOEXEC));
    unlock();
    if (again && lock_file(again.get(), LOCK_EX)) remove_locked_segment(again.get(), path_);
  }

  /// Returns `bytes` at `offset` in the data as a block that keeps the segment alive. Counts the block for this
  /// process.
  static memory_block part(const std::shared_ptr<named_segment>& segment, std::size_t offset, std::size_t bytes,
                           memory_purpose purpose) {
    auto owner = std::make_unique<std::shared_ptr<named_segment>>(segment);
    void* const data = static_cast<std::byte*>(segment->data()) + offset;
    count_allocation(counters(backend::cpu{}, shared_memory_ordinal), bytes, purpose);
    return memory_block({data, bytes, shared_memory_ordinal, purpose, &release, owner.release()});
  }

 private:
  static constexpr std::size_t page = 4096;

  struct header {
    std::uint64_t magic = 0x3165636170766564;  // "devplac1", also the version of this layout
    std::uint64_t total_bytes = 0, data_begin = 0, text_bytes = 0;
    std::int64_t process = ::getpid();
    extents_type extents = {};
  };

  /// Offset of the data after a description of `text_bytes` bytes.
  static std::uint64_t data_begin_after(std::uint64_t text_bytes) {
    return padded_to(sizeof(header) + text_bytes, page);
  }
  /// A path of the open file, even if the file has no name.
  std::string own_link() const { return joined({"/proc/self/fd/", file_.get()}); }

  void require_own(const struct ::stat& found) const {
    if (const char* const foreign = foreign_file(found))
      throw argument_error({subject(), " cannot be used, because ", path_, " ", foreign,
                            ". Choose another name, or have the file removed by its owner."});
  }
  [[noreturn]] void refuse_lock() const {
    if (errno != EWOULDBLOCK) refuse_system_call("flock");
    throw argument_error({subject(), " cannot be opened, because another program of this user has ", path_,
                          " locked exclusively. Choose another name, or end that program (lslocks names it)."});
  }
  void require(const std::string& text) const {
    const std::string own(static_cast<const char*>(static_cast<const void*>(data_ + sizeof(header))),
                          static_cast<std::size_t>(head_.text_bytes));
    if (own == text) return;
    const auto [opened, created] = first_difference(text, own);
    throw argument_error({subject(),
                          " differs from the type that is opened. First difference of the opened type and the created "
                          "type: \"",
                          opened, "\" and \"", created, "\". ", texts_.different});
  }
  std::string subject() const { return joined({texts_.caller, ": the shared memory \"", name_, "\""}); }

  void map(std::size_t bytes) {
    data_ = static_cast<std::byte*>(map_pages(file_.get(), bytes));
    bytes_ = bytes;
    if (data_ == nullptr)
      throw_no_shared_memory(bytes, "mmap: " + system_error_text(),
                             "Share less, or allow the process more address space (ulimit -v)");
  }

  /// Throws out_of_memory if the folder or the machine has less than `bytes` free.
  static void require_space(std::size_t bytes) {
    struct ::statvfs space = {};
    const bool limited = ::statvfs(segment_folder, &space) == 0 && space.f_blocks != 0;
    if (limited && bytes > space.f_bavail * space.f_frsize) refuse_memory(bytes, ENOSPC);
    require_free_pages(bytes);
  }
  [[noreturn]] static void refuse_memory(std::size_t bytes, int failed) {
    struct ::statvfs space = {};
    static_cast<void>(::statvfs(segment_folder, &space));
    throw_no_shared_memory(
        bytes,
        joined({space.f_bavail * space.f_frsize, " of ", space.f_blocks * space.f_frsize, " bytes are free in ",
                segment_folder, " (posix_fallocate: ", system_error_text(failed), ")"}),
        "Share less, make /dev/shm larger (mount -o remount,size=8G /dev/shm, or docker run "
        "--shm-size=8g), or let processes made by fork inherit memory that has no name");
  }
  [[noreturn]] void refuse_system_call(const std::string& call) const {
    throw error({subject(), " cannot be created or opened (", call, ": ", system_error_text(),
                 "). Mount a tmpfs at /dev/shm and allow the user to write there."});
  }

  static void release(const block_record& block) noexcept {
    delete static_cast<std::shared_ptr<named_segment>*>(block.owner);
    count_release(counters(backend::cpu{}, block.ordinal), block.bytes, block.purpose);
  }

  segment_error_texts texts_;
  ::pid_t user_ = ::getpid();
  std::string name_, path_;
  file_descriptor file_;
  header head_;  // a copy that other programs cannot change
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The first line of every description.
inline std::string shared_version_text(const char* kind) {
  return joined({"version of devplace: ", DEVPLACE_VERSION_MAJOR, ".", DEVPLACE_VERSION_MINOR, "\nkind: ", kind, "\n"});
}

}  // namespace devplace::detail
