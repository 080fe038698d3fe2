// SPDX-License-Identifier: MIT
#include "core/compute/placement.h"

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/text.h"

namespace midscope {
namespace {

constexpr const char* kForms = "Say cpu, cpu:portable or cuda:N, several with commas between";

// Parses an integer from 0 to `largest`. Returns nullopt if the text contains anything but digits.
std::optional<int64_t> WholeNumber(std::string_view text, int64_t largest) {
  int64_t value = 0;
  if (!ReadWhole(text, value) || text.front() == '-') return std::nullopt;
  return value <= largest ? std::optional(value) : std::nullopt;
}

DeviceName ParseDevice(std::string_view word) {
  if (word == "cpu") return {DeviceKind::kCpu, 0};
  if (word == "cpu:portable") return {DeviceKind::kCpuPortable, 0};
  if (word == "cuda") return {DeviceKind::kCuda, 0};
  constexpr std::string_view kCudaPrefix = "cuda:";
  constexpr int64_t kLargestIndex = 127;  // LibTorch stores the index in 8 bits
  if (word.starts_with(kCudaPrefix)) {
    const auto index = WholeNumber(word.substr(kCudaPrefix.size()), kLargestIndex);
    if (index) return {DeviceKind::kCuda, static_cast<int>(*index)};
  }
  throw UsageError("device '" + std::string(word) + "'", "no such device", kForms);
}

DeviceShare ParseShare(std::string_view text) {
  const size_t equals = text.find('=');
  DeviceShare share{ParseDevice(Trimmed(text.substr(0, equals), " ")), 0};
  if (equals == std::string_view::npos) return share;
  constexpr int64_t kMostLayers = 1024;  // for any model
  const std::string_view count = Trimmed(text.substr(equals + 1), " ");
  const auto layers = WholeNumber(count, kMostLayers);
  if (!layers || *layers == 0) {
    throw UsageError("device '" + std::string(text) + "'",
                     "'" + std::string(count) + "' is not a number of layers",
                     "Say for example cuda:0=20,cpu=12");
  }
  share.layers = *layers;
  return share;
}

}  // namespace

bool Placement::IsPlainCpu() const {
  return std::all_of(shares.begin(), shares.end(), [](const DeviceShare& share) {
    return share.device.kind == DeviceKind::kCpu;
  });
}

bool Placement::Has(DeviceKind kind) const {
  return std::any_of(shares.begin(), shares.end(),
                     [kind](const DeviceShare& share) { return share.device.kind == kind; });
}

Placement ParsePlacement(std::string_view text) {
  Placement placement;
  placement.shares.clear();
  while (true) {
    const size_t comma = text.find(',');
    placement.shares.push_back(ParseShare(Trimmed(text.substr(0, comma), " ")));
    if (comma == std::string_view::npos) return placement;
    text.remove_prefix(comma + 1);
  }
}

std::string DeviceText(const DeviceName& device) {
  switch (device.kind) {
    case DeviceKind::kCpu:
      return "cpu";
    case DeviceKind::kCpuPortable:
      return "cpu:portable";
    case DeviceKind::kCuda:
      return "cuda:" + std::to_string(device.index);
  }
  return "";
}

std::string PrintPlacement(const Placement& placement) {
  std::string text;
  for (const DeviceShare& share : placement.shares) {
    text += (text.empty() ? "" : ",") + DeviceText(share.device);
    if (share.layers > 0) text += "=" + std::to_string(share.layers);
  }
  return text;
}

Placement FillLayers(const Placement& placement, int64_t layers) {
  int64_t counted = 0;
  int64_t open = 0;
  for (const DeviceShare& share : placement.shares) {
    counted += share.layers;
    if (share.layers == 0) ++open;
  }
  const int64_t left = layers - counted;
  const std::string thing = "--device " + PrintPlacement(placement);
  const std::string has = "the model has " + std::to_string(layers) + " layers";
  if (open == 0 && left != 0) {
    throw UsageError(thing, "its counts add up to " + std::to_string(counted) + "; " + has,
                     "Leave one count out: that device takes what the others leave");
  }
  if (left < open) {
    throw UsageError(thing, has + ", too few to give each device one",
                     "Name fewer devices, or smaller counts");
  }
  Placement filled = placement;
  int64_t taken = 0;
  for (DeviceShare& share : filled.shares) {
    if (share.layers > 0) continue;
    share.layers = left / open + (taken < left % open ? 1 : 0);
    ++taken;
  }
  return filled;
}

}  // namespace midscope
