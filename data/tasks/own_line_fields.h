// SPDX-License-Identifier: MIT
// The fields of one of a user's lines, under any of the names that retrieval logs have for them.
// Internal to data/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/base/json_fields.h"
#include "data/tasks/own_lines.h"

namespace midscope {

// Gold pieces of a line as the file states them.
struct StatedGold {
  std::vector<int64_t> numbers;  // as in the file, in its order; empty if documents are marked
  std::vector<size_t> marked;    // 0-based documents with a mark, or that are named
  std::string missing;           // a name or text that no document has; "": none
};

// Which fields the lines of a file have besides the known ones, for notes.
struct FieldUse {
  std::set<std::string> ignored;
  std::set<std::string> guessed;  // "'user_input' as question"
};

// One line whose gold numbers can be interpreted only when all lines are known.
struct RawLine {
  std::string thing;
  OwnLine line;
  StatedGold gold;
  bool is_unanswered = false;  // its answers are empty; the rest is not read
};

// Reads a line, with its pieces in the order of the file, and adds its other fields to `use`.
// Throws Error (failure) as ReadOwnLines does for a single line; the remedy is at least the name of
// the help page.
RawLine ReadOwnLine(const JsonFields& fields, FieldUse& use);

}  // namespace midscope
