// SPDX-License-Identifier: MIT
#include "core/intervention_text.h"

#include <algorithm>
#include <utility>

#include "core/intervention_edits_text.h"
#include "core/intervention_schemes_text.h"
#include "core/intervention_values.h"

namespace midscope {
namespace {

// channel(...) as written: several channels share the rest.
struct ChannelGroup {
  std::vector<int64_t> channels;
  std::vector<double> factors;
  ChannelScaling rest;
};

// One binding an argument, in the order of the description.
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
      {[](auto& value, const auto& argument, const auto& described) {
         const RowChoice choice = ReadRows(argument, described);
         value.rest.rows = choice.rows;
         value.rest.last_rows = choice.last_rows;
       },
       [](const auto& value, const auto& described) {
         return RowsText({value.rest.rows, value.rest.last_rows}, described);
       }}};
  return bindings;
}

std::vector<ChannelScaling> ReadChannels(const TextTerm& term) {
  const auto group = ReadTerm(term, Bindings(ChannelGroup()));
  RequireArguments(term, {"channel", "factor"}, "channel(100, factor=-1)");
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
    if (AddEdit(term, intervention)) continue;
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
  if (std::string scheme = PrintScheme(intervention.positions); !scheme.empty())
    terms.push_back(std::move(scheme));
  for (const ChannelScaling& scaling : intervention.channels) {
    const ChannelGroup group{{}, {}, scaling};
    terms.push_back(PrintTerm("channel", group, Bindings(group)));
  }
  for (std::string& edit : PrintEdits(intervention)) terms.push_back(std::move(edit));
  if (terms.empty()) return "none";
  std::string text = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) text += " + " + terms[i];
  return text;
}

}  // namespace midscope
