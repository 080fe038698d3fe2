// SPDX-License-Identifier: MIT
// FakeEngine: generated text.
#include <algorithm>

#include "tests/gui/support/fake_engine.h"

namespace midscope {
namespace {

constexpr int64_t kWords = 4;

Record PlantedText(const GenerateRequest& request, int64_t words, bool complete) {
  const bool changed = FakeEngine::Strength(request.intervention) != 0;
  const bool cut = request.new_tokens <= kWords;
  std::vector<int64_t> ids;
  std::vector<std::string> texts;
  std::string text;
  for (int64_t i = 0; i < words; ++i) {
    const bool other = changed && i == 1;
    ids.push_back(other ? 99 : i);
    texts.push_back(other ? " other" : " word" + std::to_string(i));
    text += texts.back();
  }
  Record record;
  record.name = "generation";
  record.axes = {{"new_token", words, "", {}, {}}};
  record.arrays = {{"new_token_ids", {"new_token"}, ids, "", ""},
                   {"new_token_text", {"new_token"}, texts, "", ""},
                   {"new_token_probability",
                    {"new_token"},
                    std::vector<double>(static_cast<size_t>(words), 0.5),
                    "",
                    ""}};
  record.attributes = {{"text", text},
                       {"greedy", int64_t{1}},
                       {"ended", int64_t{complete && !cut ? 1 : 0}},
                       {"cut", int64_t{complete && cut ? 1 : 0}},
                       {"empty", int64_t{0}},
                       {"complete", int64_t{complete ? 1 : 0}},
                       {"new_tokens", request.new_tokens}};
  return record;
}

}  // namespace

Record FakeEngine::Generate(const GenerateRequest& request,
                            const std::function<void(const Record&)>& partial,
                            const JobContext& context) {
  control_->NoteGeneration(request);
  control_->CheckSetting(request.intervention);
  const int64_t words = std::min(kWords, request.new_tokens);
  Record half = PlantedText(request, words / 2, false);
  Stamp(request.intervention, request.place, half);
  partial(half);
  control_->WaitAtGate(&FakeControl::hold_generation_, context);
  Record whole = PlantedText(request, words, true);
  Stamp(request.intervention, request.place, whole);
  return whole;
}

}  // namespace midscope
