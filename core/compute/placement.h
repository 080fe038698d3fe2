// SPDX-License-Identifier: MIT
// Which device runs which of a model's layers, as a value: `cpu`, `cuda:0,cuda:1,cpu`,
// `cuda:0=20,cpu=12`. Devices take layers in the order in which they stand, the first from layer 0
// on; final norm and output matrix follow the last layer. The table of embeddings stays in host
// memory: a prompt's rows of it are read there and go to the first device.
//
// `cpu:portable` is the CPU by the same LibTorch operations as on a GPU instead of Midscope's own
// kernels: slower, and a second device where there is no GPU. What it computes is copied to hooks,
// as from a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

enum class DeviceKind { kCpu, kCpuPortable, kCuda };

struct DeviceName {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;  // of kCuda
  bool operator==(const DeviceName&) const = default;
};

struct DeviceShare {
  DeviceName device;
  int64_t layers = 0;  // 0: an even part of what the counts of the others leave
  bool operator==(const DeviceShare&) const = default;
};

struct Placement {
  std::vector<DeviceShare> shares = {DeviceShare{}};  // never empty
  bool operator==(const Placement&) const = default;
  // Everything on the CPU by the kernels.
  bool IsPlainCpu() const;
};

// Throws Error (usage): a device that there is no word for, a count that is no number above 0.
// Whether the machine has the device is looked at by CheckDevices.
Placement ParsePlacement(std::string_view text);

// "cuda:0", "cpu:portable".
std::string DeviceText(const DeviceName& device);
// Reads back as the same value.
std::string PrintPlacement(const Placement& placement);

// The placement with the number of layers of each share filled in. Shares without a count take the
// remaining layers evenly, the first ones one more where that does not come out. Throws Error
// (usage): more devices than layers, counts that do not add up to `layers`.
Placement FillLayers(const Placement& placement, int64_t layers);

// Throws Error (usage) for a device that this build or this machine does not have.
void CheckDevices(const Placement& placement);

// What CheckDevices takes here: "cpu", "cpu:portable" and the GPUs that are found.
std::vector<DeviceName> AvailableDevices();

}  // namespace midscope
