// SPDX-License-Identifier: MIT
// Activation patching as a value: rows of activations in this run are replaced by values of another
// run. The term `patch` is defined in terms/patch.cpp; core/run/patch_sources.h runs the other run
// and fills in `taken`; it compiles to the RowPatch values in plan/attention_plan.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/row_range.h"
#include "core/intervention/intervention.h"

namespace midscope {

inline constexpr const char* kPatchTerm = "patch";

// The kind of activation that a patch replaces, named like the choices of its argument: the
// residual stream after a block, q, k and v before rotation, the outputs of heads, and the
// additions of attention and MLP to the stream.
enum class PatchWhat { kResid, kQuery, kKey, kValue, kZ, kAttentionOut, kMlpOut };
inline constexpr PatchWhat kPatchWhats[] = {
    PatchWhat::kResid, PatchWhat::kQuery,        PatchWhat::kKey,   PatchWhat::kValue,
    PatchWhat::kZ,     PatchWhat::kAttentionOut, PatchWhat::kMlpOut};

// Identifies the run from which a patch's values are read.
struct PatchSource {
  enum class Kind {
    kPlace,    // the same sample with the gold piece at place `place`
    kNext,     // the task's next sample with its gold piece at place `place`
    kSetting,  // the same prompt under the intervention whose text is `name`
    kSource,   // the user's prompt named `name`
  };
  Kind kind = Kind::kPlace;
  int64_t place = 1;
  std::string name;
  // Returns "place:1", "next:1", "setting:ms-poe" or "source:other".
  std::string Text() const;
  bool operator==(const PatchSource&) const = default;
};

// Which rows are patched if the passage has different numbers of tokens in the two prompts.
enum class PatchAlign {
  kNone,   // different lengths are an error
  kEnd,    // the last rows of both, as many as the shorter has
  kStart,  // the first rows of both, as many as the shorter has
  kMean,   // every row is replaced by the mean of the source's rows
};

// Values at one hook point of a run, in all layers: [layer, row, width].
struct RunValues {
  int64_t rows = 0;
  int64_t width = 0;
  std::vector<float> values;
  const float* Row(int64_t layer, int64_t row) const {
    return values.data() + (layer * rows + row) * width;
  }
  bool operator==(const RunValues&) const = default;
};

// The values that replace rows of a run: row rows.first + i is replaced by row first_source_row + i
// of `values`; with one_row, every row by row first_source_row.
struct TakenRows {
  RowRange rows;
  int64_t first_source_row = 0;
  bool one_row = false;
  std::shared_ptr<const RunValues> values = {};  // null: the other run has not been made yet
  bool operator==(const TakenRows& other) const {
    return rows == other.rows && first_source_row == other.first_source_row &&
           one_row == other.one_row &&
           (values == other.values || (values && other.values && *values == *other.values));
  }
};

// Returns `rows` limited to the first `prompt_tokens` rows, because answer rows are not patched.
inline RowRange PromptRows(const RowRange& rows, int64_t prompt_tokens) {
  return {std::max<int64_t>(rows.first, 0), std::min(rows.last, prompt_tokens)};
}

struct Patch {
  PatchSource source;
  PatchWhat what = PatchWhat::kResid;
  ChosenRows span;  // rows of the prompt
  LayerSet layers;
  std::vector<HeadName> heads = {HeadName::All()};
  PatchAlign align = PatchAlign::kNone;
  TakenRows taken;  // resolved for one prompt; not resolved yet if its `rows` are empty
  bool operator==(const Patch&) const = default;
};

}  // namespace midscope
