// SPDX-License-Identifier: MIT
#include "data/tasks/text_documents.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "data/formats/json_lines.h"
#include "data/tasks/data_folder.h"
#include "data/tasks/haystack.h"

namespace midscope {
namespace {

// Returns the names of a JSONL line's fields with string values, the longest string first.
std::vector<std::string> TextFields(const JsonFields& fields) {
  std::vector<std::pair<size_t, std::string>> found;
  for (const auto& [key, value] : fields.json().items()) {
    if (!value.is_string()) continue;
    found.emplace_back(value.get_ref<const std::string&>().size(), key);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> names;
  names.reserve(found.size());
  for (auto& [size, name] : found) names.push_back(std::move(name));
  return names;
}

}  // namespace

bool IsJsonLinesFile(const std::string& path) {
  return path.ends_with(".jsonl") || path.ends_with(".jsonl.gz");
}

void RefuseWithoutField(const std::string& task, const std::string& path) {
  std::vector<std::string> names;
  bool is_first = true;
  ForEachJsonLine(path, [&](const JsonFields& fields) {
    if (std::exchange(is_first, false)) names = TextFields(fields);
  });
  if (names.empty()) throw Failure(path + ", line 1", "it must have a field with a text");
  std::vector<std::string> quoted;
  quoted.reserve(names.size());
  for (const std::string& name : names) quoted.push_back("field=" + name);
  throw UsageError(
      "task '" + task + "'",
      "its file is JSONL, whose lines would be scored with their braces and field names",
      "Name the field that has the text, ahead of file= in the task: " + Joined(quoted, " or "));
}

void ForEachDocument(const std::string& path, const std::string& field,
                     const OnDocument& document) {
  if (field.empty()) {
    for (const std::string& file : DataFiles(path, {".txt"})) {
      const std::string name = std::filesystem::path(file).filename().string();
      if (!document(name, ReadHaystack(file))) return;
    }
    return;
  }
  bool wanted = true;
  int64_t line = 0;
  ForEachJsonLine(path, [&](const JsonFields& fields) {
    ++line;
    if (!wanted) return;
    if (!fields.FindText(field)) {
      const std::vector<std::string> names = TextFields(fields);
      fields.Fail("has no text in the field " + Quote(field) + ". It has: " + Joined(names));
    }
    wanted = document("document " + std::to_string(line), PlainText(fields.Text(field)));
  });
}

}  // namespace midscope
