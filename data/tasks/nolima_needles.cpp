// SPDX-License-Identifier: MIT
#include "data/tasks/nolima_needles.h"

#include <filesystem>

#include <fmt/format.h>

#include "core/base/json_fields.h"
#include "core/tokenizer/prompt_builder.h"
#include "data/formats/json_lines.h"

namespace midscope {
namespace {

constexpr uintmax_t kLargestSet = uintmax_t{64} << 20;
constexpr const char* kCharacter = "{CHAR}";

// The public code puts the last argument that occurs into a question; no published question has
// more than one.
std::string WithArguments(std::string text, const std::vector<std::string>& arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string placeholder = "{" + std::to_string(i + 1) + "}";
    size_t at = 0;
    while ((at = text.find(placeholder, at)) != std::string::npos) {
      text.replace(at, placeholder.size(), arguments[i]);
      at += arguments[i].size();
    }
  }
  return text;
}

// A text, or a list of texts.
std::vector<std::string> TextOrList(const JsonFields& fields, const std::string& key) {
  const nlohmann::json* found = fields.Find(key);
  if (found == nullptr) return {};
  if (!found->is_string()) return TextList(fields, key);
  const auto text = found->get<std::string>();
  return text.empty() ? std::vector<std::string>() : std::vector<std::string>{text};
}

// What all tests of a needle have in common.
struct NeedleEntry {
  std::string id;
  std::string needle;
  std::string system;
  std::string task_template;
  std::vector<std::string> characters;
};

NoLiMaTest TestOf(const NeedleEntry& entry, const JsonFields& test, const std::string& test_id,
                  const std::string& kind, const std::string& question,
                  const std::string& distractor) {
  const std::vector<std::string> arguments = TextList(test, "input_args");
  NoLiMaTest made{fmt::format("{}_{}_{}", entry.id, test_id, kind),
                  kind,
                  entry.system,
                  entry.task_template,
                  WithArguments(entry.needle, arguments),
                  WithArguments(question, arguments),
                  WithArguments(distractor, arguments),
                  TextOrList(test, "gold_answers"),
                  entry.characters};
  const bool by_character = made.needle.find(kCharacter) != std::string::npos;
  if (by_character && made.characters.empty())
    test.Fail("is of a needle with {CHAR}, and there is no character_set");
  if (!by_character && made.answers.empty()) test.Fail("has no gold_answers");
  if (!by_character) made.characters.clear();
  return made;
}

const nlohmann::json& ObjectAt(const JsonFields& fields, const std::string& key) {
  const nlohmann::json& value = fields.Need(key);
  if (!value.is_object()) fields.Fail("has a field '" + key + "' that is no object");
  return value;
}

void AddTests(const JsonFields& fields, std::vector<NoLiMaTest>& tests) {
  const NeedleEntry entry{
      fields.Text("id"), fields.Text("needle"), fields.FindText("system_prompt").value_or(""),
      fields.FindText("task_template").value_or(""), TextOrList(fields, "character_set")};
  const nlohmann::json& all_tests = ObjectAt(fields, "tests");
  for (const auto& [kind, question] : ObjectAt(fields, "questions").items()) {
    if (!question.is_string()) fields.Fail("has a question that is no text");
    std::string distractor;
    if (fields.Find("distractors") != nullptr) {
      const JsonFields distractors(ObjectAt(fields, "distractors"), fields.thing(), "distractors");
      distractor = distractors.FindText(kind).value_or("");
    }
    for (const auto& [test_id, test] : all_tests.items()) {
      const JsonFields one(test, fields.thing(), "test " + test_id);
      tests.push_back(TestOf(entry, one, test_id, kind, question.get<std::string>(), distractor));
    }
  }
}

}  // namespace

std::vector<NoLiMaTest> ReadNoLiMaTests(const std::string& path) {
  std::error_code ignored;
  const uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > kLargestSet) throw Failure(path, "it is larger than 64 MiB");
  const nlohmann::json set = ParseJson(ReadPromptFile(path), path);
  if (!set.is_array() || set.empty()) {
    throw Failure(path, "it is not a list of needles", "Give NoLiMa's needle_set.json");
  }
  std::vector<NoLiMaTest> tests;
  for (size_t i = 0; i < set.size(); ++i)
    AddTests(JsonFields(set[i], fmt::format("{}, needle {}", path, i + 1), ""), tests);
  return tests;
}

}  // namespace midscope
