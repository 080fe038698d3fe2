// SPDX-License-Identifier: MIT
#include "core/base/json_fields.h"

#include <algorithm>

#include <fmt/format.h>

namespace midscope {
namespace {

// Returns the text with NaN, Infinity and -Infinity outside of strings replaced by null.
std::string WithoutPythonNumbers(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_text = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (in_text && c == '\\' && i + 1 < text.size()) {
      out += text.substr(i, 2);
      i += 2;
      continue;
    }
    if (c == '"') in_text = !in_text;
    size_t length = 0;
    for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
      if (!in_text && length == 0 && text.substr(i).starts_with(word)) length = word.size();
    }
    out += length > 0 ? std::string_view("null") : text.substr(i, 1);
    i += std::max<size_t>(length, 1);
  }
  return out;
}

[[noreturn]] void FailJson(std::string_view text, const std::string& thing,
                           const nlohmann::json::parse_error& error) {
  // Example of error.what(): "[json...] parse error at line 1, column 9: syntax error while parsing
  // value - REASON; last read: ..."
  const std::string_view said = error.what();
  const size_t begin = said.find(" - ");
  std::string_view reason = begin == said.npos ? "a syntax error" : said.substr(begin + 3);
  reason = reason.substr(0, reason.find("; last read"));
  std::string remedy;
  if (reason.find("surrogate") != reason.npos) {
    reason = "half of a character, such as \\ud83d without the other half";
    remedy = "Write the character whole, or leave it out";
  } else if (!nlohmann::json::parse(WithoutPythonNumbers(text), nullptr, false).is_discarded()) {
    reason = "NaN or Infinity, which JSON does not have";
    remedy = "Write null instead";
  }
  const std::string_view read = text.substr(0, error.byte > 0 ? error.byte - 1 : 0);
  const size_t line_begin = read.rfind('\n') + 1;  // 0 on the first line
  std::string place = fmt::format("character {} on", read.size() - line_begin + 1);
  if (text.find('\n') < text.size()) {
    place = fmt::format("line {}, {}", 1 + std::count(read.begin(), read.end(), '\n'), place);
  }
  throw Failure(
      thing,
      fmt::format("it is not JSON, or a damaged one, from {} ({})", place, DisplayText(reason)),
      remedy.empty() ? "Write or fetch it again" : remedy);
}

template <class Json>
Json ParseAs(std::string_view text, const std::string& thing) {
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    FailJson(text, thing, error);
  } catch (const nlohmann::json::exception&) {  // a number outside double's range
    throw Failure(thing, "it holds a number that is too large");
  }
}

}  // namespace

nlohmann::json ParseJson(std::string_view text, const std::string& thing) {
  return ParseAs<nlohmann::json>(text, thing);
}

nlohmann::json ParsePythonJson(std::string_view text, const std::string& thing) {
  return ParseAs<nlohmann::json>(WithoutPythonNumbers(text), thing);
}

nlohmann::ordered_json ParseOrderedPythonJson(std::string_view text, const std::string& thing) {
  return ParseAs<nlohmann::ordered_json>(WithoutPythonNumbers(text), thing);
}

}  // namespace midscope
