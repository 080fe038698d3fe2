// SPDX-License-Identifier: MIT
// Published settings by name, as data: the meaning of preset(NAME) in an intervention's text.
#pragma once

#include <string>
#include <vector>

namespace midscope {

// The term that selects one of them.
inline constexpr const char* kPresetTerm = "preset";

struct Preset {
  std::string name;    // "channel-vicuna-7b"
  std::string text;    // the intervention; no preset in it
  std::string models;  // what it was published for
  std::string source;
  std::string warning;  // what to know before trusting it; may be empty
  std::string bos{};    // which begin-of-text tokens the published prompts had; "": not stated
};

// In the order in which help lists them.
const std::vector<Preset>& InterventionPresets();

}  // namespace midscope
