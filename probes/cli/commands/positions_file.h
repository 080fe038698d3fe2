// SPDX-License-Identifier: MIT
// Files of sampled position ids, for training code.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "core/base/options.h"
#include "core/base/record.h"
#include "probes/cli/program/command.h"
#include "probes/measure/builtin/position_coverage.h"

namespace midscope::cli {

// Samples first, first + 1, ..., `samples` of them.
struct SampleRange {
  int64_t first = 0;
  int64_t samples = 0;
};

// "[0,1,2]".
void WriteIds(const std::vector<int64_t>& ids, std::ostream& out);

// Throws Error (usage) for an option --out that cannot be written, before the work; `tokens` per
// sample.
void CheckPositionsFile(const SampleRange& range, int64_t tokens, bool coverage,
                        const OptionSet& options);

// Writes the samples and the records of coverage to --out; nothing if it is not given. HDF5:
// records. NPZ: position_id, token_index [sample, token], the arrays of coverage, and without axes
// seed, sampler_name, options and provenance (JSON). JSON lines: one object per sample, with the
// provenance in each.
void WritePositionsFile(const CommandInput& input, const SampledPositions& positions,
                        const SampleRange& range, const std::vector<Record>& coverage);

}  // namespace midscope::cli
