// SPDX-License-Identifier: MIT
#include "probes/engine/generate_text.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record_names.h"
#include "core/base/utf8.h"
#include "core/intervention/passage.h"
#include "core/run/generate.h"
#include "probes/base/record_axes.h"

namespace midscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPartialInterval = std::chrono::milliseconds(100);

struct TextSoFar {
  std::vector<int64_t> ids;
  std::vector<std::string> texts;
  std::vector<double> probabilities;

  void Add(const GeneratedToken& token) {
    ids.push_back(token.id);
    texts.push_back(DisplayText(token.bytes));
    probabilities.push_back(token.probability);
  }
};

// A token may end inside a character.
std::string WholePart(const std::string& text) {
  const std::optional<int64_t> invalid = FindInvalidUtf8(text);
  if (!invalid) return text;
  constexpr int64_t kLongestCharacter = 4;
  const bool at_end = static_cast<int64_t>(text.size()) - *invalid < kLongestCharacter;
  return at_end ? text.substr(0, static_cast<size_t>(*invalid)) : DisplayText(text);
}

bool IsBlank(const std::string& text) {
  return text.find_first_not_of(" \t\r\n\v\f") == std::string::npos;
}

Record RecordOf(const Decoder& decoder, const TextSoFar& so_far, int64_t limit) {
  const std::vector<int32_t> ids(so_far.ids.begin(), so_far.ids.end());
  const std::string text = WholePart(decoder.tokenizer().Decode(ids));
  const std::vector<std::string> axis = {"new_token"};
  Record record;
  record.name = kGenerationRecord;
  record.axes = {CountedAxis("new_token", static_cast<int64_t>(ids.size()))};
  record.arrays = {
      {kNewTokenIds, axis, so_far.ids, "", "generated tokens"},
      {kNewTokenText, axis, so_far.texts, "", "text of each token, control characters shown"},
      {kNewTokenProbability, axis, so_far.probabilities, "",
       "softmax over the vocabulary where the token was taken"}};
  record.signal = kNewTokenProbability;
  record.attributes = {{"text", text},
                       {"greedy", int64_t{1}},
                       {"ended", int64_t{0}},
                       {"cut", int64_t{0}},
                       {"empty", int64_t{IsBlank(text) ? 1 : 0}},
                       {"complete", int64_t{0}},
                       {"new_tokens", limit}};
  return record;
}

}  // namespace

Record GenerateText(const Decoder& decoder, const Prompt& prompt, const Intervention& intervention,
                    int64_t new_tokens, const std::function<void(const Record&)>& partial,
                    const JobContext& context) {
  GenerateOptions options;
  options.new_tokens = new_tokens;
  TextSoFar so_far;
  Clock::time_point last;
  const auto on_token = [&](const GeneratedToken& token) {
    so_far.Add(token);
    context.Report({"generate", static_cast<int64_t>(so_far.ids.size()), new_tokens, "tokens"});
    const Clock::time_point now = Clock::now();
    if (partial && now - last >= kPartialInterval) {
      last = now;
      partial(RecordOf(decoder, so_far, new_tokens));
    }
    return true;
  };
  const Generated generated = Generate(decoder, prompt.ids, ResolvePassages(intervention, prompt),
                                       options, on_token, context);
  Record record = RecordOf(decoder, so_far, new_tokens);
  record.attributes["ended"] = int64_t{generated.ended ? 1 : 0};
  record.attributes["cut"] = int64_t{generated.ended ? 0 : 1};
  record.attributes["complete"] = int64_t{1};
  return record;
}

}  // namespace midscope
