// SPDX-License-Identifier: MIT
// What is done to the residual stream after one block: values that name rows of one sequence. It
// lies beside what the block's attention is told (attention_plan.h), whose member it is.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/row_range.h"

namespace midscope {

// Added to the stream of `rows`.
struct AddedVector {
  RowRange rows;
  std::vector<float> values;  // [hidden]
  bool operator==(const AddedVector&) const = default;
};

// The channel's value in the stream of `rows` becomes `value`, or its mean over the prompt's rows.
struct SetChannel {
  RowRange rows;
  int64_t channel = 0;
  std::optional<double> value;  // none: the mean
  bool operator==(const SetChannel&) const = default;
};

// Vectors are added first; means are those of the stream after that, in float64, and before any
// channel is set.
struct ResidualPlan {
  std::vector<AddedVector> added;
  std::vector<SetChannel> set;
  bool empty() const { return added.empty() && set.empty(); }
  // Then a row depends on all of the prompt's.
  bool TakesMeans() const;
  bool operator==(const ResidualPlan&) const = default;
};

// The first row whose stream comes out differently from the same block; INT64_MAX where none does.
// Means need all of the prompt's rows: where `after` takes one that `before` does not, that is row
// 0.
int64_t FirstChangedRow(const ResidualPlan& before, const ResidualPlan& after);

}  // namespace midscope
