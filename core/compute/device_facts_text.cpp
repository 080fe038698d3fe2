// SPDX-License-Identifier: MIT
#include <array>
#include <charconv>
#include <string>

#include "core/compute/device_facts.h"

namespace midscope {
namespace {

std::string Gigabytes(int64_t bytes) {
  std::array<char, 32> text{};
  std::to_chars(text.begin(), text.end(), static_cast<double>(bytes) / 1e9,
                std::chars_format::fixed, 1);
  return text.data();
}

}  // namespace

bool RunsKernels(const DeviceFacts& facts) {
  constexpr int kLeastMajor = 8;
  const std::string& version = facts.compute_capability;
  int major = kLeastMajor;
  std::from_chars(version.data(), version.data() + version.size(), major);
  return major >= kLeastMajor;
}

std::string FreeMemoryText(const DeviceFacts& facts) {
  if (facts.total_bytes == 0) return "";
  return Gigabytes(facts.free_bytes) + " of " + Gigabytes(facts.total_bytes) + " GB free";
}

std::string DeviceFactsText(const DeviceFacts& facts) {
  std::string text = facts.name;
  if (!facts.compute_capability.empty()) text += ", compute capability " + facts.compute_capability;
  if (!RunsKernels(facts)) text += " (below 8.0: LibTorch's operations run the layers)";
  const std::string memory = FreeMemoryText(facts);
  return text + (memory.empty() ? "" : ", " + memory);
}

}  // namespace midscope
