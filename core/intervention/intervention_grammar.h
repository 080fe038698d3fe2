// SPDX-License-Identifier: MIT
// The outer grammar of the intervention text: terms with named arguments, each with its column. The
// terms define the meaning of values (term_form.h).
//
//   text     = term { "+" term }
//   term     = word [ "(" [ argument { "," argument } ] ")" ]
//   argument = [ word "=" ] ( atom | "[" atom { "," atom } "]" )
//   atom     = word | '"' any characters but '"' '"'
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/intervention/term_type.h"

namespace midscope {

struct TextAtom {
  std::string text;
  int64_t column = 0;   // 1-based, in characters
  bool quoted = false;  // `text` was between quotation marks, which are removed
};

struct TextArgument {
  std::string name;    // full name of the argument, even if the text omits it
  int64_t column = 0;  // the argument's column
  bool list = false;   // whether the values were in brackets
  std::vector<TextAtom> values;
};

struct TextTerm {
  const TermType* term = nullptr;
  int64_t column = 0;
  std::vector<TextArgument> arguments;  // each name at most once
};

// Parses the text into terms of `types`. Argument names are checked against the types; values are
// not parsed yet. Throws Error (usage).
std::vector<TextTerm> ParseTerms(std::string_view text, const std::vector<TermType>& types);

// Returns the location text for messages: "setting, column 8".
std::string PlaceOf(int64_t column);
// Returns the usage error "setting, column 8: REASON. REMEDY".
Error ErrorAt(int64_t column, const std::string& reason, const std::string& remedy = "");

// Whether the text may be written as an atom without quotation marks.
bool IsWord(std::string_view text);

}  // namespace midscope
