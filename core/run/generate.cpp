// SPDX-License-Identifier: MIT
#include "core/run/generate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/base/error.h"
#include "core/plan/context_limit.h"
#include "core/plan/given_positions.h"
#include "core/run/scoring.h"

namespace midscope {
namespace {

// Uniform in [0, 1) from the engine's bits: the standard's distributions differ between libraries.
double Uniform(std::mt19937_64& engine) { return static_cast<double>(engine() >> 11) * 0x1.0p-53; }

int32_t Sample(std::span<const float> logits, const GenerateOptions& options,
               std::mt19937_64& engine) {
  if (options.temperature <= 0) return TopTokens(logits, 1).front().id;
  const int64_t limit = options.top_k > 0 ? options.top_k : static_cast<int64_t>(logits.size());
  const std::vector<TopToken> candidates = TopTokens(logits, limit);
  std::vector<double> probability(candidates.size());
  for (size_t i = 0; i < candidates.size(); ++i) {
    probability[i] =
        std::exp((candidates[i].logit - candidates.front().logit) / options.temperature);
  }
  const double sum = std::accumulate(probability.begin(), probability.end(), 0.0);
  // The smallest set of most probable tokens whose share reaches top_p.
  size_t kept = 0;
  double mass = 0;
  while (kept < candidates.size() && (kept == 0 || mass < options.top_p * sum))
    mass += probability[kept++];
  double point = Uniform(engine) * mass;
  for (size_t i = 0; i < kept; ++i) {
    point -= probability[i];
    if (point < 0) return candidates[i].id;
  }
  return candidates[kept - 1].id;
}

void CheckOptions(const GenerateOptions& options) {
  if (options.new_tokens < 1) throw UsageError("new-tokens", "it must be at least 1");
  if (!(options.temperature >= 0))
    throw UsageError("temperature", "it must not be negative", "0 means greedy");
  if (!(options.top_p > 0 && options.top_p <= 1))
    throw UsageError("top-p", "it must lie in (0, 1]");
  if (options.top_k < 0) throw UsageError("top-k", "it must not be negative", "0 means no limit");
}

}  // namespace

bool EndsText(const Tokenizer& tokenizer, int32_t id) {
  const std::vector<int32_t>& ends = tokenizer.end_ids();
  return std::find(ends.begin(), ends.end(), id) != ends.end();
}

Generated Generate(const Decoder& decoder, std::span<const int32_t> prompt,
                   const Intervention& intervention, const GenerateOptions& options,
                   const std::function<bool(const GeneratedToken& token)>& on_token,
                   const JobContext& context) {
  CheckOptions(options);
  const auto prompt_tokens = static_cast<int64_t>(prompt.size());
  const int64_t room = LongestRun(intervention, decoder.config()) -
                       PositionsTaken(intervention, prompt_tokens, prompt_tokens);
  const int64_t limit =
      options.new_tokens <= room ? options.new_tokens : std::max<int64_t>(room + 1, 1);
  std::mt19937_64 engine(options.seed);
  std::vector<int32_t> ids(prompt.begin(), prompt.end());
  const auto trace = decoder.MakeTrace(prompt_tokens + limit,
                                       /*residual=*/intervention.Find<ChannelScaling>() != nullptr);

  Generated generated;
  for (int64_t step = 0; step < limit; ++step) {
    context.ThrowIfCancelled();
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = prompt_tokens;
    request.intervention = intervention;
    request.trace = trace.get();
    request.first_logit_row = static_cast<int64_t>(ids.size()) - 1;
    const bool most_likely = options.temperature <= 0 && !on_token;
    request.likeliest = most_likely ? 1 : 0;
    // Progress is reported per token, not per layer of single tokens.
    JobContext quiet = context;
    quiet.progress = nullptr;
    const RunResult result = decoder.RunOne(request, step == 0 ? context : quiet);
    const std::span<const float> logits =
        most_likely ? std::span<const float>() : result.Logits(request.first_logit_row);
    const int32_t id = most_likely ? result.likeliest.front().id : Sample(logits, options, engine);
    if (options.stop_at_end && EndsText(decoder.tokenizer(), id)) {
      generated.ended = true;
      break;
    }
    generated.ids.push_back(id);
    ids.push_back(id);
    if (!on_token) continue;
    const GeneratedToken token{id, std::string(decoder.tokenizer().TokenText(id)),
                               std::exp(-NegativeLogLikelihood(logits, id))};
    if (!on_token(token)) break;
  }
  generated.text = decoder.tokenizer().Decode(generated.ids);
  return generated;
}

}  // namespace midscope
