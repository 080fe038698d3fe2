// SPDX-License-Identifier: MIT
// The interface between a window and a model: arguments are values, results are records and
// progress. Every call blocks until it has finished, so a window calls it from another thread, one
// call at a time. Independent of LibTorch and Qt.
//
// Records by name (axes in brackets):
// clang-format off
//   prompt                 token_ids, token_text (text), token_begin (byte offset) [token],
//                          span_name (text), span_token_begin, span_token_end [span]; attributes:
//                          text, answer, place, gold (index of span, -1: none), prompt_tokens,
//                          sent (one line: SentLine), and its format (NoteFormat); where it has
//                          an answer also answer_token_text [answer_token], piece_answer [piece]
//   last_query_attention   last_query_attention [layer, head, key]
//   position_awareness     position_awareness_score [layer, head]
//   counted_keys           counted_keys (0/1) [layer, head, key]; attributes threshold (text), alpha,
//                          threshold_weight (alpha / tokens)
//   position_ratio         position_ratio [layer, head]
//   hidden_channels        hidden_channel [layer, channel, position]
//   next_tokens            token_text, next_token_ids, logit, probability [rank]
//                          (not token_ids: that name is unique in a file, in `prompt`);
//                          attributes of an answer's first token: next_tokens_probe.h
//   generation             new_token_ids, new_token_text, new_token_probability [new_token];
//                          attributes: generate_text.h
//   outcome                answer_nll, correct (0/1) [setting, place] of one sample; the axis place
//                          has values
//   outcome_means          answer_nll, accuracy, answer_nll_low, answer_nll_high [setting, place];
//                          answer_nll_difference, ..._low, ..._high: to the setting `against`
//                          (95 %: CellMethods), samples [setting],
//                          answer_nll_by_sample [setting, sample, place]
// clang-format on
// Attributes of each record name the setting, prompt and model that made it (record_origin.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/compute/device_facts.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/tokenizer/prompt.h"
#include "probes/measure/scan/scan_kind.h"
#include "probes/model/model_options.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

class Hook;

// A probe that CaptureRun can run, with its options; for forms.
struct ProbeOffer {
  std::string name;  // name of the probe's record
  std::string summary;
  std::string source{};
  std::string departures{};
  std::string limits{};
  bool on_request = false;  // runs only if CaptureRunRequest::probe_options names it
  std::vector<Parameter> options{};
};

struct ModelSummary {
  ModelConfig config;
  std::string path;
  std::string dtype;
  std::string products = "float";
  std::string weights{};               // "stored" or "expanded", as resolved
  std::string device{};                // layers per device: "cuda:0=20,cpu=12"
  std::vector<DeviceFacts> devices{};  // devices of the placement, once weights are loaded
  bool sliding_window = true;
  std::vector<ProbeOffer> probes{};
  // Whether the model has learned position embeddings (Engine::MeasureLearnedPositions).
  bool has_learned_positions = false;
  // The recipe with which the weights or the adapter were tuned (tuning_recipe.h); empty if they
  // were not tuned, or if the recipe cannot be read.
  std::map<std::string, std::string> recipe{};
};

// The prompts to make: a task's sample at several gold positions (places), or own text.
struct PromptRequest {
  std::string task = "list:lines=20";  // name and parameters; empty: own text
  uint64_t seed = 1;
  int64_t sample = 0;
  std::string places;  // places of the gold piece, see ReadPlaces (task_prompt.h); "":
                       // DefaultPlaces (first, quarter, middle, three quarters, last)

  std::string text;        // own text, unchanged
  int64_t gold_begin = 0;  // byte range of the gold passage; empty: none
  int64_t gold_end = 0;
  std::string answer;              // "": no answer to score
  std::vector<SpanRequest> spans;  // passages of own text other than gold
  // Own text: byte ranges of exchangeable pieces. The piece with the gold passage moves among the
  // others (data/tasks/pieces_task.h), with one prompt per place of `places`. Empty: one prompt.
  std::vector<ByteSpan> pieces;
  // Own text: a question, or "". It is appended to the text in the format of the task `jsonl`, as
  // passage `question`; the answer then gets one leading space.
  std::string question;

  // Other prompts from which patches (from=source:NAME) take values, both for own text and for
  // tasks.
  std::vector<SourceText> sources;

  // The texts of another model's prompts, one per place; the name of each text is its place number.
  // If the request has a task whose prompts for this model have the same texts, the task's prompts
  // are made. Otherwise the texts become prompts unchanged, without chat template and without
  // further samples.
  std::vector<SourceText> given = {};

  // The format of the prompts and of the texts in `sources`.
  PromptFormat format;

  // Memory limit, in bytes, of the traces that what-ifs cache (core/run/what_if.h); 0: no limit.
  int64_t kept_limit = int64_t{3} << 30;
};

// Requests a full run of one prompt, and the values to capture in it.
struct CaptureRunRequest {
  size_t place = 0;  // index into the prompt request's places; 0 for own text
  Intervention intervention;
  std::vector<int64_t> channels;  // hidden channels whose values are returned
  // Options of probes, as a JSON object (OptionSet::FromJson): {"probes": "default,logit_lens",
  // "lens-top": 3}.
  std::string probe_options = "{}";
  bool last_logits = false;  // whether to return record last_logits
  // Hooks of the caller, not owned; they run after the hooks of probes.
  std::vector<Hook*> hooks = {};
};

// Requests runs of the current sample at every gold place under one setting, from cached traces.
struct WhatIfRequest {
  Intervention intervention;
  size_t place = 0;  // the place whose attention is returned
  bool attention = true;
  std::vector<int64_t> channels = {};  // hidden channels whose values are returned
  bool operator==(const WhatIfRequest&) const = default;
};

// Cost of a what-if: which layers and rows were run again, and what is cached for the next what-if
// (core/run/what_if.h).
struct WhatIfCost {
  double seconds = 0;
  bool seen_before = false;  // the reply came from the cache: nothing was run
  bool last_rows_only = false;
  int64_t first_layer = 0;  // the number of layers: nothing was run
  int64_t first_row = 0;
  double share = 0;  // cost as a share of a full run
  int64_t kept_bytes = 0;
  int64_t kept_limit = 0;        // bytes
  int64_t first_kept_layer = 0;  // the number of layers: nothing is cached
};

struct CaptureRunReply {
  std::vector<Record> records;
  // Error messages of requested probes that failed; the records of these probes are missing.
  std::vector<std::string> failures;
  double seconds = 0;  // duration of the run, including its probes
};

struct WhatIfReply {
  // Record outcome (one setting), and for the requested place last_query_attention and counted_keys
  // (if attention is requested), position_awareness, position_ratio, next_tokens, and
  // hidden_channels (if requested and every layer is cached).
  std::vector<Record> records;
  WhatIfCost cost;
};

// Receives partial results of a what-if before all places have been run, as a reply without record
// `outcome`. While the requested place runs, the reply contains last_query_attention,
// position_awareness and position_ratio with the attribute layers_done (probes/base/records.h), at
// most ten times a second. When the requested place has finished before others, the reply contains
// that place's records, equal to those of the final reply. The function may be empty.
using WhatIfPartial = std::function<void(const WhatIfReply& part)>;

struct CompareRequest {
  std::vector<Intervention> settings;
  int64_t samples = 20;
  // Settings of earlier comparisons; partial results include their means over the same samples.
  std::vector<Intervention> beside = {};
  // The setting from which answer_nll_difference is computed, over the same samples; it must be in
  // `settings` or `beside`. nullopt: the first setting.
  std::optional<Intervention> against = {};
};

// Requests a scan: applies an intervention term to every item of a kind (head, layer, ...;
// probes/measure/scan/scan_kind.h), one at a time, on samples of the task, and compares with
// `none`.
struct ScanRequest {
  std::string over = "heads";
  std::string term = {};  // intervention term; "": the default term of the kind
  // The setting that is combined with every item's term, and under which the reference runs.
  Intervention base = {};
  ScanRange range = {};
  std::string places = {};  // gold places, see ReadPlaces; "": the prompt request's
  int64_t samples = 5;
  // Ids of the items that run first within each sample, in this order.
  std::vector<std::string> first = {};

  // Returns whether both requests scan the same items at the same places; the number of samples and
  // the order of items may differ.
  bool ScansTheSame(const ScanRequest& other) const {
    return over == other.over && term == other.term && base == other.base && range == other.range &&
           places == other.places;
  }
};

// Requests a search of the open model for positional channels
// (probes/measure/channels/find_channels.h).
struct ChannelSearchRequest {
  std::string options = "{}";  // ChannelOptions (channel_options.h) as a JSON object
  bool operator==(const ChannelSearchRequest&) const = default;
};

// Requests a ranking of the channels of one prompt (probes/measure/channels/prompt_channels.h).
struct PromptChannelsRequest {
  size_t place = 0;  // index into the prompt request's places
  Intervention intervention = {};
  std::string options = "{}";  // ChannelOptions as JSON; validation options have no effect
};

// Requests probes on samples of the current task, at the places of the current prompts.
struct ProbeSamplesRequest {
  static constexpr char kHeadProbes[] =
      R"({"probes": "position_awareness,span_attention,answer_attribution"})";

  Intervention intervention = {};
  int64_t samples = 20;
  std::string probe_options = kHeadProbes;  // options as a JSON object
  bool operator==(const ProbeSamplesRequest&) const = default;
};

// Requests a continuation of one prompt with the likeliest tokens (greedy decoding).
struct GenerateRequest {
  static constexpr int64_t kUsualTokens = 32;

  size_t place = 0;  // index into the prompt request's places
  Intervention intervention = {};
  int64_t new_tokens = kUsualTokens;  // maximum number of tokens
  bool operator==(const GenerateRequest&) const = default;
};

// Thrown by calls of an engine whose process has ended by itself: it was killed or crashed, or the
// connection broke. Open starts a new process.
class EngineEnded : public Error {
 public:
  explicit EngineEnded(const std::string& reason)
      : Error(ErrorKind::kFailure, "engine", reason, "Restart it") {}
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual ModelSummary Open(const OpenRequest& request, const JobContext& context) = 0;
  // Makes the prompts, which later calls use, and returns a record `prompt` per place. Drops cached
  // traces.
  virtual std::vector<Record> SetPrompt(const PromptRequest& prompt_request,
                                        const JobContext& context) = 0;
  // Returns the records that SetPrompt would return, without changing anything. Thread-safe: may be
  // called while any other function runs. Throws Error in the same cases as SetPrompt, and if no
  // model is open.
  virtual std::vector<Record> Preview(const PromptRequest& prompt_request) const = 0;
  // Runs one prompt. Returns records last_query_attention, position_awareness, position_ratio,
  // hidden_channels (if requested), next_tokens, answer (if the prompt has one), and the records of
  // the probes that the request names. A record's attribute `options` (JSON) has the options of its
  // probe. Throws Error if the setting or the prompt does not fit the model; the error of a single
  // probe is returned in CaptureRunReply::failures.
  virtual CaptureRunReply CaptureRun(const CaptureRunRequest& request,
                                     const JobContext& context) = 0;
  // Runs the current prompts under one setting, the requested place before the others. Repeated
  // requests for the same prompts may be answered from a bounded cache, without partial results.
  virtual WhatIfReply WhatIf(const WhatIfRequest& request, const WhatIfPartial& partial,
                             const JobContext& context) = 0;
  // Returns record outcome_means: means over samples of the current task, the same samples for
  // every setting. As samples finish, `partial` gets the record so far, for the requested settings
  // and for those in `beside` whose values are known.
  virtual Record Compare(const CompareRequest& request,
                         const std::function<void(const Record&)>& partial,
                         const JobContext& context) = 0;
  // Returns record `scan` (probes/sweep/scan_effects.h) with the attribute `complete` 1. `partial`
  // gets the record with `complete` 0 and without intervals: while the first sample runs, with the
  // finished items (others NaN), at most ten times a second; after that, over all finished samples,
  // so that all items are compared over the same samples. A cancelled scan continues from its
  // finished samples, which `partial` gets immediately. Throws Error (usage) if the model does not
  // support the term or lacks items.
  virtual Record Scan(const ScanRequest& request, const std::function<void(const Record&)>& partial,
                      const JobContext& context) = 0;
  // Returns records channel_search and, if the request includes a validation, channel_validation.
  // `partial` gets the preliminary records of FindChannelsRun::on_partial. A cancelled search
  // continues from its finished prompts and examples. Throws Error (usage) if the options do not
  // fit the model.
  virtual std::vector<Record> SearchChannels(const ChannelSearchRequest& request,
                                             const std::function<void(const Record&)>& partial,
                                             const JobContext& context) = 0;
  // Returns record prompt_channels (probes/measure/channels/prompt_channels.h).
  virtual Record PromptChannels(const PromptChannelsRequest& request,
                                const JobContext& context) = 0;
  // Returns what the probes measure over several prompts (ProbeType::summarise), such as
  // gold_following, with the attribute `samples`: equal to the records of `midscope probe
  // --samples`. `partial` gets each record after every sample. A cancelled request continues from
  // its finished samples. Throws Error (usage) if the prompts are own text without pieces.
  virtual std::vector<Record> ProbeSamples(const ProbeSamplesRequest& request,
                                           const std::function<void(const Record&)>& partial,
                                           const JobContext& context) = 0;
  // Returns record generation, equal to the output of `midscope generate` for the same prompt.
  // While tokens are generated, `partial` gets the record with the attribute `complete` 0, at most
  // ten times a second.
  virtual Record Generate(const GenerateRequest& request,
                          const std::function<void(const Record&)>& partial,
                          const JobContext& context) = 0;
  // Returns record learned_positions (probes/measure/builtin/learned_positions.h) of the open
  // model. Takes seconds for wide models. Thread-safe: may be called while any other function runs.
  // Throws Error (usage) if the model has no embeddings of positions.
  virtual Record MeasureLearnedPositions(const JobContext& context) const = 0;
  // Returns the provenance for output of the open model.
  virtual Provenance Describe() const = 0;
};

class ProbeRegistry;

// Makes an engine in this process, with the built-in probes.
std::unique_ptr<Engine> MakeLocalEngine();
// Makes an engine in this process, with the given probes: CaptureRun also returns their records,
// with default options.
std::unique_ptr<Engine> MakeLocalEngine(ProbeRegistry probes);

}  // namespace midscope
