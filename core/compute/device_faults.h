// SPDX-License-Identifier: MIT
// Faults of devices while they compute: too little memory, and a GPU that is lost (after a fault in
// a kernel or of the machine) and does not respond until the process ends. Both become a
// DeviceError that names the device, the reason and the remedy. Internal to core.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/compute/placement.h"

namespace midscope {

// The kind of work during which a device failed; selects the remedy in the message.
enum class DeviceWork { kWeights, kRun, kTrace };

class DeviceFaults {
 public:
  static constexpr int64_t kAnyLayer = -1;

  // The layer counts of `placement` must be resolved (FillLayers).
  explicit DeviceFaults(Placement placement = {}) : placement_(std::move(placement)) {}

  // Throws the stored DeviceError if an earlier run has lost a device: it can run no further work,
  // and waiting for it might not end.
  void ThrowIfLost() const;

  // Rethrows the exception that is being handled. Exceptions of LibTorch and CUDA kernels that are
  // a device's fault become a DeviceError (if host memory is too small, an Error, because there is
  // no other device to suggest); all others are rethrown unchanged. `layer`: the layer that was
  // being computed.
  [[noreturn]] void Rethrow(DeviceWork work, int64_t layer = kAnyLayer) const;

 private:
  [[noreturn]] void ThrowMemory(const std::string& message, DeviceWork work, int64_t layer) const;
  [[noreturn]] void ThrowFault(const std::string& message, bool lost, int64_t layer) const;
  DeviceName DeviceAt(int64_t layer) const;

  Placement placement_;
  mutable std::mutex mutex_;
  mutable std::optional<DeviceError> lost_;  // guarded by mutex_
};

// Returns the result of `work`, which uses devices. Throws in the same cases as ThrowIfLost and
// Rethrow.
template <typename Work>
auto OnDevices(const DeviceFaults& faults, DeviceWork kind, Work work) {
  faults.ThrowIfLost();
  try {
    return work();
  } catch (...) {
    faults.Rethrow(kind);
  }
}

}  // namespace midscope
