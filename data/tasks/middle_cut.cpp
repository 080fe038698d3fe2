// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter_kinds.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

class MiddleCutTask : public Task {
 public:
  MiddleCutTask(std::unique_ptr<Task> task, int64_t tokens, const TaskInputs& inputs)
      : task_(std::move(task)),
        tokens_(tokens),
        count_(NeedCounter(inputs.count_tokens, task_->name())),
        ends_(NeedEnds(inputs.token_ends, task_->name())) {}

  std::string name() const override { return task_->name(); }
  int64_t pieces() const override { return task_->pieces(); }
  int64_t first_place() const override { return task_->first_place(); }
  bool by_depth() const override { return task_->by_depth(); }
  std::optional<int64_t> samples() const override { return task_->samples(); }
  std::vector<std::string> notes() const override { return task_->notes(); }
  bool scored_by_likelihood() const override { return task_->scored_by_likelihood(); }
  TaskSample Make(int64_t sample, int64_t place) const override {
    TaskSample made = task_->Make(sample, place);
    CutMiddle(made, tokens_, count_, ends_);
    return made;
  }

 private:
  std::unique_ptr<Task> task_;
  int64_t tokens_;
  TokenCounter count_;
  TokenEnds ends_;
};

}  // namespace

const TokenEnds& NeedEnds(const TokenEnds& ends, const std::string& task) {
  if (!ends) {
    throw UsageError("task '" + task + "'", "it is cut by tokens, and there is no model here",
                     "Name the model that it is for");
  }
  return ends;
}

void CutMiddle(TaskSample& sample, int64_t tokens, const TokenCounter& count,
               const TokenEnds& ends) {
  sample.cut = count(sample.text) > tokens;
  if (!*sample.cut) return;
  const int64_t half = tokens / 2;
  const TextEnds kept = ends(sample.text, half, half);
  const std::string& front = kept.first;
  const std::string& back = kept.last;
  const auto kept_front = static_cast<int64_t>(front.size());
  const auto kept_back = static_cast<int64_t>(back.size());
  const auto size = static_cast<int64_t>(sample.text.size());
  // A character that is cut apart is another one in the halves, at their inner ends.
  const auto moved = [&](int64_t offset) {
    int64_t before = offset;  // bytes of the text without special tokens of either end
    int64_t after = size - offset;
    for (const auto& [begin, end] : kept.special) {
      before -= std::clamp<int64_t>(offset - begin, 0, end - begin);
      after -= std::clamp<int64_t>(end - offset, 0, end - begin);
    }
    return before <= kept_front ? before : std::max(kept_front, kept_front + kept_back - after);
  };
  for (ByteSpan& span : sample.spans) {
    span.begin = moved(span.begin);
    span.end = moved(span.end);
  }
  std::erase_if(sample.spans, [&](const ByteSpan& span) {
    const bool is_gone = span.begin == span.end;
    sample.gold_cut = sample.gold_cut || (is_gone && span.name == "gold");
    return is_gone;
  });
  sample.text = front + back;
}

std::unique_ptr<Task> WithMiddleCut(std::unique_ptr<Task> task, int64_t tokens,
                                    const TaskInputs& inputs) {
  return std::make_unique<MiddleCutTask>(std::move(task), tokens, inputs);
}

Parameter MiddleCutParameter(bool always_stated) {
  constexpr int64_t kMostTokens = 1 << 20;
  Parameter tokens = WholeNumberParameter(
      "tokens",
      "longer prompts lose their middle (LongBench's code: 3500 for models of 4096); 0: they stay "
      "whole",
      0, kMostTokens, 0);
  tokens.always_stated = always_stated;
  return tokens;
}

}  // namespace midscope
