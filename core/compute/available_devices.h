// SPDX-License-Identifier: MIT
// The devices of this machine (core/compute/placement.h) that this build can use.
#pragma once

#include <vector>

#include "core/compute/placement.h"

namespace midscope {

// Throws Error (usage) for a device that this build or this machine does not have.
void CheckDevices(const Placement& placement);

// Returns the devices that CheckDevices accepts on this machine: "cpu", "cpu:portable" and the GPUs
// found.
std::vector<DeviceName> AvailableDevices();

}  // namespace midscope
