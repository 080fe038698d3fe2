// SPDX-License-Identifier: MIT
// Replaces settings whose texts are too wide for a table by letters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "probes/cli/console/terminal.h"

namespace midscope::cli {

class SettingLetters {
 public:
  // All settings are replaced by letters if one is wider than 40 characters (24 in a terminal of
  // less than 100 columns); otherwise their texts are used.
  explicit SettingLetters(const std::vector<std::string>& settings,
                          std::optional<size_t> terminal_width = TerminalWidth());

  // The setting's name in the table: its letter or its text.
  const std::string& Name(size_t setting) const { return names_[setting]; }
  // One line per letter with the setting's text; "" if there are no letters.
  const std::string& Legend() const { return legend_; }

 private:
  std::vector<std::string> names_;
  std::string legend_;
};

}  // namespace midscope::cli
