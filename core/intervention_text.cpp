// SPDX-License-Identifier: MIT
#include "core/intervention_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "core/intervention_grammar.h"
#include "core/nearest_word.h"
#include "core/number_text.h"

namespace midscope {
namespace {

// channel(...) as written: several channels share the rest.
struct ChannelGroup {
  std::vector<int64_t> channels;
  std::vector<double> factors;
  ChannelScaling rest;
};

const TextAtom& OnlyValue(const TextArgument& argument) {
  if (argument.list) {
    throw ErrorAt(argument.column, "'" + argument.name + "' takes one value, not a list");
  }
  return argument.values.front();
}

template <typename T>
T Number(const TextAtom& atom, const TermArgument& described) {
  T value{};
  const bool whole = std::is_integral_v<T>;
  if (!ReadWhole(atom.text, value) || !std::isfinite(static_cast<double>(value))) {
    throw ErrorAt(atom.column, "'" + described.name + "' must be a " + (whole ? "whole " : "") +
                                   "number, not '" + atom.text + "'");
  }
  const auto number = static_cast<double>(value);
  if (number < described.minimum || number > described.maximum) {
    throw ErrorAt(atom.column, "'" + described.name + "' must be from " +
                                   NumberText(described.minimum) + " to " +
                                   NumberText(described.maximum) + ", not " + atom.text);
  }
  return value;
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

// Sorted, with overlapping and touching ranges joined, so that equal sets are equal values.
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

// How one argument is read into a value and printed from it. An empty print leaves it out.
template <typename T>
struct Binding {
  void (*read)(T&, const TextArgument&, const TermArgument&);
  std::string (*print)(const T&, const TermArgument&);
};

bool OpenEnded(const LayerSet& layers) {
  return !layers.all && layers.ranges.size() == 1 && layers.ranges[0].last == kEveryLayerAfter;
}

// One binding an argument, in the order of the description.
const std::vector<Binding<PositionInterpolation>>& Bindings(const PositionInterpolation&) {
  static const std::vector<Binding<PositionInterpolation>> bindings = {
      {[](auto& value, const auto& argument, const auto& described) {
         value.ratio = Number<double>(OnlyValue(argument), described);
       },
       [](const auto& value, const auto&) { return NumberText(value.ratio); }}};
  return bindings;
}

const std::vector<Binding<MsPoe>>& Bindings(const MsPoe&) {
  static const std::vector<Binding<MsPoe>> bindings = {
      {[](auto& value, const auto& argument, const auto& described) {
         value.min = Number<double>(OnlyValue(argument), described);
       },
       [](const auto& value, const auto&) { return NumberText(value.min); }},
      {[](auto& value, const auto& argument, const auto& described) {
         value.max = Number<double>(OnlyValue(argument), described);
       },
       [](const auto& value, const auto&) { return NumberText(value.max); }},
      {[](auto& value, const auto& argument, const auto& described) {
         value.mode = static_cast<MsPoeMode>(Choice(OnlyValue(argument), described));
       },
       [](const auto& value, const auto& described) {
         return described.choices.at(static_cast<size_t>(value.mode));
       }},
      {[](auto& value, const auto& argument, const auto& described) {
         value.order = static_cast<MsPoeOrder>(Choice(OnlyValue(argument), described));
       },
       [](const auto& value, const auto& described) {
         return described.choices.at(static_cast<size_t>(value.order));
       }},
      {[](auto& value, const auto& argument, const auto& described) {
         value.layers = {false,
                         {{Number<int64_t>(OnlyValue(argument), described), kEveryLayerAfter}}};
       },
       [](const auto& value, const auto&) {
         return OpenEnded(value.layers) ? std::to_string(value.layers.ranges[0].first) : "";
       }},
      {[](auto& value, const auto& argument, const auto&) { value.layers = ReadLayers(argument); },
       [](const auto& value, const auto&) {
         return OpenEnded(value.layers) ? "" : value.layers.Text();
       }}};
  return bindings;
}

void ReadRows(ChannelGroup& value, const TextArgument& argument, const TermArgument& described) {
  const TextAtom& atom = OnlyValue(argument);
  constexpr std::string_view kPrefix = "last:";
  if (atom.text.rfind(kPrefix, 0) == 0 && atom.text != "last:N") {
    TermArgument count;
    count.name = "rows=last:N";
    count.minimum = 1;
    count.maximum = kEveryLayerAfter;
    value.rest.rows = ChannelRows::kLastN;
    value.rest.last_rows = Number<int64_t>(
        {atom.text.substr(kPrefix.size()), atom.column + static_cast<int64_t>(kPrefix.size())},
        count);
    return;
  }
  value.rest.rows = static_cast<ChannelRows>(Choice(atom, described));
  if (value.rest.rows == ChannelRows::kLastN) {
    throw ErrorAt(atom.column, "N must be a number", "Write for example rows=last:16");
  }
}

const std::vector<Binding<ChannelGroup>>& Bindings(const ChannelGroup&) {
  static const std::vector<Binding<ChannelGroup>> bindings = {
      {[](auto& value, const auto& argument, const auto& described) {
         for (const TextAtom& atom : argument.values) {
           value.channels.push_back(Number<int64_t>(atom, described));
         }
       },
       [](const auto& value, const auto&) { return std::to_string(value.rest.channel); }},
      {[](auto& value, const auto& argument, const auto& described) {
         for (const TextAtom& atom : argument.values) {
           value.factors.push_back(Number<double>(atom, described));
         }
       },
       [](const auto& value, const auto&) { return NumberText(value.rest.factor); }},
      {[](auto& value, const auto& argument, const auto&) {
         value.rest.layers = ReadLayers(argument);
       },
       [](const auto& value, const auto&) { return value.rest.layers.Text(); }},
      {ReadRows, [](const auto& value, const auto& described) {
         if (value.rest.rows == ChannelRows::kLastN) {
           return "last:" + std::to_string(value.rest.last_rows);
         }
         return described.choices.at(static_cast<size_t>(value.rest.rows));
       }}};
  return bindings;
}

template <typename T>
T ReadTerm(const TextTerm& term) {
  T value;
  const auto& described = term.term->arguments;
  for (const TextArgument& argument : term.arguments) {
    for (size_t i = 0; i < described.size(); ++i) {
      if (described[i].name == argument.name) {
        Bindings(value).at(i).read(value, argument, described[i]);
      }
    }
  }
  return value;
}

const TextArgument* Find(const TextTerm& term, std::string_view name) {
  for (const TextArgument& argument : term.arguments) {
    if (argument.name == name) return &argument;
  }
  return nullptr;
}

MsPoe ReadMsPoe(const TextTerm& term) {
  const TextArgument* first_layer = Find(term, "first_layer");
  const TextArgument* layers = Find(term, "layers");
  if (first_layer && layers) {
    throw ErrorAt(std::max(first_layer->column, layers->column),
                  "'first_layer' and 'layers' both say where to begin", "Leave one of the two out");
  }
  auto value = ReadTerm<MsPoe>(term);
  if (value.min > value.max) {
    const TextArgument* named = Find(term, "min") ? Find(term, "min") : Find(term, "max");
    throw ErrorAt(
        named->column,
        "min (" + NumberText(value.min) + ") is larger than max (" + NumberText(value.max) + ")",
        "Swap them and write order=score-reversed or order=reversed to turn the order");
  }
  return value;
}

std::vector<ChannelScaling> ReadChannels(const TextTerm& term) {
  const auto group = ReadTerm<ChannelGroup>(term);
  for (const char* name : {"channel", "factor"}) {
    if (!Find(term, name)) {
      throw ErrorAt(term.column, std::string("'channel' needs its argument '") + name + "'",
                    "Write for example channel(100, factor=-1)");
    }
  }
  const TextArgument& factors = *Find(term, "factor");
  if (factors.list && group.factors.size() != group.channels.size()) {
    throw ErrorAt(factors.column,
                  std::to_string(group.factors.size()) + " factors for " +
                      std::to_string(group.channels.size()) + " channels",
                  "Give one factor, or one for each channel");
  }
  std::vector<ChannelScaling> scalings;
  for (size_t i = 0; i < group.channels.size(); ++i) {
    scalings.push_back(group.rest);
    scalings.back().channel = group.channels[i];
    scalings.back().factor = group.factors[factors.list ? i : 0];
  }
  return scalings;
}

bool Overlap(const LayerSet& a, const LayerSet& b) {
  if (a.all || b.all) return true;
  return std::any_of(a.ranges.begin(), a.ranges.end(), [&b](const LayerSet::Range& x) {
    return std::any_of(b.ranges.begin(), b.ranges.end(), [&x](const LayerSet::Range& y) {
      return x.first <= y.last && y.first <= x.last;
    });
  });
}

void AddChannels(const TextTerm& term, Intervention& intervention) {
  for (const ChannelScaling& scaling : ReadChannels(term)) {
    for (const ChannelScaling& before : intervention.channels) {
      if (before.channel == scaling.channel && Overlap(before.layers, scaling.layers)) {
        throw ErrorAt(
            term.column,
            "channel " + std::to_string(scaling.channel) + " is scaled twice in the same layer",
            "Give each channel one factor a layer");
      }
    }
    intervention.channels.push_back(scaling);
  }
}

PositionScheme ReadScheme(const TextTerm& term) {
  if (term.term->name == "pi") return ReadTerm<PositionInterpolation>(term);
  if (term.term->name == "ms-poe") return ReadMsPoe(term);
  return NoScheme{};
}

template <typename T>
std::string PrintTerm(std::string_view name, const T& value) {
  for (const Term& term : InterventionTerms()) {
    if (term.name != name) continue;
    std::string arguments;
    for (size_t i = 0; i < term.arguments.size(); ++i) {
      const std::string text = Bindings(value).at(i).print(value, term.arguments[i]);
      if (text.empty()) continue;
      if (!arguments.empty()) arguments += ", ";
      const bool bare = i == 0 && TakesBareArgument(term);
      arguments += bare ? text : term.arguments[i].name + "=" + text;
    }
    return term.name + "(" + arguments + ")";
  }
  throw std::logic_error("no term is named " + std::string(name));
}

}  // namespace

Intervention ParseIntervention(std::string_view text) {
  Intervention intervention;
  const TextTerm* scheme = nullptr;
  const std::vector<TextTerm> terms = ParseTerms(text);
  for (const TextTerm& term : terms) {
    if (term.term->name == "channel") {
      AddChannels(term, intervention);
      continue;
    }
    if (scheme) {
      throw ErrorAt(term.column,
                    "'" + term.term->name + "' is a second position scheme after '" +
                        scheme->term->name + "'",
                    "Keep one of them");
    }
    scheme = &term;
    intervention.positions = ReadScheme(term);
  }
  return intervention;
}

std::string PrintIntervention(const Intervention& intervention) {
  std::vector<std::string> terms;
  if (const auto* scheme = std::get_if<PositionInterpolation>(&intervention.positions)) {
    terms.push_back(PrintTerm("pi", *scheme));
  } else if (const auto* ms_poe = std::get_if<MsPoe>(&intervention.positions)) {
    terms.push_back(PrintTerm("ms-poe", *ms_poe));
  }
  for (const ChannelScaling& scaling : intervention.channels) {
    terms.push_back(PrintTerm("channel", ChannelGroup{{}, {}, scaling}));
  }
  if (terms.empty()) return "none";
  std::string text = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) text += " + " + terms[i];
  return text;
}

}  // namespace midscope
