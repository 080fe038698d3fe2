// SPDX-License-Identifier: MIT
#include "core/compute/device_faults.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/environment.h"
#include "core/compute/device_facts.h"

#ifdef MIDSCOPE_CUDA
#include "kernels/cuda/launch.h"
#endif

namespace midscope {
namespace {

// Values of cudaError_t after which every call of the process fails: cudaErrorNoDevice and
// cudaErrorDevicesUnavailable, uncorrectable ECC and NVLink errors, illegal addresses and
// instructions, time-outs and faults of kernels, destroyed contexts, unknown errors.
constexpr std::array kStickyCodes = {46,  100, 127, 214, 220, 700, 702, 709, 710,
                                     714, 715, 716, 717, 718, 719, 721, 802, 999};

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

const char* Needed(DeviceWork work) {
  switch (work) {
    case DeviceWork::kWeights:
      return "the model's weights";
    case DeviceWork::kRun:
      return "this run";
    case DeviceWork::kTrace:
      return "what is kept of this run";
  }
  return "";
}

// Returns the remedy text of a memory error: ways to use less memory for this kind of work.
std::string Smaller(DeviceWork work) {
  return work == DeviceWork::kWeights ? "--dtype bfloat16 or --weights stored"
                                      : "--dtype bfloat16, a shorter prompt or fewer captures";
}

// Returns the device of a layer; layers beyond the last are on the last layer's device.
DeviceName DeviceOf(const Placement& placement, int64_t layer) {
  for (const DeviceShare& share : placement.shares) {
    if (layer < share.layers) return share.device;
    layer -= share.layers;
  }
  return placement.shares.back().device;
}

bool Contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// Whether the message comes from LibTorch's CUDA parts or its libraries.
bool IsOfGpu(const std::string& message) {
  return Contains(message, "CUDA error") || Contains(message, "CUDA driver error") ||
         Contains(message, "CUBLAS_STATUS") || Contains(message, "CUDNN_STATUS") ||
         Contains(message, "cuDNN error");
}

// Finds the GPU in LibTorch's message about too little memory: "GPU 1 has a total capacity of ...".
std::optional<DeviceName> GpuIn(const std::string& message) {
  constexpr std::string_view kBefore = "GPU ";
  const size_t found = message.find(kBefore);
  if (found == std::string::npos) return std::nullopt;
  DeviceName device{DeviceKind::kCuda, 0};
  const char* begin = message.data() + found + kBefore.size();
  const auto read = std::from_chars(begin, message.data() + message.size(), device.index);
  return read.ec == std::errc() ? std::optional(device) : std::nullopt;
}

// Whether the GPU still responds: allocates and fills one number.
bool Answers(const DeviceName& device) {
  try {
    at::zeros({1}, at::TensorOptions().device(
                       at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(device.index))))
        .cpu();
    return true;
  } catch (const c10::OutOfMemoryError&) {
    return true;
  } catch (const c10::Error&) {
    return false;
  }
}

// Returns the first GPU of the placement that no longer responds.
std::optional<DeviceName> SilentGpu(const Placement& placement) {
  for (const DeviceShare& share : placement.shares) {
    if (share.device.kind == DeviceKind::kCuda && !Answers(share.device)) return share.device;
  }
  return std::nullopt;
}

// Whether the message is LibTorch's "[enforce fail at alloc_cpu.cpp:117] err == 0.
// DefaultCPUAllocator: can't allocate memory: ...".
bool IsOfHostMemory(const std::string& message) { return Contains(message, "DefaultCPUAllocator"); }

}  // namespace

void DeviceFaults::ThrowIfLost() const {
  const std::lock_guard lock(mutex_);
  if (lost_) throw DeviceError(*lost_);
}

DeviceName DeviceFaults::DeviceAt(int64_t layer) const {
  if (layer != kAnyLayer) return DeviceOf(placement_, layer);
  const auto other =
      std::find_if(placement_.shares.begin(), placement_.shares.end(),
                   [](const DeviceShare& share) { return share.device.kind != DeviceKind::kCpu; });
  return other == placement_.shares.end() ? DeviceName() : other->device;
}

void DeviceFaults::ThrowMemory(const std::string& message, DeviceWork work, int64_t layer) const {
  const DeviceName device =
      IsOfHostMemory(message) ? DeviceName() : GpuIn(message).value_or(DeviceAt(layer));
  // Empties LibTorch's cache. It keeps the memory of the failed work, and CUDA libraries could not
  // allocate any for themselves.
  if (device.kind == DeviceKind::kCuda && at::globalContext().hasCUDA())
    at::getDeviceAllocator(at::kCUDA)->emptyCache();
  const std::string memory = FreeMemoryText(FactsOf(device));
  const std::string reason = std::string("its memory is too small for ") + Needed(work) +
                             (memory.empty() ? "" : " (" + memory + " now)");
  const std::string thing = "device " + DeviceText(device);
  if (device.kind == DeviceKind::kCpu) {
    const std::string limit = MemoryLimitText();
    throw MemoryError(thing, reason + limit,
                      (limit.empty() ? "" : "Ask for a larger limit, or ") +
                          std::string(limit.empty() ? "Choose " : "choose ") + Smaller(work));
  }
  throw DeviceError(/*lost=*/false, thing, reason,
                    "Give it fewer layers (--device " + DeviceText(device) + "=N,cpu), or choose " +
                        Smaller(work) + ", or --device cpu");
}

void DeviceFaults::ThrowFault(const std::string& message, bool lost, int64_t layer) const {
  const std::optional<DeviceName> silent = SilentGpu(placement_);
  const std::string thing = "device " + DeviceText(silent.value_or(DeviceAt(layer)));
  const std::string said = FirstLine(message);
  if (!lost && !silent) {
    throw DeviceError(/*lost=*/false, thing, "it failed (" + said + ")",
                      "Run again; where it fails again, choose --device cpu");
  }
  const DeviceError error(
      /*lost=*/true, thing, "it is lost (" + said + ")",
      "Open the model on another one: --device cpu. Midscope has to be started anew "
      "before it can use this one");
  const std::lock_guard lock(mutex_);
  if (!lost_) lost_ = error;
  throw DeviceError(*lost_);
}

void DeviceFaults::Rethrow(DeviceWork work, int64_t layer) const {
  try {
    throw;
  } catch (const c10::OutOfMemoryError& error) {
    ThrowMemory(error.what_without_backtrace(), work, layer);
  } catch (const c10::AcceleratorError& error) {
    const bool sticky = std::find(kStickyCodes.begin(), kStickyCodes.end(),
                                  error.get_error_code()) != kStickyCodes.end();
    ThrowFault(error.what_without_backtrace(), sticky, layer);
  } catch (const c10::Error& error) {
    const std::string message = error.what_without_backtrace();
    if (IsOfHostMemory(message)) ThrowMemory(message, work, layer);
    if (IsOfGpu(message)) ThrowFault(message, /*lost=*/false, layer);
    throw;
#ifdef MIDSCOPE_CUDA
  } catch (const kernels::cuda::LaunchError& error) {
    ThrowFault(error.what(), /*lost=*/false, layer);
#endif
  }
}

}  // namespace midscope
