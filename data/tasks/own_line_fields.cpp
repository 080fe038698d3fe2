// SPDX-License-Identifier: MIT
#include "data/tasks/own_line_fields.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/formats/json_lines.h"
#include "data/tasks/own_documents.h"

namespace midscope {
namespace {

// Returns a field name in lower case without '_', '-' and ' ': "goldindex" for "Gold Index",
// "goldIndex" and "gold_index".
std::string Letters(const std::string& name) {
  std::string letters;
  for (const char letter : LowerCase(name)) {
    if (letter != '_' && letter != '-' && letter != ' ') letters += letter;
  }
  return letters;
}

// A field of a user's line: its name, and other names for it in retrieval logs.
struct FieldNames {
  std::string name;
  std::vector<std::string> others;
  // Names that are read, with a note, only if the line has none of the above; any name then also
  // matches in another spelling (Letters). Empty: only exact names match.
  std::vector<std::string> guesses = {};
};

const std::vector<FieldNames>& OwnFields() {
  static const std::vector<FieldNames> fields = {
      {"context",
       {"documents", "passages", "contexts", "ctxs", "document", "passage"},
       {"docs", "chunks", "paragraphs", "retrieved_contexts", "retrieved_documents",
        "retrieved_docs", "retrieved", "retrieval_context", "source_documents", "search_results",
        "results", "hits", "candidates", "source_nodes"}},
      {"gold",
       {},
       {"gold_index", "gold_idx", "gold_id", "gold_ids", "gold_doc", "gold_doc_id", "gold_document",
        "gold_passage", "gold_context", "relevant_id", "relevant_ids", "positive_id",
        "supporting_facts"}},
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

// Returns for each field with `guesses` all its names as normalised by Letters.
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

// A field with a part of the documents (only the gold ones or only others), as in DPR, Tevatron and
// FlagEmbedding. Read if the line has no field with all documents.
struct DocumentsPart {
  std::string name;
  bool is_gold;
};

const std::vector<DocumentsPart>& DocumentsParts() {
  static const std::vector<DocumentsPart> parts = {{"positive_ctxs", true},
                                                   {"positive_passages", true},
                                                   {"positives", true},
                                                   {"pos", true},
                                                   {"hard_negative_ctxs", false},
                                                   {"negative_ctxs", false},
                                                   {"negative_passages", false},
                                                   {"negatives", false},
                                                   {"neg", false}};
  return parts;
}

// If an answer is an object: its fields with the answer text or further right answers, as in SQuAD,
// TriviaQA and Haystack.
constexpr const char* kAnswerTexts[] = {"text", "value", "answer", "data", "aliases"};

// Fields that are common in logs and must not be reported as mistyped known names.
constexpr const char* kOrdinaryFields[] = {"score", "scores", "source", "sources"};

std::vector<std::string> KnownNames() {
  std::vector<std::string> names;
  for (const FieldNames& field : OwnFields()) {
    names.push_back(field.name);
    names.insert(names.end(), field.others.begin(), field.others.end());
  }
  return names;
}

// Whether a field is probably a mistyped known name: NearestWord finds a known one with the same
// first letter and a length that differs by at most 2.
bool IsNearMiss(const std::string& field, const std::vector<std::string>& known) {
  if (std::count(std::begin(kOrdinaryFields), std::end(kOrdinaryFields), field) > 0) return false;
  const std::string nearest = NearestWord(field, known);
  return !nearest.empty() && nearest.front() == field.front() &&
         std::max(nearest.size(), field.size()) - std::min(nearest.size(), field.size()) <= 2;
}

// Reads the fields of one line of a user's file, under any of their names.
class LineReader {
 public:
  explicit LineReader(const JsonFields& fields) : fields_(fields) {}

  // Adds fields under guessed names to `use.guessed` and unknown fields to `use.ignored`; throws if
  // an unknown field is probably a mistyped one. has_marks: documents are marked as gold, so field
  // `gold` is not guessed. guessed: names of guessed fields that were read before.
  void CheckNames(bool has_marks, std::set<std::string> guessed, FieldUse& use) const {
    static const std::vector<std::string> known = KnownNames();
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

  // Returns the name under which the line has a field; "" if it lacks the field. Throws if it has
  // two names of the field that are not guesses.
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

  // Whether the line's field of answers is empty: null, "" or [].
  bool IsUnanswered() const {
    const std::string name = NameOf("answers");
    if (!name.empty()) {
      const nlohmann::json& value = fields_.Need(name);
      return value.is_string() ? value.get_ref<const std::string&>().empty()
                               : RowsOf(value).empty();  // {"text": []} of SQuAD
    }
    const auto& items = fields_.json().items();
    return std::any_of(items.begin(), items.end(), [](const auto& item) {
      return item.value().is_null() && FieldOf(item.key()) == "answers";
    });
  }

  // Returns the name under which the line has a field; throws if it lacks the field.
  std::string NeedName(const std::string& field) const {
    if (std::string name = NameOf(field); !name.empty()) return name;
    std::vector<std::string> has;
    for (const auto& [key, value] : fields_.json().items()) {
      has.push_back(Quote(key) + (value.is_null() ? " (null)" : ""));
    }
    const bool answers = field == "answers";
    throw Failure(fields_.thing(), "it has no " + Quote(field) + "; its fields: " + Joined(has),
                  "Rename the field with the " + (answers ? "right answer" : field) + " to " +
                      Quote(field) + (answers ? " (\"answers\": null leaves a line out)" : "") +
                      "; midscope help jsonl shows an example line");
  }

  std::string Question() const {
    const std::string name = NeedName("question");
    const nlohmann::json& value = fields_.Need(name);
    std::string text = TextOrDigits(value);
    if (!StripText(text).empty()) return text;
    if (value.is_string()) fields_.Fail("has an empty field " + Quote(name));
    fields_.Fail("has a field " + Quote(name) + " that is not a string");
  }

  // Reads a field that is a text or a list of texts. Removes white space at the ends of texts,
  // because the prompt defines the space before an answer.
  std::vector<std::string> Texts(const std::string& field) const {
    const std::string name = NeedName(field);
    std::vector<std::string> texts;
    AddTexts(name, fields_.Need(name), texts);
    if (texts.empty()) fields_.Fail("has an empty list " + Quote(name));
    return texts;
  }

  // Reads the line's documents. If they are in several fields (DocumentsPart), adds a note about
  // each of these fields to `use` and returns their names.
  std::set<std::string> Documents(std::vector<OwnDocument>& documents, FieldUse& use) const {
    if (const std::string name = NameOf("context"); !name.empty()) {
      documents = ReadOwnDocuments(fields_, name);
      return {};
    }
    std::set<std::string> parts;
    for (const DocumentsPart& part : DocumentsParts()) {
      if (const auto* list = fields_.Find(part.name); !list || !list->is_array()) continue;
      parts.insert(part.name);
      use.guessed.insert(Quote(part.name) + " as " + (part.is_gold ? "gold " : "other ") +
                         "documents");
      for (OwnDocument& document : ReadOwnDocuments(fields_, part.name)) {
        document.is_gold = part.is_gold;
        documents.push_back(std::move(document));
      }
    }
    return parts;
  }

  // Reads the field `gold`, one or a list of: number, identifier, text or title of a document, or a
  // list or object that begins with a title. Sets `gold.missing` if no document matches.
  void Gold(const std::vector<OwnDocument>& documents, StatedGold& gold) const {
    const std::string name = NameOf("gold");
    if (name.empty()) return;
    const bool has_ids =
        std::any_of(documents.begin(), documents.end(), [](auto& one) { return !one.id.empty(); });
    const bool by_id = has_ids && (name.ends_with("id") || name.ends_with("ids"));
    const nlohmann::json found = RowsOf(fields_.Need(name));
    const nlohmann::json list = found.is_array() ? found : nlohmann::json::array({found});
    for (const nlohmann::json& one : list) {
      const nlohmann::json value = one.is_object() && one.contains("title") ? one["title"]
                                   : one.is_array() && !one.empty()         ? one[0]
                                                                            : one;
      int64_t number = 0;
      const std::string text = TextOrDigits(value);
      const bool is_named =
          value.is_string() ? has_ids || !ReadWhole(text, number) : by_id && value.is_number();
      if (is_named) {
        AddNamedGold(text, documents, gold);
        continue;
      }
      const nlohmann::json counted = {{name, value.is_string() ? nlohmann::json(number) : value}};
      const JsonFields fields(counted, fields_.thing(), "");
      gold.numbers.push_back(Integer(fields, name, 0, std::ssize(documents), 0));
      if (std::count(gold.numbers.begin(), gold.numbers.end(), gold.numbers.back()) > 1) {
        fields_.Fail(fmt::format("has {} twice in its {}", gold.numbers.back(), Quote(name)));
      }
    }
  }

 private:
  // Returns the line's name for `field` if it has one in any spelling; otherwise "".
  std::string Guess(const std::string& field) const {
    for (const std::string& spelling : Spellings().at(field)) {
      for (const auto& [key, value] : fields_.json().items()) {
        if (!value.is_null() && Letters(key) == spelling) return key;
      }
    }
    return "";
  }

  // Returns the known field that a name matches in any spelling; "" if there is none.
  static std::string FieldOf(const std::string& key) {
    const std::string letters = Letters(key);
    for (const auto& [field, spellings] : Spellings()) {
      if (std::find(spellings.begin(), spellings.end(), letters) != spellings.end()) return field;
    }
    return "";
  }

  // Appends the texts in a JSON value: a text, a list of values, or an object with kAnswerTexts.
  void AddTexts(const std::string& name, const nlohmann::json& value,
                std::vector<std::string>& texts) const {
    if (value.is_array()) {
      for (const nlohmann::json& one : value) AddTexts(name, one, texts);
    } else if (value.is_object()) {
      const size_t before = texts.size();
      for (const char* key : kAnswerTexts) {
        if (value.contains(key)) AddTexts(name, value[key], texts);
      }
      if (texts.size() == before) {
        fields_.Fail("has an object in its " + Quote(name) +
                     " without a text; it must be named text, value, answer or data");
      }
    } else if (value.is_string() || value.is_number()) {
      texts.push_back(StripText(TextOrDigits(value)));
      if (texts.back().empty()) fields_.Fail("has an empty text among its " + Quote(name));
    } else {
      fields_.Fail("has a field " + Quote(name) + " with a value that is neither text nor number");
    }
  }

  // Marks as gold all documents with the identifier `named` (chunks of one document share it) or,
  // if there are none, those with this text or title.
  static void AddNamedGold(const std::string& named, const std::vector<OwnDocument>& documents,
                           StatedGold& gold) {
    if (named.empty()) return;  // "" must not match documents without identifier
    for (const auto part : {&OwnDocument::id, &OwnDocument::text, &OwnDocument::title}) {
      bool found = false;
      for (size_t i = 0; i < documents.size(); ++i) {
        if (documents[i].*part != named) continue;
        found = true;
        if (std::count(gold.marked.begin(), gold.marked.end(), i) == 0) gold.marked.push_back(i);
      }
      if (found) return;
    }
    gold.missing = named;
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

// Reads the field `choices`. The choices that are among the answers are the right ones.
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
  std::vector<OwnDocument> documents;
  const std::set<std::string> parts = reader.Documents(documents, use);
  for (const OwnDocument& document : documents) {
    if (document.is_gold) raw.gold.marked.push_back(line.pieces.size());
    line.pieces.push_back(document.text);
  }
  const bool has_marks = !raw.gold.marked.empty();
  reader.CheckNames(has_marks, parts, use);
  line.question = reader.Question();
  raw.is_unanswered = reader.IsUnanswered();
  if (raw.is_unanswered) return raw;
  line.answers = reader.Texts("answers");
  if (fields.Find("classes")) line.classes = reader.Texts("classes");
  ReadOwnChoices(fields, line);
  line.generation = ReadRule(fields);
  if (!has_marks) {
    reader.Gold(documents, raw.gold);
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

std::string DocumentsPartNames(bool gold) {
  std::vector<std::string> names;
  for (const DocumentsPart& part : DocumentsParts()) {
    if (part.is_gold == gold) names.push_back(part.name);
  }
  return Joined(names);
}

const std::vector<std::string>& TextFieldNames() {
  static const std::vector<std::string> names = {
      "text",    "page_content", "content",      "passage",        "contents", "body",
      "snippet", "chunk",        "passage_text", "paragraph_text", "sentences"};
  return names;
}

}  // namespace midscope
