// SPDX-License-Identifier: MIT
// Letters for settings whose texts are too wide for a table.
#pragma once

#include <string>
#include <vector>

namespace midscope::cli {

class SettingLetters {
 public:
  // Letters stand for all of them where one is wider than 40 characters, else each for itself.
  explicit SettingLetters(const std::vector<std::string>& settings);

  // What stands in the table.
  const std::string& Name(size_t setting) const { return names_[setting]; }
  // A line for each letter, with the text; "" where there are none.
  const std::string& Legend() const { return legend_; }

 private:
  std::vector<std::string> names_;
  std::string legend_;
};

}  // namespace midscope::cli
