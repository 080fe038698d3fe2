// SPDX-License-Identifier: MIT
// Reads the fields of one line of a user's file, under any name that they have in retrieval logs.
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

// The gold pieces (which contain the answer) of a line, as the file states them.
struct StatedGold {
  std::vector<int64_t> numbers;  // numbers in the file, in order; empty if documents are marked
  std::vector<size_t> marked;    // indices from 0 of documents that are marked or named
  std::string missing;           // stated name or text that no document has; "": none
};

// Fields in the lines of a file that are not known names, for notes to the user.
struct FieldUse {
  std::set<std::string> ignored;
  std::set<std::string> guessed;  // "'user_input' as question"
};

// One parsed line. Whether gold numbers count from 0 or 1 is determined only from all lines.
struct RawLine {
  std::string thing;
  OwnLine line;
  StatedGold gold;
  bool is_unanswered = false;  // answers are empty; other fields are not read
};

// Parses a line, with its documents in the order of the file, and adds unknown and guessed fields
// to `use`. Throws Error (failure) for the faults of a single line that ReadOwnLines lists.
RawLine ReadOwnLine(const JsonFields& fields, FieldUse& use);

}  // namespace midscope
