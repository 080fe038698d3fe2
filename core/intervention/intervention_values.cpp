// SPDX-License-Identifier: MIT
#include "core/intervention/intervention_values.h"

#include <algorithm>

#include "core/base/nearest_word.h"

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

}  // namespace

const TextAtom& OnlyValue(const TextArgument& argument) {
  if (argument.list) {
    throw ErrorAt(argument.column, "'" + argument.name + "' takes one value, not a list");
  }
  return argument.values.front();
}

void CheckRange(const TextAtom& atom, const TermArgument& described, double number) {
  if (number >= described.minimum && number <= described.maximum) return;
  throw ErrorAt(atom.column, "'" + described.name + "' must be from " +
                                 NumberText(described.minimum) + " to " +
                                 NumberText(described.maximum) + ", not " + atom.text);
}

size_t Choice(const TextAtom& atom, const TermArgument& described) {
  const auto& choices = described.choices;
  const auto found = std::find(choices.begin(), choices.end(), atom.text);
  if (found == choices.end()) {
    throw ErrorAt(atom.column, "'" + described.name + "' can't be '" + atom.text + "'",
                  KnownWordsHint(atom.text, choices));
  }
  return static_cast<size_t>(found - choices.begin());
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

int64_t NumberAfter(const TextAtom& atom, const std::string& prefix, int64_t minimum,
                    int64_t maximum) {
  TermArgument described;
  described.name = prefix + ":N";
  described.minimum = static_cast<double>(minimum);
  described.maximum = static_cast<double>(maximum);
  const size_t skipped = prefix.size() + 1;
  return Number<int64_t>({atom.text.substr(skipped), atom.column + static_cast<int64_t>(skipped)},
                         described);
}

RowChoice ReadRows(const TextArgument& argument, const TermArgument& described) {
  const TextAtom& atom = OnlyValue(argument);
  if (atom.text.starts_with("last:") && atom.text != "last:N")
    return {ChannelRows::kLastN, NumberAfter(atom, "last", 1, kEveryLayerAfter)};
  const RowChoice choice{static_cast<ChannelRows>(Choice(atom, described))};
  if (choice.rows == ChannelRows::kLastN) {
    throw ErrorAt(atom.column, "N must be a number", "Write for example rows=last:16");
  }
  return choice;
}

std::string RowsText(const RowChoice& choice, const TermArgument& described) {
  if (choice.rows == ChannelRows::kLastN) return "last:" + std::to_string(choice.last_rows);
  return described.choices.at(static_cast<size_t>(choice.rows));
}

const TextArgument* Find(const TextTerm& term, std::string_view name) {
  for (const TextArgument& argument : term.arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

void RequireArguments(const TextTerm& term, const std::vector<std::string>& names,
                      const std::string& example) {
  for (const std::string& name : names) {
    if (Find(term, name)) continue;
    throw ErrorAt(term.column, "'" + term.term->name + "' needs its argument '" + name + "'",
                  "Write for example " + example);
  }
}

const Term& TermNamed(std::string_view name) {
  for (const Term& term : InterventionTerms()) {
    if (term.name == name) return term;
  }
  throw std::logic_error("no term is named " + std::string(name));
}

}  // namespace midscope
