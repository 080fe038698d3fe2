// SPDX-License-Identifier: MIT
// Writes files of sampled position ids, for training code.
#pragma once

#include <cstdint>
#include <ostream>
#include <vector>

#include "core/base/options.h"
#include "core/base/record.h"
#include "probes/cli/program/command.h"
#include "probes/measure/builtin/position_coverage.h"

namespace midscope::cli {

// A range of `samples` samples: first, first + 1, ...
struct SampleRange {
  int64_t first = 0;
  int64_t samples = 0;
};

// Writes "[0,1,2]".
void WriteIds(const std::vector<int64_t>& ids, std::ostream& out);

// Checks --out before the work. Throws Error (usage) if it cannot hold the samples, each of
// `tokens` tokens, or coverage.
void CheckPositionsFile(const SampleRange& range, int64_t tokens, bool coverage,
                        const OptionSet& options);

// Writes the samples and the coverage records to --out, if given. HDF5: as records. NPZ:
// position_id, token_index [sample, token], the arrays of coverage, and scalars seed, sampler_name,
// options and provenance (JSON). JSON lines: one object per sample, each with the provenance.
void WritePositionsFile(const CommandInput& input, const SampledPositions& positions,
                        const SampleRange& range, const std::vector<Record>& coverage);

}  // namespace midscope::cli
