// SPDX-License-Identifier: MIT
// Options and texts shared by commands that read results files.
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
#include "probes/cli/console/text_table.h"
#include "probes/sweep/rank_group.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope::cli {

// The option --slice AXIS=PLACES (data/store/record_slice.h).
Parameter SliceOption();
// Returns the values of --slice, with settings as the file labels them.
std::vector<std::string> ReadSlices(const OptionSet& options);
Parameter AddressOption(const std::string& name, const std::string& help);

// Returns "float32", "text", ...: the type of an array's elements.
std::string TypeName(const ArrayData& data);
// Value of the plan's member `command` in files that `midscope probe` wrote.
inline constexpr const char* kProbeCommand = "probe";

// Returns "[setting 2, place 5]"; "" for a single value.
std::string ShapeText(const Record& record, const Array& array);

// Returns one line with the kind of file, the model, the date, and whether a journal beside the
// file has samples.
std::string FileLine(const RunReader& reader);

// Describes a journal: its file and its number of samples.
std::string JournalLine(const std::string& path, const JournalSummary& journal);
nlohmann::ordered_json JournalJson(const std::string& path, const JournalSummary& journal);

// Returns the non-empty fields of the provenance.
nlohmann::ordered_json ProvenanceJson(const Provenance& provenance);

// Reads files of earlier sweeps: reprints their tables, and gets the values that a continued sweep
// takes from its file.

// Returns the output of the command `sweep` or `channels` that wrote the file, for its samples; ""
// for files of other commands. Throws Error (failure) if the file is damaged; Cancelled.
std::string PrintedTable(const RunReader& reader, const JobContext& job = {});

// Returns the report of a file for which IsStoredSweep (probes/sweep/stored_result.h) is true, over
// the places in `places` (ParseChosenPlaces; "": all). Throws Error: (failure) if the file is
// damaged, (usage) if a place is not in it; Cancelled.
CellReport StoredReport(const RunReader& reader, const std::string& places = "",
                        const JobContext& job = {});

// Whether `midscope channels` wrote the file; its plan is not that of a sweep.
bool IsChannelSearch(const RunReader& reader);
// Return the tables of a file of `midscope scan`, whose plan is `plan`, and of one of `midscope
// channels`. Throw Error (failure) if the file is damaged; Cancelled.
Printout StoredScanTables(const RunReader& reader, const SweepPlan& plan,
                          const JobContext& job = {});
Printout StoredChannelTables(const RunReader& reader);

// A record without its arrays of more than 16 million elements, and one line for each of these.
struct SummarisedRecord {
  Record record;
  std::string large;
};
// Throws Error (failure) if the file is damaged.
SummarisedRecord ReadSummarised(const RunReader& reader, const std::string& name);

// Makes the option --places of commands that read sweeps.
Parameter ChosenPlacesOption();

// Returns the plan of the sweep in `file` that is continued; "" if there is none or it cannot be
// read (the store reports that later). Journals are read only if there is a single process, because
// other ranks may be writing them.
std::string ContinuedPlanJson(const std::string& file, const RankGroup& ranks);

// Returns the decoder options for a sweep of `model`. Without --products, they are those of
// `continued_plan` ("": none). With --dtype auto, the dtype is that of `continued_plan`, otherwise
// by the rule (core/compute/arithmetic.h); all ranks use the dtype that rank 0 finds.
DecoderOptions SweepDecoderOptions(const std::string& model, const OptionSet& options,
                                   const std::string& continued_plan, RankGroup& ranks);

}  // namespace midscope::cli
