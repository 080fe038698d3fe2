// SPDX-License-Identifier: MIT
// RULER's synthetic tasks. Places of the needle tasks are depths of the gold needle; the other
// tasks have one place.
#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "data/scorers/answer_text.h"
#include "data/tasks/haystack.h"
#include "data/tasks/ruler_kinds.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

class RulerTask : public SpecTask {
 public:
  RulerTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec),
        kind_(RulerKinds().at(spec.Choice("kind"))),
        tokens_(spec.Number("tokens")),
        seed_(inputs.seed),
        count_(NeedCounter(inputs.count_tokens, name_)) {
    if (kind_.by_depth && kind_.needles.haystack == RulerHaystack::kEssay) ReadText(spec.file());
    if (!spec.file().empty() && text_.words.empty()) {
      throw UsageError("task '" + name_ + "'", "its haystack is made, not read", "Leave file= out");
    }
    const int64_t most = std::max<int64_t>(kind_.smallest, tokens_ / kind_.tokens_per_unit);
    if (!Fits(0, kind_.smallest)) {
      throw UsageError("task '" + name_ + "'", "its shortest prompt is longer", "Give more tokens");
    }
    size_ = kind_.smallest + LargestFitting(most - kind_.smallest, [&](int64_t more) {
              return Fits(0, kind_.smallest + more);
            });
  }

  int64_t pieces() const override { return by_depth() ? kDepthPlaces : 1; }
  bool by_depth() const override { return kind_.by_depth; }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    TaskSample made = Build(sample, SizeOf(sample), by_depth() ? place - 1 : kMiddle);
    made.place = place;
    made.pieces = pieces();
    made.generation = {kind_.new_tokens, AnswerCut::kWhole, AnswerMetric::kAllSubstrings};
    return made;
  }

 private:
  static constexpr int64_t kMiddle = 50;

  void ReadText(const std::string& path) {
    constexpr int64_t kBytesPerToken = 8;
    text_.words =
        SplitWords(path.empty() ? MakeHaystack(kBytesPerToken * tokens_, SplitMix64(seed_))
                                : ReadHaystack(path));
    if (text_.words.empty()) throw Failure(path, "it must contain at least one word");
  }

  TaskSample Build(int64_t sample, int64_t size, int64_t depth) const {
    return kind_.make(
        kind_, {SplitMix64(seed_, static_cast<uint64_t>(sample)), size, depth, tokens_, text_});
  }

  bool Fits(int64_t sample, int64_t size) const {
    return count_(Build(sample, size, kMiddle).text) + kind_.new_tokens <= tokens_;
  }

  // Returns the haystack's size in sample 0, or less if this sample's words have more tokens.
  int64_t SizeOf(int64_t sample) const {
    constexpr int64_t kStep = 50;
    int64_t size = size_;
    while (size > kind_.smallest && !Fits(sample, size)) {
      size = std::max(kind_.smallest, size - std::max<int64_t>(1, size / kStep));
    }
    return size;
  }

  const RulerKind& kind_;
  int64_t tokens_;
  uint64_t seed_;
  TokenCounter count_;
  RulerText text_;
  int64_t size_ = 0;
};

}  // namespace

// `tokens` limits prompt and generated text together, as max_seq_length of the public code. The
// haystack is the largest that fits with the gold needle in its middle; at other depths, the prompt
// may have a few more or fewer tokens. Differences from the public code: the gold needle's depth is
// the place, not random; words come from Midscope's lists; essays are generated or the user's file,
// and their sentences end at a word with . ! or ?; if the lists have too few words, cwe uses pairs
// of words; the answer's beginning ("The special magic number ... is") always ends the prompt.
// Scored by the share of the answers that occur in the generated text (string_match_all of
// scripts/eval/synthetic/constants.py); `answer` is all answers joined.
TaskType RulerTaskType() {
  std::vector<std::string> kinds = NamesIn(RulerKinds());
  Parameter tokens = PromptTokensParameter();
  tokens.help = "of the prompt and of what is generated";
  TaskType type = {
      "ruler",
      "RULER's synthetic tasks; places of niah are depths, such as 25%",
      {ChoiceParameter("kind", "by the name of the public code", kinds), std::move(tokens),
       TaskFile("the essays that needles hide in, a file or a folder of *.txt; without it the text "
                "is made",
                false)}};
  type.make = MakeSpecTask<RulerTask>;
  return type;
}

}  // namespace midscope
