// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "data/sweep/plan_difference.h"
#include "data/sweep/sweep_lock.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_records.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kStoredPlan = R"({"task": "list:lines=20", "seed": 1})";

SweepStore OpenStore(const std::string& path, bool resume = false) {
  SweepStoreOptions options;
  options.resume = resume;
  return SweepStore::Create(path, kStoredPlan, ExampleProvenance(), options);
}

std::vector<Record> Summaries(double accuracy) {
  Record record;
  record.name = "outcome";
  record.axes = {{"place", 2, "", {}, {1, 20}}};
  record.arrays = {{"accuracy", {"place"}, std::vector<double>{accuracy, 0.5}, "", ""}};
  record.signal = "accuracy";
  return {record};
}

TEST(SweepStore, StacksSamplesAndPadsRaggedOnes) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  SweepStore store = OpenStore(path);
  for (const int64_t sample : {7, 2, 4}) store.Append(sample, ExampleSample(sample));
  ExpectSameRecord(store.ReadSample(4), ExampleSample(4));
  store.Finish(Summaries(0.25));
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5"));

  const RunReader reader(path);
  EXPECT_THAT(reader.record_names(), ElementsAre("sweep", "outcome"));
  EXPECT_EQ(reader.plan_json(), kStoredPlan);
  EXPECT_EQ(reader.provenance().model_path, "model.gguf");
  const Record stacked = reader.Read("sweep");
  EXPECT_THAT(stacked.FindAxis("sample")->values, ElementsAre(2, 4, 7));
  const Array& attention = *stacked.FindArray("last_query_attention");
  EXPECT_THAT(attention.axes, ElementsAre("sample", "layer", "head", "key"));
  EXPECT_THAT(stacked.FindArray("answer_nll")->axes, ElementsAre("sample", "setting", "place"));
  const auto& counts = std::get<std::vector<int64_t>>(stacked.FindArray("key_count")->data);
  const auto& values = std::get<std::vector<float>>(attention.data);
  const int64_t width = stacked.FindAxis("key")->size;
  EXPECT_EQ(width, *std::max_element(counts.begin(), counts.end()));
  const std::vector<int64_t> samples = {2, 4, 7};
  for (size_t row = 0; row < 3; ++row) {
    const Record sample = ExampleSample(samples[row]);
    EXPECT_EQ(counts[row], sample.FindAxis("key")->size);
    const auto& own = std::get<std::vector<float>>(sample.FindArray("last_query_attention")->data);
    for (int64_t place = 0; place < 6 * width; ++place) {
      const float stored =
          values[row * static_cast<size_t>(6 * width) + static_cast<size_t>(place)];
      const int64_t key = place % width;
      if (key >= counts[row]) {
        ASSERT_TRUE(std::isnan(stored));
      } else {
        ASSERT_EQ(stored, own[static_cast<size_t>(place / width * counts[row] + key)]);
      }
    }
    ExpectSameRecord(reader.ReadSample("sweep", static_cast<int64_t>(row)), sample);
  }
}

TEST(SweepStore, ResumesFromCheckpointAndJournal) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  {
    SweepStore store = OpenStore(path);
    store.Append(0, ExampleSample(0));
    store.Append(1, ExampleSample(1));
    store.Checkpoint(Summaries(0.1));
    store.Append(5, ExampleSample(5));
    store.AppendFailure(6, "prompt too long");
  }
  EXPECT_THAT(ErrorMessage([&] { OpenStore(path); }), HasSubstr("--resume"));
  {
    SweepStore store = OpenStore(path, true);
    EXPECT_THAT(store.finished(), ElementsAre(0, 1, 5));
    EXPECT_THAT(store.failed(), ElementsAre(6));
    ExpectSameRecord(store.ReadSample(1), ExampleSample(1));
    ExpectSameRecord(store.ReadSample(5), ExampleSample(5));
    EXPECT_THROW(store.Append(5, ExampleSample(5)), std::logic_error);
    store.Append(3, ExampleSample(3));
    store.Checkpoint();
  }
  {
    SweepStore store = OpenStore(path, true);
    EXPECT_THAT(store.finished(), ElementsAre(0, 1, 3, 5));
    EXPECT_THAT(store.failed(), ElementsAre(6)) << "failures are kept by a checkpoint";
    store.Append(6, ExampleSample(6));
    EXPECT_TRUE(store.failed().empty()) << "a later success takes the failure back";
    store.AppendFailure(9, "memory");
    store.Finish(Summaries(0.2));
  }
  const RunFile file = ReadRecords(path);
  ASSERT_EQ(file.records.size(), 3U);
  EXPECT_EQ(file.records[1].name, "outcome");
  const Record& failures = file.records[2];
  ExpectSameData(failures.FindArray("failed_sample")->data, std::vector<int64_t>{9}, "failed");
  ExpectSameData(failures.FindArray("failure_message")->data, std::vector<std::string>{"memory"},
                 "message");
  EXPECT_THAT(OpenStore(path, true).finished(), ElementsAre(0, 1, 3, 5, 6));
}

TEST(SweepStore, AnotherPlanIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  {
    SweepStore store = OpenStore(path);
    store.Append(0, ExampleSample(0));
  }
  SweepStoreOptions options;
  options.resume = true;
  const auto resume = [&](const char* plan) {
    SweepStore::Create(path, plan, ExampleProvenance(), options);
  };
  EXPECT_THAT(ErrorMessage([&] { resume(R"({"seed": 2})"); }),
              AllOf(HasSubstr("another plan"), Not(HasSubstr("--add"))));
  EXPECT_EQ(ErrorMessage([&] { resume(R"({ "seed":1, "task":"list:lines=20" })"); }), "");
  OpenStore(path, true).Finish();
  EXPECT_THAT(ErrorMessage([&] { resume(R"({"seed": 2})"); }), HasSubstr("another plan"));
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5")) << "a refusal leaves no journal behind";
  EXPECT_EQ(ReadRecords(path).records[0].FindAxis("sample")->size, 1);
}

TEST(SweepStore, APlanMayGrowInTheOneMemberThatMay) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  const auto open = [&](const char* plan, const std::string& growing = "samples") {
    SweepStoreOptions options;
    options.resume = true;
    options.growing = growing;
    return SweepStore::Create(path, plan, ExampleProvenance(), options);
  };
  open(R"({"samples": 2, "seed": 1})").Append(0, ExampleSample(0));
  EXPECT_THAT(ErrorMessage([&] { open(R"({"samples": 3, "seed": 1})", ""); }),
              AllOf(HasSubstr("another plan"), HasSubstr("--add")));
  EXPECT_THAT(ErrorMessage([&] { open(R"({"samples": 3, "seed": 2})"); }),
              HasSubstr("another plan"));
  {
    SweepStore grown = open(R"({"samples": 3, "seed": 1})");
    EXPECT_THAT(grown.finished(), ElementsAre(0));
  }
  // A sweep of 3 samples that was killed before its first checkpoint still counts as one of 3.
  EXPECT_THAT(ErrorMessage([&] { open(R"({"samples": 2, "seed": 1})"); }),
              HasSubstr("a larger sweep: samples 3 instead of 2"));
  open(R"({"samples": 3, "seed": 1})").Finish();
  EXPECT_EQ(RunReader(path).plan_json(), R"({"samples": 3, "seed": 1})");
  EXPECT_THAT(open(R"({"samples": 5, "seed": 1})").finished(), ElementsAre(0));
}

TEST(SweepStore, ForeignFilesAreRefusedAndKept) {
  const TemporaryFolder folder;
  WriteBytes(folder.File("a.h5"), "no HDF5 at all, but somebody's");
  EXPECT_THAT(ErrorMessage([&] { OpenStore(folder.File("a.h5"), true); }), HasSubstr("a.h5"));
  EXPECT_EQ(ReadBytes(folder.File("a.h5")), "no HDF5 at all, but somebody's");
  WriteBytes(folder.File("b.h5.journal"), "somebody's notes");
  EXPECT_THAT(ErrorMessage([&] { OpenStore(folder.File("b.h5"), true); }),
              HasSubstr("not a journal of Midscope"));
  EXPECT_THAT(ErrorMessage([&] { OpenStore(folder.File("b.h5")); }), HasSubstr("unfinished sweep"));
  EXPECT_EQ(ReadBytes(folder.File("b.h5.journal")), "somebody's notes");
  { const SweepLock lock(folder.File("b.h5")); }
  EXPECT_EQ(ReadBytes(folder.File("b.h5.journal")), "somebody's notes");
}

TEST(SweepStore, ASecondWriterIsRefused) {
  const TemporaryFolder folder;
  const SweepStore store = OpenStore(folder.File("run.h5"));
  EXPECT_THAT(ErrorMessage([&] { OpenStore(folder.File("run.h5"), true); }),
              HasSubstr("another process"));
}

TEST(SweepStore, ATornTailIsDroppedWhereverItIsCut) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  std::vector<size_t> ends;  // sizes of the journal after each sample
  {
    SweepStore store = OpenStore(path);
    ends.push_back(ReadBytes(path + ".journal").size());
    for (int64_t sample = 0; sample < 3; ++sample) {
      store.Append(sample, ExampleSample(sample));
      ends.push_back(ReadBytes(path + ".journal").size());
    }
  }
  const std::string journal = ReadBytes(path + ".journal");
  for (size_t cut = 0; cut <= journal.size(); cut += 7) {
    WriteBytes(path + ".journal", journal.substr(0, cut));
    SweepStore store = OpenStore(path, true);
    const auto whole = static_cast<size_t>(
        std::count_if(ends.begin() + 1, ends.end(), [&](size_t end) { return end <= cut; }));
    ASSERT_EQ(store.finished().size(), whole) << cut;
    store.Append(100, ExampleSample(100));
    ASSERT_EQ(store.finished().size(), whole + 1);
    ExpectSameRecord(store.ReadSample(100), ExampleSample(100));
  }
}

TEST(SweepStore, DamagedJournalsNeverDoMoreThanThrowAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  {
    SweepStore store = OpenStore(path);
    for (int64_t sample = 0; sample < 3; ++sample) store.Append(sample, ExampleSample(sample));
  }
  const std::string journal = ReadBytes(path + ".journal");
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = journal;
    damaged[random() % damaged.size()] = static_cast<char>(random());
    WriteBytes(path + ".journal", damaged);
    try {
      const SweepStore store = OpenStore(path, true);
      for (const int64_t sample : store.finished()) {
        ExpectSameRecord(store.ReadSample(sample), ExampleSample(sample));
      }
    } catch (const Error&) {  // an error is acceptable too; wrong samples or a crash are not
    }
  }
}

TEST(SweepStore, SamplesMustBeAlike) {
  const TemporaryFolder folder;
  SweepStore store = OpenStore(folder.File("run.h5"));
  store.Append(0, ExampleSample(0));
  const auto append = [&](auto change) {
    Record sample = ExampleSample(1);
    change(sample);
    return ErrorMessage([&] { store.Append(1, sample); });
  };
  EXPECT_THAT(append([](Record& r) { r.arrays[0].unit = "bit"; }), HasSubstr("answer_nll"));
  EXPECT_THAT(append([](Record& r) { r.arrays.pop_back(); }), HasSubstr("in place of 'answer'"));
  EXPECT_THAT(append([](Record& r) { r.axes[3].labels[1] = "pi(2)"; }), HasSubstr("setting"));
  EXPECT_THAT(append([](Record& r) { r.arrays[0].data = std::vector<float>(6); }),
              HasSubstr("another type"));
  EXPECT_THAT(append([](Record& r) { r.attributes["task"] = "kv"; }), HasSubstr("attributes"));
  EXPECT_THAT(append([](Record& r) { r.axes[2].values.assign(r.axes[2].labels.size(), 1); }),
              HasSubstr("ragged axis 'key' has values"));
  EXPECT_THAT(append([](Record& r) {
                r.axes.push_back({"sample", 1, "", {}, {}});
              }),
              HasSubstr("sample"));
  EXPECT_THAT(store.finished(), ElementsAre(0));
  EXPECT_EQ(append([](Record&) {}), "");
}

TEST(SweepStore, AnEmptySampleAndAnEmptySweepAreAllowed) {
  const TemporaryFolder folder;
  SweepStore empty = OpenStore(folder.File("empty.h5"));
  empty.Finish();
  EXPECT_TRUE(ReadRecords(folder.File("empty.h5")).records.empty());

  Record none = ExampleSample(0);
  none.axes[2].size = 0;
  none.axes[2].labels.clear();
  none.arrays = {{"last_query_attention", {"layer", "head", "key"}, std::vector<float>{}, "", ""}};
  none.signal = "";
  Record some = none;
  some.axes[2].size = 2;
  some.arrays[0].data = std::vector<float>(12, 1.0F);
  SweepStore store = OpenStore(folder.File("run.h5"));
  store.Append(0, none);
  store.Checkpoint();
  store.Append(1, some);
  store.Finish();
  const RunReader reader(folder.File("run.h5"));
  EXPECT_EQ(reader.ReadSample("sweep", 0).FindAxis("key")->size, 0);
  EXPECT_EQ(ElementCount(reader.ReadSample("sweep", 1).arrays[0].data), 12);
}

TEST(SweepStore, AFullDiskLosesNothing) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  {
    SweepStore store = OpenStore(path);
    for (int64_t sample = 0; sample < 4; ++sample) store.Append(sample, ExampleSample(sample));
    store.Checkpoint();
    store.Append(4, ExampleSample(4));
  }
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{5000, 5000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int refused = 0;
    try {
      SweepStore store = OpenStore(path, true);
      try {
        store.Checkpoint();
      } catch (const Error&) {
        ++refused;
      }
      for (int64_t sample = 5; sample < 20; ++sample) store.Append(sample, ExampleSample(sample));
    } catch (const Error&) {
      ++refused;
    }
    exit(refused);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2) << "the checkpoint and a later append are refused";
  SweepStore store = OpenStore(path, true);
  EXPECT_EQ(store.dropped_bytes(), 0) << "a refused append is cut off at once";
  ASSERT_GE(store.finished().size(), 5U);
  for (const int64_t sample : store.finished()) {
    ExpectSameRecord(store.ReadSample(sample), ExampleSample(sample));
  }
  store.Finish();
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5"));
}

std::string PlanOfTask(const std::string& task, const std::string& hash) {
  return R"({"task":")" + task + R"(","task_files_hash":")" + hash + "\"}";
}

// Files are compared by contents, not by the typed path.
TEST(PlanDifference, PathsOfEqualFilesAreNone) {
  const std::string plan = PlanOfTask("jsonl:template=f.txt,tokens=9,file=a.jsonl", "1");
  EXPECT_EQ(FirstPlanDifference(
                plan, PlanOfTask("jsonl:template=x/f.txt,tokens=9,file=./b,c/a.jsonl", "1")),
            "");
  EXPECT_THAT(
      FirstPlanDifference(plan, PlanOfTask("jsonl:template=f.txt,tokens=9,file=a.jsonl", "2")),
      HasSubstr("task_files_hash"));
  EXPECT_THAT(
      FirstPlanDifference(plan, PlanOfTask("jsonl:template=f.txt,tokens=8,file=a.jsonl", "1")),
      HasSubstr("task is"));
  EXPECT_THAT(FirstPlanDifference(std::string(R"({"task":"text:file=a"})"),
                                  std::string(R"({"task":"text:file=b"})")),
              HasSubstr("task is"));
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  SweepStore::Create(path, PlanOfTask("jsonl:file=a.jsonl", "1"), ExampleProvenance()).Finish();
  SweepStoreOptions resume;
  resume.resume = true;
  const auto goes_on = [&](const std::string& hash) {
    SweepStore::Create(path, PlanOfTask("jsonl:file=b/a.jsonl", hash), ExampleProvenance(), resume);
  };
  EXPECT_NO_THROW(goes_on("1"));
  EXPECT_THROW(goes_on("2"), Error);
}

SweepStore Overwrite(const std::string& path) {
  SweepStoreOptions options;
  options.overwrite = true;
  return SweepStore::Create(path, R"({"task": "other"})", ExampleProvenance(), options);
}

// Contract of `overwrite`: until the first checkpoint with a sample, the file and the journal of an
// unfinished sweep are unchanged.
TEST(SweepStore, OverwritesAtTheFirstCheckpointWithASample) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  {
    SweepStore old = OpenStore(path);
    old.Append(0, ExampleSample(0));
    old.Checkpoint();
    old.Append(1, ExampleSample(1));
  }
  const std::string file = ReadBytes(path);
  const std::string journal = ReadBytes(JournalPath(path));
  {
    SweepStore all_fail = Overwrite(path);
    all_fail.AppendFailure(0, "too long");
    all_fail.Finish();
    EXPECT_TRUE(all_fail.keeps_old_file());
  }
  {
    SweepStore killed = Overwrite(path);
    killed.Append(3, ExampleSample(3));
  }
  EXPECT_EQ(ReadBytes(path), file);
  EXPECT_EQ(ReadBytes(JournalPath(path)), journal);
  SweepStore store = Overwrite(path);
  store.AppendFailure(2, "too long");
  store.Append(3, ExampleSample(3));
  ExpectSameRecord(store.ReadSample(3), ExampleSample(3));
  store.Checkpoint();
  EXPECT_FALSE(store.keeps_old_file());
  EXPECT_THAT(RunReader(path).Describe("sweep").FindAxis("sample")->values, ElementsAre(3));
  store.Append(4, ExampleSample(4));
  store.Finish();
  EXPECT_THAT(SweepStore::OpenForReading(path).finished(), ElementsAre(3, 4));
  EXPECT_THAT(SweepStore::OpenForReading(path).failed(), ElementsAre(2));
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5"));
}

TEST(SweepStore, NothingIsLeftOfAnOverwriteThatFailed) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  OpenStore(path).Finish();
  Overwrite(path).Finish();
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5"));
  WriteBytes(JournalPath(path), "");  // left by a process that was killed
  EXPECT_FALSE(HasJournal(path));
  OpenStore(path, true).Finish();
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5"));
}

// The name "run.h5" is a prefix of the name of another sweep's file, which is being written.
TEST(SweepStore, TemporariesOfNeighboursStay) {
  const TemporaryFolder folder;
  const std::vector<std::string> others = {".run.h5.1.77.0.tmp", ".run.h5.tmp", ".run.h5.a.0.tmp",
                                           ".run.h5.7.tmp"};
  for (const std::string& other : others) WriteBytes(folder.File(other), "x");
  WriteBytes(folder.File(".run.h5.77.0.tmp"), "x");
  OpenStore(folder.File("run.h5")).Finish();
  for (const std::string& other : others)
    EXPECT_TRUE(std::filesystem::exists(folder.File(other))) << other;
  EXPECT_FALSE(std::filesystem::exists(folder.File(".run.h5.77.0.tmp")));
}

TEST(SweepStore, AnOverwriteIsRefusedWhereTheSweepRuns) {
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  SweepStore running = OpenStore(path);
  running.Append(0, ExampleSample(0));
  EXPECT_THAT(ErrorMessage([&] { Overwrite(path); }), HasSubstr("another process is writing"));
  EXPECT_THAT(ErrorMessage([&] { CheckNoWriter(path); }), HasSubstr("another process is writing"));
  EXPECT_THAT(ErrorMessage([&] { SweepLock lock(path); }), HasSubstr("another process is writing"));
  running.Finish();
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5"));
  { const SweepLock lock(path); }
  EXPECT_THAT(folder.Names(), ElementsAre("run.h5"));
}

// The child process of the kill test: resumes the sweep, with a checkpoint every few samples.
[[noreturn]] void RunSweep(const std::string& path, int64_t samples) {
  SweepStore store = OpenStore(path, true);
  for (int64_t sample = 0; sample < samples; ++sample) {
    if (store.finished().count(sample) > 0) continue;
    store.Append(sample, ExampleSample(sample));
    if (sample % 4 == 3) store.Checkpoint(Summaries(static_cast<double>(sample)));
  }
  store.Finish(Summaries(1));
  _exit(0);
}

TEST(SweepStore, AKillAtAnyMomentLosesOnlyWhatWasInFlight) {
  constexpr int64_t kSamples = 24;
  const TemporaryFolder folder;
  const std::string path = folder.File("run.h5");
  std::mt19937 random(20260102);
  constexpr int kFewestKills = 5;
  int kills = 0;
  size_t stored = 0;
  uint64_t longest_us = 20000;
  for (bool done = false; !done;) {
    const pid_t child = fork();
    if (child == 0) RunSweep(path, kSamples);
    // The time increases with each round, so that the test also ends on slow machines.
    usleep(static_cast<useconds_t>(random() % longest_us +
                                   static_cast<uint64_t>(kills) * longest_us / 20));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    kills += done ? 0 : 1;
    if (std::filesystem::exists(path)) {
      const RunReader reader(path);
      const Record frame = reader.Describe("sweep");
      for (int64_t row = 0; row < frame.FindAxis("sample")->size; ++row) {
        const auto sample =
            static_cast<int64_t>(frame.FindAxis("sample")->values[static_cast<size_t>(row)]);
        ExpectSameRecord(reader.ReadSample("sweep", row), ExampleSample(sample));
      }
    }
    if (done && kills < kFewestKills) {
      // A machine that is this fast starts the sweep again and is left less time.
      std::filesystem::remove(path);
      longest_us = std::max<uint64_t>(longest_us / 2, 20);
      stored = 0;
      done = false;
      continue;
    }
    if (done) break;
    const SweepStore store = OpenStore(path, true);
    ASSERT_GE(store.finished().size(), stored) << "a stored sample is gone after kill " << kills;
    stored = store.finished().size();
  }
  SweepStore uninterrupted = OpenStore(folder.File("other.h5"));
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    uninterrupted.Append(sample, ExampleSample(sample));
  }
  uninterrupted.Finish(Summaries(1));
  EXPECT_EQ(ReadBytes(path), ReadBytes(folder.File("other.h5")));
  EXPECT_THAT(folder.Names(), ElementsAre("other.h5", "run.h5")) << "no temporary files stay";
  RecordProperty("kills", kills);
}

}  // namespace
}  // namespace midscope
