// SPDX-License-Identifier: MIT
#include "core/model/model_text.h"

#include <charconv>
#include <cmath>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

constexpr std::string_view kAdapter = " adapter=";
constexpr std::string_view kInit = "@init";
constexpr std::string_view kLineBlanks = " \t";

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, *number);
  return result.ec == std::errc() && result.ptr == end;
}

void ReadScale(ModelText* text) {
  const size_t colon = text->adapter.rfind(':');
  if (colon == std::string::npos || PathExists(text->adapter)) return;
  const std::string scale = text->adapter.substr(colon + 1);
  if (!ReadNumber(scale, &text->scale) || !std::isfinite(text->scale)) {
    throw UsageError(
        "adapter " + Quote(text->adapter), "its scale " + Quote(scale) + " must be a finite number",
        "Write FOLDER or FOLDER:SCALE, such as " + text->adapter.substr(0, colon) + ":0.5");
  }
  text->adapter.resize(colon);
}

void ReadSeed(ModelText* text) {
  const size_t at = text->name.rfind(kInit);
  if (at == std::string::npos || at == 0) return;
  const std::string rest = text->name.substr(at + kInit.size());
  if (!rest.empty() && rest.front() != ':') return;
  uint64_t seed = 1;
  if (!rest.empty() && !ReadNumber(std::string_view(rest).substr(1), &seed)) {
    throw UsageError("model " + Quote(text->name),
                     "the seed of its random weights must be an integer from 0 to 2^64 - 1",
                     "Write MODEL@init or MODEL@init:SEED");
  }
  text->init_seed = seed;
  text->name.resize(at);
}

// Returns the last component of a path: "MODEL" for "models/MODEL/", the current folder's name for
// ".".
std::string LastComponent(const std::string& name) {
  std::error_code ignored;
  const std::filesystem::path path = name;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, ignored);
  const std::filesystem::path& used = path.has_filename() && path.filename() != "." ? path : whole;
  return (used.has_filename() ? used : used.parent_path()).filename().string();
}

}  // namespace

ModelText ParseModelText(const std::string& text) {
  ModelText parsed{text, {}, "", 1};
  if (PathExists(text)) return parsed;
  const size_t adapter = text.find(kAdapter);
  if (adapter != std::string::npos) {
    parsed.name = Trimmed(std::string_view(text).substr(0, adapter), kLineBlanks);
    parsed.adapter = Trimmed(std::string_view(text).substr(adapter + kAdapter.size()), kLineBlanks);
    if (parsed.adapter.empty() || parsed.adapter.find(kAdapter) != std::string::npos) {
      throw UsageError("model " + Quote(text), "it must have one adapter",
                       "Write MODEL adapter=FOLDER or MODEL adapter=FOLDER:SCALE");
    }
    ReadScale(&parsed);
  }
  if (!PathExists(parsed.name)) ReadSeed(&parsed);
  return parsed;
}

std::string PrintModelText(const ModelText& text) {
  std::string printed = text.name;
  if (text.init_seed) printed += fmt::format("{}:{}", kInit, *text.init_seed);
  if (text.adapter.empty()) return printed;
  printed += std::string(kAdapter) + text.adapter;
  return text.scale == 1 ? printed : printed + fmt::format(":{}", text.scale);
}

std::string WithAdapterText(const std::string& model, const std::string& adapter) {
  if (adapter.empty()) return model;
  if (!ParseModelText(model).adapter.empty()) {
    throw UsageError("adapter " + Quote(adapter), "the model " + Quote(model) + " has one already",
                     "Give one of the two");
  }
  std::string text = model + std::string(kAdapter) + adapter;
  ParseModelText(text);
  return text;
}

std::string ShortModelText(const std::string& text) {
  ModelText parsed = ParseModelText(text);
  parsed.name = LastComponent(parsed.name);
  if (!parsed.adapter.empty()) parsed.adapter = LastComponent(parsed.adapter);
  return PrintModelText(parsed);
}

}  // namespace midscope
