// SPDX-License-Identifier: MIT
// NoLiMa (Modarressi et al. 2025, arXiv 2502.05167): a needle in a book that shares no word with
// the question about it. Place p: the needle is at p - 1 percent of the book's snippet.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/random.h"
#include "core/tokenizer/prompt.h"
#include "data/formats/json_lines.h"
#include "data/tasks/data_folder.h"
#include "data/tasks/haystack.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {

namespace {

// Reads NoLiMa's published sets of needles (needle_set*.json): needles, questions that share no
// word with the needle, and the values of the placeholders {1}, {2} ... in each test.

// One test: a question about a needle.
struct NoLiMaTest {
  std::string name;         // "0401_T08_C02_twohop", as the public code names its results
  std::string question_of;  // "onehop"
  std::string system;       // "": none
  std::string task_template;
  std::string needle;
  std::string question;
  std::string distractor;               // "": none
  std::vector<std::string> answers;     // for needles without {CHAR}
  std::vector<std::string> characters;  // possible values of {CHAR}; one of them is the answer
};

constexpr uintmax_t kLargestSet = uintmax_t{64} << 20;
constexpr const char* kCharacter = "{CHAR}";

// Replaces the placeholders {1}, {2}, ... in a text. The public code replaces only the last one
// that occurs in a question; no published question has more than one.
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

// Reads field `key`, a text or a list of texts.
std::vector<std::string> TextOrList(const JsonFields& fields, const std::string& key) {
  const nlohmann::json* found = fields.Find(key);
  if (found == nullptr) return {};
  if (!found->is_string()) return TextList(fields, key);
  const auto text = found->get<std::string>();
  return text.empty() ? std::vector<std::string>() : std::vector<std::string>{text};
}

// The data that all tests of a needle share.
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
    test.Fail("uses a needle with {CHAR}, but character_set is missing");
  if (!by_character && made.answers.empty()) test.Fail("has no gold_answers");
  if (!by_character) made.characters.clear();
  return made;
}

const nlohmann::json& ObjectAt(const JsonFields& fields, const std::string& key) {
  const nlohmann::json& value = fields.Need(key);
  if (!value.is_object()) fields.Fail("has a field '" + key + "' that must be an object");
  return value;
}

void AddTests(const JsonFields& fields, std::vector<NoLiMaTest>& tests) {
  const NeedleEntry entry{
      fields.Text("id"), fields.Text("needle"), fields.FindText("system_prompt").value_or(""),
      fields.FindText("task_template").value_or(""), TextOrList(fields, "character_set")};
  const nlohmann::json& all_tests = ObjectAt(fields, "tests");
  for (const auto& [kind, question] : ObjectAt(fields, "questions").items()) {
    if (!question.is_string()) fields.Fail("has a question that must be a string");
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

// Returns the tests of a file in order: by needle, kind of question and test. Throws Error
// (failure), which names the file and the needle, if the file can't be read, is larger than 64 MiB
// or has another form, or if a test has no answer.
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

constexpr const char* kNeedles = "needles";
constexpr const char* kNoLiMaTemplate = "template";
constexpr const char* kHaystackPart = "haystack";
constexpr const char* kNoLiMaQuestionPart = "question";
constexpr const char* kOwnTemplate =
    "Below is a passage of a book.\n\n{haystack}\n\nAnswer the question from what the passage says "
    "or what follows from it. Give the answer alone.\n\nQuestion: {question}";

std::vector<std::string> QuestionKinds() { return {"all", "onehop", "twohop"}; }

std::vector<std::string> Books(const TaskSpec& spec) { return DataFiles(spec.file(), {".txt"}); }

void ReplaceCharacter(const std::string& character, std::string& text) {
  constexpr std::string_view kMark = "{CHAR}";
  size_t at = 0;
  while ((at = text.find(kMark, at)) != std::string::npos) {
    text.replace(at, kMark.size(), character);
    at += character.size();
  }
}

// A part of a book, split at a line end, where the needle is inserted.
struct Snippet {
  std::string_view before;  // without the final line end
  std::string_view after;
};

class NoLiMaTask : public SpecTask {
 public:
  NoLiMaTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec),
        seed_(inputs.seed),
        count_(NeedCounter(inputs.count_tokens, name_)),
        tokens_(spec.Number("tokens")) {
    tests_ = ReadNoLiMaTests(spec.Path(kNeedles));
    const std::string kind = QuestionKinds().at(spec.Choice("question"));
    if (kind != QuestionKinds().front())
      std::erase_if(tests_, [&](const NoLiMaTest& test) { return test.question_of != kind; });
    if (tests_.empty()) throw Failure(spec.Path(kNeedles), "it has no question of kind " + kind);
    for (const std::string& book : Books(spec)) books_.push_back(ReadHaystack(book));
    const std::vector<std::string> parts = {kHaystackPart, kNoLiMaQuestionPart};
    std::vector<TemplatePart> given;
    if (!spec.Path(kNoLiMaTemplate).empty())
      given = ReadPromptTemplate(spec.Path(kNoLiMaTemplate), parts, parts);
    templates_.reserve(tests_.size());
    for (const NoLiMaTest& test : tests_) {
      templates_.push_back(
          !given.empty()
              ? given
              : PromptTemplate(test.task_template.empty() ? kOwnTemplate : test.task_template,
                               spec.Path(kNeedles) + ", " + test.name, parts, parts));
    }
  }

  int64_t pieces() const override { return kDepthPlaces; }
  bool by_depth() const override { return true; }
  std::optional<int64_t> samples() const override {
    return static_cast<int64_t>(tests_.size() * books_.size());
  }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    const size_t number = static_cast<size_t>(sample) % tests_.size();
    const std::string& book = books_[static_cast<size_t>(sample) / tests_.size()];
    NoLiMaTest test = tests_[number];
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    if (!test.characters.empty()) {
      const std::string character = test.characters[random.Below(test.characters.size())];
      ReplaceCharacter(character, test.needle);
      ReplaceCharacter(character, test.question);
      test.answers = {character};
    }
    const double depth = static_cast<double>(place - 1) / (kDepthPlaces - 1);
    constexpr uint64_t kSteps = 1 << 20;
    const double draw = static_cast<double>(random.Below(kSteps)) / kSteps;
    return Prompt(test, templates_[number], At(book, depth), DistractorDepth(depth, draw), place);
  }

 private:
  // Returns a snippet of `tokens_` tokens around a line end of the book: the first one after
  // `depth` * `tokens_` tokens. The share `depth` (0 to 1) of the snippet's tokens precedes it, the
  // rest follows it. The public code cuts snippets between tokens, this function at white space.
  Snippet At(const std::string& book, double depth) const {
    const double wanted = depth * static_cast<double>(tokens_ + 1);
    size_t end = 0;
    if (wanted > 0) {
      const std::vector<size_t> ends = LineEnds(book);
      const int64_t short_ones = LargestFitting(std::ssize(ends), [&](int64_t lines) {
        return lines == 0 || static_cast<double>(count_(std::string_view(book).substr(
                                 0, ends[static_cast<size_t>(lines) - 1]))) < wanted;
      });
      if (short_ones == std::ssize(ends)) TooShort();
      end = ends[static_cast<size_t>(short_ones)];
    }
    const auto in_front = std::llround(static_cast<double>(tokens_) * depth);
    const std::string_view text = book;
    std::string_view before = LastTokens(text.substr(0, end), in_front, count_);
    before = before.substr(
        0, before.find_last_of('\n') == std::string_view::npos ? 0 : before.find_last_of('\n'));
    const std::string_view rest = text.substr(end);
    constexpr int64_t kSpare = 8;  // tolerance in tokens, because cuts are at white space
    const int64_t behind = tokens_ - in_front;
    const std::string_view after = FirstTokens(rest, behind, count_);
    if (after.size() == rest.size() && count_(after) + kSpare < behind) TooShort();
    return {before, after};
  }

  [[noreturn]] void TooShort() const {
    throw Failure("task '" + name_ + "'", "a book has fewer tokens than the snippet",
                  "Give fewer tokens, or longer books");
  }

  // Returns the byte offsets after line ends, as far into the book as snippets can begin.
  std::vector<size_t> LineEnds(const std::string& book) const {
    constexpr size_t kBytesPerToken = 16;
    const size_t most = std::min(book.size(), static_cast<size_t>(tokens_) * kBytesPerToken + 4096);
    std::vector<size_t> ends;
    for (size_t at = book.find('\n'); at < most; at = book.find('\n', at + 1))
      ends.push_back(at + 1);
    return ends;
  }

  // Returns the depth (0 to 1) of the distractor, by the public code's rule: at least 0.2 away from
  // the needle's `depth`. `draw`: random number, 0 to 1.
  double DistractorDepth(double depth, double draw) const {
    constexpr double kFree = 0.2;
    constexpr int64_t kShort = 500;
    if (tokens_ < kShort) return depth < 0.6 ? 0.7 : depth > 0.75 ? 0.6 : 0.5;
    const double left = std::max(0.0, depth - 2 * kFree);
    const double right = std::max(0.0, 1 - (depth + 2 * kFree));
    const double at = draw * (left + right);
    return at > left ? depth + kFree + (at - left) : at + kFree;
  }

  // Adds one part of the snippet to the prompt, with the distractor at the first line end after
  // `tokens` tokens.
  void AddPart(std::string_view part, const std::string& distractor, int64_t tokens,
               PromptBuilder& prompt) const {
    if (distractor.empty() || tokens < 0) return prompt.Add(part);
    size_t at = part.find('\n', FirstTokens(part, tokens, count_).size());
    at = at == std::string_view::npos ? part.size() : at;
    prompt.Add(part.substr(0, at));
    prompt.Add(" ");
    prompt.AddSpan("distractor", distractor);
    prompt.Add(part.substr(at));
  }

  TaskSample Prompt(const NoLiMaTest& test, const std::vector<TemplatePart>& parts,
                    const Snippet& snippet, double distractor_depth, int64_t place) const {
    constexpr int64_t kNewTokens = 192;
    PromptBuilder prompt;
    for (const TemplatePart& part : parts) {
      if (!part.is_placeholder) {
        prompt.Add(part.text);
      } else if (part.text == kNoLiMaQuestionPart) {
        prompt.AddSpan("question", test.question);
      } else {
        const int64_t needle_at = count_(snippet.before);
        const auto at = std::llround(distractor_depth * static_cast<double>(tokens_));
        const bool first = at < needle_at;
        AddPart(snippet.before, test.distractor, first ? at : -1, prompt);
        prompt.Add(" ");
        prompt.AddSpan("gold", test.needle);
        prompt.Add("\n");
        AddPart(snippet.after, test.distractor, first ? -1 : at - needle_at, prompt);
      }
    }
    TaskSample made = std::move(prompt).Sample(test.answers, place, kDepthPlaces);
    made.system = test.system;
    made.generation = {kNewTokens, AnswerCut::kWhole, AnswerMetric::kContains};
    return made;
  }

  uint64_t seed_;
  TokenCounter count_;
  int64_t tokens_;
  std::vector<NoLiMaTest> tests_;
  std::vector<std::vector<TemplatePart>> templates_;  // [test]
  std::vector<std::string> books_;
};

}  // namespace

// Samples are the tests of the file, in order, with the first book, then with the second book, and
// so on. A sample's name for {CHAR} depends on seed and sample; in the public code, also on the
// depth. Score: whether the answer occurs in the text (the public metric `contains`,
// case-sensitive). The public prompt for sets without a task_template has a separate licence and is
// not included: give it with template=FILE.
TaskType NoLiMaTaskType() {
  Parameter needles = FileParameter(kNeedles, "NoLiMa's needle_set.json, or one of its other sets");
  needles.required = true;
  TaskType type = {
      "nolima",
      "a needle in a book that shares no word with the question; places are depths, such as 25%",
      {WholeNumberParameter("tokens", "of the snippet of a book, without the needle", 16, 1 << 24,
                            1000),
       ChoiceParameter("question", "which questions of the needles", QuestionKinds()),
       FileParameter(kNoLiMaTemplate,
                     "a text file with {haystack} and {question} in it; without it the set's own, "
                     "else one of ours"),
       std::move(needles),
       TaskFile("a book, or a folder of books *.txt (NoLiMa's haystack/rand_shuffle)", true)}};
  type.make = MakeSpecTask<NoLiMaTask>;
  type.more_files = [](const TaskSpec& spec) {
    return std::filesystem::is_directory(spec.file()) ? Books(spec) : std::vector<std::string>();
  };
  return type;
}

}  // namespace midscope
