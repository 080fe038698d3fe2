// SPDX-License-Identifier: MIT
// Runs prompts under changed interventions and computes only the rows that a change affects, by
// caching the traces of earlier runs.
//
// The following rows are run again if a term changes, in its layers and in all above them; earlier
// rows and lower layers are taken from the cache:
// clang-format off
//   channel                 rows=answer, last: rows from the last prompt row on (keys, and with
//                           change_value values, change by a rank-one update); last:n: from the
//                           n-th last on; all: every row
//   crop                    rows from the passage's first token on
//   move, boost             rows=answer, last, last:n: from the first of those on; all: from the
//                           passage's first token on, because earlier rows do not see it
//   patch                   from the first of its rows on, in its layers; the source is run once,
//                           in full
//   block                   from the first of its rows that sees the passage on
//   streaming               from the first of its rows that has keys between on
//   attend                  from the smaller of both windows on: earlier rows see all keys anyway
//   vector, set             from the first of its rows on; to=mean: every row, and so does any change
//                           below it in its layer
//   ablate, temperature     from the first of `rows` on; for a mean that the run before did not
//                           compute: every row
//   self-extend             rows from the smaller window on: earlier ones have no far key
//   other position schemes  every row, from the first layer with other positions on
//   any scheme, rows=...    last, answer: rows from the last prompt row on; last:n: from the n-th
//                           last on
//   any of these below a layer whose ratios the last prompt row decides (ms-poe by score or
//   entropy)                every row that sees the ratios, from that layer on
// clang-format on
// If several prompts run in full and have a common prefix, one is run first and the others copy its
// rows up to the first difference (shared_prefix.h).
//
// The cache has a memory limit. Beyond it, layers are dropped, the lowest first and the same ones
// for every prompt. A change above them costs the same as before; a change in them also runs all
// rows of the dropped layers, from the embeddings up. (Without the highest layers every change
// would be expensive, because each runs all layers above it.) Dropped layers stay dropped.
//
// In bfloat16 and float16, a row that is run alone differs from the row of a whole run by more than
// the effect of a small change. RunLastRowsAlone makes outcomes of all settings come from the same
// kernels, so that they do not depend on the settings evaluated before.
//
// Example:
//
// clang-format off
//   const std::string text = "The capital of France is";
//   const Prompt prompt = BuildPrompt(decoder->tokenizer(), text, {}, " Paris", /*bos=*/false);
//   WhatIf what_if(decoder, {prompt});
//   const WhatIfResult before = what_if.Evaluate(Intervention{});
//   const WhatIfResult after = what_if.Evaluate(ParseIntervention("channel(100, factor=-1)"));
//   const double change = after.outcomes[0].score.nll - before.outcomes[0].score.nll;  // nats
//   // Share of rows x layers that were run, compared with a full run.
//   const double computed = after.share;
// clang-format on
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/run/patch_sources.h"
#include "core/run/scoring.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

struct WhatIfOutcome {
  std::vector<float> last_query_attention;  // [layer, head, key]
  HeadMatrix position_ratio;
  // [layer, head] and [layer, head, key], by the intervention's threshold (AwarenessRule); empty
  // unless requested.
  std::vector<float> position_awareness;
  std::vector<uint8_t> counted_keys;  // 1: the score counts the key
  std::vector<float> last_logits;     // [vocabulary], at the last prompt row
  AnswerScore score;                  // set if the prompt has an answer
  // The change of score.nll (nats, >= 0) when the last rows were run alone after the last run of
  // earlier rows (RunLastRowsAlone): the rounding noise of an outcome. nullopt: not measured.
  std::optional<double> noise;
};

// The state of the cache between calls.
struct WhatIfKept {
  int64_t bytes = 0;        // for all prompts together
  int64_t limit = 0;        // in bytes; 0: no limit
  int64_t first_layer = 0;  // lower ones are dropped; the number of layers: no cache
};

// The layers and rows to run: layers from first_layer on (the number of layers: none), and rows
// from first_row on, the lowest row in any layer and prompt.
struct WhatIfWork {
  int64_t first_layer = 0;
  int64_t first_row = 0;
  bool last_rows_only = false;  // whether no row before the last prompt rows is run
  double share = 0;             // rows x layers to run, as a share of full runs
};

struct WhatIfResult : WhatIfWork {
  std::vector<WhatIfOutcome> outcomes;  // one per prompt
  WhatIfKept kept;
  double seconds = 0;
};

// Results of one prompt that are reported before the run of all prompts ends.
struct WhatIfPart {
  // Final and equal to the result's outcome in layers below layers_done; NaN in the others.
  // last_logits and score are empty until all layers are done.
  WhatIfOutcome outcome;
  int64_t layers_done = 0;
  const Trace* trace = nullptr;  // once all layers are done; null if none is cached
};

// The prompt that a window shows. It runs before the others, and is reported while it runs.
struct WhatIfShown {
  size_t prompt = 0;
  // If empty, nothing is reported. Called on the running thread when a layer is done, first some
  // time after the start (so that a short run is reported once) and then at intervals, and when the
  // prompt is done while others remain. Not called if nothing of the prompt is run.
  std::function<void(const WhatIfPart&)> partial{};
  std::chrono::milliseconds first_after{60};
  std::chrono::milliseconds interval{100};
};

class WhatIf {
 public:
  // The cache takes at most `memory_limit` bytes; 0: no limit. If `position_awareness` is true,
  // every outcome has that score.
  WhatIf(std::shared_ptr<const Decoder> decoder, std::vector<Prompt> prompts,
         int64_t memory_limit = 0, bool position_awareness = false);
  ~WhatIf();

  // Sets the source runs of patches; without it, only settings of the same prompt can be sources.
  void TakePatchesFrom(std::shared_ptr<PatchSources> sources) { sources_ = std::move(sources); }

  // From now on, in bfloat16 and float16 and while the whole cache is in memory, always runs the
  // rows from the last prompt row on alone: after a run of earlier rows, once more.
  void RunLastRowsAlone() { last_rows_alone_ = true; }

  // Returns the outcome under `intervention`, computed from the traces of earlier calls; its
  // passages are resolved for each prompt (passage.h). Equal to a full run within rounding. Throws
  // Error or Cancelled; the next call is correct after either. If `attention` is false, the result
  // and its parts have no attention rows.
  WhatIfResult Evaluate(const Intervention& intervention, const JobContext& context = {},
                        bool attention = true, const WhatIfShown* shown = nullptr);

  // Receives the index of the setting and of the prompt; the outcome has no attention rows.
  using OnOutcome =
      std::function<void(size_t setting, size_t prompt, const WhatIfOutcome& outcome)>;
  // Reports the outcome of each setting once, in any order. Settings that change only rows from the
  // last prompt row on run together in one batch, on the unchanged traces of `none`, so that a
  // setting of a scan costs little more than its rows. Equal to Evaluate within rounding; the same
  // settings give the same bits. Throws in the same cases as Evaluate.
  void EvaluateEach(std::span<const Intervention> settings, const OnOutcome& on_outcome,
                    const JobContext& context = {});

  // Returns the layers and rows that Evaluate would run for `intervention` now, except those that
  // it would run again for attention rows omitted by an earlier call.
  WhatIfWork Estimate(const Intervention& intervention, const JobContext& context = {});

  const std::vector<Prompt>& prompts() const { return prompts_; }
  // Returns the cached trace of a prompt; null if the memory limit allows none.
  const Trace* trace(size_t prompt) const;

 private:
  struct Sequence;
  class PartReport;
  int64_t Bytes(int64_t first_layer) const;
  void EnforceMemoryLimit();
  std::vector<Sequence*> RunDonor(std::vector<Sequence*> sequences, Sequence* first,
                                  const JobContext& context);
  void RunAll(std::span<Sequence* const> sequences, const JobContext& context);
  void RunRows(std::span<Sequence* const> sequences, int64_t most_rows, const JobContext& context);
  void RunLastRows(std::vector<Sequence*> late, std::span<Sequence* const> early,
                   const JobContext& context);
  static void SetOutcome(const Sequence& sequence, const RunResult& result, WhatIfOutcome& outcome);
  // Returns the intervention with passages resolved to tokens and with the values of patches.
  Intervention Resolved(const Intervention& intervention, const Sequence& sequence,
                        const JobContext& context) const;
  std::optional<int64_t> LateFirstLayer(const Intervention& intervention,
                                        const JobContext& context) const;
  void RunTogether(std::span<const Intervention> settings, std::span<const size_t> of_settings,
                   int64_t first_layer, const OnOutcome& on_outcome, const JobContext& context);
  void PlanSequences(const Intervention& intervention, const JobContext& context, bool attention);
  WhatIfWork Work() const;
  WhatIfResult CollectResult(const Intervention& intervention, bool attention) const;

  std::shared_ptr<const Decoder> decoder_;
  std::vector<Prompt> prompts_;
  std::shared_ptr<PatchSources> sources_;
  std::vector<Sequence> sequences_;
  int64_t memory_limit_ = 0;
  int64_t first_layer_ = 0;  // lower layers are dropped
  bool last_rows_alone_ = false;
};

}  // namespace midscope
