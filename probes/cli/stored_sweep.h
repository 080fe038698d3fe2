// SPDX-License-Identifier: MIT
// Files that earlier sweeps wrote: their tables again, and what a sweep that continues one takes
// from it.
#pragma once

#include <string>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/decoder/decoder.h"
#include "data/store/record_reader.h"
#include "probes/cli/sweep_table.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {

// The output of the `sweep` or `channels` that wrote the file, for its samples; "" for files of
// other commands. Throws Error (failure) for a damaged file; Cancelled.
std::string PrintedTable(const RunReader& reader, const JobContext& job = {});

// The report of a file that IsStoredSweep (probes/sweep/stored_result.h). Throws Error (failure)
// for a damaged file.
CellReport StoredReport(const RunReader& reader, const JobContext& job = {});

// The plan of the sweep that is continued into `file`; "" where there is none, or none that can be
// read, which the store then reports. Only a single process looks into a journal, which others may
// be writing.
std::string ContinuedPlanJson(const std::string& file, const RankGroup& ranks);

// The decoder options of a sweep of `model`. Without --products: with those of the plan that is
// continued. With --dtype auto: in the dtype of the plan that is
// continued ("" for none), else in the fastest; all ranks take what rank 0 finds.
DecoderOptions SweepDecoderOptions(const std::string& model, const OptionSet& options,
                                   const std::string& continued_plan, RankGroup& ranks,
                                   const JobContext& job);

}  // namespace midscope::cli
