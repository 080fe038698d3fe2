// SPDX-License-Identifier: MIT
#include "core/compute/device_facts.h"

#include <ATen/Context.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "core/base/error.h"

#ifdef MIDSCOPE_CUDA
#include "core/compute/cuda/cuda_device_facts.h"
#endif

namespace midscope {
namespace {

std::string DeviceList(const std::vector<DeviceName>& devices) {
  std::string text;
  for (const DeviceName& device : devices) text += (text.empty() ? "" : ", ") + DeviceText(device);
  return text;
}

}  // namespace

std::vector<DeviceName> AvailableDevices() {
  std::vector<DeviceName> devices = {{DeviceKind::kCpu, 0}, {DeviceKind::kCpuPortable, 0}};
  const auto gpus = static_cast<int>(at::getNumGPUs());
  for (int index = 0; index < gpus; ++index) devices.push_back({DeviceKind::kCuda, index});
  return devices;
}

void CheckDevices(const Placement& placement) {
  const std::vector<DeviceName> available = AvailableDevices();
  for (const DeviceShare& share : placement.shares) {
    if (std::find(available.begin(), available.end(), share.device) != available.end()) continue;
    const MissingGpu missing = WhyGpuIsMissing();
    throw UsageError("device " + DeviceText(share.device), missing.reason,
                     missing.remedy + (missing.remedy.empty() ? "" : ". ") +
                         "Devices here: " + DeviceList(available));
  }
}

namespace {

constexpr int64_t kBytesPerKibibyte = 1024;

// Returns the bytes in a line "MemTotal:   24676352 kB" of /proc/meminfo; 0 if there is none.
int64_t MemoryLine(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string word;
  int64_t kibibytes = 0;
  while (file >> word) {
    if (word == name + ":" && file >> kibibytes) return kibibytes * kBytesPerKibibyte;
  }
  return 0;
}

// Returns a number in a file of the control group that this process sees as its root; -1 if there
// is no limit.
int64_t GroupNumber(const char* path) {
  std::ifstream file(path);
  int64_t bytes = 0;
  return file >> bytes ? bytes : -1;
}

// Reduces the memory sizes to the limits of the container (control group), if there are any.
void LimitToGroup(DeviceFacts& facts) {
  const int64_t limit = GroupNumber("/sys/fs/cgroup/memory.max");
  const int64_t used = GroupNumber("/sys/fs/cgroup/memory.current");
  if (limit < 0 || used < 0) return;
  facts.total_bytes = std::min(facts.total_bytes, limit);
  facts.free_bytes = std::min(facts.free_bytes, std::max<int64_t>(limit - used, 0));
}

DeviceFacts CpuFacts(const DeviceName& device) {
  DeviceFacts facts{device, CpuName()};
  if (facts.name.empty()) facts.name = "CPU";
  facts.total_bytes = MemoryLine("MemTotal");
  facts.free_bytes = MemoryLine("MemAvailable");
  LimitToGroup(facts);
  return facts;
}

}  // namespace

std::string CpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos)
      return line.substr(colon + 2);
  }
  return "";
}

MissingGpu WhyGpuIsMissing() {
#ifdef MIDSCOPE_CUDA
  return {"there is none here, or no driver for it", ""};
#else
  return {"this build of Midscope has no CUDA",
          "Install the wheel midscope-cuda, or build one that has it: MIDSCOPE_CUDA=ON ./midscope "
          "build"};
#endif
}

DeviceFacts FactsOf(const DeviceName& device) {
  if (device.kind != DeviceKind::kCuda) return CpuFacts(device);
#ifdef MIDSCOPE_CUDA
  return CudaFacts(device);
#else
  return {device, "GPU"};
#endif
}

std::vector<DeviceFacts> ListDeviceFacts() {
  std::vector<DeviceFacts> all;
  for (const DeviceName& device : AvailableDevices()) all.push_back(FactsOf(device));
  return all;
}

std::vector<DeviceFacts> FactsOf(const Placement& placement) {
  std::vector<DeviceFacts> all;
  for (const DeviceShare& share : placement.shares) {
    const bool known = std::any_of(all.begin(), all.end(), [&share](const DeviceFacts& facts) {
      return facts.device == share.device;
    });
    if (!known) all.push_back(FactsOf(share.device));
  }
  return all;
}

}  // namespace midscope
