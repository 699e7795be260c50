// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// libFuzzer target: a shared-memory file with any contents is opened as a tensor and as a model and every element is
// read, or open_shared throws a devplace::error. The first byte of an input chooses the file's size; the other bytes
// are the beginning of the file.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include <devplace/nn/linear.hpp>
#include <devplace/nn/sequential.hpp>
#include <devplace/nn/shared_model.hpp>
#include <devplace/tensor/shared_tensor.hpp>

#include "mutate_valid_files.hpp"

namespace {

namespace dp = devplace;
using rows = dp::tensor<std::int32_t, dp::extents<dp::dyn, dp::dyn, 2>, dp::on<dp::shared_memory>>;
using model = dp::model<dp::nn::sequential<dp::nn::linear<3, 2>>, dp::on<dp::shared_memory>>;

std::string name() { return "fuzz." + std::to_string(::getpid()); }
std::string path() { return dp::detail::segment_path(name(), "fuzz"); }

/// Bytes of data in the files of seed_file().
constexpr std::size_t data_bytes[] = {3 * 2 * 2 * 4, 0, 64 + 8};

/// A file of this process; other processes would remove an unlocked file as abandoned.
class locked_file {
 public:
  locked_file(const std::uint8_t* data, std::size_t size, std::size_t total) : file_(made()) {
    const std::size_t some = std::min(size, total);
    if (file_ < 0 || ::flock(file_, LOCK_SH) != 0 || ::ftruncate(file_, static_cast<::off_t>(total)) != 0 ||
        ::pwrite(file_, data, some, 0) != static_cast<::ssize_t>(some))
      std::abort();
    const std::string own = "/proc/self/fd/" + std::to_string(file_);
    if (::linkat(AT_FDCWD, own.c_str(), AT_FDCWD, path().c_str(), AT_SYMLINK_FOLLOW) != 0) std::abort();
  }
  locked_file(const locked_file&) = delete;
  locked_file& operator=(const locked_file&) = delete;
  ~locked_file() {
    ::unlink(path().c_str());
    ::close(file_);
  }

 private:
  static int made() { return ::open(dp::detail::segment_folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600); }
  int file_;
};

/// The first 1024 bytes of segments made by create_shared. In most of them one number of the header is changed; kind 3
/// describes more data than the file has.
std::string seed_file(unsigned number) {
  const auto head = [&](const auto& kept) {
    static_cast<void>(kept);
    std::string bytes(1024, '\0');
    const int file = ::open(path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::pread(file, bytes.data(), bytes.size(), 0) != 1024) std::abort();
    ::close(file);
    return bytes;
  };
  const unsigned kind = number % 4, word = number / 4 % 16, by = number / 64 % 4;
  const auto created = [](std::size_t count) {
    return dp::create_shared<rows>(name(), dp::extents<dp::dyn, dp::dyn, 2>(count, 2));
  };
  std::string bytes = kind == 2 ? head(dp::create_shared<model>(name(), dp::seed{1}))
                                : head(created(kind == 0   ? 3
                                               : kind == 1 ? 0
                                                           : 1000));
  std::uint64_t numbers[16];
  std::memcpy(numbers, bytes.data(), sizeof numbers);
  if (kind == 3) numbers[1] = 4096 + data_bytes[0];
  constexpr std::uint64_t more[] = {1, 4, 4096, std::uint64_t{1} << 62};
  if (word < 12) numbers[word] += more[by];
  std::memcpy(bytes.data(), numbers, sizeof numbers);
  return std::string(1, static_cast<char>(kind % 3)) + bytes;
}

/// Opens a value and reads every element.
template <class Value, class Read> void open(const Read& read) {
  try {
    read(dp::open_shared<Value>(name()));
  } catch (const dp::error&) {
  }
}

volatile double sum;  // makes the program read the elements

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t sizes[] = {4096 + data_bytes[0], 4096 + data_bytes[1], 4096 + data_bytes[2], size - 1, 8192};
  const locked_file file(data + 1, size - 1, sizes[data[0] % 5]);
  open<rows>([](const rows& x) {
    double total = 0;
    for (std::size_t i = 0; i != x.size(); ++i) total += x.data()[i];
    sum = total;
  });
  open<model>([](const model& x) {
    x.for_each_parameter([](const std::string&, const auto& view) {
      double total = 0;
      for (std::size_t i = 0; i != view.size(); ++i) total += static_cast<double>(view.data()[i]);
      sum = total;
    });
  });
  return 0;
}
