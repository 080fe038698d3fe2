// SPDX-License-Identifier: MIT
#include "core/run/generate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <utility>

#include "core/base/error.h"
#include "core/plan/attention_plan.h"
#include "core/plan/plan_changes.h"
#include "core/plan/run_positions.h"
#include "core/run/scoring.h"
#include "core/run/shared_prefix.h"

namespace midscope {

namespace {

// Returns a uniform number in [0, 1) from the engine's bits: the standard's distributions differ
// between libraries.
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
  // The size of the smallest set of most probable tokens whose share reaches top_p.
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
  if (!(options.top_p > 0 && options.top_p <= 1)) throw UsageError("top-p", "it must be in (0, 1]");
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

namespace {

struct Sequence {
  const GreedyRequest* request = nullptr;
  std::vector<int32_t> ids;
  std::unique_ptr<Trace> own_trace;
  Trace* trace = nullptr;
  Generated generated;
  bool done = false;

  int64_t rows() const { return static_cast<int64_t>(ids.size()); }
  int64_t rows_to_run() const { return rows() - trace->rows(); }
};

// Keeps only those prompt rows of a shared trace that `intervention` does not change. The last row
// is run in any case, for its logits.
void KeepUnchangedRows(const Decoder& decoder, const GreedyRequest& request) {
  Trace& trace = *request.trace;
  if (trace.rows() == 0) return;
  const auto prompt_tokens = static_cast<int64_t>(request.prompt.size());
  const std::vector<AttentionPlan> plans =
      CompilePlans(request.intervention, decoder.config(), prompt_tokens, prompt_tokens);
  trace.Truncate(std::min(prompt_tokens - 1, FirstChangedRows(trace.plans(), plans).back()));
}

Sequence Begin(const Decoder& decoder, const GreedyRequest& request) {
  const auto prompt_tokens = static_cast<int64_t>(request.prompt.size());
  if (request.new_tokens < 1) throw UsageError("new-tokens", "it must be at least 1");
  const int64_t rows = prompt_tokens + request.new_tokens - 1;
  if (rows > LongestRun(request.intervention, decoder.config())) {
    throw UsageError("prompt",
                     "it has " + std::to_string(prompt_tokens) + " tokens, " +
                         std::to_string(request.new_tokens) + " are to follow, " +
                         ContextHolds(request.intervention, decoder.config()),
                     "Shorten it; nothing is cut off in silence");
  }
  CheckPositionsHeld(request.intervention, decoder.config(), prompt_tokens, rows);
  Sequence sequence;
  sequence.request = &request;
  sequence.ids.assign(request.prompt.begin(), request.prompt.end());
  if (request.trace) {
    KeepUnchangedRows(decoder, request);
  } else {
    sequence.own_trace = GreedyTrace(decoder, prompt_tokens, request.new_tokens,
                                     request.intervention.Find<ChannelScaling>() != nullptr);
  }
  sequence.trace = request.trace ? request.trace : sequence.own_trace.get();
  return sequence;
}

RunRequest NextRun(const Sequence& sequence) {
  RunRequest run;
  run.ids = sequence.ids;
  run.prompt_tokens = static_cast<int64_t>(sequence.request->prompt.size());
  run.intervention = sequence.request->intervention;
  run.trace = sequence.trace;
  run.first_logit_row = sequence.rows() - 1;
  run.likeliest = 1;
  return run;
}

void Take(const Decoder& decoder, const RunResult& result, Sequence& sequence) {
  const int32_t id = result.likeliest.front().id;
  if (EndsText(decoder.tokenizer(), id)) {
    sequence.generated.ended = true;
    sequence.done = true;
    return;
  }
  sequence.generated.ids.push_back(id);
  sequence.ids.push_back(id);
  const auto count = static_cast<int64_t>(sequence.generated.ids.size());
  sequence.done = count >= sequence.request->new_tokens;
  if (!sequence.done && sequence.request->enough) {
    sequence.done = sequence.request->enough(decoder.tokenizer().Decode(sequence.generated.ids));
  }
}

// Generates one more token for each sequence, in batches of bounded size.
void Step(const Decoder& decoder, std::span<Sequence* const> sequences, const JobContext& context) {
  const auto rows_of = [&](size_t i) { return sequences[i]->rows_to_run(); };
  for (size_t begin = 0; begin < sequences.size();) {
    const size_t end = BatchEnd(begin, sequences.size(), rows_of);
    std::vector<RunRequest> runs;
    runs.reserve(end - begin);
    for (size_t i = begin; i < end; ++i) runs.push_back(NextRun(*sequences[i]));
    const std::vector<RunResult> results = decoder.Run(runs, context);
    for (size_t i = begin; i < end; ++i) Take(decoder, results[i - begin], *sequences[i]);
    begin = end;
  }
}

// If prompts have a common prefix, one of them generates its first token before the others, which
// copy its rows.
void ShareRows(const Decoder& decoder, std::span<Sequence> sequences, const JobContext& context) {
  std::vector<Sequence*> whole;
  std::vector<std::vector<AttentionPlan>> plans;
  for (Sequence& sequence : sequences) {
    if (sequence.trace->rows() > 0) continue;
    whole.push_back(&sequence);
    plans.push_back(CompilePlans(sequence.request->intervention, decoder.config(), sequence.rows(),
                                 sequence.rows()));
  }
  std::vector<FreshSequence> fresh;
  fresh.reserve(whole.size());
  for (size_t i = 0; i < whole.size(); ++i)
    fresh.push_back({whole[i]->request->prompt, whole[i]->rows(), plans[i], whole[i]->trace});
  const std::optional<PrefixSharing> sharing = FindPrefixSharing(fresh);
  if (!sharing) return;
  Step(decoder, std::span(&whole[sharing->donor], 1), context);
  GiveRows(*sharing, fresh);
}

}  // namespace

std::unique_ptr<Trace> GreedyTrace(const Decoder& decoder, int64_t prompt_tokens,
                                   int64_t new_tokens, bool channels) {
  return decoder.MakeTrace(prompt_tokens + new_tokens - 1, /*residual=*/channels);
}

std::vector<Generated> GenerateGreedy(const Decoder& decoder,
                                      std::span<const GreedyRequest> requests,
                                      const JobContext& context) {
  std::vector<Sequence> sequences;
  sequences.reserve(requests.size());
  for (const GreedyRequest& request : requests) sequences.push_back(Begin(decoder, request));
  // Progress is reported per token, not per layer of single tokens.
  JobContext quiet = context;
  quiet.progress = nullptr;
  ShareRows(decoder, sequences, quiet);
  for (;;) {
    std::vector<Sequence*> going;
    for (Sequence& sequence : sequences) {
      if (!sequence.done) going.push_back(&sequence);
    }
    if (going.empty()) break;
    context.ThrowIfCancelled();
    Step(decoder, going, quiet);
  }
  std::vector<Generated> generated;
  generated.reserve(sequences.size());
  for (Sequence& sequence : sequences) {
    sequence.generated.text = decoder.tokenizer().Decode(sequence.generated.ids);
    generated.push_back(std::move(sequence.generated));
  }
  return generated;
}

}  // namespace midscope
