// SPDX-License-Identifier: MIT
// Usage: store_bench FILE.h5 [SAMPLES]. Writes a sweep with attention rows [sample, layer 8, head
// 4, key 64..127] unless the file exists, and measures how long opening it for the window and
// reading one of its samples take.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <random>

#include "data/store/run_store.h"
#include "data/store/sample_rows.h"
#include "data/sweep/sample_view.h"
#include "data/sweep/sweep_file.h"

namespace {

using Clock = std::chrono::steady_clock;

double Milliseconds(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

midscope::Record Sample(int64_t number) {
  constexpr int64_t kLayers = 8;
  constexpr int64_t kHeads = 4;
  std::mt19937 random(static_cast<unsigned>(number));
  const int64_t keys = 64 + number % 64;
  std::vector<float> attention(static_cast<size_t>(kLayers * kHeads * keys));
  for (float& value : attention) value = static_cast<float>(random()) / 4e9F;
  std::vector<double> nll(20, static_cast<double>(number));
  std::vector<int64_t> tokens(5, keys);
  midscope::Record record;
  record.name = "sweep";
  record.axes = {{"setting", 4, "", {"a", "b", "c", "d"}, {}},
                 {"place", 5, "", {}, {}},
                 {"layer", kLayers, "", {}, {}},
                 {"head", kHeads, "", {}, {}},
                 {"key", keys, "", {}, {}}};
  record.arrays = {{"answer_nll", {"setting", "place"}, nll, "nats", ""},
                   {"correct", {"setting", "place"}, std::vector<uint8_t>(20, 1), "", ""},
                   {"prompt_tokens", {"place"}, tokens, "", ""},
                   {"last_query_attention", {"layer", "head", "key"}, attention, "", ""}};
  record.signal = "answer_nll";
  return record;
}

void Write(const std::string& path, int64_t samples) {
  midscope::SweepContents contents;
  contents.plan_json = R"({"seed":1})";
  contents.ragged_axes = {"key"};
  contents.frame = midscope::SampleFrame(Sample(0), contents.ragged_axes);
  for (int64_t sample = 0; sample < samples; ++sample) {
    contents.ragged_sizes[sample] = {{"key", 64 + sample % 64}};
  }
  contents.load = Sample;
  midscope::WriteSweepFile(path, contents);
}

void PrintTimes(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  std::printf("%s%8.2f ms (median of %zu; longest %.2f)\n", what, times[times.size() / 2],
              times.size(), times.back());
}

void Measure(const std::string& path) {
  Clock::time_point start = Clock::now();
  const midscope::SampleView view(path);
  const midscope::RunFile file = view.Overview();
  std::printf("open for the window          %8.1f ms (%zu records)\n", Milliseconds(start),
              file.records.size());
  start = Clock::now();
  const midscope::RunReader reader(path);
  const auto samples = reader.Describe("sweep").FindAxis("sample")->size;
  std::printf("open, describe               %8.1f ms (%ld samples)\n", Milliseconds(start),
              static_cast<long>(samples));
  std::mt19937 random(1);
  std::vector<double> times;
  std::vector<double> shown;
  for (int round = 0; round < 100; ++round) {
    const auto row = static_cast<int64_t>(random() % static_cast<unsigned>(samples));
    start = Clock::now();
    reader.ReadSample("sweep", row);
    times.push_back(Milliseconds(start));
    start = Clock::now();
    view.Read({row, 0, 0});
    shown.push_back(Milliseconds(start));
  }
  PrintTimes("read one sample              ", times);
  PrintTimes("the same for the window      ", shown);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: store_bench FILE.h5 [SAMPLES]\n");
    return 2;
  }
  try {
    const std::string path = argv[1];
    constexpr int64_t kSamples = 10000;
    if (!std::filesystem::exists(path)) Write(path, argc > 2 ? std::stoll(argv[2]) : kSamples);
    std::printf("file                         %8.1f MB\n",
                static_cast<double>(std::filesystem::file_size(path)) / 1e6);
    Measure(path);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
