// SPDX-License-Identifier: MIT
// The devices of this machine (core/compute/placement.h) that this build can use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/compute/placement.h"

namespace midscope {

// Throws Error (usage) for a device that this build or this machine does not have.
void CheckDevices(const Placement& placement);

// Returns the devices that CheckDevices accepts on this machine: "cpu", "cpu:portable" and the GPUs
// found.
std::vector<DeviceName> AvailableDevices();

// The devices that can run layers on this machine, with their names and memory, as plain values.

struct DeviceFacts {
  DeviceName device;
  std::string name{};                // the CPU's model, the GPU's name; never empty
  std::string compute_capability{};  // for a GPU: "9.0"; else ""
  int64_t total_bytes = 0;           // memory; 0: the GPU did not respond
  int64_t free_bytes = 0;            // the part of it that a program can still allocate
};

// Returns name and memory of AvailableDevices(), in the same order. The first use of a GPU takes
// some hundred MB of its memory. Does not throw: sizes are 0 for a GPU that does not respond.
std::vector<DeviceFacts> ListDeviceFacts();
// Returns name and memory of the devices of the placement, in its order, without duplicates.
std::vector<DeviceFacts> FactsOf(const Placement& placement);
DeviceFacts FactsOf(const DeviceName& device);

// The reason why AvailableDevices() contains no GPU, or not the named one: "this build of Midscope
// has no CUDA". The remedy is "" if there is none.
struct MissingGpu {
  std::string reason;
  std::string remedy;
};
MissingGpu WhyGpuIsMissing();

// Returns the model of the machine's CPU: "AMD EPYC 9B14"; "" if the system does not report it.
std::string CpuName();

// Whether Midscope's kernels run on the device: true on CPUs, and on GPUs of compute capability 8.0
// and later. LibTorch's operations run the layers on older GPUs (a T4 has 7.5).
bool RunsKernels(const DeviceFacts& facts);

// Returns "NVIDIA H100 80GB HBM3, compute capability 9.0, 78.2 of 85.0 GB free".
std::string DeviceFactsText(const DeviceFacts& facts);
// Returns "78.2 of 85.0 GB free"; "" if the memory is not known.
std::string FreeMemoryText(const DeviceFacts& facts);

}  // namespace midscope
