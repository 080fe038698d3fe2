// SPDX-License-Identifier: MIT
#include "probes/cli/text/setting_letters.h"

#include <algorithm>

namespace midscope::cli {
namespace {

constexpr size_t kWidest = 40;
constexpr size_t kWidestInNarrow = 24;
constexpr size_t kNarrowTerminal = 100;
constexpr size_t kLetters = 26;

// Returns "a" to "z", "a1" to "z1", ...; capital letters denote files in comparisons.
std::string Letter(size_t index) {
  std::string letter(1, static_cast<char>('a' + index % kLetters));
  if (index >= kLetters) letter += std::to_string(index / kLetters);
  return letter;
}

}  // namespace

SettingLetters::SettingLetters(const std::vector<std::string>& settings,
                               std::optional<size_t> terminal_width)
    : names_(settings) {
  const bool narrow = terminal_width && *terminal_width < kNarrowTerminal;
  const size_t widest = narrow ? kWidestInNarrow : kWidest;
  const bool wide = std::any_of(settings.begin(), settings.end(),
                                [widest](const std::string& text) { return text.size() > widest; });
  for (size_t i = 0; wide && i < settings.size(); ++i) {
    names_[i] = Letter(i);
    legend_ += names_[i] + "  " + settings[i] + "\n";
  }
}

}  // namespace midscope::cli
