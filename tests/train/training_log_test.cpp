// SPDX-FileCopyrightText: 2026 The devplace authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <devplace/train/training_log.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_processes.hpp"

namespace dp = devplace;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::vector<std::string> columns{"step", "loss", "accuracy"};

}  // namespace

TEST_CASE("a training log is a CSV table that can be read back", "[train]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("a.csv");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  {
    dp::training_log log{path, columns};
    log.append({{"step", 1}, {"loss", 0.1}});
    log.append({{"accuracy", 0.5}, {"loss", 1e-7}, {"step", 200000}});
    std::vector<dp::log_value> row;  // for columns known only at run time
    row.push_back({"step", 200001});
    row.push_back({"loss", nan});
    log.append(row);
    CHECK(support::contents(path) == "step,loss,accuracy\n1,0.1,\n200000,1e-07,0.5\n200001,nan,\n");
  }
  dp::training_log again{path, columns};
  again.append({{"step", 200002.5}});
  again.flush();
  const dp::training_record record = dp::read_training_log(path);
  CHECK(record.columns == columns);
  CHECK(record["step"] == std::vector<double>{1, 200000, 200001, 200002.5});
  CHECK(record["loss"][1] == 1e-7);
  CHECK(std::isnan(record["loss"][2]));
  CHECK(std::isnan(record["accuracy"][0]));
  CHECK_THROWS_WITH(record["rate"], ContainsSubstring("no column \"rate\"; the columns are step,loss,accuracy"));
}

TEST_CASE("a log whose lines end with CRLF, as spreadsheets write them, is read", "[train]") {
  const support::temporary_folder folder;
  const dp::training_record record =
      dp::read_training_log(folder.write("a.csv", std::string("step,loss\r\n1,0.5\r\n2,\r\n")));
  CHECK(record.columns == std::vector<std::string>{"step", "loss"});
  CHECK(record["loss"][0] == 0.5);
  const auto one_column = folder.write("b.csv", std::string("step\r\n1\r\n2\r\n"));
  CHECK(dp::read_training_log(one_column)["step"] == std::vector<double>{1, 2});
}

TEST_CASE("a training resumed from an earlier step logs each row once", "[train]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("a.csv");
  dp::training_log log{path, {"step", "loss"}};
  for (const int step : {10, 20, 30, 40}) log.append({{"step", step}, {"loss", 1}});
  CHECK_THROWS_WITH(log.append({{"step", 30}}), ContainsSubstring("is 30, and that of the last row is 40") &&
                                                    ContainsSubstring("call rewind(30) first"));
  log.rewind(30);
  log.append({{"step", 30}, {"loss", 2}});
  CHECK(support::contents(path) == "step,loss\n10,1\n20,1\n30,2\n");
  log.rewind(0);
  log.append({{"step", 5}});
  CHECK(support::contents(path) == "step,loss\n5,\n");
}

TEST_CASE("a line cut off at any byte is removed, and whole rows are kept", "[train]") {
  const support::temporary_folder folder;
  const std::string whole = "step,loss,accuracy\n1,0.5,\n2,0.25,0.125\n";
  for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
    const std::string path = folder.write("cut.csv", whole.substr(0, bytes));
    const std::size_t rows = bytes == whole.size() ? 2 : bytes >= 26 ? 1 : 0;
    if (bytes >= 19) CHECK(dp::read_training_log(path)["step"].size() == rows);
    dp::training_log log{path, columns};
    log.append({{"step", 3}});
    const std::size_t kept[] = {19, 26, whole.size()};
    CHECK(support::contents(path) == whole.substr(0, kept[rows]) + "3,,\n");
  }
}

TEST_CASE("after kill -9 the log has every appended row", "[train]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("killed.csv");
  std::size_t rows = 0;
  for (int kill_number = 0; kill_number < 10; ++kill_number) {
    int report[2];
    REQUIRE(::pipe(report) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      dp::training_log log{path, columns};
      for (std::size_t step = rows + 1;; ++step) {
        log.append({{"step", step}, {"loss", 1.0 / static_cast<double>(step)}});
        if (::write(report[1], &step, sizeof step) != sizeof step) ::_exit(1);
      }
    }
    ::close(report[1]);
    std::size_t reported = 0;
    for (int i = 0; i < 50 + kill_number; ++i)
      REQUIRE(::read(report[0], &reported, sizeof reported) == sizeof reported);
    ::kill(child, SIGKILL);
    while (::read(report[0], &reported, sizeof reported) == sizeof reported) {
    }
    ::close(report[0]);
    ::waitpid(child, nullptr, 0);
    dp::training_log log{path, columns};
    const auto record = dp::read_training_log(path);
    rows = record["step"].size();
    CHECK((rows == reported || rows == reported + 1));
    bool right = true;
    for (std::size_t row = 0; row < rows; ++row)
      right = right && record["step"][row] == static_cast<double>(row + 1) &&
              record["loss"][row] == 1.0 / static_cast<double>(row + 1);
    CHECK(right);
  }
}

TEST_CASE("only the first process writes the log", "[train]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("a.csv");
  dp::test::in_processes(3, [&](const dp::process_group& group) {
    const dp::process_scope scope(group);
    dp::training_log log{path, columns};
    log.append({{"step", 1}, {"loss", 10 + group.rank()}});
    log.rewind(1);
    log.append({{"step", 1}, {"loss", 20 + group.rank()}});
  });
  CHECK(support::contents(path) == "step,loss,accuracy\n1,20,\n");
}

TEST_CASE("a row that does not fit on the disk is an error and is not logged", "[train]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("a.csv");
  dp::training_log log{path, columns};
  log.append({{"step", 1}});
  rlimit old{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old) == 0);
  const rlimit small{26, old.rlim_max};  // 3 bytes of the second row
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_THROWS_WITH(log.append({{"step", 2}, {"loss", 0.5}}), ContainsSubstring("the log does not have this row"));
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &old) == 0);
  ::signal(SIGXFSZ, handler);
  CHECK(support::contents(path) == "step,loss,accuracy\n1,,\n");
  log.append({{"step", 2}, {"loss", 0.5}});
  CHECK(support::contents(path) == "step,loss,accuracy\n1,,\n2,0.5,\n");
}

TEST_CASE("misuses of a training log are errors that name the fix", "[train]") {
  const support::temporary_folder folder;
  const std::string path = folder.file("a.csv");
  dp::training_log log{path, columns};
  CHECK_THROWS_WITH(log.append({{"loss", 1}}), ContainsSubstring("no number in the first column, \"step\""));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(log.append({{"step", nan}}), ContainsSubstring("\"step\" is nan, and it numbers the rows"));
  CHECK_THROWS_WITH(log.rewind(nan), ContainsSubstring("the number of the first row to remove, and this is NaN"));
  CHECK_THROWS_WITH(log.append({{"step", 1}, {"rate", 1}}), ContainsSubstring("the columns are step,loss,accuracy"));
  CHECK_THROWS_WITH(log.append({{"step", 1}, {"step", 2}}), ContainsSubstring("is given twice"));
  CHECK_THROWS_WITH(dp::training_log(path, columns), ContainsSubstring("is written by another training_log"));
  CHECK_THROWS_WITH(dp::training_log(path + "b", {"a", "a"}), ContainsSubstring("two columns are named \"a\""));
  CHECK_THROWS_WITH(dp::training_log(path + "b", {"a,b"}), ContainsSubstring("is no name of a column"));
  CHECK_THROWS_WITH(dp::training_log(path + "b", {}), ContainsSubstring("it has no columns"));
  CHECK_THROWS_AS(dp::training_log("/no/such/folder/a.csv", columns), dp::file_error);
  CHECK(support::contents(path) == "step,loss,accuracy\n");
  const auto other = folder.write("other.csv", std::string("step,other\n1,2\n"));
  CHECK_THROWS_WITH(dp::training_log(other, columns), ContainsSubstring("does not begin with the names"));
  const auto text = folder.write("text.csv", std::string("step,loss\n1,x\n"));
  CHECK_THROWS_WITH(dp::read_training_log(text),
                    ContainsSubstring("which is not of type double, in line 2, column 2 ('loss')"));
  for (const char* const cell : {"one", "", "\"2\"", " 2", "2x", "nan"}) {
    const std::string line = std::string(cell) + ",1,\n";
    const std::string edited = folder.write("edited.csv", "step,loss,accuracy\n1,1,\n\n" + line + "3,1,\n");
    const std::string found = "has '" + std::string(cell) + "' in the first column of line 4";
    CHECK_THROWS_WITH(dp::training_log(edited, columns), ContainsSubstring(found));
    CHECK_THROWS_WITH(dp::read_training_log(edited), ContainsSubstring(found));
    const auto open = folder.write("open.csv", std::string("step,loss,accuracy\n1,1,\n"));
    dp::training_log going{open, columns};
    std::ofstream(open, std::ios::app) << line;
    CHECK_THROWS_WITH(going.rewind(2), ContainsSubstring("in the first column of line 3"));
  }
  const auto blank = folder.write("blank.csv", std::string("step\n1\n\n2\n"));
  CHECK_THROWS_WITH(dp::training_log(blank, {"step"}), ContainsSubstring("has '' in the first column of line 3"));
  CHECK_THROWS_WITH(dp::read_training_log(blank), ContainsSubstring("has '' in the first column of line 3"));
  const auto ragged = folder.write("ragged.csv", std::string("step,loss\n1,2\n1\n"));
  CHECK_THROWS_WITH(dp::read_training_log(ragged), ContainsSubstring("has 1 field in line 3, and 2 in its first line"));
  CHECK_THROWS_WITH(dp::read_training_log(folder.write("empty.csv", std::string())),
                    ContainsSubstring("is empty; give a file"));
  CHECK_THROWS_WITH(dp::read_training_log("/tmp"), ContainsSubstring("read_training_log: '/tmp' is a folder"));
}

TEST_CASE("another user's log is rejected even while this program has it locked", "[train]") {
  if (::geteuid() != 0) DEVPLACE_SKIP("only root gives files to other users");
  const support::temporary_folder folder;
  const std::string path = folder.file("a.csv");
  const dp::training_log log{path, columns};
  REQUIRE(::chown(path.c_str(), 12'345, 12'345) == 0);
  CHECK_THROWS_WITH(dp::training_log(path, columns), ContainsSubstring("is another user's file"));
  CHECK(support::contents(path) == "step,loss,accuracy\n");
}

TEST_CASE("docs/training.md: a log of the training is kept, read and drawn", "[train]") {
  const support::temporary_folder folder;
  const auto old_path = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  dp::training_log log{"training.csv", {"step", "epoch", "loss", "accuracy", "seconds"}};
  log.append({{"step", 100}, {"epoch", 0}, {"loss", 0.25}});
  log.append({{"step", 200}, {"epoch", 1}, {"loss", 0.0025}, {"accuracy", 0.5}});
  const auto record = dp::read_training_log("training.csv");  // record["loss"]: a vector of numbers
  dp::write_training_chart("training.csv", "training.svg", {"loss", "accuracy"});
  std::filesystem::current_path(old_path);
  CHECK(record["loss"] == std::vector<double>{0.25, 0.0025});
  const std::string text = support::contents(folder.file("training.svg"));
  CHECK_THAT(text, ContainsSubstring(">step<") && ContainsSubstring(">loss<") && ContainsSubstring(">accuracy<"));
  CHECK_THAT(text,
             ContainsSubstring(">0.001<") && ContainsSubstring("points='506,100.") && ContainsSubstring(" 936,280."));
}
