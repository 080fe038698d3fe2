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

// Samples first, first + 1, ...; their number is `samples`.
struct SampleRange {
  int64_t first = 0;
  int64_t samples = 0;
};

// Writes position ids as "[0,1,2]".
void WriteIds(const std::vector<int64_t>& ids, std::ostream& out);

// Checks --out before the samples are drawn. Throws Error (usage) if a file of that format cannot
// hold the samples of `tokens` tokens, or coverage.
void CheckPositionsFile(const SampleRange& range, int64_t tokens, bool coverage,
                        const OptionSet& options);

// Writes the samples and the coverage records to --out, if given. HDF5: as records. NPZ:
// position_id, token_index [sample, token], the arrays of coverage, and scalars seed, sampler_name,
// options and provenance (JSON). JSON lines: one object per sample, each with the provenance.
void WritePositionsFile(const CommandInput& input, const SampledPositions& positions,
                        const SampleRange& range, const std::vector<Record>& coverage);

}  // namespace midscope::cli
