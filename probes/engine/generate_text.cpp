// SPDX-License-Identifier: MIT
#include "probes/engine/generate_text.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record_names.h"
#include "core/base/utf8.h"
#include "core/intervention/passage.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPartialInterval = std::chrono::milliseconds(100);

// Removes an incomplete character at the end, because a token may end inside a character.
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

}  // namespace

Record GenerationRecord(const Tokenizer& tokenizer, const std::vector<GeneratedToken>& tokens,
                        const GenerateOptions& options, const Generated* whole) {
  std::vector<int32_t> ids;
  std::vector<std::string> texts;
  std::vector<double> probabilities;
  for (const GeneratedToken& token : tokens) {
    ids.push_back(token.id);
    texts.push_back(DisplayText(token.bytes));
    probabilities.push_back(token.probability);
  }
  const std::string text = WholePart(tokenizer.Decode(ids));
  const std::vector<std::string> axis = {"new_token"};
  Record record;
  record.name = kGenerationRecord;
  record.axes = {CountedAxis("new_token", static_cast<int64_t>(ids.size()))};
  record.arrays = {
      {kNewTokenIds, axis, std::vector<int64_t>(ids.begin(), ids.end()), "", "generated tokens"},
      {kNewTokenText, axis, texts, "", "text of each token, control characters shown"},
      {kNewTokenProbability, axis, probabilities, "",
       "softmax over the vocabulary where the token was taken"}};
  record.signal = kNewTokenProbability;
  record.attributes = {{"text", text},
                       {"greedy", int64_t{options.temperature == 0 ? 1 : 0}},
                       {"ended", int64_t{whole && whole->ended ? 1 : 0}},
                       {"cut", int64_t{whole && !whole->ended ? 1 : 0}},
                       {"empty", int64_t{IsBlank(text) ? 1 : 0}},
                       {"complete", int64_t{whole ? 1 : 0}},
                       {"new_tokens", options.new_tokens}};
  return record;
}

Record GenerateText(const Decoder& decoder, const Prompt& prompt, const Intervention& intervention,
                    int64_t new_tokens, const std::function<void(const Record&)>& partial,
                    const JobContext& context) {
  GenerateOptions options;
  options.new_tokens = new_tokens;
  std::vector<GeneratedToken> so_far;
  Clock::time_point last;
  const auto on_token = [&](const GeneratedToken& token) {
    so_far.push_back(token);
    context.Report({"generate", static_cast<int64_t>(so_far.size()), new_tokens, "tokens"});
    const Clock::time_point now = Clock::now();
    if (partial && now - last >= kPartialInterval) {
      last = now;
      partial(GenerationRecord(decoder.tokenizer(), so_far, options, nullptr));
    }
    return true;
  };
  const Generated generated = Generate(decoder, prompt.ids, ResolvePassages(intervention, prompt),
                                       options, on_token, context);
  return GenerationRecord(decoder.tokenizer(), so_far, options, &generated);
}

}  // namespace midscope
