// SPDX-License-Identifier: MIT
// Published settings by name, as data. An intervention's text names one with preset(NAME).
#pragma once

#include <string>
#include <vector>

namespace midscope {

// The name of the term that selects a preset.
inline constexpr const char* kPresetTerm = "preset";

struct Preset {
  std::string name;    // "channel-vicuna-7b"
  std::string text;    // the intervention; contains no preset
  std::string models;  // the models that it was published for
  std::string source;
  std::string warning;  // what to know before relying on it; may be empty
  std::string bos{};    // the begin-of-text tokens of the published prompts; "": not stated
};

// Returns the presets in the order in which help lists them.
const std::vector<Preset>& InterventionPresets();

}  // namespace midscope
