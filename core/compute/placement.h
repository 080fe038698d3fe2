// SPDX-License-Identifier: MIT
// Assigns a model's layers to devices, as a value: `cpu`, `cuda:0,cuda:1,cpu`, `cuda:0=20,cpu=12`.
// Layers are assigned to devices in the given order, beginning with layer 0; final norm and output
// matrix are on the device of the last layer. The embeddings stay in host memory: a prompt's rows
// are read there and copied to the first device.
//
// `cpu:portable` is the CPU with the LibTorch operations of a GPU instead of Midscope's own
// kernels: slower, but a second device for machines without a GPU. Hooks get copies, as with a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

enum class DeviceKind { kCpu, kCpuPortable, kCuda };

struct DeviceName {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;  // for kCuda
  bool operator==(const DeviceName&) const = default;
};

struct DeviceShare {
  DeviceName device;
  int64_t layers = 0;  // 0: an equal part of the layers that have no count
  bool operator==(const DeviceShare&) const = default;
};

struct Placement {
  std::vector<DeviceShare> shares = {DeviceShare{}};  // never empty
  bool operator==(const Placement&) const = default;
  // Whether all layers run on the CPU by Midscope's kernels.
  bool IsPlainCpu() const;
  // Whether any layer is on a device of that kind.
  bool Has(DeviceKind kind) const;
};

// Throws Error (usage) for an unknown device, or a count that is not a number above 0. See
// device_facts.h for the check whether the machine has the device.
Placement ParsePlacement(std::string_view text);

// Returns "cuda:0" or "cpu:portable".
std::string DeviceText(const DeviceName& device);
// Returns a text that parses to the same value.
std::string PrintPlacement(const Placement& placement);

// Returns the placement with every share's number of layers. Shares without a count divide the
// remaining layers evenly; the first ones get one more if there is a remainder. Throws Error
// (usage) if there are more devices than layers, or if the sum of the counts is not `layers`.
Placement FillLayers(const Placement& placement, int64_t layers);

}  // namespace midscope
