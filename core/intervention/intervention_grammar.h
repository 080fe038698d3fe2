// SPDX-License-Identifier: MIT
// The outer grammar of the intervention text: terms with named arguments, each with its column. The
// meaning of values is described by the terms (term_form.h).
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
  bool quoted = false;  // `text` is the text between the quotation marks
};

struct TextArgument {
  std::string name;    // resolved: the described one where the text has none
  int64_t column = 0;  // of the argument
  bool list = false;   // in brackets
  std::vector<TextAtom> values;
};

struct TextTerm {
  const TermType* term = nullptr;
  int64_t column = 0;
  std::vector<TextArgument> arguments;  // each name at most once
};

// Terms are of these types, argument names those of their types; values are still text. Throws
// Error (usage).
std::vector<TextTerm> ParseTerms(std::string_view text, const std::vector<TermType>& types);

// "intervention text, column 8".
std::string PlaceOf(int64_t column);
// "intervention text, column 8: REASON. REMEDY", a usage error.
Error ErrorAt(int64_t column, const std::string& reason, const std::string& remedy = "");

// Whether an atom of this text needs no quotation marks.
bool IsWord(std::string_view text);

}  // namespace midscope
