// SPDX-License-Identifier: MIT
#include "core/intervention/intervention_grammar.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t'; }
bool IsWordCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' ||
         c == '.' || c == ':' || c == '/' || c == '*';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void SkipSpace() {
    while (offset_ < text_.size() && IsSpace(text_[offset_])) ++offset_;
  }
  bool AtEnd() const { return offset_ == text_.size(); }

  // Returns the column of the current position, from 1, in characters instead of bytes.
  int64_t Column() const { return 1 + CountCharacters(text_.substr(0, offset_)); }

  bool At(char wanted) {
    SkipSpace();
    return !AtEnd() && text_[offset_] == wanted;
  }

  bool Take(char wanted) {
    if (!At(wanted)) return false;
    ++offset_;
    return true;
  }

  // Reads a run of word characters, including the sign of an exponent ("1e+5").
  TextAtom TakeAtom(const std::string& expected) {
    SkipSpace();
    TextAtom atom{"", Column()};
    while (!AtEnd()) {
      const char c = text_[offset_];
      const bool exponent_sign = c == '+' && atom.text.size() > 1 &&
                                 (atom.text.back() == 'e' || atom.text.back() == 'E') &&
                                 (IsDigit(atom.text[0]) || atom.text[0] == '-');
      if (!IsWordCharacter(c) && !exponent_sign) break;
      atom.text += c;
      ++offset_;
    }
    if (atom.text.empty()) throw Unexpected(expected);
    return atom;
  }

  TextAtom TakeValue() {
    if (!At('"')) return TakeAtom("a value");
    TextAtom atom{"", Column(), true};
    const size_t end = text_.find('"', offset_ + 1);
    if (end == std::string_view::npos)
      throw ErrorAt(atom.column, "this quotation mark is not closed");
    atom.text = text_.substr(offset_ + 1, end - offset_ - 1);
    offset_ = end + 1;
    return atom;
  }

  Error Unexpected(const std::string& expected) {
    SkipSpace();
    if (AtEnd()) return ErrorAt(Column(), "the text ends where " + expected + " should stand");
    size_t length = 1;
    while (offset_ + length < text_.size() && !BeginsCharacter(text_[offset_ + length])) ++length;
    const auto byte = static_cast<uint8_t>(text_[offset_]);
    const std::string found = byte < 0x20 || byte == 0x7F
                                  ? "a control character"
                                  : "'" + std::string(text_.substr(offset_, length)) + "'";
    return ErrorAt(Column(), "found " + found + " where " + expected + " should stand");
  }

 private:
  std::string_view text_;
  size_t offset_ = 0;
};

const TermType* FindTerm(const TextAtom& name, const std::vector<TermType>& types) {
  std::vector<std::string> known;
  for (const TermType& term : types) {
    if (term.name == name.text) return &term;
    known.push_back(term.name);
  }
  throw ErrorAt(name.column, "unknown term '" + name.text + "'", KnownWordsHint(name.text, known));
}

void CheckArgumentName(const TextTerm& term, const TextArgument& argument) {
  std::vector<std::string> known = NamesIn(term.term->arguments);
  if (std::find(known.begin(), known.end(), argument.name) == known.end()) {
    throw ErrorAt(argument.column,
                  "'" + term.term->name + "' has no argument '" + argument.name + "'",
                  known.empty() ? "It takes none" : KnownWordsHint(argument.name, known));
  }
  for (const TextArgument& before : term.arguments) {
    if (before.name == argument.name) {
      throw ErrorAt(argument.column, "argument '" + argument.name + "' occurs twice",
                    "Leave one of the two out");
    }
  }
}

void ParseValues(Scanner& scanner, TextArgument& argument) {
  argument.list = scanner.Take('[');
  do {
    argument.values.push_back(scanner.TakeValue());
  } while (argument.list && scanner.Take(','));
  if (argument.list && !scanner.Take(']')) throw scanner.Unexpected("',' or ']'");
}

TextArgument ParseArgument(Scanner& scanner, const TextTerm& term) {
  TextArgument argument;
  scanner.SkipSpace();
  argument.column = scanner.Column();
  if (scanner.At('[') || scanner.At('"')) {
    ParseValues(scanner, argument);
  } else {
    TextAtom first = scanner.TakeAtom("an argument");
    if (scanner.Take('=')) {
      argument.name = std::move(first.text);
      CheckArgumentName(term, argument);
      ParseValues(scanner, argument);
      return argument;
    }
    argument.values.push_back(std::move(first));
  }
  const auto& described = term.term->arguments;
  const size_t place = term.arguments.size();
  // Arguments without names must come before those with names, in the described order.
  const bool in_order =
      std::equal(term.arguments.begin(), term.arguments.end(), described.begin(),
                 described.begin() + static_cast<std::ptrdiff_t>(std::min(place, described.size())),
                 [](const auto& a, const auto& b) { return a.name == b.name; });
  if (place >= term.term->bare_arguments || !in_order) {
    const auto is_number = [](const TextArgument& one) {
      return one.values.size() == 1 &&
             one.values[0].text.find_first_not_of("0123456789") == std::string::npos;
    };
    if (place > 0 && is_number(argument) && is_number(term.arguments.back())) {
      throw ErrorAt(argument.column, "expected NAME=VALUE",
                    "If one number was meant, write it with a point, as in 1.5");
    }
    throw ErrorAt(argument.column, "expected NAME=VALUE",
                  described.empty() ? "'" + term.term->name + "' takes no arguments"
                                    : "The first argument's name is '" + described[0].name + "'");
  }
  argument.name = described[place].name;
  return argument;
}

TextTerm ParseTerm(Scanner& scanner, const std::vector<TermType>& types) {
  const TextAtom name = scanner.TakeAtom("a term");
  TextTerm term{FindTerm(name, types), name.column, {}};
  if (!scanner.Take('(') || scanner.Take(')')) return term;
  do {
    term.arguments.push_back(ParseArgument(scanner, term));
  } while (scanner.Take(','));
  if (!scanner.Take(')')) throw scanner.Unexpected("',' or ')'");
  return term;
}

}  // namespace

bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsWordCharacter);
}

std::string PlaceOf(int64_t column) { return fmt::format("setting, column {}", column); }

Error ErrorAt(int64_t column, const std::string& reason, const std::string& remedy) {
  return UsageError(PlaceOf(column), reason, remedy);
}

std::vector<TextTerm> ParseTerms(std::string_view text, const std::vector<TermType>& types) {
  Scanner scanner(text);
  scanner.SkipSpace();
  if (scanner.AtEnd()) {
    throw ErrorAt(1, "the text is empty", "Write 'none' for an unchanged run");
  }
  std::vector<TextTerm> terms;
  do {
    terms.push_back(ParseTerm(scanner, types));
  } while (scanner.Take('+'));
  scanner.SkipSpace();
  if (!scanner.AtEnd()) throw scanner.Unexpected("'+' or the end");
  return terms;
}

}  // namespace midscope
