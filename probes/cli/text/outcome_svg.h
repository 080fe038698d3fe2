// SPDX-License-Identifier: MIT
// Draws the outcome of a sweep by gold place as SVG, without a graphics library. The program
// midscope-gui draws more.
#pragma once

#include <string>
#include <vector>

namespace midscope::cli {

struct OutcomeCurve {
  std::string name;
  std::vector<double> values;  // [place]; values that are not finite leave a gap
};

// Returns an SVG file: one line per curve over the places, with a legend below the title. `places`:
// their labels, evenly spaced. `unit`: label of the vertical axis. At most four curves have
// separate colours.
std::string OutcomeSvg(const std::string& title, const std::string& unit,
                       const std::vector<std::string>& places,
                       const std::vector<OutcomeCurve>& curves);

}  // namespace midscope::cli
