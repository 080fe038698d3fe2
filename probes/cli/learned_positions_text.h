// SPDX-License-Identifier: MIT
// The record learned_positions in words and as JSON, for `midscope rope MODEL`.
#pragma once

#include <string>

#include "core/base/record.h"

namespace midscope::cli {

// `file`: where it is written to; empty: nowhere.
std::string LearnedPositionsText(const Record& record, const std::string& file);
std::string LearnedPositionsJson(const Record& record, const std::string& file);

}  // namespace midscope::cli
