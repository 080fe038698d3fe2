// SPDX-License-Identifier: MIT
// Passkey retrieval (Mohtashami and Jaggi 2023, landmark attention) in its published forms: filler
// counted in characters (landmark, YaRN), filler in whole blocks (PoSE), one block per line
// (LongLM). Scored by the first integer of the generated text.
#include <algorithm>
#include <array>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

constexpr const char* kInstruction =
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize them. "
    "I will quiz you about the important information there.";
constexpr const char* kLongLmInstruction =
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize it. "
    "I will quiz you about the important information there.";
constexpr const char* kBlock =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";
constexpr int64_t kPasskeyTokens = 10;

// A published form of the passkey prompt.
struct PasskeyForm {
  const char* filler;  // name in the task spec
  const char* instruction;
  bool whole_blocks;
  bool blocks_are_lines;  // the question, with a final space, follows directly
  bool counted_by_pose;   // assumes 25 tokens per block, 69 for the rest
  uint64_t smallest_key;
  uint64_t largest_key;
  int64_t new_tokens;
};

constexpr std::array kForms = {
    PasskeyForm{"characters", kInstruction, false, false, false, 1, 50000, kPasskeyTokens},
    PasskeyForm{"blocks", kInstruction, true, false, false, 1, 50000, kPasskeyTokens},
    PasskeyForm{"pose", kInstruction, true, false, true, 1, 50000, kPasskeyTokens},
    PasskeyForm{"lines", kLongLmInstruction, true, true, false, 10000, 99999, 5},
};

// Returns the number of filler blocks for a prompt of `tokens` tokens, by PoSE's eval_passkey.py.
int64_t PoseBlocks(int64_t tokens) {
  constexpr int64_t kRest = 32 + 26 + 11;
  constexpr int64_t kBlockTokens = 25;
  return std::max<int64_t>(0, (tokens - kRest) / kBlockTokens);
}

class PasskeyTask : public SpecTask {
 public:
  PasskeyTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec), form_(kForms.at(spec.Choice("filler"))), seed_(inputs.seed) {
    const int64_t tokens = spec.Number("tokens");
    if (form_.counted_by_pose) {
      amount_ = PoseBlocks(tokens);
      return;
    }
    const TokenCounter& count = NeedCounter(inputs.count_tokens, name_);
    const auto fits = [&](int64_t amount) {
      return count(Prompt(form_.largest_key, amount, kDepthPlaces / 2 + 1).text) <= tokens;
    };
    if (!fits(0)) {
      throw UsageError("task '" + name_ + "'", "the prompt is longer without any filler",
                       "Give more tokens");
    }
    // Bounds the search: every known tokenizer makes at least 18 tokens of a block (its number of
    // words), and on average at least one token of 16 characters.
    constexpr int64_t kCharactersPerToken = 16;
    amount_ = LargestFitting(form_.whole_blocks ? tokens : kCharactersPerToken * tokens, fits);
  }

  int64_t pieces() const override { return kDepthPlaces; }
  bool by_depth() const override { return true; }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    const uint64_t keys = form_.largest_key - form_.smallest_key + 1;
    return Prompt(form_.smallest_key + random.Below(keys), amount_, place);
  }

 private:
  // Returns filler text: `amount` characters of blocks joined by spaces or, if whole_blocks,
  // `amount` blocks without separator (as in PoSE) or one per line.
  std::string Filler(int64_t amount) const {
    std::string text;
    if (form_.whole_blocks) {
      for (int64_t i = 0; i < amount; ++i) {
        if (form_.blocks_are_lines) text += '\n';
        text += kBlock;
      }
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
    const int64_t in_front = amount * (place - 1) / (kDepthPlaces - 1);
    const std::string digits = std::to_string(key);
    const std::string end = form_.blocks_are_lines ? "" : "\n";
    PromptBuilder prompt;
    prompt.Add(form_.instruction);
    prompt.Add(end + Filler(in_front) + "\n");
    prompt.AddSpan("gold",
                   "The pass key is " + digits + ". Remember it. " + digits + " is the pass key.");
    prompt.Add(end + Filler(amount - in_front) + end);
    prompt.AddSpan("question", "What is the pass key?");
    prompt.Add(form_.blocks_are_lines ? " The pass key is " : " The pass key is");
    TaskSample made = std::move(prompt).Sample(std::vector{digits}, place, kDepthPlaces);
    made.generation = {form_.new_tokens, AnswerCut::kWhole, AnswerMetric::kFirstInteger};
    return made;
  }

  const PasskeyForm& form_;
  uint64_t seed_;
  int64_t amount_ = 0;
};

}  // namespace

// The amount of filler is the largest for which a prompt with a five-digit key has at most the
// requested tokens; with shorter keys and at other depths, prompts may have a few more or fewer.
// (The sources increase it in steps of 25 characters, or count 25 tokens per block, as filler=pose
// does.) filler=lines is the form of LongLM's example files (passkey_examples.jsonl and example.py
// of github.com/datamllab/LongLM): keys of five digits, one block per line, a space at the end,
// five new tokens. At place p, p - 1 percent of the filler precede the key; in the sources, the
// depth is random.
TaskType PasskeyTaskType() {
  std::vector<std::string> fillers;
  fillers.reserve(std::size(kForms));
  for (const PasskeyForm& form : kForms) fillers.emplace_back(form.filler);
  TaskType type = {
      "passkey",
      "a number hidden in filler; places are depths, such as 25%",
      {PromptTokensParameter(),
       ChoiceParameter("filler",
                       "cut by characters (landmark, YaRN); whole blocks, fitted (PoSE); as many "
                       "as PoSE's code counts; a block a line and keys of five digits (LongLM)",
                       fillers)}};
  type.make = MakeSpecTask<PasskeyTask>;
  return type;
}

}  // namespace midscope
