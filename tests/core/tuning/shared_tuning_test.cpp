// SPDX-License-Identifier: MIT
// Contract: tuners of a group of processes, here threads, make the steps of one tuner up to the
// order of additions (1e-6 of weights), and equal bits among them; a failure of one leaves all as
// they were.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/base/memory_map.h"
#include "core/base/process_group.h"
#include "core/formats/safetensors.h"
#include "core/tuning/tuner.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

constexpr int kProcesses = 2;
constexpr int64_t kSteps = 3;
constexpr double kSharedTolerance = 1e-6;

// The state that the threads of a group share.
struct Meeting {
  std::barrier<> barrier{kProcesses};
  std::mutex mutex;
  std::atomic<bool> failed = false;
  std::vector<double> sums;
};

class ThreadGroup : public ProcessGroup {
 public:
  ThreadGroup(Meeting& meeting, int64_t rank) : meeting_(meeting), rank_(rank) {}
  int64_t rank() const override { return rank_; }
  int64_t size() const override { return kProcesses; }
  void Agree(const std::function<void()>& work) override {
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
      meeting_.failed = true;
    }
    meeting_.barrier.arrive_and_wait();
    if (thrown) std::rethrow_exception(thrown);
    if (meeting_.failed) throw std::runtime_error("another failed");
  }
  void Sum(std::span<float> values) override { SumOf(values); }
  void Sum(std::span<double> values) override { SumOf(values); }

 private:
  template <typename Value>
  void SumOf(std::span<Value> values) {
    if (rank_ == 0) meeting_.sums.assign(values.size(), 0);
    meeting_.barrier.arrive_and_wait();
    {
      const std::lock_guard<std::mutex> lock(meeting_.mutex);
      for (size_t i = 0; i < values.size(); ++i) meeting_.sums[i] += values[i];
    }
    meeting_.barrier.arrive_and_wait();
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Value>(meeting_.sums[i]);
    meeting_.barrier.arrive_and_wait();
  }

  Meeting& meeting_;
  int64_t rank_;
};

// Sample i: tokens that depend on i, more of them for each one; its loss counts few of them.
TuningSample SampleOfLength(int64_t index) {
  TuningSample sample;
  for (int64_t i = 0; i < 12 + index % 5; ++i) {
    sample.ids.push_back(static_cast<int32_t>((7 * i + 31 * index + i * i) % 250));
    sample.position_ids.push_back(static_cast<double>(i < 8 ? i : i + 13));
    sample.in_loss.push_back(i % 3 == 0 ? 0 : 1);
  }
  return sample;
}

// A teacher's prompt and a student's, whose answers are equal.
TuningSample DistilledAt(int64_t index) {
  TuningSample sample = SampleOfLength(index);
  sample.position_ids.clear();
  sample.in_loss.clear();
  sample.teacher_ids = sample.ids;
  sample.teacher_ids[1] = 17;
  sample.answer_tokens = 3;
  sample.place = index % 3;
  return sample;
}

struct Tuned {
  std::map<std::string, std::vector<float>> tensors;
  std::vector<TuningStep> history;
  double held_out = 0;
};

Tuned Run(const std::string& model, TunerSettings settings, ProcessGroup* processes,
          const TuningSamples& sample_at) {
  const auto source = OpenModel(test::TinyModelPath(model));
  settings.optimizer = {.rate = 1e-4, .steps = kSteps, .warm_up = 0};
  settings.batch = 5;
  settings.threads = 1;
  settings.processes = processes;
  Tuner tuner(*source, settings, {});
  while (tuner.steps_done() < kSteps) tuner.Step(sample_at, {});
  Tuned tuned{{}, tuner.history(), tuner.MeanLoss(sample_at, 100, 3, {})};
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "state").string();
  tuner.Save(path);
  const MemoryMap file(path);
  for (const auto& [name, tensor] : ParseSafetensorsHeader(file.bytes(), path)) {
    if (tensor.dtype != "F32") continue;
    std::vector<float>& values = tuned.tensors[name];
    values.resize(static_cast<size_t>(tensor.bytes) / sizeof(float));
    std::memcpy(values.data(), tensor.data, static_cast<size_t>(tensor.bytes));
  }
  return tuned;
}

// Runs it in two threads; [rank].
std::vector<Tuned> RunShared(const std::string& model, const TunerSettings& settings,
                             const TuningSamples& sample_at) {
  Meeting meeting;
  std::vector<Tuned> tuned(kProcesses);
  {
    std::vector<std::jthread> threads;
    threads.reserve(kProcesses);
    for (int rank = 0; rank < kProcesses; ++rank) {
      threads.emplace_back([&, rank] {
        ThreadGroup group(meeting, rank);
        tuned[static_cast<size_t>(rank)] = Run(model, settings, &group, sample_at);
      });
    }
  }
  return tuned;
}

void ExpectSharedEqual(const std::string& model, const TunerSettings& settings,
                       const TuningSamples& sample_at) {
  const Tuned alone = Run(model, settings, nullptr, sample_at);
  const std::vector<Tuned> shared = RunShared(model, settings, sample_at);
  EXPECT_EQ(shared[0].tensors, shared[1].tensors) << model;
  ASSERT_EQ(shared[0].tensors.size(), alone.tensors.size()) << model;
  for (const auto& [name, values] : alone.tensors) {
    const std::vector<float>& others = shared[0].tensors.at(name);
    ASSERT_EQ(others.size(), values.size()) << model << " " << name;
    double largest = 0;
    for (size_t i = 0; i < values.size(); ++i)
      largest = std::max(largest, std::abs(static_cast<double>(values[i]) - others[i]));
    EXPECT_LT(largest, kSharedTolerance) << model << " " << name;
  }
  for (size_t step = 0; step < alone.history.size(); ++step) {
    EXPECT_NEAR(shared[0].history[step].loss, alone.history[step].loss, kSharedTolerance) << model;
    EXPECT_EQ(shared[0].history[step].loss, shared[1].history[step].loss) << model;
    EXPECT_EQ(shared[0].history[step].tokens, alone.history[step].tokens) << model;
  }
  EXPECT_NEAR(shared[1].held_out, alone.held_out, kSharedTolerance) << model;
}

TunerSettings Lora() {
  TunerSettings settings;
  settings.lora = LoraSettings{.rank = 3, .alpha = 6, .projections = {"query", "down"}};
  return settings;
}

TEST(SharedTuning, EqualsThatOfOneProcess) {
  ExpectSharedEqual("qwen3", {}, SampleOfLength);
  ExpectSharedEqual("qwen3", Lora(), SampleOfLength);
  // Experts that only samples of the other process choose.
  ExpectSharedEqual("qwen2-moe", {}, SampleOfLength);
}

TEST(SharedTuning, WeightsOfDistillationAreOfAllSamples) {
  TunerSettings settings = Lora();
  settings.distil = true;
  ExpectSharedEqual("qwen3", settings, DistilledAt);
}

TEST(SharedTuning, AFailureOfOneLeavesAllAsTheyWere) {
  const auto source = OpenModel(test::TinyModelPath("qwen3"));
  Meeting meeting;
  std::atomic<int> failures = 0;
  std::vector<std::jthread> threads;
  threads.reserve(kProcesses);
  for (int rank = 0; rank < kProcesses; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadGroup group(meeting, rank);
      TunerSettings settings = Lora();
      settings.batch = 2;
      settings.threads = 1;
      settings.processes = &group;
      Tuner tuner(*source, settings, {});
      const auto failing = [](int64_t index) {
        if (index == 1) throw std::runtime_error("sample 1");
        return SampleOfLength(index);
      };
      try {
        tuner.Step(failing, {});
      } catch (const std::runtime_error&) {
        ++failures;
      }
      EXPECT_EQ(tuner.steps_done(), 0);
    });
  }
  threads.clear();
  EXPECT_EQ(failures, kProcesses);
}

}  // namespace
}  // namespace midscope
