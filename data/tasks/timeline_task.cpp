// SPDX-License-Identifier: MIT
// Timeline reorder: events in mixed order must be put in the order of their years. Uses the prompt
// and form of question of LooGLE (Li et al. 2023, arXiv 2311.04939), as the channel paper does,
// with invented events or LooGLE's file. There is one place.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/formats/json_lines.h"
#include "data/tasks/haystack.h"
#include "data/tasks/invented_facts.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

void AppendUtf8(uint32_t code, std::string& text) {
  constexpr uint32_t kContinuation = 0x80;
  constexpr uint32_t kSixBits = 0x3F;
  const auto byte = [&text](uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(kContinuation | (code & kSixBits));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(kContinuation | ((code >> 6) & kSixBits));
    byte(kContinuation | (code & kSixBits));
  } else {
    byte(0xF0 | (code >> 18));
    byte(kContinuation | ((code >> 12) & kSixBits));
    byte(kContinuation | ((code >> 6) & kSixBits));
    byte(kContinuation | (code & kSixBits));
  }
}

// Parses a Python escape sequence, whose backslash was removed, at the front of `rest`; appends the
// character to `text`.
void TakeEscape(std::string_view& rest, std::string& text) {
  struct Escape {
    char name;
    char meaning;
  };
  static constexpr std::array kEscapes = {Escape{'n', '\n'},  Escape{'t', '\t'},  Escape{'r', '\r'},
                                          Escape{'\\', '\\'}, Escape{'\'', '\''}, Escape{'"', '"'}};
  const char name = rest.front();
  rest.remove_prefix(1);
  for (const Escape& escape : kEscapes) {
    if (escape.name != name) continue;
    text += escape.meaning;
    return;
  }
  const size_t digits = name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
  uint32_t code = 0;
  const std::string_view number = rest.substr(0, digits);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), code, 16);
  constexpr uint32_t kLargestCode = 0x10FFFF;
  if (digits == 0 || number.size() < digits || error != std::errc() ||
      end != number.data() + number.size() || code > kLargestCode) {
    text += '\\';  // as Python, keeps unknown escapes unchanged
    text += name;
    return;
  }
  AppendUtf8(code, text);
  rest.remove_prefix(digits);
}

// Parses a Python string, whose opening quotation mark `mark` was removed, at the front of `rest`.
std::string TakeText(char mark, std::string_view& rest) {
  std::string text;
  while (!rest.empty() && rest.front() != mark) {
    const char character = rest.front();
    rest.remove_prefix(1);
    if (character == '\\' && !rest.empty()) {
      TakeEscape(rest, text);
    } else {
      text += character;
    }
  }
  if (rest.empty()) return "";
  rest.remove_prefix(1);
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Converts a Python literal to JSON: strings get double quotation marks and JSON's escapes; None,
// True and False become null, true and false. For other texts, the result is not valid JSON.
std::string PythonToJson(std::string_view literal) {
  struct Word {
    std::string_view python;
    std::string_view json;
  };
  static constexpr std::array kWords = {Word{"None", "null"}, Word{"True", "true"},
                                        Word{"False", "false"}};
  std::string json;
  while (!literal.empty()) {
    const char character = literal.front();
    if (character == '\'' || character == '"') {
      literal.remove_prefix(1);
      json += TakeText(character, literal);
      continue;
    }
    size_t taken = 1;
    std::string_view written = literal.substr(0, 1);
    for (const Word& word : kWords) {
      if (!literal.starts_with(word.python)) continue;
      taken = word.python.size();
      written = word.json;
    }
    json += written;
    literal.remove_prefix(taken);
  }
  return json;
}

constexpr std::array<const char*, 20> kRoman = {
    "I",  "II",  "III",  "IV",  "V",  "VI",  "VII",  "VIII",  "IX",  "X",
    "XI", "XII", "XIII", "XIV", "XV", "XVI", "XVII", "XVIII", "XIX", "XX"};

constexpr std::array<const char*, 6> kHappenings = {
    " built a new bridge",  " opened its first school", " lost its market hall to a fire",
    " was given a railway", " elected its first mayor", " planted the great park"};

struct Event {
  uint64_t year = 0;
  std::string what;  // "the town of Beltorwyn built a new bridge"
};

// Makes invented events, in the order of the question's list. Years and towns are unique.
std::vector<Event> InventEvents(size_t count, SplitMix64& random) {
  constexpr uint64_t kFirstYear = 1500;
  constexpr uint64_t kYears = 500;
  std::vector<uint64_t> years(kYears);
  std::iota(years.begin(), years.end(), kFirstYear);
  years = random.Draw(std::move(years), count);
  const std::vector<std::string> towns = InventNames(count, random);
  std::vector<Event> events;
  for (size_t i = 0; i < count; ++i) {
    events.push_back(
        {years[i], "the town of " + towns[i] + kHappenings[random.Below(kHappenings.size())]});
  }
  return events;
}

constexpr const char* kTimelineStart =
    "Please answer the question based on the long texts below. \n";

// Completes the sample with question and answer.
TaskSample FinishedTimeline(PromptBuilder prompt, const std::string& question,
                            const std::string& answer, int64_t new_tokens) {
  prompt.Add("Question: ");
  prompt.AddSpan("question", question);
  prompt.Add("\nAnswer: ");
  TaskSample made = std::move(prompt).Sample(std::vector{answer}, 1, 1);
  made.generation = {new_tokens, AnswerCut::kWhole, AnswerMetric::kOrder};
  return made;
}

// A timeline question of LooGLE and the document that it is about.
struct LoogleQuestion {
  size_t document = 0;
  std::string question;
  std::string answer;
};

// Whether an answer is an order such as "II,I,III", which only timeline questions have. (The field
// `type` is not used because it is in Chinese in the repository's file, in English in the hub's.)
bool IsOrder(std::string_view answer) {
  return answer.find(',') != std::string_view::npos &&
         answer.find_first_not_of("IVX, ") == std::string_view::npos;
}

// Returns a line's questions as a JSON list. Files contain a list, JSON text or a Python literal.
nlohmann::json QuestionsOf(const JsonFields& fields) {
  const nlohmann::json& pairs = fields.Need("qa_pairs");
  if (!pairs.is_string()) return pairs;
  const std::string text = pairs.get<std::string>();
  if (text == "none") return nlohmann::json::array();
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (parsed.is_discarded()) parsed = nlohmann::json::parse(PythonToJson(text), nullptr, false);
  if (parsed.is_discarded()) fields.Fail("has qa_pairs that cannot be parsed");
  return parsed;
}

class LoogleTask : public SpecTask {
 public:
  LoogleTask(const TaskSpec& spec, const TaskInputs& /*inputs*/) : SpecTask(spec) {
    ForEachJsonLine(spec.file(), [&](const JsonFields& fields) { Read(fields); });
    if (questions_.empty()) {
      throw Failure(spec.file(), "it must contain at least one question about a timeline",
                    "Give longdep_qa.jsonl of LooGLE");
    }
  }

  std::optional<int64_t> samples() const override { return std::ssize(questions_); }

  TaskSample MakeChecked(int64_t sample, int64_t /*place*/) const override {
    constexpr int64_t kNewTokens = 500;
    const LoogleQuestion& asked = questions_[static_cast<size_t>(sample)];
    PromptBuilder prompt;
    prompt.Add(kTimelineStart);
    prompt.AddSpan("context", documents_[asked.document]);
    prompt.Add("\n");
    return FinishedTimeline(std::move(prompt), asked.question, asked.answer, kNewTokens);
  }

 private:
  void Read(const JsonFields& fields) {
    const nlohmann::json pairs = QuestionsOf(fields);
    if (!pairs.is_array()) fields.Fail("has qa_pairs that must be a list");
    const size_t before = questions_.size();
    for (const nlohmann::json& pair : pairs) {
      const JsonFields one(pair, fields.thing(), "qa_pairs");
      const nlohmann::json* answer = one.Find("A");
      if (!answer || !answer->is_string() || !IsOrder(answer->get<std::string>())) continue;
      questions_.push_back({documents_.size(), one.Text("Q"), answer->get<std::string>()});
    }
    if (questions_.size() > before) documents_.push_back(fields.Text("input"));
  }

  std::vector<std::string> documents_;
  std::vector<LoogleQuestion> questions_;
};

class TimelineTask : public SpecTask {
 public:
  TimelineTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec),
        events_(static_cast<size_t>(spec.Number("events"))),
        filler_(spec.Number("filler")),
        seed_(inputs.seed) {}

  TaskSample MakeChecked(int64_t sample, int64_t /*place*/) const override {
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    const std::vector<Event> events = InventEvents(events_, random);
    std::vector<size_t> order(events_);
    std::iota(order.begin(), order.end(), size_t{0});
    const std::vector<size_t> told = random.Draw(order, events_);

    PromptBuilder prompt;
    prompt.Add(kTimelineStart);
    for (const size_t event : told) {
      if (filler_ > 0) prompt.Add(MakeHaystack(filler_, SplitMix64(random.Next())) + "\n");
      prompt.AddSpan(fmt::format("event {}", event + 1),
                     fmt::format("In {} {}.", events[event].year, events[event].what));
      prompt.Add("\n");
    }
    std::string question = "Reorder the timeline of below events:";
    for (size_t i = 0; i < events_; ++i) {
      std::string what = events[i].what;
      what.front() = 'T';
      question += std::string("\n") + kRoman[i] + ". " + what + ".";
    }
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return events[a].year < events[b].year; });
    std::string answer;
    for (const size_t event : order)
      answer += (answer.empty() ? "" : ",") + std::string(kRoman[event]);
    constexpr int64_t kNewTokens = 100;
    return FinishedTimeline(std::move(prompt), question, answer, kNewTokens);
  }

 private:
  size_t events_;
  int64_t filler_;
  uint64_t seed_;
};

}  // namespace

// file: longdep_qa.jsonl of LooGLE (fields input and qa_pairs); its questions whose answer is a
// list of Roman numerals are the samples, with the prompt and new tokens of its public code
// (config/task2prompt.json of github.com/bigai-nlco/LooGLE); `tokens` cuts out the middle, as that
// code does. Scored by OrderMatch, which fits the channel paper's numbers; LooGLE's paper reports
// deviations instead. The spans "event 1" ... are the events in the text, numbered as the question
// lists them.
TaskType TimelineTaskType() {
  constexpr int64_t kMostFiller = 1000000;
  TaskType type = {
      "timeline",
      "events to be put in the order of their years, in LooGLE's form",
      {WholeNumberParameter("events", "how many", 2, static_cast<int64_t>(kRoman.size()), 4),
       WholeNumberParameter("filler", "bytes of other text in front of each event, about", 0,
                            kMostFiller, 300),
       MiddleCutParameter(false),
       TaskFile("LooGLE's longdep_qa.jsonl; without it the events are invented", false)}};
  type.cuts_middle = true;
  type.make = [](const TaskSpec& spec, const TaskInputs& inputs) -> std::unique_ptr<Task> {
    if (!spec.file().empty()) return std::make_unique<LoogleTask>(spec, inputs);
    return std::make_unique<TimelineTask>(spec, inputs);
  };
  return type;
}

}  // namespace midscope
