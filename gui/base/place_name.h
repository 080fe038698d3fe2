// SPDX-License-Identifier: GPL-3.0-or-later
// How places of the gold passage are called: ranks, or depths in percent where the task has these.
#pragma once

#include <QString>
#include <map>
#include <vector>

#include "core/base/record.h"

namespace midscope {

// "50 %" where the prompt's place is printed as a share (its attribute place_text), else "10"; ""
// for none.
QString PlaceName(const Record& prompt);
// What the prompt is among those of its request: "50 %", "10", "gold 3 of 8" of own text with
// pieces, "own text".
QString PromptName(const Record& prompt);
// Names of places that are not their rank, from prompts, or from a file's record of a sweep.
std::map<double, QString> PlaceNames(const std::vector<Record>& prompts,
                                     const std::vector<Record>& file_records);

}  // namespace midscope
