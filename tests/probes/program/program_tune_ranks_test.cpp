// SPDX-License-Identifier: MIT
// Contract: several processes tune as one with the same batch, up to rounding; the end of any of
// them ends all, with one message, and leaves the last checkpoint. Needs a build with MIDSCOPE_MPI
// and mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/base/memory_map.h"
#include "core/formats/safetensors.h"
#include "data/store/record_reader.h"
#include "tests/paths.h"
#include "tests/probes/support/ranks_fixture.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

// The sums of gradients are rounded in another order; AdamW divides by their root, so that
// parameters with tiny gradients differ by more than a gradient does.
constexpr double kRanksTolerance = 1e-5;

class TuneRanks : public testing::RanksFixture {
 protected:
  TuneRanks() { WriteData("data.jsonl", 40); }

  void WriteData(const std::string& name, int documents) const {
    std::ofstream lines(folder_.File(name));
    for (int i = 0; i < documents; ++i) {
      lines << "{\"text\": \"";
      for (int j = 0; j < 40; ++j) lines << "word " << (i * 7 + j * j) % 50 << ", ";
      lines << "\"}\n";
    }
  }

  Arguments Tune(const std::string& out, const Arguments& more = {},
                 const std::string& model = "qwen3") const {
    return With(
        {"tune", MIDSCOPE_TESTS "/core/golden/tiny_models/" + model, "--recipe", "cream",
         "--tokens", "60", "--factor", "4", "--threads", "1", "--data", folder_.File("data.jsonl"),
         "--repeat", "--batch", "4", "--out", folder_.File(out)},
        more);
  }

  std::string Errors() const { return Text("out.err"); }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_.File(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::vector<float> Values(const std::string& path) const {
    const MemoryMap file(folder_.File(path));
    std::vector<float> values;
    for (const auto& [name, tensor] : ParseSafetensorsHeader(file.bytes(), path)) {
      const size_t before = values.size();
      values.resize(before + static_cast<size_t>(tensor.bytes) / sizeof(float));
      std::memcpy(&values[before], tensor.data, static_cast<size_t>(tensor.bytes));
    }
    return values;
  }

  // Expects equal weights and losses in two folders. `weights`: the name of the file.
  void ExpectNear(const std::string& a, const std::string& b, const std::string& weights) const {
    const std::vector<float> left = Values(a + "/" + weights);
    const std::vector<float> right = Values(b + "/" + weights);
    ASSERT_EQ(left.size(), right.size());
    double largest = 0;
    for (size_t i = 0; i < left.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(left[i]) - right[i]));
    EXPECT_LT(largest, kRanksTolerance) << a << " " << b;
    const Record one = ReadRecords(folder_.File(a + "/tuning.h5")).records.at(0);
    const Record other = ReadRecords(folder_.File(b + "/tuning.h5")).records.at(0);
    const auto losses = [](const Record& record) {
      return std::get<std::vector<double>>(record.FindArray("loss")->data);
    };
    ASSERT_EQ(losses(one).size(), losses(other).size());
    for (size_t i = 0; i < losses(one).size(); ++i)
      EXPECT_NEAR(losses(one)[i], losses(other)[i], kRanksTolerance);
    EXPECT_EQ(one.FindArray("tokens")->data, other.FindArray("tokens")->data);
    for (const char* name : {"held_out_loss_before", "held_out_loss_after"}) {
      ASSERT_EQ(one.attributes.contains(name), other.attributes.contains(name));
      if (!one.attributes.contains(name)) continue;
      EXPECT_NEAR(std::get<double>(one.attributes.at(name)),
                  std::get<double>(other.attributes.at(name)), kRanksTolerance);
    }
  }

  static int64_t Count(const std::string& text, const std::string& part) {
    int64_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++count;
    return count;
  }

  // Waits for the first checkpoint.
  void AwaitCheckpoint(const std::string& out) const {
    const std::string state = folder_.File(out + "/midscope_tuning.safetensors");
    for (int i = 0; i < 6000 && !std::filesystem::exists(state); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(std::filesystem::exists(state)) << Errors();
  }

  void Signal(const std::string& out, const std::string& rank, int signal) const {
    const pid_t process = Process(out, rank);
    ASSERT_GT(process, 0) << Errors();  // kill(-1) would reach all processes
    kill(process, signal);
  }

  // Returns the process of this rank of the run that writes to `out`; -1 if there is none.
  pid_t Process(const std::string& out, const std::string& rank) const {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
      std::ifstream environment(entry.path() / "environ", std::ios::binary);
      std::ifstream command(entry.path() / "cmdline", std::ios::binary);
      const std::string variables(std::istreambuf_iterator<char>(environment), {});
      const std::string words(std::istreambuf_iterator<char>(command), {});
      if (words.find(folder_.File(out)) != std::string::npos &&
          variables.find("OMPI_COMM_WORLD_RANK=" + rank) != std::string::npos)
        return std::stoi(entry.path().filename().string());
    }
    return -1;
  }
};

constexpr const char* kAdapter = "adapter_model.safetensors";
constexpr const char* kWeights = "model.safetensors";

// Experts that no sample of a rank chooses have gradients on the other rank alone.
TEST_F(TuneRanks, TuneAsOneProcess) {
  const Arguments full = {"--rate", "1e-4", "--steps", "4", "--held-out", "3"};
  const Arguments lora = With(full, {"--lora", "4"});
  for (const std::string model : {"qwen3", "qwen2-moe"}) {
    RunWell(Tune(model + "-one", full, model));
    ASSERT_EQ(Wait(Start(2, Tune(model + "-two", full, model))), 0) << Errors();
    ExpectNear(model + "-one", model + "-two", kWeights);
  }
  const ProgramRun one = RunWell(Tune("one", lora));
  ASSERT_EQ(Wait(Start(3, Tune("three", lora))), 0) << Errors();
  ExpectNear("one", "three", kAdapter);
  EXPECT_EQ(Count(Text("out"), "held-out loss"), 1) << "rank 0 alone prints";
  EXPECT_THAT(Text("out"), HasSubstr(one.out.substr(0, one.out.find(" tokens,"))));
  // The same number of processes gives the same bits.
  ASSERT_EQ(Wait(Start(3, Tune("again", lora))), 0) << Errors();
  EXPECT_EQ(Values("three/adapter_model.safetensors"), Values("again/adapter_model.safetensors"));
}

// The weights by place depend on the divergences of all samples of the step.
TEST_F(TuneRanks, DistilAsOneProcess) {
  const std::string model = MIDSCOPE_TESTS "/core/golden/tiny_models/qwen3";
  const auto distil = [&](const std::string& out) {
    return Arguments{"tune",           model,
                     "--recipe",       "pos2distill",
                     "--tokens",       "900",
                     "--task",         "kv:pairs=3",
                     "--other-places", "2",
                     "--batch",        "3",
                     "--steps",        "3",
                     "--rate",         "1e-4",
                     "--lora",         "4",
                     "--threads",      "1",
                     "--out",          folder_.File(out)};
  };
  RunWell(distil("one"));
  ASSERT_EQ(Wait(Start(2, distil("two"))), 0) << Errors();
  ExpectNear("one", "two", kAdapter);
}

TEST_F(TuneRanks, AnotherNumberContinuesAfterAKill) {
  const Arguments options = {"--rate",       "1e-5", "--steps", "150",
                             "--checkpoint", "10",   "--lora",  "4"};
  RunWell(Tune("one", options));
  const pid_t job = Start(2, Tune("two", options));
  AwaitCheckpoint("two");
  Signal("two", "1", SIGKILL);
  EXPECT_NE(Wait(job), 0) << "mpirun ends the job";
  ASSERT_EQ(Wait(Start(3, Tune("two", With(options, {"--resume"})))), 0) << Errors();
  EXPECT_THAT(Errors(), HasSubstr("continues after step"));
  ExpectNear("one", "two", kAdapter);
  EXPECT_FALSE(std::filesystem::exists(folder_.File("two/midscope_tuning.safetensors")));
}

TEST_F(TuneRanks, EndByTheSignalOfOne) {
  const pid_t job =
      Start(2, Tune("stopped", {"--steps", "1000000", "--checkpoint", "10", "--lora", "4"}));
  AwaitCheckpoint("stopped");
  Signal("stopped", "1", SIGTERM);
  EXPECT_EQ(Wait(job), 128 + SIGTERM) << Errors();
  EXPECT_EQ(Count(Errors(), "tuning interrupted after"), 1) << Errors();
  EXPECT_EQ(Count(Errors(), "midscope: interrupted"), 0) << Errors();
  EXPECT_TRUE(std::filesystem::exists(folder_.File("stopped/midscope_tuning.safetensors")));
}

TEST_F(TuneRanks, EndByTheFaultOfOne) {
  WriteData("few.jsonl", 2);
  Arguments good = Tune("data", {"--steps", "4"});
  std::erase(good, "--repeat");
  Arguments bad = good;
  *std::find(bad.begin(), bad.end(), folder_.File("data.jsonl")) = folder_.File("few.jsonl");
  EXPECT_EQ(Wait(StartTwo(good, {}, bad)), 1);
  EXPECT_EQ(Count(Errors(), "midscope: "), 1) << Errors();
  EXPECT_THAT(Errors(), HasSubstr("rank 1 on "));
  EXPECT_THAT(Errors(), HasSubstr("Give more data"));

  const Arguments nan = Tune("nan", {"--rate", "1e3", "--weight-decay", "1000", "--steps", "20",
                                     "--warm-up", "2", "--checkpoint", "1"});
  EXPECT_EQ(Wait(Start(2, nan)), 1);
  EXPECT_EQ(Count(Errors(), "Use a lower rate"), 1) << Errors();
  EXPECT_TRUE(std::filesystem::exists(folder_.File("nan/midscope_tuning.safetensors")));
}

TEST_F(TuneRanks, RefuseOtherRunsAndFolders) {
  // More processes than samples.
  EXPECT_EQ(Wait(Start(5, Tune("refused", {"--steps", "2"}))), 2);
  EXPECT_EQ(Count(Errors(), "Give at least --batch 5, or start fewer processes"), 1) << Errors();
  EXPECT_FALSE(std::filesystem::exists(folder_.File("refused")));
  // Other options, which would make other weights.
  const Arguments steps = Tune("refused", {"--steps", "2"});
  EXPECT_EQ(Wait(StartTwo(steps, {}, Tune("refused", {"--steps", "3"}))), 1);
  EXPECT_THAT(Errors(), HasSubstr("this run is not that of rank 0: steps is '2' there"));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("refused")));
  // A rank that does not see the checkpoint, as on a disk of another machine.
  const Arguments longer = {"--steps", "100000", "--lora", "4", "--checkpoint", "5"};
  const pid_t job = Start(2, Tune("seen", longer));
  AwaitCheckpoint("seen");
  Signal("seen", "0", SIGTERM);
  EXPECT_EQ(Wait(job), 128 + SIGTERM) << Errors();
  const Arguments resumed = Tune("seen", With(longer, {"--resume"}));
  Arguments blind = resumed;
  *std::find(blind.begin(), blind.end(), folder_.File("seen")) = "seen";
  std::filesystem::create_directory(folder_.File("other"));
  EXPECT_EQ(Wait(StartTwo(resumed, {"-wdir", folder_.File("other")}, blind)), 1);
  EXPECT_THAT(Errors(), HasSubstr("Give --out in a folder that all ranks see"));
  EXPECT_EQ(Count(Errors(), "midscope: "), 1 + Count(Errors(), "midscope: note")) << Errors();
}

}  // namespace
}  // namespace midscope
