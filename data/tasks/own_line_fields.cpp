// SPDX-License-Identifier: MIT
#include "data/tasks/own_line_fields.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/formats/json_lines.h"

namespace midscope {
namespace {

// Returns the letters and digits of a name, in lower case: "Gold Index", "goldIndex" and
// "gold_index" are alike.
std::string Letters(const std::string& name) {
  std::string letters;
  for (const char letter : LowerCase(name)) {
    if (letter != '_' && letter != '-' && letter != ' ') letters += letter;
  }
  return letters;
}

// A field of a line, with the other names that retrieval logs have for it.
struct FieldNames {
  std::string name;
  std::vector<std::string> others;
  // Names that are read only if none of the above is there, as are all of them in another spelling;
  // a note says so. Empty: nothing is guessed.
  std::vector<std::string> guesses = {};
};

const std::vector<FieldNames>& OwnFields() {
  static const std::vector<FieldNames> fields = {
      {"context",
       {"documents", "passages", "contexts", "ctxs", "document", "passage"},
       {"docs", "chunks", "paragraphs", "retrieved_contexts", "retrieved_documents",
        "retrieved_docs", "retrieved", "retrieval_context", "source_documents", "search_results",
        "results", "hits", "candidates"}},
      {"gold",
       {},
       {"gold_index", "gold_idx", "gold_id", "gold_ids", "gold_doc", "gold_doc_id", "gold_document",
        "gold_passage", "gold_context", "relevant_id", "relevant_ids", "positive_id"}},
      {"gold_from", {}},
      {"question", {"query"}, {"user_input", "user_query", "question_text", "input", "q"}},
      {"answers",
       {"answer"},
       {"gold_answer", "gold_answers", "ground_truth", "ground_truths", "reference",
        "reference_answer", "expected_answer", "expected_output", "target"}},
      {"instruction", {}},
      {"scorer", {}},
      {"new_tokens", {}},
      {"classes", {}},
      {"id", {}},
      {"choices", {}},
      {"choice_rule", {}}};
  return fields;
}

const FieldNames& NamesOf(const std::string& field) {
  const auto is_field = [&](const FieldNames& names) { return names.name == field; };
  return *std::find_if(OwnFields().begin(), OwnFields().end(), is_field);
}

// Returns the spellings of the fields that are guessed, by field.
const std::map<std::string, std::vector<std::string>>& Spellings() {
  static const auto spellings = [] {
    std::map<std::string, std::vector<std::string>> made;
    for (const FieldNames& names : OwnFields()) {
      if (names.guesses.empty()) continue;
      std::vector<std::string>& all = made[names.name];
      all.push_back(Letters(names.name));
      for (const auto* list : {&names.others, &names.guesses}) {
        std::transform(list->begin(), list->end(), std::back_inserter(all), Letters);
      }
    }
    return made;
  }();
  return spellings;
}

// Names of the mark of a gold document.
constexpr const char* kGoldMarks[] = {"isgold",      "is_gold",       "gold",       "relevant",
                                      "is_relevant", "is_supporting", "is_selected"};

// Names of the identifier of a document, which `gold` may name.
constexpr const char* kIdFields[] = {"id",          "_id",        "doc_id", "docid",
                                     "document_id", "passage_id", "pid",    "chunk_id"};

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

  // Adds the fields under guessed names to `use.guessed` and the unknown ones to `use.ignored`;
  // throws if one is nearly a known one. has_marks: a gold document is marked, so none is guessed.
  void CheckNames(bool has_marks, FieldUse& use) const {
    static const std::vector<std::string> known = KnownNames();
    std::set<std::string> guessed;
    for (const FieldNames& names : OwnFields()) {
      if (has_marks && names.name == "gold") continue;
      const std::string name = NameOf(names.name);
      if (name.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
      guessed.insert(name);
      use.guessed.emplace(Quote(name) + " as " +
                          (names.name == "context" ? "documents" : names.name));
    }
    for (const auto& [key, value] : fields_.json().items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const bool is_guess = !FieldOf(key).empty();
      if (guessed.contains(key) || (is_guess && value.is_null())) continue;
      if (!is_guess && IsNearMiss(key, known)) {
        fields_.Fail("has an unknown field " + Quote(key) + ". " + KnownWordsHint(key, known));
      }
      use.ignored.insert(key);
    }
  }

  // Returns the name under which the line has a field; "" if it lacks it. Throws if it has two of
  // the names that are not guesses.
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
    const FieldNames& names = NamesOf(field);
    try_name(names.name);
    for (const std::string& other : names.others) try_name(other);
    if (found.empty() && !names.guesses.empty()) found = Guess(field);
    return found;
  }

  // Whether the field of the answers is empty: null, "" or [].
  bool IsUnanswered() const {
    const std::string name = NameOf("answers");
    if (!name.empty()) {
      const nlohmann::json& value = fields_.Need(name);
      return value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
    }
    const auto& items = fields_.json().items();
    return std::any_of(items.begin(), items.end(), [](const auto& item) {
      return item.value().is_null() && FieldOf(item.key()) == "answers";
    });
  }

  // Like NameOf, but throws if the line lacks the field.
  std::string NeedName(const std::string& field) const {
    if (std::string name = NameOf(field); !name.empty()) return name;
    std::vector<std::string> has;
    for (const auto& [key, value] : fields_.json().items()) {
      has.push_back(Quote(key) + (value.is_null() ? " (null)" : ""));
    }
    fields_.Fail("has no " + Quote(field) + "; its fields: " + Joined(has));
  }

  std::string Question() const {
    const std::string name = NeedName("question");
    if (auto text = TextOrNumber(fields_.Need(name))) return *std::move(text);
    fields_.Fail("has a field " + Quote(name) + " that is not a string");
  }

  // Reads a list of texts, or one text, without white space at their ends, because the prompt
  // defines the space before an answer.
  std::vector<std::string> Texts(const std::string& field) const {
    const std::string name = NeedName(field);
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

  // Reads the documents, texts or objects, into `pieces`, the marks of gold ones, and the
  // documents' identifiers ("": none).
  void Documents(std::vector<std::string>& pieces, std::vector<size_t>& marked,
                 std::vector<std::string>& ids) const {
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
      ids.push_back(document.is_object() ? IdOf(document) : "");
      if (document.is_object() && IsMarked(document)) marked.push_back(pieces.size() - 1);
    }
  }

  // Reads `gold`, one or a list of: a document's number, its identifier, or its text. A line whose
  // gold is none of its documents has `missing`.
  void Gold(const std::vector<std::string>& pieces, const std::vector<std::string>& ids,
            StatedGold& gold) const {
    const std::string name = NameOf("gold");
    if (name.empty()) return;
    const bool has_ids = std::any_of(ids.begin(), ids.end(), [](auto& id) { return !id.empty(); });
    const bool by_id = has_ids && (name.ends_with("id") || name.ends_with("ids"));
    const nlohmann::json& found = fields_.Need(name);
    const nlohmann::json list = found.is_array() ? found : nlohmann::json::array({found});
    for (const nlohmann::json& value : list) {
      int64_t number = 0;
      const std::string text = TextOrNumber(value).value_or("");
      const bool is_named =
          value.is_string() ? has_ids || !ReadWhole(text, number) : by_id && value.is_number();
      if (is_named) {
        AddNamedGold(text, pieces, ids, gold);
        continue;
      }
      const nlohmann::json one = {{name, value.is_string() ? nlohmann::json(number) : value}};
      const JsonFields fields(one, fields_.thing(), "");
      gold.numbers.push_back(Integer(fields, name, 0, std::ssize(pieces), 0));
      if (std::count(gold.numbers.begin(), gold.numbers.end(), gold.numbers.back()) > 1) {
        fields_.Fail(fmt::format("has {} twice in its {}", gold.numbers.back(), Quote(name)));
      }
    }
  }

 private:
  // Returns the first name of the field that the line has in any spelling; "" if there is none.
  std::string Guess(const std::string& field) const {
    for (const std::string& spelling : Spellings().at(field)) {
      for (const auto& [key, value] : fields_.json().items()) {
        if (!value.is_null() && Letters(key) == spelling) return key;
      }
    }
    return "";
  }

  // Returns the field that a name in any spelling may mean; "" if there is none.
  static std::string FieldOf(const std::string& key) {
    const std::string letters = Letters(key);
    for (const auto& [field, spellings] : Spellings()) {
      if (std::find(spellings.begin(), spellings.end(), letters) != spellings.end()) return field;
    }
    return "";
  }

  static std::string IdOf(const nlohmann::json& document) {
    for (const char* key : kIdFields) {
      const auto id = document.find(key);
      if (id != document.end()) return TextOrNumber(*id).value_or("");
    }
    return "";
  }

  static void AddNamedGold(const std::string& named, const std::vector<std::string>& pieces,
                           const std::vector<std::string>& ids, StatedGold& gold) {
    auto found = std::find(ids.begin(), ids.end(), named);
    auto at = static_cast<size_t>(found - ids.begin());
    if (found == ids.end()) {
      found = std::find(pieces.begin(), pieces.end(), named);
      at = static_cast<size_t>(found - pieces.begin());
    }
    if (at == pieces.size()) {
      gold.missing = named;
    } else if (std::count(gold.marked.begin(), gold.marked.end(), at) == 0) {
      gold.marked.push_back(at);
    }
  }

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

RawLine ReadRawLine(const JsonFields& fields, FieldUse& use) {
  const LineReader reader(fields);
  RawLine raw;
  raw.thing = fields.thing();
  OwnLine& line = raw.line;
  line.instruction = fields.FindText("instruction").value_or("");
  std::vector<std::string> ids;
  reader.Documents(line.pieces, raw.gold.marked, ids);
  const bool has_marks = !raw.gold.marked.empty();
  reader.CheckNames(has_marks, use);
  line.question = reader.Question();
  raw.is_unanswered = reader.IsUnanswered();
  if (raw.is_unanswered) return raw;
  line.answers = reader.Texts("answers");
  if (fields.Find("classes")) line.classes = reader.Texts("classes");
  ReadOwnChoices(fields, line);
  line.generation = ReadRule(fields);
  if (!has_marks) {
    reader.Gold(line.pieces, ids, raw.gold);
  } else if (fields.Find("gold")) {
    fields.Fail("has both 'gold' and documents that are marked as gold. Leave one of them out");
  }
  return raw;
}

}  // namespace

RawLine ReadOwnLine(const JsonFields& fields, FieldUse& use) {
  try {
    return ReadRawLine(fields, use);
  } catch (const Error& error) {
    if (error.problem() != error.what()) throw;
    throw Failure(fields.thing(), error.problem().substr(fields.thing().size() + 2),
                  "midscope help jsonl shows an example line");
  }
}

std::string GuessedFieldNames(const std::string& field) { return Joined(NamesOf(field).guesses); }

std::string OtherFieldNames(const std::string& field) { return Joined(NamesOf(field).others); }

const std::vector<std::string>& TextFieldNames() {
  static const std::vector<std::string> names = {
      "text", "page_content", "content", "passage",      "contents",
      "body", "snippet",      "chunk",   "passage_text", "paragraph_text"};
  return names;
}

}  // namespace midscope
