// SPDX-License-Identifier: MIT
// Assigns a model's layers to devices, as a value: `cpu`, `cuda:0,cuda:1,cpu`, `cuda:0=20,cpu=12`.
// Devices take layers in the given order, the first from layer 0 on; final norm and output matrix
// follow the last layer. The embeddings stay in host memory: a prompt's rows are read there and
// copied to the first device.
//
// `cpu:portable` is the CPU with the LibTorch operations of a GPU instead of Midscope's own
// kernels: slower, but a second device where there is no GPU. Hooks get copies, as from a GPU.
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
  int64_t layers = 0;  // 0: an even part of the layers without count
  bool operator==(const DeviceShare&) const = default;
};

struct Placement {
  std::vector<DeviceShare> shares = {DeviceShare{}};  // never empty
  bool operator==(const Placement&) const = default;
  // Everything on the CPU by the kernels.
  bool IsPlainCpu() const;
  // Whether some layers are on a device of that kind.
  bool Has(DeviceKind kind) const;
};

// Throws Error (usage): an unknown device, a count that is not a number above 0. CheckDevices
// checks whether the machine has the device.
Placement ParsePlacement(std::string_view text);

// "cuda:0", "cpu:portable".
std::string DeviceText(const DeviceName& device);
// Parses back to the same value.
std::string PrintPlacement(const Placement& placement);

// The placement with every share's number of layers. Shares without a count share the remaining
// layers evenly, the first ones take one more of the remainder. Throws Error (usage): more devices
// than layers, counts whose sum is not `layers`.
Placement FillLayers(const Placement& placement, int64_t layers);

// Throws Error (usage) for a device that this build or this machine does not have.
void CheckDevices(const Placement& placement);

// The devices that CheckDevices accepts here: "cpu", "cpu:portable" and the GPUs that are found.
std::vector<DeviceName> AvailableDevices();

}  // namespace midscope
