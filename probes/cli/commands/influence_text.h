// SPDX-License-Identifier: MIT
// The output of `midscope influence`.
#pragma once

#include <optional>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/record.h"
#include "probes/cli/console/printout.h"
#include "probes/measure/influence/cesaro.h"

namespace midscope::cli {

// The closed form that is fitted to the output's gradient by part, at the embeddings, as the mean
// over places; nullopt if the record lacks that gradient. `tokens`: the mean length of the prompts.
std::optional<CesaroFit> CesaroFitOf(const Record& by_place, int64_t tokens);

// by_place: from InfluenceByPlace. Places of 0 are of own text.
Printout InfluenceText(const Record& by_place, const std::optional<CesaroFit>& theory);

// Returns `rows` (by place and layer), `parts` (by place, layer and part) and `cesaro`.
nlohmann::ordered_json InfluenceJson(const Record& by_place,
                                     const std::optional<CesaroFit>& theory);

}  // namespace midscope::cli
