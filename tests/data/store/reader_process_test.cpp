// SPDX-License-Identifier: MIT
// Files without a valid checksum from Midscope are read by another process: intact files with the
// same result as HDF5 gives in this process, damaged files without harm.
#include "data/store/reader/reader_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/base/error.h"
#include "data/store/hdf5_run.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_sweep.h"
#include "tests/data/support/mutate_results.h"
#include "tests/data/support/read_results.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr size_t kSealBytes = 24;
constexpr const char* kPlan = R"~({"task":"list","samples":12,"settings":["none","pi(1.5)"]})~";

// A copy of the file without its checksum, as if written by another program.
std::string Unsealed(const std::string& path) {
  const std::string bytes = ReadBytes(path);
  WriteBytes(path, bytes.substr(0, bytes.size() - kSealBytes));
  return path;
}

// Processes that run a program of that name for this process.
std::vector<pid_t> ReadersOfThisProcess() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string status = ReadBytes(entry.path().string() + "/status");
    const std::string parent = "PPid:\t" + std::to_string(getpid()) + "\n";
    if (status.find(parent) != std::string::npos &&
        status.find("Name:\tmidscope\n") != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

class ReaderProcess : public ::testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.File(name); }

  TemporaryFolder folder_;
};

TEST_F(ReaderProcess, GivesWhatThisProcessReads) {
  WriteRecords(File("probe.h5"), ExampleRecords(), ExampleProvenance());
  WriteSweep(File("sweep.h5"), kPlan, {0, 3, 5});
  for (const char* name : {"probe.h5", "sweep.h5"}) {
    const RunFile here = ReadRecords(File(name));
    const RunFile apart = ReadRecords(Unsealed(File(name)));
    EXPECT_EQ(apart.plan_json, here.plan_json);
    EXPECT_EQ(apart.provenance.command, here.provenance.command);
    EXPECT_EQ(apart.provenance.seed, here.provenance.seed);
    ASSERT_EQ(apart.records.size(), here.records.size());
    for (size_t i = 0; i < here.records.size(); ++i) {
      ExpectSameRecord(apart.records[i], here.records[i]);
    }
  }
  const RunReader reader(File("sweep.h5"));
  ExpectSameRecord(reader.ReadSample("sweep", 1), ExampleSample(3));
}

TEST_F(ReaderProcess, IsStartedForUnsealedFilesAlone) {
  WriteSweep(File("sweep.h5"), kPlan, {0, 3, 5});
  {
    const RunReader sealed(File("sweep.h5"));
    EXPECT_TRUE(ReadersOfThisProcess().empty());
  }
  {
    const RunReader unsealed(Unsealed(File("sweep.h5")));
    EXPECT_EQ(ReadersOfThisProcess().size(), 1U);
  }
  EXPECT_TRUE(ReadersOfThisProcess().empty()) << "it outlives what it was for";
}

// Data are transferred between the processes in pieces of at most 64 MiB.
TEST_F(ReaderProcess, LargeArraysComeInPieces) {
  Record record;
  record.name = "large";
  record.axes = {
      {"row", 3, "", {}, {}}, {"middle", 5, "", {}, {}}, {"column", 2000003, "", {}, {}}};
  std::vector<float> values(size_t{3} * 5 * 2000003);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 2654435761U >> 7U);
  record.arrays = {{"values", {"row", "middle", "column"}, values, "", ""}};
  WriteOptions options;
  options.gzip_level = 0;
  WriteRecords(File("large.h5"), {record}, ExampleProvenance(), options);
  const RunReader reader(Unsealed(File("large.h5")));
  EXPECT_TRUE(std::get<std::vector<float>>(reader.ReadArray("large", "values").data) == values);
  const Array part = reader.ReadPart("large", "values", {{"row", 1, 3}, {"column", 7, 9}});
  const auto& some = std::get<std::vector<float>>(part.data);
  ASSERT_EQ(some.size(), 20U);
  EXPECT_EQ(some[2 * 5 + 1], values[(2 * 5 + 0) * size_t{2000003} + 8]);
}

TEST_F(ReaderProcess, OneThatEndsMakesAnError) {
  WriteSweep(File("sweep.h5"), kPlan, {0, 3, 5});
  const RunReader reader(Unsealed(File("sweep.h5")));
  ASSERT_EQ(ReadersOfThisProcess().size(), 1U);
  ASSERT_EQ(kill(ReadersOfThisProcess().front(), SIGSEGV), 0);
  for (int i = 0; i < 2; ++i) {  // the second time, the process is known to have ended
    EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { reader.ReadSample("sweep", 0); }),
                AllOf(HasSubstr(File("sweep.h5")), HasSubstr("damaged"), HasSubstr("signal 11")));
  }
}

// Whether reading the file with HDF5 in this process would have crashed it or would not have ended.
bool IsDeadly(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(2);
    test::ReadHere(path);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

// Found by `data_fuzz_results here 250 1`. Which of them crash a process depends on its heap.
TEST_F(ReaderProcess, FilesThatHdf5DiesOfAreAnError) {
  test::WriteCorpus(File("corpus"));
  const test::Corpus corpus(File("corpus"));
  std::filesystem::create_directories(File("mutant"));
  int deadly = 0;
  for (const uint64_t seed : {104U, 108U, 116U, 141U, 204U}) {
    corpus.WriteMutant(seed, File("mutant"));
    const std::string path = File("mutant/run.h5");
    deadly += IsDeadly(path) ? 1 : 0;
    const test::ReadOutcome outcome = test::ReadInEveryWay(File("mutant"));
    EXPECT_GT(outcome.refused, 0) << seed;
    EXPECT_EQ(outcome.other, "") << seed;
    EXPECT_THAT(outcome.first_error, AllOf(HasSubstr(path), HasSubstr("damaged"))) << seed;
    EXPECT_LT(outcome.longest, 5) << seed;
  }
  EXPECT_GT(deadly, 0) << "these files are harmless, and show nothing";
}

TEST_F(ReaderProcess, IsNotForPeople) {
  const std::string program = FindReaderProgram();
  ASSERT_NE(program, "");
  EXPECT_NE(std::system((program + " --reader run.h5 < /dev/null 2> /dev/null").c_str()), 0);
}

}  // namespace
}  // namespace midscope
