// SPDX-License-Identifier: MIT
// A loaded model that runs token ids. Independent of tasks, files of results and windows.
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
  int threads = 0;  // 0: all of the machine's
  // false: every layer sees all keys, for any window of the model (as in transformers with
  // sliding_window = None). Nothing else changes: gemma3's local layers keep their own rope.
  bool sliding_window = true;
  // Runs may be longer than the context (core/plan/context_limit.h).
  bool beyond_context = false;
  WeightStorage weights = WeightStorage::kAuto;
  // Integer products need weights as they are in the file (not kExpanded), on the CPU.
  Products products = Products::kFloat;
  // The layers' devices; of an open decoder with every count resolved.
  Placement placement = {};
  // `dtype` becomes the one that runs this model fastest here (arithmetic_choice.h).
  bool fastest_dtype = false;
  // Where dtype is chosen so and `products` are kFloat, they become kInt16 where that is faster.
  bool fastest_products = false;

  Arithmetic arithmetic() const { return {dtype, products}; }
};

// [layer, head], row-major.
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
  // The last query is row prompt_tokens - 1; 0 means all of ids. More than ids: the rest
  // of the prompt follows in a later run on the same trace (a prompt in chunks), so no row is the
  // last one yet; ratios that it decides must then be given.
  int64_t prompt_tokens = 0;
  Intervention intervention;  // passages as tokens (passage.h)
  std::vector<Hook*> hooks;   // not owned; called on the running thread, in this order
  // Rows with logits: [first, ids.size()). -1: from the last prompt row on, or only the last row of
  // ids where the prompt continues in a later run.
  int64_t first_logit_row = -1;
  // > 0: the result has so many likeliest tokens of these rows instead of their logits, which then
  // need not leave a GPU. At most the vocabulary.
  int64_t likeliest = 0;
  // Position ratios used instead of Ms-PoE's own scores (to compare two runs). [layer, head]
  std::optional<HeadMatrix> ratios;
  // Stores keys, values and residual rows. Null: not stored. Rows that it has already are taken
  // from it and only the others are run; but see `rerun`.
  Trace* trace = nullptr;
  // With a trace that holds all rows of `ids`, the rows to run again: in each layer rows
  // from first_row on (at or beyond the end of `ids`: none). Must not increase from layer to layer;
  // in the last it is at most the last prompt row. Layers that the trace has dropped are run
  // for all rows where any of them changes. Requires a trace with residual.
  struct Rerun {
    std::vector<int64_t> first_row;  // [layer]
    // false: the trace stays as it is, so that several requests of a batch can run on the same one.
    // All requests of the batch are such, begin in the same layer, and run the same rows in it and
    // all above; their plans have no means of heads and no compressive memory.
    bool keep = true;
    // The first layer that is not run; -1: all are. With it the request must be alone in its batch;
    // the result has no logits, and the trace's rows above stay as they are.
    int64_t end_layer = -1;
  };
  std::optional<Rerun> rerun;
};

// The stage of a run's progress (JobContext::Report), which counts layers.
inline constexpr char kRunStage[] = "run";

struct RunResult {
  int64_t first_logit_row = 0;
  int64_t vocabulary = 0;
  // [row - first_logit_row, vocabulary]; empty where a re-run ends below the last layer.
  std::vector<float> logits;
  // [row - first_logit_row, RunRequest::likeliest], the likeliest first (TopTokens).
  std::vector<TopToken> likeliest;
  HeadMatrix position_ratio;  // as used for queries; 1 where the scheme has none
  std::span<const float> Logits(int64_t row) const {
    return std::span(logits).subspan(static_cast<size_t>((row - first_logit_row) * vocabulary),
                                     static_cast<size_t>(vocabulary));
  }
};

class Decoder {
 public:
  // `model`: see OpenModel. Throws Error.
  static std::shared_ptr<Decoder> Open(const std::string& model, const DecoderOptions& options,
                                       const JobContext& context = {});
  ~Decoder();

  const ModelConfig& config() const;
  const Tokenizer& tokenizer() const;
  const DecoderOptions& options() const;  // dtype, threads and weights as resolved
  const std::string& path() const;
  // XXH3-128 of the file. With stored weights it is computed on first use, which reads the whole
  // file.
  const std::string& hash() const;
  const std::string& chat_template() const;  // "" where the file has none

  // Runs the sequences packed into one batch, each row once through every matrix. Throws Error (too
  // long, id out of range, NaN in the logits), DeviceError (compute/device_faults.h), Cancelled; a
  // trace is then cut back to its valid rows.
  std::vector<RunResult> Run(std::span<const RunRequest> requests,
                             const JobContext& context = {}) const;
  RunResult RunOne(const RunRequest& request, const JobContext& context = {}) const;

  // Logits of rows of the residual stream [row, hidden], as if the model ended there: final norm,
  // output, bias and soft cap (nostalgebraist's logit lens, 2020). [row, vocabulary]. Rows are
  // rounded to the run's dtype first; the last block's rows give the run's own logits within
  // rounding. Throws std::logic_error where the size is not a multiple of the hidden width.
  std::vector<float> Unembed(std::span<const float> residual, const JobContext& context = {}) const;

  // The embedding of a position, which the model adds to the token's below the first layer, as the
  // run's dtype has it. [hidden] A learned table has whole positions of the context alone. Throws
  // std::logic_error for other models and positions.
  std::vector<float> PositionEmbedding(double position) const;

  // The difference of two tokens' logits as a function of the residual stream. Throws
  // std::logic_error where an id is outside the vocabulary.
  LogitDirection DirectionBetween(int32_t token, int32_t against) const;
  // The layer's attention update of one row, of which z [heads * head_dim] is what its output
  // projection reads, along `direction` [hidden] of the residual stream, as a sum over heads.
  HeadDirections DirectionsOfHeads(int64_t layer, std::span<const float> z,
                                   std::span<const double> direction) const;

  // A trace for one sequence of up to `capacity` rows. With `residual`, what-if can start from any
  // layer that is kept (those from first_layer on) and scale any channel.
  std::unique_ptr<Trace> MakeTrace(int64_t capacity, bool residual = true,
                                   int64_t first_layer = 0) const;
  int64_t TraceBytes(int64_t rows, const TraceParts& parts = {}) const;

 private:
  struct Parts;
  explicit Decoder(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace midscope
