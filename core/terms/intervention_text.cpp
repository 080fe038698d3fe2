// SPDX-License-Identifier: MIT
#include "core/terms/intervention_text.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <stdexcept>
#include <variant>

#include <fmt/format.h>

#include "core/base/memory_map.h"
#include "core/intervention/intervention_values.h"
#include "core/terms/intervention_json.h"
#include "core/terms/presets.h"
#include "core/terms/terms.h"

namespace midscope {
namespace {

// Combines terms, one after the other, into one intervention.
class Terms {
 public:
  void Add(const TextTerm& text) {
    const TermType& type = *text.term;
    if (type.name == kPresetTerm) return AddPreset(text);
    if (type.stage == TermStage::kPositions) {
      if (!scheme_.empty()) {
        throw ErrorAt(text.column,
                      "'" + type.name + "' is a second position scheme after '" + scheme_ + "'",
                      "Keep one of them");
      }
      scheme_ = type.name;
    }
    type.add(text, intervention_);
  }

  const Intervention& intervention() const { return intervention_; }

 private:
  void AddPreset(const TextTerm& term) {
    RequireArguments(term, "preset(ms-poe-paper)");
    const size_t index = Choice(OnlyValue(term.arguments.front()), term.term->arguments.front());
    for (TextTerm part : ParseTerms(InterventionPresets().at(index).text, TermTypes())) {
      part.column = term.column;
      Add(part);
    }
  }

  Intervention intervention_;
  std::string scheme_;  // name of the position scheme, if any
};

// Returns the intervention in a file, as text on any number of lines or as JSON.
Intervention OfFile(std::string_view path) {
  constexpr int64_t kMaxBytes = int64_t{1} << 20;
  while (!path.empty() && std::isspace(static_cast<unsigned char>(path.back())) != 0)
    path.remove_suffix(1);
  const MemoryMap map{std::filesystem::path(path)};
  const std::string file(path);
  if (map.size() > kMaxBytes) {
    throw UsageError(file, fmt::format("it is {} bytes long; an intervention has at most {}",
                                       map.size(), kMaxBytes));
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
  for (const TextTerm& term : ParseTerms(text, TermTypes())) terms.Add(term);
  return terms.intervention();
}

std::string PrintIntervention(const Intervention& intervention) {
  std::vector<std::string> terms;
  for (const Term& term : intervention.terms) terms.push_back(term.type().print(term));
  if (terms.empty()) return "none";
  std::string text = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) text += " + " + terms[i];
  return text;
}

bool SameSetting(const std::string& a, const std::string& b) {
  if (a == b) return true;
  try {
    return ParseIntervention(a) == ParseIntervention(b);
  } catch (const Error&) {  // for instance, a file of ratios no longer exists
    return false;
  }
}

}  // namespace midscope
