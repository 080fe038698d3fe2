// SPDX-License-Identifier: MIT
#include "data/tasks/own_line_fields.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/formats/json_lines.h"

namespace midscope {
namespace {

// A field of a line, with the other names that retrieval logs have for it.
struct FieldNames {
  std::string name;
  std::vector<std::string> others;
};

const std::vector<FieldNames>& OwnFields() {
  static const std::vector<FieldNames> fields = {
      {"context", {"documents", "passages", "contexts", "ctxs", "document", "passage"}},
      {"gold", {}},
      {"gold_from", {}},
      {"question", {"query"}},
      {"answers", {"answer"}},
      {"instruction", {}},
      {"scorer", {}},
      {"new_tokens", {}},
      {"classes", {}},
      {"id", {}},
      {"choices", {}},
      {"choice_rule", {}}};
  return fields;
}

// Names of the mark of a gold document.
constexpr const char* kGoldMarks[] = {"isgold", "is_gold", "gold"};

// Fields of logs that are not mistyped names of ours, though they resemble them.
constexpr const char* kOrdinaryFields[] = {"score", "scores", "source", "sources"};

std::vector<std::string> KnownNames() {
  std::vector<std::string> names;
  for (const FieldNames& field : OwnFields()) {
    names.push_back(field.name);
    names.insert(names.end(), field.others.begin(), field.others.end());
  }
  return names;
}

// Whether a field is probably a mistyped known one: the nearest known word is at most two edits
// away, judged by its length and its first letter.
bool IsNearMiss(const std::string& field, const std::vector<std::string>& known) {
  if (std::count(std::begin(kOrdinaryFields), std::end(kOrdinaryFields), field) > 0) return false;
  const std::string nearest = NearestWord(field, known);
  return !nearest.empty() && nearest.front() == field.front() &&
         std::max(nearest.size(), field.size()) - std::min(nearest.size(), field.size()) <= 2;
}

// Returns the text of a string, or the digits of a number; nullopt for other values.
std::optional<std::string> TextOrNumber(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  return std::nullopt;
}

// Reads the fields of one line under any of their names.
class LineReader {
 public:
  explicit LineReader(const JsonFields& fields) : fields_(fields) {}

  // Adds the unknown fields to `ignored`; throws if one is nearly a known one.
  void CheckNames(std::set<std::string>& ignored) const {
    static const std::vector<std::string> known = KnownNames();
    for (const auto& [key, value] : fields_.json().items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      if (IsNearMiss(key, known)) {
        fields_.Fail("has an unknown field " + Quote(key) + ". " + KnownWordsHint(key, known));
      }
      ignored.insert(key);
    }
  }

  // Returns the name under which the line has a field; "" if it lacks it. Throws if it has two of
  // the names.
  std::string NameOf(const std::string& field) const {
    std::string found;
    const auto try_name = [&](const std::string& name) {
      if (!fields_.Find(name)) return;
      if (!found.empty()) {
        fields_.Fail("has both " + Quote(found) + " and " + Quote(name) +
                     ", which mean the same. Leave one of the two out");
      }
      found = name;
    };
    for (const FieldNames& names : OwnFields()) {
      if (names.name != field) continue;
      try_name(names.name);
      for (const std::string& other : names.others) try_name(other);
    }
    return found;
  }

  std::string Question() const {
    const std::string name = NameOf("question");
    if (name.empty()) fields_.Fail("has no 'question'");
    if (auto text = TextOrNumber(fields_.Need(name))) return *std::move(text);
    fields_.Fail("has a field " + Quote(name) + " that is not a string");
  }

  // Reads a list of texts, or one text, without white space at their ends, because the prompt
  // defines the space before an answer.
  std::vector<std::string> Texts(const std::string& field) const {
    const std::string name = NameOf(field);
    if (name.empty()) fields_.Fail("has no " + Quote(field));
    std::vector<std::string> texts;
    const auto add = [&](const nlohmann::json& value) {
      const std::optional<std::string> text = TextOrNumber(value);
      if (!text) {
        fields_.Fail("has a field " + Quote(name) +
                     " with a value that is neither text nor number");
      }
      texts.push_back(StripText(*text));
      if (texts.back().empty()) fields_.Fail("has an empty text among its " + Quote(name));
    };
    const nlohmann::json& value = fields_.Need(name);
    if (value.is_array()) {
      for (const nlohmann::json& one : value) add(one);
    } else {
      add(value);
    }
    if (texts.empty()) fields_.Fail("has an empty list " + Quote(name));
    return texts;
  }

  // Reads the documents, texts or objects, into `pieces`, and the marks of gold ones.
  void Documents(std::vector<std::string>& pieces, std::vector<size_t>& marked) const {
    const std::string name = NameOf("context");
    if (name.empty()) return;
    const nlohmann::json& value = fields_.Need(name);
    if (value.is_string()) {
      pieces.push_back(value.get<std::string>());
      return;
    }
    if (!value.is_array()) fields_.Fail("has a field " + Quote(name) + " that is not a list");
    for (const nlohmann::json& document : value) {
      pieces.push_back(document.is_object() ? ObjectText(document, name)
                                            : PlainText(document, name));
      if (document.is_object() && IsMarked(document)) marked.push_back(pieces.size() - 1);
    }
  }

  // Reads `gold`, a number or a list of numbers.
  std::vector<int64_t> GoldNumbers(size_t pieces) const {
    std::vector<int64_t> numbers;
    const nlohmann::json* found = fields_.Find("gold");
    if (found == nullptr) return numbers;
    const auto most = static_cast<int64_t>(pieces);
    if (!found->is_array()) return {Integer(fields_, "gold", 0, most, 0)};
    for (const nlohmann::json& number : *found) {
      const nlohmann::json one = {{"gold", number}};
      const JsonFields fields(one, fields_.thing(), "");
      numbers.push_back(Integer(fields, "gold", 0, most, -1));
      if (std::count(numbers.begin(), numbers.end(), numbers.back()) > 1) {
        fields_.Fail(fmt::format("has {} twice in its 'gold'", numbers.back()));
      }
    }
    return numbers;
  }

 private:
  std::string PlainText(const nlohmann::json& document, const std::string& name) const {
    if (document.is_string()) return document.get<std::string>();
    fields_.Fail("has a field " + Quote(name) + " with a document that is neither text nor object");
  }

  // Returns "TITLE: TEXT", or the text alone if there is no title.
  std::string ObjectText(const nlohmann::json& document, const std::string& name) const {
    std::string text;
    bool found = false;
    for (const std::string& key : TextFieldNames()) {
      const auto value = document.find(key);
      if (found || value == document.end() || !value->is_string()) continue;
      text = value->get<std::string>();
      found = true;
    }
    if (!found) {
      fields_.Fail("has a document in " + Quote(name) + " without a text; its text must be named " +
                   Joined(TextFieldNames(), " or "));
    }
    const auto title = document.find("title");
    if (title == document.end() || !title->is_string() || title->get<std::string>().empty()) {
      return text;
    }
    return title->get<std::string>() + ": " + text;
  }

  static bool IsMarked(const nlohmann::json& document) {
    return std::any_of(std::begin(kGoldMarks), std::end(kGoldMarks), [&](const char* key) {
      const auto mark = document.find(key);
      if (mark == document.end()) return false;
      return mark->is_boolean() ? mark->get<bool>() : mark->is_number_integer() && *mark == 1;
    });
  }

  const JsonFields& fields_;
};

GenerationRule ReadRule(const JsonFields& fields) {
  constexpr int64_t kMostNewTokens = 100000;
  GenerationRule rule;
  rule.own_answers = true;
  rule.cut = AnswerCut::kStrippedFirstLine;
  rule.new_tokens = Integer(fields, "new_tokens", 1, kMostNewTokens, rule.new_tokens);
  if (const auto scorer = fields.FindText("scorer")) {
    rule.metric = ReadMetric(fields.thing(), *scorer);
  }
  return rule;
}

// Reads the choices; those that are among the answers are right.
void ReadOwnChoices(const JsonFields& fields, OwnLine& line) {
  if (const auto rule = fields.FindText("choice_rule")) {
    if (!fields.Find("choices")) fields.Fail("has a choice_rule and no choices");
    line.choice_rule = ReadChoiceRule(fields.thing(), *rule);
  }
  if (!fields.Find("choices")) return;
  for (const std::string& text : LineReader(fields).Texts("choices")) {
    const auto answer = std::find(line.answers.begin(), line.answers.end(), text);
    line.choices.push_back({text, answer != line.answers.end()});
  }
  const auto right = [](const TaskChoice& choice) { return choice.right; };
  const std::string& first = line.answers.front();
  if (std::none_of(line.choices.begin(), line.choices.end(),
                   [&](const TaskChoice& choice) { return choice.text == first; })) {
    fields.Fail("has a first answer that is none of its choices");
  }
  if (std::all_of(line.choices.begin(), line.choices.end(), right)) {
    fields.Fail("must have at least one wrong choice");
  }
}

RawLine ReadRawLine(const JsonFields& fields, std::set<std::string>& ignored) {
  const LineReader reader(fields);
  reader.CheckNames(ignored);
  RawLine raw;
  raw.thing = fields.thing();
  OwnLine& line = raw.line;
  line.instruction = fields.FindText("instruction").value_or("");
  reader.Documents(line.pieces, raw.gold.marked);
  line.question = reader.Question();
  line.answers = reader.Texts("answers");
  if (fields.Find("classes")) line.classes = reader.Texts("classes");
  ReadOwnChoices(fields, line);
  line.generation = ReadRule(fields);
  raw.gold.numbers = reader.GoldNumbers(line.pieces.size());
  if (!raw.gold.numbers.empty() && !raw.gold.marked.empty()) {
    fields.Fail("has both 'gold' and documents that are marked as gold. Leave one of them out");
  }
  return raw;
}

}  // namespace

RawLine ReadOwnLine(const JsonFields& fields, std::set<std::string>& ignored) {
  try {
    return ReadRawLine(fields, ignored);
  } catch (const Error& error) {
    if (error.problem() != error.what()) throw;
    throw Failure(fields.thing(), error.problem().substr(fields.thing().size() + 2),
                  "midscope help jsonl shows an example line");
  }
}

std::string OtherFieldNames(const std::string& field) {
  for (const FieldNames& names : OwnFields()) {
    if (names.name == field) return Joined(names.others);
  }
  return "";
}

const std::vector<std::string>& TextFieldNames() {
  static const std::vector<std::string> names = {"text",    "page_content", "content",
                                                 "passage", "contents",     "body"};
  return names;
}

}  // namespace midscope
