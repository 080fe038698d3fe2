// SPDX-License-Identifier: MIT
// A loaded model that runs sequences of token ids; independent of tasks, files and the GUI.
//
// Example:
//
// clang-format off
//   std::shared_ptr<const Decoder> decoder = Decoder::Open("embedded", {});
//   const std::vector<int32_t> ids = decoder->tokenizer().EncodeIds("The capital of France is");
//   RunRequest request;
//   request.ids = ids;
//   request.intervention = ParseIntervention("channel(100, factor=-1, layers=8-25)");
//   const RunResult result = decoder->RunOne(request);
//   const int64_t last_row = static_cast<int64_t>(ids.size()) - 1;
//   const std::span<const float> logits = result.Logits(last_row);  // [vocabulary]
// clang-format on
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/compute/arithmetic.h"
#include "core/compute/placement.h"
#include "core/compute/top_tokens.h"
#include "core/decoder/hooks.h"
#include "core/decoder/logit_direction.h"
#include "core/decoder/trace.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/tokenizer/tokenizer.h"
#include "kernels/types.h"

namespace midscope {

struct DecoderOptions {
  kernels::Dtype dtype = kernels::Dtype::kFloat32;
  int threads = 0;  // 0: all of the machine's threads
  // If false, every layer sees all keys, whatever the model's window (as in transformers with
  // sliding_window = None). Nothing else changes: gemma3's local layers keep their own RoPE
  // frequencies.
  bool sliding_window = true;
  // Allows runs longer than the context (core/plan/run_positions.h).
  bool beyond_context = false;
  WeightStorage weights = WeightStorage::kAuto;
  // Integer products need the weights as they are stored in the file (not kExpanded), on the CPU.
  Products products = Products::kFloat;
  // The layers' devices. In an open decoder, every count is resolved.
  Placement placement = {};
  // Sets `dtype` by the rule in core/compute/arithmetic.h.
  bool auto_dtype = false;

  Arithmetic arithmetic() const { return {dtype, products}; }
};

// A matrix [layer, head], row-major.
struct HeadMatrix {
  int64_t layers = 0;
  int64_t heads = 0;
  std::vector<double> values;
  double At(int64_t layer, int64_t head) const {
    return values[static_cast<size_t>(layer * heads + head)];
  }
};

// One sequence: a prompt, optionally followed by an answer to score.
struct RunRequest {
  std::span<const int32_t> ids;  // prompt and continuation
  // The last query is row prompt_tokens - 1; 0 means all of ids. If larger than the number of ids,
  // the rest of the prompt follows in later runs on the same trace (a prompt in chunks). No row is
  // then the last prompt row, and `ratios` must be given if a scheme computes ratios from it.
  int64_t prompt_tokens = 0;
  Intervention intervention;  // with passages resolved to tokens (passage.h)
  std::vector<Hook*> hooks;   // not owned; called on the running thread, in this order
  // Logits are returned for rows [first_logit_row, ids.size()). -1: from the last prompt row on, or
  // only the last row of ids if the prompt continues in a later run.
  int64_t first_logit_row = -1;
  // If > 0, the result contains this number of most likely tokens for each row from first_logit_row
  // on, instead of logits, which then need not leave a GPU. At most the vocabulary size.
  int64_t likeliest = 0;
  // [layer, head]: position ratios used instead of those from Ms-PoE's own scores (to compare two
  // runs).
  std::optional<HeadMatrix> ratios;
  // The trace that receives keys, values and residual rows; null: they are not stored. Rows that
  // the trace already holds are reused and only the others are run, except with `rerun`.
  Trace* trace = nullptr;
  // For a trace that holds all rows of `ids`: the rows to run again, in each layer those from
  // first_row on (none if first_row is at or beyond the end of `ids`). first_row must not increase
  // from layer to layer; in the last layer it is at most the last prompt row. If any layer that the
  // trace has dropped changes, all rows of the dropped layers are run. Requires a trace with
  // residual.
  struct Rerun {
    std::vector<int64_t> first_row;  // [layer]
    // If false, the trace is not changed, so that several requests of a batch can run on the same
    // trace. All requests of the batch must then have keep = false, begin in the same layer and run
    // the same rows in it and all layers above; their plans may have neither means of heads nor a
    // compressive memory.
    bool keep = true;
    // The first layer that is not run; -1: all layers are run. If set, the request must be alone in
    // its batch, the result has no logits, and the trace's rows in this layer and above are
    // unchanged.
    int64_t end_layer = -1;
  };
  std::optional<Rerun> rerun;
};

// The name of a run's progress stage (JobContext::Report), which counts layers.
inline constexpr char kRunStage[] = "run";

struct RunResult {
  int64_t first_logit_row = 0;
  int64_t vocabulary = 0;
  // [row - first_logit_row, vocabulary]; empty if a re-run ends below the last layer.
  std::vector<float> logits;
  // [row - first_logit_row, RunRequest::likeliest], most likely first (TopTokens).
  std::vector<TopToken> likeliest;
  HeadMatrix position_ratio;  // the ratios used for queries; 1 if the scheme has none
  std::span<const float> Logits(int64_t row) const {
    return std::span(logits).subspan(static_cast<size_t>((row - first_logit_row) * vocabulary),
                                     static_cast<size_t>(vocabulary));
  }
};

class Decoder {
 public:
  // Opens a model; `model` is a path or name as for OpenModel. Throws Error.
  static std::shared_ptr<Decoder> Open(const std::string& model, const DecoderOptions& options,
                                       const JobContext& context = {});
  ~Decoder();

  const ModelConfig& config() const;
  const Tokenizer& tokenizer() const;
  const DecoderOptions& options() const;  // with the resolved dtype, threads and weights
  const std::string& path() const;
  // Returns the XXH3-128 of the model file. With stored weights it is computed at the first call,
  // which reads the whole file.
  const std::string& hash() const;
  const std::string& chat_template() const;  // "" if the file has none

  // Runs the sequences packed into one batch, so that each weight matrix is applied to all rows at
  // once. Throws Error (sequence too long, id out of range, NaN in the logits), DeviceError
  // (compute/device_faults.h) or Cancelled; if it throws, traces are truncated to their valid rows.
  std::vector<RunResult> Run(std::span<const RunRequest> requests,
                             const JobContext& context = {}) const;
  RunResult RunOne(const RunRequest& request, const JobContext& context = {}) const;

  // Returns logits [row, vocabulary] of rows of the residual stream [row, hidden], as if the model
  // ended there: final norm, output, bias and soft cap (nostalgebraist's logit lens, 2020). Rows
  // are rounded to the run's dtype first; the last block's rows give the run's own logits within
  // rounding. Throws std::logic_error if the size is not a multiple of the hidden width.
  std::vector<float> Unembed(std::span<const float> residual, const JobContext& context = {}) const;

  // Returns the embedding [hidden] of a position, in the run's dtype, which the model adds to the
  // token's embedding below the first layer. A learned table has only the integer positions within
  // the context. Throws std::logic_error for other positions, and for models without position
  // embeddings.
  std::vector<float> PositionEmbedding(double position) const;

  // Returns the difference of two tokens' logits as a function of the residual stream. Throws
  // std::logic_error if an id is outside the vocabulary.
  LogitDirection DirectionBetween(int32_t token, int32_t against) const;
  // Returns the layer's attention update of one row along `direction` [hidden] of the residual
  // stream, as a sum over heads. z [heads * head_dim] is that row's input of the output projection.
  HeadDirections DirectionsOfHeads(int64_t layer, std::span<const float> z,
                                   std::span<const double> direction) const;

  // Returns a trace for one sequence of up to `capacity` rows. With `residual`, incremental what-if
  // runs can start from any stored layer (first_layer and above) and scale any channel.
  std::unique_ptr<Trace> MakeTrace(int64_t capacity, bool residual = true,
                                   int64_t first_layer = 0) const;
  int64_t TraceBytes(int64_t rows, const TraceParts& parts = {}) const;

 private:
  struct Parts;
  explicit Decoder(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace midscope
