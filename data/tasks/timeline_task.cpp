// SPDX-License-Identifier: MIT
// Timeline reorder: events in mixed order must be put in the order of their years. LooGLE's
// prompt and form of question (Li et al. 2023, arXiv 2311.04939), which the channel paper uses,
// over invented events; LooGLE's own questions can be given as lines for the task jsonl with the
// scorer "order". One place.
#include <algorithm>
#include <array>
#include <memory>
#include <numeric>

#include <fmt/format.h>

#include "core/base/random.h"
#include "data/tasks/haystack.h"
#include "data/tasks/invented_facts.h"
#include "data/tasks/prompt_text.h"
#include "data/tasks/tasks.h"

namespace midscope {
namespace {

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

// As the question lists them. Years and towns are distinct.
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

class TimelineTask : public Task {
 public:
  TimelineTask(const TaskSpec& spec, uint64_t seed)
      : name_(TaskSpecText(spec)),
        events_(static_cast<size_t>(spec.Number("events"))),
        filler_(spec.Number("filler")),
        seed_(seed) {}

  std::string name() const override { return name_; }
  int64_t pieces() const override { return 1; }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    const std::vector<Event> events = InventEvents(events_, random);
    std::vector<size_t> order(events_);
    std::iota(order.begin(), order.end(), size_t{0});
    const std::vector<size_t> told = random.Draw(order, events_);

    PromptText prompt;
    prompt.Add("Please answer the question based on the long texts below. \n");
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
    prompt.Add("Question: ");
    prompt.AddSpan("question", question);
    prompt.Add("\nAnswer: ");

    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return events[a].year < events[b].year; });
    std::string answer;
    for (const size_t event : order)
      answer += (answer.empty() ? "" : ",") + std::string(kRoman[event]);
    constexpr int64_t kNewTokens = 100;
    TaskSample made = std::move(prompt).Sample(std::vector{answer}, place, 1);
    made.generation = {kNewTokens, AnswerCut::kWhole, AnswerMetric::kOrder};
    return made;
  }

 private:
  std::string name_;
  size_t events_;
  int64_t filler_;
  uint64_t seed_;
};

}  // namespace

// Scored by the whole order: LooGLE's paper has deviations instead, the channel paper's numbers fit
// this. The spans "event 1" ... are the events in the text, numbered as the question lists them.
TaskType TimelineTaskType() {
  constexpr int64_t kMostFiller = 1000000;
  TaskType type = {
      "timeline",
      "events to be put in the order of their years, in LooGLE's form",
      {WholeNumberParameter("events", "how many", 2, static_cast<int64_t>(kRoman.size()), 4),
       WholeNumberParameter("filler", "bytes of other text in front of each event, about", 0,
                            kMostFiller, 300)}};
  type.make = [](const TaskSpec& spec, const TaskInputs& inputs) -> std::unique_ptr<Task> {
    return std::make_unique<TimelineTask>(spec, inputs.seed);
  };
  return type;
}

}  // namespace midscope
