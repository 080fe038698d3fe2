// SPDX-License-Identifier: MIT
// The built program on a GPU. Contract: a sweep's mean losses equal the CPU's to 1/1,000 of a nat,
// its shares of right answers are equal, and `info` names the GPU with its memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "core/compute/device_facts.h"
#include "core/compute/placement.h"
#include "core/model/model_source.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using nlohmann::json;

json Rows(const std::string& device) {
  const TemporaryFolder folder;
  return json::parse(RunWell({"sweep",
                              "embedded",
                              "--task",
                              "list:lines=6",
                              "--places",
                              "1,6",
                              "--samples",
                              "2",
                              "--seed",
                              "1",
                              "--with",
                              "none",
                              "--with",
                              "channel(100, factor=-1, layers=8-25)",
                              "--with",
                              "ms-poe",
                              "--device",
                              device,
                              "--json",
                              "--out",
                              folder.File("run.h5")})
                         .out)["rows"];
}

TEST(GpuProgram, ASweepGivesTheCpusNumbers) {
  if (AvailableDevices().back().kind != DeviceKind::kCuda) GTEST_SKIP() << "no GPU here";
  const json cpu = Rows("cpu");
  for (const char* device : {"cuda:0", "cuda:0=20,cpu"}) {
    const json gpu = Rows(device);
    ASSERT_EQ(gpu.size(), cpu.size());
    for (size_t i = 0; i < cpu.size(); ++i) {
      EXPECT_NEAR(gpu[i]["answer_nll"].get<double>(), cpu[i]["answer_nll"].get<double>(), 1e-3)
          << device << " " << cpu[i]["setting"];
      EXPECT_EQ(gpu[i]["accuracy"], cpu[i]["accuracy"]) << device << " " << cpu[i]["setting"];
    }
  }
}

// The window starts with this option.
TEST(GpuProgram, ADtypeIsChosenThere) {
  if (AvailableDevices().back().kind != DeviceKind::kCuda) GTEST_SKIP() << "no GPU here";
  const TemporaryFolder folder;
  const std::string models = ModelFolder().string();
  setenv("MIDSCOPE_MODELS", models.c_str(), 1);
  setenv("XDG_CACHE_HOME", folder.File("cache").c_str(), 1);
  const auto run =
      RunWell({"sweep", "embedded", "--task", "list:lines=4", "--places", "1", "--samples", "1",
               "--device", "cuda:0", "--out", folder.File("run.h5")});
  EXPECT_THAT(run.err, ::testing::HasSubstr("dtype: auto is bfloat16"));
}

TEST(GpuProgram, InfoNamesTheGpu) {
  if (AvailableDevices().back().kind != DeviceKind::kCuda) GTEST_SKIP() << "no GPU here";
  const json devices = json::parse(RunWell({"info", "embedded", "--json"}).out)["devices"];
  EXPECT_EQ(devices[2]["device"], "cuda:0");
  EXPECT_NE(devices[2]["name"], "");
  EXPECT_GT(devices[2]["total_bytes"].get<int64_t>(), 0);
  EXPECT_FALSE(devices[2]["compute_capability"].is_null());
}

}  // namespace
}  // namespace midscope
