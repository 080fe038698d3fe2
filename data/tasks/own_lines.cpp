// SPDX-License-Identifier: MIT
#include "data/tasks/own_lines.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/formats/csv_objects.h"
#include "data/formats/json_lines.h"
#include "data/scorers/answer_text.h"

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

// Gold pieces of a line as the file states them.
struct StatedGold {
  std::vector<int64_t> numbers;  // as in the file, in its order; empty if documents are marked
  std::vector<size_t> marked;    // 0-based documents with a mark
};

// One line with what can only be understood when all lines are known.
struct RawLine {
  std::string thing;
  OwnLine line;
  StatedGold gold;
};

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

// Adds to errors without a remedy the name of the help page that describes the fields.
RawLine ReadWithRemedy(const JsonFields& fields, std::set<std::string>& ignored) {
  try {
    return ReadRawLine(fields, ignored);
  } catch (const Error& error) {
    if (error.problem() != error.what()) throw;
    throw Failure(fields.thing(), error.problem().substr(fields.thing().size() + 2),
                  "midscope help jsonl shows an example line");
  }
}

bool HasGold(const RawLine& raw) { return !raw.gold.numbers.empty() || !raw.gold.marked.empty(); }

// Throws unless the lines agree in whether they have a gold piece and choices.
void CheckAlike(const std::vector<RawLine>& lines) {
  const RawLine& first = lines.front();
  for (const RawLine& raw : lines) {
    if (HasGold(raw) != HasGold(first)) {
      throw Failure(raw.thing, "it must have a gold if and only if the first line has one",
                    "Leave out the lines without one");
    }
    if (raw.line.choices.empty() != first.line.choices.empty() ||
        raw.line.choice_rule != first.line.choice_rule) {
      throw Failure(
          raw.thing,
          "it must have choices, by the same rule, if and only if the first line has them");
    }
  }
}

// Whether one of the answers occurs in the piece, after the normalisation that SQuAD's scorer
// applies to both.
bool HoldsAnswer(const OwnLine& line, const std::string& piece) {
  const std::string text = " " + NormaliseAnswer(piece) + " ";
  return std::any_of(line.answers.begin(), line.answers.end(), [&](const std::string& answer) {
    const std::string normal = NormaliseAnswer(answer);
    return normal.empty() ? piece.find(answer) != std::string::npos
                          : text.find(normal) != std::string::npos;
  });
}

bool GoldHoldsAnswer(const RawLine& raw, int64_t from) {
  const auto holds = [&](size_t piece) {
    return piece < raw.line.pieces.size() && HoldsAnswer(raw.line, raw.line.pieces[piece]);
  };
  return std::any_of(raw.gold.numbers.begin(), raw.gold.numbers.end(),
                     [&](int64_t number) { return holds(static_cast<size_t>(number - from)); }) ||
         std::any_of(raw.gold.marked.begin(), raw.gold.marked.end(), holds);
}

// Returns the first line with a gold number that counting from `from` excludes; null if there is
// none.
const RawLine* Outside(const std::vector<RawLine>& lines, int64_t from) {
  const auto outside = [from](const RawLine& raw) {
    return std::any_of(raw.gold.numbers.begin(), raw.gold.numbers.end(), [&](int64_t number) {
      return number < from || number - from >= std::ssize(raw.line.pieces);
    });
  };
  const auto found = std::find_if(lines.begin(), lines.end(), outside);
  return found == lines.end() ? nullptr : &*found;
}

// Returns the number of the first piece, as far as the numbers decide it. Throws Error.
int64_t FirstNumber(const std::string& path, const std::vector<RawLine>& lines, GoldFrom from) {
  if (lines.front().gold.numbers.empty()) return 1;
  const std::map<GoldFrom, int64_t> given = {{GoldFrom::kZero, 0}, {GoldFrom::kOne, 1}};
  const auto stated = given.find(from);
  if (stated != given.end()) {
    if (const RawLine* raw = Outside(lines, stated->second)) {
      throw Failure(
          raw->thing,
          fmt::format("its gold is none of its {}, counted from {}",
                      CountText(std::ssize(raw->line.pieces), "document"), stated->second),
          "Correct the number, or gold_from");
    }
    return stated->second;
  }
  const RawLine* not_from_zero = Outside(lines, 0);
  const RawLine* not_from_one = Outside(lines, 1);
  if (not_from_zero && not_from_one) {
    throw Failure(not_from_one->thing,
                  "its gold is counted from 0, that of " + not_from_zero->thing + " from 1",
                  "Count from 1, or from 0, in all lines");
  }
  if (not_from_zero) return 1;
  if (not_from_one) return 0;
  const auto count = [&](int64_t number) {
    return std::count_if(lines.begin(), lines.end(),
                         [&](const RawLine& raw) { return GoldHoldsAnswer(raw, number); });
  };
  throw Failure(
      path,
      fmt::format("its gold numbers fit documents counted from 0 and from 1. The gold document "
                  "contains an answer in {} of {} lines by the first and in {} by the second",
                  count(0), lines.size(), count(1)),
      "Write \"gold_from\": 1 (or 0) into the first line, or --task jsonl:gold_from=1,file=" +
          path);
}

// Orders the pieces and golds of a line as OwnLine states them.
void MoveGoldFirst(int64_t first_number, RawLine& raw) {
  if (!HasGold(raw)) return;
  std::vector<size_t> golds = raw.gold.marked;
  for (const int64_t number : raw.gold.numbers) {
    golds.push_back(static_cast<size_t>(number - first_number));
  }
  OwnLine& line = raw.line;
  const size_t moved = golds.front();
  line.golds = std::ssize(golds);
  const auto begin = line.pieces.begin();
  const auto at = begin + static_cast<int64_t>(moved);
  std::rotate(begin, at, at + 1);
  for (size_t i = 1; i < golds.size(); ++i) {
    line.other_golds.push_back(static_cast<int64_t>(golds[i] + (golds[i] < moved ? 1 : 0)));
  }
  std::sort(line.other_golds.begin(), line.other_golds.end());
}

// Adds the notes that need all lines, which still have their pieces in the order of the file.
void AddNotes(const std::string& path, const std::vector<RawLine>& lines, int64_t first_number,
              const std::set<std::string>& ignored, std::vector<std::string>& notes) {
  if (!ignored.empty()) {
    notes.push_back(path + ": fields without effect: " +
                    Joined(std::vector<std::string>(ignored.begin(), ignored.end())));
  }
  for (const RawLine& raw : lines) {
    const auto& answers = raw.line.answers;
    const auto found = std::find_if(answers.begin(), answers.end(), [&](const std::string& answer) {
      return IsNormalisedAway(raw.line.generation.metric, answer);
    });
    if (found == answers.end()) continue;
    notes.push_back(raw.thing + ": the scorer's normaliser leaves nothing of the answer " +
                    Quote(*found) +
                    "; such answers are compared with generated text as they are, word by word");
    break;  // a file may have thousands of such lines
  }
  if (!HasGold(lines.front()) || !lines.front().line.choices.empty()) return;
  int64_t without = 0;
  const RawLine* first = nullptr;
  for (const RawLine& raw : lines) {
    if (GoldHoldsAnswer(raw, first_number)) continue;
    ++without;
    if (first == nullptr) first = &raw;
  }
  if (first == nullptr) return;
  notes.push_back(
      fmt::format("{}: in {} of {} lines no answer occurs in a gold document; the first is {}",
                  path, without, lines.size(), first->thing));
}

}  // namespace

OwnLines ReadOwnLines(const std::string& path, GoldFrom from) {
  std::vector<RawLine> raws;
  std::set<std::string> ignored;
  const auto read = [&](const JsonFields& fields) {
    raws.push_back(ReadWithRemedy(fields, ignored));
    if (!fields.Find("gold_from")) return;
    const GoldFrom stated =
        Integer(fields, "gold_from", 0, 1, 1) == 0 ? GoldFrom::kZero : GoldFrom::kOne;
    if (from != GoldFrom::kFile && from != stated) {
      fields.Fail("has another gold_from than the task or an earlier line states");
    }
    from = stated;
  };
  if (path.ends_with(".csv")) {
    ForEachCsvObject(path, read);
  } else {
    ForEachJsonLine(path, read);
  }
  CheckAlike(raws);
  const int64_t first_number = FirstNumber(path, raws, from);
  OwnLines own;
  AddNotes(path, raws, first_number, ignored, own.notes);
  const size_t first_length = raws.front().line.pieces.size();
  for (RawLine& raw : raws) {
    MoveGoldFirst(first_number, raw);
    const bool differs = raw.line.golds > 0 && raw.line.pieces.size() != first_length;
    own.different_lengths = own.different_lengths || differs;
    own.lines.push_back(std::move(raw.line));
  }
  return own;
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
