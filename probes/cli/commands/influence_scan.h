// SPDX-License-Identifier: MIT
// Compares first-order estimates of head ablations with the exact effects in the file of a scan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/options.h"
#include "core/base/record.h"
#include "core/intervention/patch.h"
#include "core/model/model_source.h"
#include "probes/cli/console/text_table.h"

namespace midscope::cli {

// A scan of heads, read from its file: by `ablate`, or by `patch` of their outputs in the last row.
struct HeadScan {
  OptionSet options;     // options of `influence`, for the scan's samples
  std::string estimate;  // name of the array that estimates the scan's effects (HeadEstimateName)
  Record record;         // record scan: effect [layer, head, place]
  std::optional<PatchSource> source;  // source of patches: the same or the next sample at a place
  std::vector<int64_t> samples;       // samples that the scan has run; not always the first ones
};

// Reads the file of option --scan and sets the task, samples, places, prompt format and setting of
// `options` to those of the scan. Throws Error: (usage) if an option that the file determines is
// given, or the scan does not use `ablate({head})` in all rows or the answer rows; (failure) if the
// file is damaged or of another model.
HeadScan ReadHeadScan(const OptionSet& options, const ModelSource& model);

struct ScannedHead {
  int64_t layer = 0;
  int64_t head = 0;
  double estimate = 0;  // estimated effect in nats, mean over places
  double exact = 0;     // exact effect in nats, mean over places; NaN without a scan
};

struct HeadEstimates {
  std::string estimate;             // name of the array
  std::vector<ScannedHead> heads;   // largest |exact| first, or |estimate| without a scan
  std::vector<double> correlation;  // [place]: Spearman's, of estimate and exact; empty: no scan
  double mean_correlation = 0;      // Spearman's, between the means over places
};

// Compares the estimates in record influence_by_place with the scan's effects; without a scan,
// lists the estimates of ablation to zero. nullopt if the record has no estimates.
std::optional<HeadEstimates> EstimatesOf(const Record& by_place,
                                         const std::optional<HeadScan>& scan);

Printout HeadEstimatesText(const Record& by_place, const HeadEstimates& found);
nlohmann::ordered_json HeadEstimatesJson(const Record& by_place, const HeadEstimates& found);

}  // namespace midscope::cli
