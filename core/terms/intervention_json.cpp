// SPDX-License-Identifier: MIT
#include "core/terms/intervention_json.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/intervention/intervention_grammar.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"

namespace midscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kThing = "intervention JSON";

// A name in quotation marks keeps them if it would be read as something else without them.
Json ValueOf(const TextAtom& atom) {
  if (atom.quoted) return IsWord(atom.text) ? '"' + atom.text + '"' : atom.text;
  int64_t whole = 0;
  if (ReadWhole(atom.text, whole) && ParameterText(whole) == atom.text) return ParameterJson(whole);
  double number = 0;
  if (ReadWhole(atom.text, number) && ParameterText(number) == atom.text)
    return ParameterJson(number);
  return ParameterJson(atom.text);
}

std::string TextOf(const std::string& text, const std::string& name) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  const std::string inner = quoted ? text.substr(1, text.size() - 2) : text;
  if (inner.find('"') != std::string::npos)
    throw UsageError(kThing, "'" + name + "' has a quotation mark within");
  return !quoted && IsWord(text) ? text : '"' + inner + '"';
}

std::string ScalarText(const Json& value, const std::string& name) {
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return NumberText(value.get<double>());
  if (value.is_string()) return TextOf(value.get<std::string>(), name);
  throw UsageError(kThing, "'" + name + "' must be a number, a text or a list of these");
}

std::string ValueText(const Json& value, const std::string& name) {
  if (!value.is_array()) return ScalarText(value, name);
  std::string text;
  for (const Json& item : value) {
    if (!text.empty()) text += ",";
    text += ScalarText(item, name);
  }
  return "[" + text + "]";
}

std::string TermText(const Json& term) {
  if (!term.is_object() || !term.contains("term") || !term["term"].is_string())
    throw UsageError(kThing, R"(each of its terms must be an object with a name, "term")");
  std::string arguments;
  for (const auto& [name, value] : term.items()) {
    if (name == "term") continue;
    if (!IsWord(name)) throw UsageError(kThing, "no argument is named " + Quote(name));
    if (!arguments.empty()) arguments += ", ";
    arguments += name + "=" + ValueText(value, name);
  }
  const auto name = term["term"].get<std::string>();
  if (!IsWord(name)) throw UsageError(kThing, "no term is named " + Quote(name));
  return arguments.empty() ? name : name + "(" + arguments + ")";
}

}  // namespace

std::string InterventionToJson(const Intervention& intervention) {
  Json terms = Json::array();
  for (const TextTerm& term : ParseTerms(PrintIntervention(intervention), TermTypes())) {
    if (term.term->name == "none") continue;
    Json object = {{"term", term.term->name}};
    for (const TextArgument& argument : term.arguments) {
      Json values = Json::array();
      for (const TextAtom& atom : argument.values) values.push_back(ValueOf(atom));
      object[argument.name] = argument.list ? values : values.front();
    }
    terms.push_back(std::move(object));
  }
  return Json{{"terms", std::move(terms)}}.dump();
}

Intervention InterventionFromJson(std::string_view json) {
  CheckUtf8(kThing, json);
  const Json root = Json::parse(json, nullptr, false);
  if (root.is_discarded()) throw UsageError(kThing, "it is not JSON, or a damaged one");
  if (!root.is_object() || root.size() != 1 || !root.contains("terms") || !root["terms"].is_array())
    throw UsageError(kThing, "it must be an object with a list, \"terms\", and nothing else",
                     R"(Write for example {"terms": [{"term": "pi", "ratio": 1.5}]})");
  std::string text;
  for (const Json& term : root["terms"]) text += (text.empty() ? "" : " + ") + TermText(term);
  if (text.empty()) return {};
  try {
    return ParseIntervention(text);
  } catch (const Error& error) {
    throw UsageError(kThing, "it reads " + Quote(text) + ", and of that " + error.what());
  }
}

}  // namespace midscope
