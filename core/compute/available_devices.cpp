// SPDX-License-Identifier: MIT
#include "core/compute/available_devices.h"

#include <ATen/Context.h>

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/compute/device_facts.h"

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

}  // namespace midscope
