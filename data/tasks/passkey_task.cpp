// SPDX-License-Identifier: MIT
// Passkey retrieval (Mohtashami and Jaggi 2023, landmark attention) in its two public forms: filler
// counted in characters (landmark, YaRN) and in whole blocks (PoSE). Scored by the first integer of
// 10 new tokens.
#include "core/base/error.h"
#include "core/base/random.h"
#include "data/tasks/prompt_text.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

constexpr const char* kInstruction =
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize them. "
    "I will quiz you about the important information there.";
constexpr const char* kBlock =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";
constexpr uint64_t kLargestKey = 50000;  // so that not every key has five digits

class PasskeyTask : public Task {
 public:
  PasskeyTask(const TaskSpec& spec, uint64_t seed, const TokenCounter& count_tokens)
      : name_(TaskSpecText(spec)), whole_blocks_(spec.Choice("filler") != 0), seed_(seed) {
    const TokenCounter& count = NeedCounter(count_tokens, name_);
    const int64_t tokens = spec.Number("tokens");
    const auto fits = [&](int64_t amount) {
      return count(Prompt(kLargestKey, amount, kDepthPlaces / 2 + 1).text) <= tokens;
    };
    if (!fits(0)) {
      throw UsageError("task '" + name_ + "'", "the prompt is longer without any filler",
                       "Give more tokens");
    }
    // No known tokenizer makes less than one token of a block's 18 words, or of 16 characters of
    // it, on average.
    constexpr int64_t kCharactersPerToken = 16;
    amount_ = LargestFitting(whole_blocks_ ? tokens : kCharactersPerToken * tokens, fits);
  }

  std::string name() const override { return name_; }
  int64_t pieces() const override { return kDepthPlaces; }
  bool by_depth() const override { return true; }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    return Prompt(1 + random.Below(kLargestKey), amount_, place);
  }

 private:
  // `amount` characters: from the blocks' beginning, joined by spaces. Whole blocks: not parted at
  // all, as in PoSE.
  std::string Filler(int64_t amount) const {
    std::string text;
    if (whole_blocks_) {
      for (int64_t i = 0; i < amount; ++i) text += kBlock;
      return text;
    }
    while (static_cast<int64_t>(text.size()) < amount) {
      if (!text.empty()) text += ' ';
      text += kBlock;
    }
    text.resize(static_cast<size_t>(amount));
    return text;
  }

  TaskSample Prompt(uint64_t key, int64_t amount, int64_t place) const {
    constexpr int64_t kNewTokens = 10;
    const int64_t in_front = amount * (place - 1) / (kDepthPlaces - 1);
    const std::string digits = std::to_string(key);
    PromptText prompt;
    prompt.Add(std::string(kInstruction) + "\n" + Filler(in_front) + "\n");
    prompt.AddSpan("gold",
                   "The pass key is " + digits + ". Remember it. " + digits + " is the pass key.");
    prompt.Add("\n" + Filler(amount - in_front) + "\n");
    prompt.AddSpan("question", "What is the pass key?");
    prompt.Add(" The pass key is");
    TaskSample made = std::move(prompt).Sample(std::vector{digits}, place, kDepthPlaces);
    made.generation = {kNewTokens, AnswerCut::kWhole, AnswerMetric::kFirstInteger};
    return made;
  }

  std::string name_;
  bool whole_blocks_;
  uint64_t seed_;
  int64_t amount_ = 0;
};

}  // namespace

// The amount of filler is the largest with which a prompt with a five-digit key has at most the
// requested tokens; shorter keys and other depths make it a few tokens more or less. (The sources
// step by 25 characters, or count 25 tokens a block.) Place p has p - 1 percent of the filler in
// front of the key; in the sources the depth is random.
TaskType PasskeyTaskType() {
  TaskType type = {
      "passkey",
      "a number hidden in filler; places are depths, such as 25%",
      {PromptTokensParameter(),
       ChoiceParameter("filler", "cut by characters (landmark, YaRN) or in whole blocks (PoSE)",
                       {"characters", "blocks"})}};
  type.make = [](const TaskSpec& spec, const TaskInputs& inputs) -> std::unique_ptr<Task> {
    return std::make_unique<PasskeyTask>(spec, inputs.seed, inputs.count_tokens);
  };
  return type;
}

}  // namespace midscope
