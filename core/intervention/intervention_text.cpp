// SPDX-License-Identifier: MIT
#include "core/intervention/intervention_text.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "core/base/memory_map.h"
#include "core/intervention/intervention_edits_text.h"
#include "core/intervention/intervention_json.h"
#include "core/intervention/intervention_schemes_text.h"
#include "core/intervention/intervention_values.h"
#include "core/intervention/presets.h"

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
       }},
      {[](auto& value, const auto& argument, const auto& described) {
         value.rest.change_value = Choice(OnlyValue(argument), described) == 1;
       },
       // Left out by default: the text of settings from before there was a choice stays theirs.
       [](const auto& value, const auto& described) {
         return value.rest.change_value ? described.choices.at(1) : std::string();
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

// Terms one after the other become one intervention.
class Terms {
 public:
  void Add(const TextTerm& term) {
    const std::string& name = term.term->name;
    if (name == "preset") return AddPreset(term);
    if (name == "channel") return AddChannels(term, intervention_);
    if (AddEdit(term, intervention_)) return;
    if (!scheme_.empty()) {
      throw ErrorAt(term.column,
                    "'" + name + "' is a second position scheme after '" + scheme_ + "'",
                    "Keep one of them");
    }
    scheme_ = name;
    intervention_.positions = ReadScheme(term);
  }

  const Intervention& intervention() const { return intervention_; }

 private:
  void AddPreset(const TextTerm& term) {
    RequireArguments(term, {"name"}, "preset(ms-poe-paper)");
    const size_t index = Choice(OnlyValue(term.arguments.front()), term.term->arguments.front());
    for (TextTerm part : ParseTerms(InterventionPresets().at(index).text)) {
      part.column = term.column;
      Add(part);
    }
  }

  Intervention intervention_;
  std::string scheme_;  // name of the position scheme's term
};

// An intervention in a file, as text on any number of lines or as JSON.
Intervention OfFile(std::string_view path) {
  constexpr int64_t kMaxBytes = int64_t{1} << 20;
  while (!path.empty() && std::isspace(static_cast<unsigned char>(path.back())) != 0)
    path.remove_suffix(1);
  const MemoryMap map{std::filesystem::path(path)};
  const std::string file(path);
  if (map.size() > kMaxBytes) {
    throw UsageError(file, "it is " + std::to_string(map.size()) +
                               " bytes long; an intervention has at most " +
                               std::to_string(kMaxBytes));
  }
  std::string text(reinterpret_cast<const char*>(map.data()), static_cast<size_t>(map.size()));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  const size_t first = text.find_first_not_of(" \t");
  if (first != std::string::npos && text[first] == '@')
    throw UsageError(file, "it names another file", "Write the intervention itself");
  try {
    return ParseIntervention(text);
  } catch (const Error& error) {
    throw UsageError(file, error.what());
  }
}

}  // namespace

Intervention ParseIntervention(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return InterventionFromJson(text);
  if (first != std::string_view::npos && text[first] == '@') return OfFile(text.substr(first + 1));
  Terms terms;
  for (const TextTerm& term : ParseTerms(text)) terms.Add(term);
  return terms.intervention();
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
