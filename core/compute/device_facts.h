// SPDX-License-Identifier: MIT
// The devices that can run layers here, with their names and memory, as plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/compute/placement.h"

namespace midscope {

struct DeviceFacts {
  DeviceName device;
  std::string name{};                // the CPU's model, the GPU's name; never empty
  std::string compute_capability{};  // of a GPU: "9.0"; else ""
  int64_t total_bytes = 0;           // memory; 0: the GPU did not answer
  int64_t free_bytes = 0;            // of it, what a program can still take
};

// Facts of AvailableDevices(), in their order. For a GPU this takes some hundred MB of its memory,
// once per process, as any other use of it does. Throws nothing: a GPU that does not answer has no
// memory.
std::vector<DeviceFacts> ListDeviceFacts();
// Facts of the devices of the placement, each once, in its order.
std::vector<DeviceFacts> FactsOf(const Placement& placement);
DeviceFacts FactsOf(const DeviceName& device);

// Why no GPU, or not the one that is named, is among AvailableDevices(): "this build of Midscope
// has no CUDA". The remedy: "" where Midscope has none.
struct MissingGpu {
  std::string reason;
  std::string remedy;
};
MissingGpu WhyGpuIsMissing();

// The model of the machine's CPU: "AMD EPYC 9B14"; "" where the system does not report it.
std::string CpuName();

// "NVIDIA H100 80GB HBM3, compute capability 9.0, 78.2 of 85.0 GB free".
std::string DeviceFactsText(const DeviceFacts& facts);
// "78.2 of 85.0 GB free"; "" where nothing is known.
std::string FreeMemoryText(const DeviceFacts& facts);

}  // namespace midscope
