// SPDX-License-Identifier: MIT
// Contract: every available device of this machine has a name and memory, and no more memory is
// free than exists; the CPU's two devices report the same facts.
#include "core/compute/device_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using ::testing::StartsWith;

TEST(DeviceFacts, EveryDeviceHasANameAndMemory) {
  const std::vector<DeviceFacts> all = ListDeviceFacts();
  const std::vector<DeviceName> available = AvailableDevices();
  ASSERT_EQ(all.size(), available.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].device, available[i]);
    EXPECT_FALSE(all[i].name.empty());
    EXPECT_EQ(all[i].compute_capability.empty(), available[i].kind != DeviceKind::kCuda);
    constexpr int64_t kLeast = int64_t{100} << 20;
    EXPECT_GT(all[i].total_bytes, kLeast) << all[i].name;
    EXPECT_GT(all[i].free_bytes, 0) << all[i].name;
    EXPECT_LE(all[i].free_bytes, all[i].total_bytes) << all[i].name;
  }
  EXPECT_EQ(all[0].name, all[1].name);
  EXPECT_EQ(all[0].total_bytes, all[1].total_bytes);
}

TEST(DeviceFacts, ThoseOfAPlacementAreOfItsDevicesOnce) {
  const std::vector<DeviceFacts> facts = FactsOf(ParsePlacement("cpu:portable=2,cpu=3,cpu"));
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(DeviceText(facts[0].device), "cpu:portable");
  EXPECT_EQ(DeviceText(facts[1].device), "cpu");
}

TEST(DeviceFacts, AreOneLineOfText) {
  const DeviceFacts gpu{
      {DeviceKind::kCuda, 1}, "NVIDIA H100", "9.0", 85'000'000'000, 78'240'000'000};
  EXPECT_EQ(DeviceFactsText(gpu), "NVIDIA H100, compute capability 9.0, 78.2 of 85.0 GB free");
  const DeviceFacts old{{DeviceKind::kCuda, 0}, "Tesla T4", "7.5", 15'800'000'000, 15'000'000'000};
  EXPECT_EQ(DeviceFactsText(old),
            "Tesla T4, compute capability 7.5 (below 8.0: LibTorch's operations run the layers), "
            "15.0 of 15.8 GB free");
  const DeviceFacts silent{{DeviceKind::kCuda, 1}, "GPU that does not answer"};
  EXPECT_EQ(DeviceFactsText(silent), "GPU that does not answer");
}

TEST(DeviceFacts, KernelsRunFromComputeCapability8On) {
  const auto run = [](const std::string& capability) {
    return RunsKernels({{DeviceKind::kCuda, 0}, "GPU", capability});
  };
  EXPECT_FALSE(run("7.5"));
  EXPECT_TRUE(run("8.0"));
  EXPECT_TRUE(run("12.0"));
  EXPECT_TRUE(RunsKernels(FactsOf(DeviceName{DeviceKind::kCpu, 0})));
}

TEST(DeviceFacts, AMissingGpuHasTheReasonOfTheRefusal) {
  const MissingGpu missing = WhyGpuIsMissing();
  EXPECT_FALSE(missing.reason.empty());
  EXPECT_THAT(test::ErrorMessage([] { CheckDevices(ParsePlacement("cuda:127")); }),
              StartsWith("device cuda:127: " + missing.reason));
}

}  // namespace
}  // namespace midscope
