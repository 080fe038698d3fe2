// SPDX-License-Identifier: MIT
// Letters for settings whose texts are too wide for a table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "probes/cli/console/terminal.h"

namespace midscope::cli {

class SettingLetters {
 public:
  // Letters replace all of them if one is wider than 40 characters, or 24 in a terminal of less
  // than 100 columns; otherwise the texts are used.
  explicit SettingLetters(const std::vector<std::string>& settings,
                          std::optional<size_t> terminal_width = TerminalWidth());

  // The text in the table.
  const std::string& Name(size_t setting) const { return names_[setting]; }
  // One line per letter, with the text; "" if there are none.
  const std::string& Legend() const { return legend_; }

 private:
  std::vector<std::string> names_;
  std::string legend_;
};

}  // namespace midscope::cli
