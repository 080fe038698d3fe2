// SPDX-License-Identifier: MIT
#include "core/intervention/intervention_edits_text.h"

#include <algorithm>

#include "core/intervention/intervention_values.h"

namespace midscope {
namespace {

// Names made of digits, ':' and '-' alone are taken for mistyped tokens unless they are quoted.
bool LooksLikeTokens(std::string_view text) {
  return text.find_first_not_of("0123456789:-") == std::string_view::npos;
}

Passage ReadPassage(const TextArgument& argument) {
  const TextAtom& atom = OnlyValue(argument);
  if (atom.quoted && atom.text.empty()) throw ErrorAt(atom.column, "the passage has no name");
  if (atom.quoted || !LooksLikeTokens(atom.text)) return {atom.text};
  const std::string_view text = atom.text;
  const size_t colon = text.find(':');
  Passage passage;
  if (colon == std::string_view::npos || !ReadWhole(text.substr(0, colon), passage.begin) ||
      !ReadWhole(text.substr(colon + 1), passage.end) || passage.begin < 0) {
    throw ErrorAt(atom.column, "'span' must be the name of a passage or tokens such as 400:600",
                  "Put a name of digits in quotation marks");
  }
  if (passage.end <= passage.begin) {
    throw ErrorAt(atom.column, "the tokens '" + atom.text + "' are none",
                  "Write the first and one past the last, such as 400:600");
  }
  return passage;
}

std::string PassageText(const Passage& passage) {
  if (passage.name.empty())
    return std::to_string(passage.begin) + ":" + std::to_string(passage.end);
  const bool plain = IsWord(passage.name) && !LooksLikeTokens(passage.name);
  return plain ? passage.name : '"' + passage.name + '"';
}

HeadName ReadHead(const TextAtom& atom) {
  const std::string_view text = atom.text;
  const size_t mark = text.find_first_of("HG");
  HeadName name;
  const bool read = text.starts_with("L") && mark != std::string_view::npos &&
                    ReadWhole(text.substr(1, mark - 1), name.layer) &&
                    ReadWhole(text.substr(mark + 1), name.head) && name.layer >= 0 &&
                    name.head >= 0 && name.layer < kEveryLayerAfter;
  if (!read) {
    throw ErrorAt(atom.column, "'" + atom.text + "' is no head",
                  "Write L12H3 for layer 12, head 3, or L12G1 for key head 1 of layer 12");
  }
  name.group = text[mark] == 'G';
  return name;
}

std::vector<HeadName> ReadHeads(const TextArgument& argument) {
  std::vector<HeadName> heads;
  for (const TextAtom& atom : argument.values) {
    heads.push_back(ReadHead(atom));
    if (std::count(heads.begin(), heads.end(), heads.back()) > 1)
      throw ErrorAt(atom.column, heads.back().Text() + " stands twice", "Leave one of the two out");
  }
  std::sort(heads.begin(), heads.end());
  return heads;
}

std::string HeadsText(const std::vector<HeadName>& heads) {
  std::string text;
  for (const HeadName& head : heads) text += (text.empty() ? "" : ",") + head.Text();
  return heads.size() == 1 ? text : "[" + text + "]";
}

void ReadTo(Move& move, const TextArgument& argument, const TermArgument& described) {
  const TextAtom& atom = OnlyValue(argument);
  if (atom.text.starts_with("shift:") && atom.text != "shift:N") {
    move.to = MoveTo::kShift;
    move.shift = NumberAfter(atom, "shift", -kEveryLayerAfter, kEveryLayerAfter);
    return;
  }
  move.to = static_cast<MoveTo>(Choice(atom, described));
  if (move.to == MoveTo::kShift)
    throw ErrorAt(atom.column, "N must be a number", "Write for example to=shift:-200");
}

// Bindings that several terms share.
template <typename T>
Binding<T> SpanBinding() {
  return {[](T& value, const auto& argument, const auto&) { value.span = ReadPassage(argument); },
          [](const T& value, const auto&) { return PassageText(value.span); }};
}

template <typename T>
Binding<T> LayersBinding() {
  return {[](T& value, const auto& argument, const auto&) { value.layers = ReadLayers(argument); },
          [](const T& value, const auto&) { return value.layers.Text(); }};
}

template <typename T>
Binding<T> RowsBinding() {
  return {[](T& value, const auto& argument, const auto& described) {
            value.rows = ReadRows(argument, described);
          },
          [](const T& value, const auto& described) { return RowsText(value.rows, described); }};
}

template <typename T>
Binding<T> HeadsBinding() {
  return {[](T& value, const auto& argument, const auto&) { value.heads = ReadHeads(argument); },
          [](const T& value, const auto&) { return HeadsText(value.heads); }};
}

const std::vector<Binding<Crop>>& Bindings(const Crop&) {
  static const std::vector<Binding<Crop>> bindings = {
      SpanBinding<Crop>(),
      LayersBinding<Crop>(),
      {[](auto& value, const auto& argument, const auto& described) {
         value.keep = static_cast<CropKeep>(Choice(OnlyValue(argument), described));
       },
       [](const auto& value, const auto& described) {
         return described.choices.at(static_cast<size_t>(value.keep));
       }}};
  return bindings;
}

const std::vector<Binding<Move>>& Bindings(const Move&) {
  static const std::vector<Binding<Move>> bindings = {
      SpanBinding<Move>(),
      {ReadTo,
       [](const auto& value, const auto& described) {
         if (value.to == MoveTo::kShift) return "shift:" + std::to_string(value.shift);
         return described.choices.at(static_cast<size_t>(value.to));
       }},
      LayersBinding<Move>(),
      RowsBinding<Move>()};
  return bindings;
}

const std::vector<Binding<Boost>>& Bindings(const Boost&) {
  static const std::vector<Binding<Boost>> bindings = {
      SpanBinding<Boost>(),
      {[](auto& value, const auto& argument, const auto& described) {
         value.factor = Number<double>(OnlyValue(argument), described);
       },
       [](const auto& value, const auto&) { return NumberText(value.factor); }},
      {[](auto& value, const auto& argument, const auto& described) {
         value.renormalise = Choice(OnlyValue(argument), described) == 1;
       },
       [](const auto& value, const auto& described) {
         return described.choices.at(value.renormalise ? 1 : 0);
       }},
      LayersBinding<Boost>(),
      RowsBinding<Boost>()};
  return bindings;
}

const std::vector<Binding<Ablation>>& Bindings(const Ablation&) {
  static const std::vector<Binding<Ablation>> bindings = {
      HeadsBinding<Ablation>(),
      {[](auto& value, const auto& argument, const auto& described) {
         value.with = static_cast<AblateWith>(Choice(OnlyValue(argument), described));
       },
       [](const auto& value, const auto& described) {
         return described.choices.at(static_cast<size_t>(value.with));
       }},
      RowsBinding<Ablation>()};
  return bindings;
}

const std::vector<Binding<Temperature>>& Bindings(const Temperature&) {
  static const std::vector<Binding<Temperature>> bindings = {
      HeadsBinding<Temperature>(),
      {[](auto& value, const auto& argument, const auto& described) {
         value.temperature = Number<double>(OnlyValue(argument), described);
       },
       [](const auto& value, const auto&) { return NumberText(value.temperature); }},
      RowsBinding<Temperature>()};
  return bindings;
}

Boost ReadBoost(const TextTerm& term) {
  Boost boost = ReadTerm(term, Bindings(Boost()));
  if (boost.renormalise && boost.factor <= 0) {
    throw ErrorAt(
        Find(term, "factor")->column,
        "with renormalise=yes the factor must be above 0, not " + NumberText(boost.factor),
        "Leave renormalise out");
  }
  return boost;
}

template <typename T>
void Print(const char* name, const std::vector<T>& values, std::vector<std::string>& texts) {
  for (const T& value : values) texts.push_back(PrintTerm(name, value, Bindings(value)));
}

}  // namespace

bool AddEdit(const TextTerm& term, Intervention& intervention) {
  const std::string& name = term.term->name;
  if (name == "crop") {
    RequireArguments(term, {"span"}, "crop(span=gold, layers=0-7)");
    intervention.crops.push_back(ReadTerm(term, Bindings(Crop())));
  } else if (name == "move") {
    RequireArguments(term, {"span", "to"}, "move(span=gold, to=begin)");
    intervention.moves.push_back(ReadTerm(term, Bindings(Move())));
  } else if (name == "boost") {
    RequireArguments(term, {"span"}, "boost(span=gold, factor=2)");
    intervention.boosts.push_back(ReadBoost(term));
  } else if (name == "ablate") {
    RequireArguments(term, {"head"}, "ablate(L12H3, with=zero)");
    intervention.ablations.push_back(ReadTerm(term, Bindings(Ablation())));
  } else if (name == "temperature") {
    RequireArguments(term, {"head", "temperature"}, "temperature(L12H3, 1.5)");
    intervention.temperatures.push_back(ReadTerm(term, Bindings(Temperature())));
  } else {
    return false;
  }
  return true;
}

std::vector<std::string> PrintEdits(const Intervention& intervention) {
  std::vector<std::string> texts;
  Print("crop", intervention.crops, texts);
  Print("move", intervention.moves, texts);
  Print("boost", intervention.boosts, texts);
  Print("ablate", intervention.ablations, texts);
  Print("temperature", intervention.temperatures, texts);
  return texts;
}

}  // namespace midscope
