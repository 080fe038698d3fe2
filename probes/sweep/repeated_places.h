// SPDX-License-Identifier: MIT
// Places of a sample at which the gold piece has the same rank, and the prompts are therefore
// equal: they run once, and the result counts at each of them. This happens in tasks by depth whose
// samples have few pieces, such as 0 % and 25 % of three documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/record.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope {

// Returns, for each question, the index of the first one with its gold rank and tokens: its own
// index if there is no earlier one.
std::vector<size_t> FirstEqualPlaces(const std::vector<TaskQuestion>& questions);

// Whether the result of FirstEqualPlaces has an index other than a question's own.
bool HasRepeatedPlaces(const std::vector<size_t>& first);

// Returns the request with only the first of equal places; `first`: from FirstEqualPlaces.
// on_answer_nll is called for each of the equal places.
SampleRequest WithoutRepeatedPlaces(const SampleRequest& request, const std::vector<size_t>& first);

// Returns the record of such a request with all `places`: arrays over axis `place` have the values
// of the first equal place.
Record WithRepeatedPlaces(Record record, const std::vector<int64_t>& places,
                          const std::vector<size_t>& first);

}  // namespace midscope
