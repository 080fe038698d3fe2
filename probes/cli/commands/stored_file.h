// SPDX-License-Identifier: MIT
// Shared by commands that read results files.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "data/store/record_reader.h"
#include "data/sweep/sweep_journal.h"
#include "probes/cli/commands/sweep_table.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {

// --slice AXIS=PLACES (data/store/record_slice.h), and a file or address of this name.
Parameter SliceOption();
// The given value with a setting as the file labels it.
std::vector<std::string> ReadSlices(const OptionSet& options);
Parameter AddressOption(const std::string& name, const std::string& help);

// "float32", "text", ...: the type of an array's elements.
std::string TypeName(const ArrayData& data);
// The member `command` of the plan of a file that `midscope probe` wrote.
inline constexpr const char* kProbeCommand = "probe";

// "[setting 2, place 5]"; "" for a single value.
std::string ShapeText(const Record& record, const Array& array);

// One line: the kind of file, model, date, and whether a journal beside it has samples.
std::string FileLine(const RunReader& reader);

// A journal: its file and its number of samples.
std::string JournalLine(const std::string& path, const JournalSummary& journal);
nlohmann::ordered_json JournalJson(const std::string& path, const JournalSummary& journal);

// The fields of the provenance that are not empty.
nlohmann::ordered_json ProvenanceJson(const Provenance& provenance);

// Files that earlier sweeps wrote: their tables again, and the values that a sweep that continues
// one takes from it.

// The output of the `sweep` or `channels` that wrote the file, for its samples; "" for files of
// other commands. Throws Error (failure) for a damaged file; Cancelled.
std::string PrintedTable(const RunReader& reader, const JobContext& job = {});

// The report of a file that IsStoredSweep (probes/sweep/stored_result.h). Throws Error (failure)
// for a damaged file.
CellReport StoredReport(const RunReader& reader, const JobContext& job = {});

// The plan of the sweep that is continued into `file`; "" if there is none, or none that can be
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
