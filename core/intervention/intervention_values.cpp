// SPDX-License-Identifier: MIT
#include "core/intervention/intervention_values.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/intervention/head_set_file.h"

namespace midscope {
namespace {

LayerSet::Range ReadRange(const TextAtom& atom) {
  const size_t dash = atom.text.find('-');
  const std::string_view text = atom.text;
  LayerSet::Range range;
  const bool read = ReadWhole(text.substr(0, dash), range.first) &&
                    (dash == std::string::npos || ReadWhole(text.substr(dash + 1), range.last));
  if (dash == std::string::npos) range.last = range.first;
  if (!read || range.first < 0 || range.last < 0 || range.last > kEveryLayerAfter) {
    throw ErrorAt(atom.column, "layers must be all, 8, 8-25 or [2-8,12], not '" + atom.text + "'");
  }
  if (range.last < range.first) {
    throw ErrorAt(atom.column, "the layer range '" + atom.text + "' runs backwards",
                  "Write the smaller layer first");
  }
  return range;
}

// Whether the text consists only of digits, ':' and '-'. An unquoted name of this form is treated
// as a mistyped token range.
bool LooksLikeTokens(std::string_view text) {
  return text.find_first_not_of("0123456789:-") == std::string_view::npos;
}

// Reads the numbers after the H or G: "3", "0-3", "*".
bool ReadHeadNumbers(std::string_view text, HeadName& name) {
  if (text == "*") {
    name.more = kEveryHeadAfter;
    return true;
  }
  const size_t dash = text.find('-');
  if (!ReadWhole(text.substr(0, dash), name.head) || name.head < 0) return false;
  if (dash == std::string_view::npos) return true;
  int64_t last = 0;
  if (!ReadWhole(text.substr(dash + 1), last) || last < name.head || last >= kEveryHeadAfter)
    return false;
  name.more = last - name.head;
  return true;
}

HeadName ReadHead(const TextAtom& atom) {
  if (atom.text == "all") return HeadName::All();
  const std::string_view text = atom.text;
  const size_t mark = text.find_first_of("HG");
  HeadName name;
  const bool read = text.starts_with("L") && mark != std::string_view::npos &&
                    ReadWhole(text.substr(1, mark - 1), name.layer) && name.layer >= 0 &&
                    name.layer < kEveryLayerAfter && ReadHeadNumbers(text.substr(mark + 1), name);
  if (!read) {
    throw ErrorAt(atom.column, "'" + atom.text + "' is not a head",
                  "Write L12H3 for layer 12, head 3, L12H0-3 or L12H* for several of its heads, "
                  "L12G1 for key head 1 of layer 12, all, or file:NAME");
  }
  name.group = text[mark] == 'G';
  return name;
}

// Returns the heads of "file:NAME".
std::vector<HeadName> HeadsOfFile(const TextAtom& atom) {
  try {
    return ReadHeadSetFile(std::string_view(atom.text).substr(kHeadFileMark.size()));
  } catch (const Error& error) {
    throw ErrorAt(atom.column, error.what());
  }
}

}  // namespace

const TextAtom& OnlyValue(const TextArgument& argument) {
  if (argument.list) {
    throw ErrorAt(argument.column, "'" + argument.name + "' takes one value, not a list");
  }
  return argument.values.front();
}

std::string ThingAt(const TextAtom& atom, const Parameter& described) {
  return PlaceOf(atom.column) + ": '" + described.name + "'";
}

size_t Choice(const TextAtom& atom, const Parameter& described) {
  const ParameterValue value = ReadValue(described, atom.text, ThingAt(atom, described));
  const auto& choices = described.choices;
  return static_cast<size_t>(
      std::find(choices.begin(), choices.end(), std::get<std::string>(value)) - choices.begin());
}

LayerSet ReadLayers(const TextArgument& argument) {
  if (!argument.list && argument.values.front().text == "all") return {};
  LayerSet set{false, {}};
  std::vector<LayerSet::Range> ranges;
  for (const TextAtom& atom : argument.values) ranges.push_back(ReadRange(atom));
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const LayerSet::Range& range : ranges) {
    if (!set.ranges.empty() && range.first <= set.ranges.back().last + 1) {
      set.ranges.back().last = std::max(set.ranges.back().last, range.last);
    } else {
      set.ranges.push_back(range);
    }
  }
  return set;
}

std::optional<int64_t> ReadNumberedChoice(const TextAtom& atom, const Parameter& described,
                                          const std::string& example) {
  if (atom.text == described.numbered_choice)
    throw ErrorAt(atom.column, "N must be a number", "Write for example " + example);
  const auto number = NumberedPart(described, atom.text);
  if (!number) return std::nullopt;
  const auto skipped = static_cast<int64_t>(atom.text.size() - number->size());
  return Number<int64_t>({std::string(*number), atom.column + skipped}, NumberInChoice(described));
}

RowChoice ReadRows(const TextArgument& argument, const Parameter& described) {
  const TextAtom& atom = OnlyValue(argument);
  if (const auto last = ReadNumberedChoice(atom, described, "rows=last:16"))
    return {ChannelRows::kLastN, *last};
  return {static_cast<ChannelRows>(Choice(atom, described))};
}

std::string RowsText(const RowChoice& choice, const Parameter& described) {
  if (choice.rows == ChannelRows::kLastN) return fmt::format("last:{}", choice.last_rows);
  return described.choices.at(static_cast<size_t>(choice.rows));
}

const TextArgument* Find(const TextTerm& term, std::string_view name) {
  for (const TextArgument& argument : term.arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

void RequireArguments(const TextTerm& term, const std::string& example) {
  for (const Parameter& described : term.term->arguments) {
    if (!described.required || Find(term, described.name)) continue;
    throw ErrorAt(term.column,
                  "'" + term.term->name + "' needs its argument '" + described.name + "'",
                  "Write for example " + example);
  }
}

TokenSpan ReadSpan(const TextArgument& argument) {
  const TextAtom& atom = OnlyValue(argument);
  if (atom.quoted && atom.text.empty()) throw ErrorAt(atom.column, "the passage has no name");
  if (atom.quoted || !LooksLikeTokens(atom.text)) return {atom.text};
  const std::string_view text = atom.text;
  const size_t colon = text.find(':');
  TokenSpan span;
  if (colon == std::string_view::npos || !ReadWhole(text.substr(0, colon), span.begin) ||
      !ReadWhole(text.substr(colon + 1), span.end) || span.begin < 0) {
    throw ErrorAt(atom.column, "'span' must be the name of a passage or tokens such as 400:600",
                  "Put a name of digits in quotation marks");
  }
  if (span.end <= span.begin) {
    throw ErrorAt(atom.column, "the tokens '" + atom.text + "' are none",
                  "Write the first and one past the last, such as 400:600");
  }
  return span;
}

std::string SpanText(const TokenSpan& span) {
  if (span.name.empty()) return fmt::format("{}:{}", span.begin, span.end);
  const bool plain = IsWord(span.name) && !LooksLikeTokens(span.name);
  return plain ? span.name : '"' + span.name + '"';
}

std::vector<HeadName> ReadHeads(const TextArgument& argument) {
  std::vector<HeadName> heads;
  std::vector<HeadName> of_files;
  for (const TextAtom& atom : argument.values) {
    if (atom.text.starts_with(kHeadFileMark)) {
      const std::vector<HeadName> of_file = HeadsOfFile(atom);
      of_files.insert(of_files.end(), of_file.begin(), of_file.end());
      continue;
    }
    heads.push_back(ReadHead(atom));
    if (std::count(heads.begin(), heads.end(), heads.back()) > 1)
      throw ErrorAt(atom.column, heads.back().Text() + " occurs twice", "Leave one of the two out");
  }
  heads.insert(heads.end(), of_files.begin(), of_files.end());
  std::sort(heads.begin(), heads.end());
  heads.erase(std::unique(heads.begin(), heads.end()),
              heads.end());  // heads of a file may also be named directly
  return heads;
}

std::string HeadsText(const std::vector<HeadName>& heads) {
  std::string text;
  for (const HeadName& head : heads) text += (text.empty() ? "" : ",") + head.Text();
  return heads.size() == 1 ? text : "[" + text + "]";
}

}  // namespace midscope
