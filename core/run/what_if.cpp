// SPDX-License-Identifier: MIT
#include "core/run/what_if.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "core/base/memory_map.h"
#include "core/base/timing.h"
#include "core/decoder/captures.h"
#include "core/intervention/passage.h"
#include "core/plan/attention_plan.h"
#include "core/plan/plan_changes.h"
#include "core/run/shared_prefix.h"
#include "core/run/what_if_part_report.h"
#include "core/run/what_if_sequence.h"
#include "kernels/matrix_vector.h"

namespace midscope {
namespace {

// Returns the number of heads in stored layers whose mean one of the plans needs.
int64_t MeanHeads(const std::vector<AttentionPlan>& before, const std::vector<AttentionPlan>& after,
                  int64_t first_layer) {
  std::set<std::pair<size_t, int64_t>> heads;
  for (const auto* plans : {&before, &after}) {
    for (auto layer = static_cast<size_t>(first_layer); layer < plans->size(); ++layer) {
      for (const AblatedHead& ablated : (*plans)[layer].edits.ablated) {
        if (ablated.with == AblateWith::kMean) heads.insert({layer, ablated.head});
      }
    }
  }
  return static_cast<int64_t>(heads.size());
}

// Returns the number of stored layers in which one of the plans adds rows of a sequence of `rows`
// to a memory.
int64_t Memories(const std::vector<AttentionPlan>& before, const std::vector<AttentionPlan>& after,
                 int64_t first_layer, int64_t rows) {
  std::set<size_t> layers;
  for (const auto* plans : {&before, &after}) {
    for (auto layer = static_cast<size_t>(first_layer); layer < plans->size(); ++layer) {
      const auto& memory = (*plans)[layer].memory;
      if (memory && memory->segment < rows) layers.insert(layer);
    }
  }
  return static_cast<int64_t>(layers.size());
}

}  // namespace

// Determines the rows to run for `plans`.
void WhatIf::Sequence::PlanRows() {
  rerun = false;
  first_row.assign(plans.size(), 0);
  if (!trace || trace->rows() == 0) return;
  first_row = FirstChangedRows(trace->plans(), plans);
  if (trace->rows() < rows()) {
    // A cancelled run may have left an incomplete trace: its first rows are valid, unless the
    // change affects them.
    trace->Truncate(std::min(trace->rows(), first_row.back()));
    std::fill(first_row.begin(), first_row.end(), trace->rows());
    return;
  }
  rerun = true;
  const bool complete = fresh && (has_attention || !needs_attention);
  const int64_t tail = prompt_tokens() - 1;
  for (int64_t& row : first_row) {
    if (row != kNoRow || !complete) row = std::min(row, tail);
    row = std::min(row, rows());
  }
}

void WhatIf::Sequence::TellAwareness(const Intervention& intervention, WhatIfOutcome& told) const {
  if (!awareness) return;
  const kernels::AwarenessThreshold threshold = AwarenessRule(intervention);
  told.position_awareness = awareness->score(threshold);
  told.counted_keys = awareness->counted_keys(threshold);
}

FreshSequence WhatIf::Sequence::Fresh() const { return {ids, prompt_tokens(), plans, trace.get()}; }

RunRequest WhatIf::Sequence::Request() {
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = prompt_tokens();
  request.intervention = resolved;
  if (needs_attention) request.hooks.push_back(attention.get());
  if (awareness) request.hooks.push_back(awareness.get());
  if (extra_hook) request.hooks.push_back(extra_hook);
  request.trace = trace.get();
  if (rerun) request.rerun = RunRequest::Rerun{first_row};
  return request;
}

WhatIf::WhatIf(std::shared_ptr<const Decoder> decoder, std::vector<Prompt> prompts,
               int64_t memory_limit, bool position_awareness)
    : decoder_(std::move(decoder)),
      prompts_(std::move(prompts)),
      sources_(std::make_shared<PatchSources>(*decoder_)),
      memory_limit_(memory_limit) {
  for (const Prompt& prompt : prompts_) {
    Sequence sequence;
    sequence.prompt = &prompt;
    sequence.ids = IdsToScore(prompt.ids, prompt.answer_ids);
    sequence.attention = std::make_unique<LastQueryAttention>(decoder_->config());
    if (position_awareness)
      sequence.awareness = std::make_unique<PositionAwareness>(decoder_->config());
    sequences_.push_back(std::move(sequence));
  }
  EnforceMemoryLimit();
  if (first_layer_ == decoder_->config().layers) return;
  for (Sequence& sequence : sequences_)
    sequence.trace = decoder_->MakeTrace(sequence.rows(), /*residual=*/true, first_layer_);
}

WhatIf::~WhatIf() = default;

const Trace* WhatIf::trace(size_t prompt) const { return sequences_[prompt].trace.get(); }

// Returns the bytes of all traces, for their current and the requested plans, if layers below
// first_layer are dropped.
int64_t WhatIf::Bytes(int64_t first_layer) const {
  if (first_layer == decoder_->config().layers) return 0;
  int64_t bytes = 0;
  for (const Sequence& sequence : sequences_) {
    static const std::vector<AttentionPlan> none;
    const auto& before = sequence.trace ? sequence.trace->plans() : none;
    bytes += decoder_->TraceBytes(
        sequence.rows(),
        {.residual = true,
         .first_layer = first_layer,
         .mean_heads = MeanHeads(before, sequence.plans, first_layer),
         .memories = Memories(before, sequence.plans, first_layer, sequence.rows())});
  }
  return bytes;
}

// Drops layers until the limit is met.
void WhatIf::EnforceMemoryLimit() {
  const int64_t layers = decoder_->config().layers;
  while (memory_limit_ > 0 && first_layer_ < layers && Bytes(first_layer_) > memory_limit_)
    ++first_layer_;
  for (Sequence& sequence : sequences_) {
    if (!sequence.trace) continue;
    if (first_layer_ == layers) {
      sequence.trace.reset();
    } else {
      sequence.trace->DropLayersBelow(first_layer_);
    }
  }
}

Intervention WhatIf::Resolved(const Intervention& intervention, const Sequence& sequence,
                              const JobContext& context) const {
  return ResolvePassages(sources_->Give(intervention, *sequence.prompt, context), *sequence.prompt);
}

// Determines the rows to run of each prompt.
void WhatIf::PlanSequences(const Intervention& intervention, const JobContext& context,
                           bool attention) {
  for (Sequence& sequence : sequences_) {
    sequence.needs_attention = attention;
    sequence.resolved = Resolved(intervention, sequence, context);
    sequence.plans = CompilePlans(sequence.resolved, decoder_->config(), sequence.prompt_tokens(),
                                  sequence.rows());
  }
  EnforceMemoryLimit();
  for (Sequence& sequence : sequences_) sequence.PlanRows();
}

WhatIfWork WhatIf::Estimate(const Intervention& intervention, const JobContext& context) {
  PlanSequences(intervention, context, /*attention=*/false);
  return Work();
}

WhatIfResult WhatIf::Evaluate(const Intervention& intervention, const JobContext& context,
                              bool attention, const WhatIfShown* shown) {
  const auto start = std::chrono::steady_clock::now();
  context.ThrowIfCancelled();
  PlanSequences(intervention, context, attention);
  std::vector<Sequence*> run;
  for (Sequence& sequence : sequences_) {
    if (sequence.NeedsRun()) run.push_back(&sequence);
  }
  if (shown && sequences_.at(shown->prompt).NeedsRun()) {
    Sequence& first = sequences_[shown->prompt];
    PartReport report(*decoder_, first, intervention, *shown, attention);
    run = RunDonor(run, &first, report.Observed(context));
    if (!run.empty()) report.TellWhole();
  }
  RunAll(RunDonor(run, nullptr, context), context);
  WhatIfResult result = CollectResult(intervention, attention);
  result.seconds = SecondsSince(start);
  return result;
}

// If sequences that run from their first row have a common prefix, runs one of them and copies its
// rows to the others. `first`, if not null, is run in any case, and its rows are copied to
// sequences that share any. Returns the sequences that must still be run.
std::vector<WhatIf::Sequence*> WhatIf::RunDonor(std::vector<Sequence*> sequences, Sequence* first,
                                                const JobContext& context) {
  std::vector<Sequence*> whole;
  std::vector<FreshSequence> fresh;
  for (Sequence* sequence : sequences) {
    if (!sequence->RunsWhole()) continue;
    whole.push_back(sequence);
    fresh.push_back(sequence->Fresh());
  }
  std::optional<PrefixSharing> sharing;
  const auto chosen = std::find(whole.begin(), whole.end(), first);
  if (!first) {
    sharing = FindPrefixSharing(fresh);
  } else if (chosen != whole.end()) {
    sharing = PrefixSharingFrom(static_cast<size_t>(chosen - whole.begin()), fresh);
  }
  if (!sharing && !first) return sequences;
  Sequence* donor = first ? first : whole[sharing->donor];
  RunAll(std::span(&donor, 1), context);
  if (sharing) GiveRows(*sharing, fresh);
  for (size_t i = 0; sharing && i < whole.size(); ++i) {
    if (sharing->rows[i] == 0) continue;
    whole[i]->rerun = false;
    std::fill(whole[i]->first_row.begin(), whole[i]->first_row.end(), sharing->rows[i]);
  }
  std::erase(sequences, donor);
  return sequences;
}

// Runs the sequences, the last rows alone if that is requested.
void WhatIf::RunAll(std::span<Sequence* const> sequences, const JobContext& context) {
  const bool exact = decoder_->options().dtype == kernels::Dtype::kFloat32;
  if (!last_rows_alone_ || exact || first_layer_ > 0)
    return RunRows(sequences, kBatchRows, context);
  std::vector<Sequence*> early;
  std::vector<Sequence*> late;
  for (Sequence* sequence : sequences) (sequence->RunsLate() ? late : early).push_back(sequence);
  RunRows(early, kBatchRows, context);
  RunLastRows(std::move(late), early, context);
}

// Runs the last rows of `late`, and once more those of `early`, whose rows have been run. Results
// of up to kMatrixVectorRows rows do not depend on the rows beside them.
void WhatIf::RunLastRows(std::vector<Sequence*> late, std::span<Sequence* const> early,
                         const JobContext& context) {
  std::vector<std::vector<int64_t>> first_rows;
  std::vector<bool> reruns;
  std::vector<double> before;  // nats
  for (Sequence* sequence : early) {
    first_rows.push_back(sequence->first_row);
    reruns.push_back(sequence->rerun);
    sequence->rerun = true;
    std::fill(sequence->first_row.begin(), sequence->first_row.end(),
              sequence->prompt_tokens() - 1);
    sequence->fresh = false;
    before.push_back(sequence->outcome.score.nll);
    late.push_back(sequence);
  }
  JobContext quiet = context;
  if (!early.empty()) quiet.progress = nullptr;  // the layers have been reported
  RunRows(late, kernels::kMatrixVectorRows, quiet);
  for (size_t i = 0; i < early.size(); ++i) {
    WhatIfOutcome& outcome = early[i]->outcome;
    if (!early[i]->prompt->answer_ids.empty())
      outcome.noise = std::abs(outcome.score.nll - before[i]);
    // The work that Work() reports is that of the setting.
    early[i]->first_row = first_rows[i];
    early[i]->rerun = reruns[i];
  }
}

// Runs the sequences in packed batches of at most `most_rows` rows, in their order.
void WhatIf::RunRows(std::span<Sequence* const> sequences, int64_t most_rows,
                     const JobContext& context) {
  const auto rows_of = [&](size_t i) {
    return sequences[i]->rows() - sequences[i]->first_row.back();
  };
  size_t begin = 0;
  while (begin < sequences.size()) {
    const size_t end = BatchEnd(begin, sequences.size(), rows_of, most_rows);
    std::vector<RunRequest> requests;
    for (size_t i = begin; i < end; ++i) {
      requests.push_back(sequences[i]->Request());
      sequences[i]->fresh = false;
    }
    const std::vector<RunResult> results = decoder_->Run(requests, context);
    for (size_t i = begin; i < end; ++i) {
      context.ThrowIfCancelled();
      SetOutcome(*sequences[i], results[i - begin], sequences[i]->outcome);
      sequences[i]->fresh = true;
      sequences[i]->has_attention = sequences[i]->needs_attention;
    }
    begin = end;
  }
}

void WhatIf::SetOutcome(const Sequence& sequence, const RunResult& result, WhatIfOutcome& outcome) {
  const std::span<const float> last = result.Logits(sequence.prompt_tokens() - 1);
  outcome.last_logits.assign(last.begin(), last.end());
  outcome.position_ratio = result.position_ratio;
  if (!sequence.prompt->answer_ids.empty())
    outcome.score = ScoreAnswer(result, sequence.prompt_tokens(), sequence.prompt->answer_ids);
}

WhatIfWork WhatIf::Work() const {
  const int64_t layers = decoder_->config().layers;
  WhatIfWork work;
  work.first_layer = layers;
  work.first_row = kNoRow;
  work.last_rows_only = true;
  int64_t run = 0;
  int64_t all = 0;
  for (const Sequence& sequence : sequences_) {
    const std::vector<int64_t> first_row =
        FirstRowsToRun(sequence.first_row, first_layer_, sequence.rows());
    for (int64_t layer = 0; layer < layers; ++layer) {
      const int64_t row = first_row[static_cast<size_t>(layer)];
      if (row >= sequence.rows()) continue;
      work.first_layer = std::min(work.first_layer, layer);
      work.first_row = std::min(work.first_row, row);
      work.last_rows_only = work.last_rows_only && row >= sequence.prompt_tokens() - 1;
      run += sequence.rows() - row;
    }
    all += sequence.rows() * layers;
  }
  work.share = all > 0 ? static_cast<double>(run) / static_cast<double>(all) : 0;
  return work;
}

// Returns all of the result except the time.
WhatIfResult WhatIf::CollectResult(const Intervention& intervention, bool attention) const {
  WhatIfResult result;
  static_cast<WhatIfWork&>(result) = Work();
  for (const Sequence& sequence : sequences_) {
    result.outcomes.push_back(sequence.outcome);
    if (attention)
      result.outcomes.back().last_query_attention = LargeCopy(sequence.attention->attention());
    sequence.TellAwareness(intervention, result.outcomes.back());
    if (sequence.trace) result.kept.bytes += sequence.trace->bytes();
  }
  result.kept.limit = memory_limit_;
  result.kept.first_layer = first_layer_;
  return result;
}

}  // namespace midscope
