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
// Returns the values of the option --slice, with settings written as the labels in the file.
std::vector<std::string> ReadSlices(const OptionSet& options);
Parameter AddressOption(const std::string& name, const std::string& help);

// Returns "float32", "text", ...: the type of an array's elements.
std::string TypeName(const ArrayData& data);
// Value of the plan's member `command` in files that `midscope probe` wrote.
inline constexpr const char* kProbeCommand = "probe";

// Returns the axes and sizes of an array: "[setting 2, place 5]"; "" for a single value.
std::string ShapeText(const Record& record, const Array& array);

// Returns one line with the kind of file, the model, the date, and whether a journal (a file of
// samples not merged yet) beside the file has samples.
std::string FileLine(const RunReader& reader);

// Returns a line with the path of a sweep's journal and its number of samples.
std::string JournalLine(const std::string& path, const JournalSummary& journal);
nlohmann::ordered_json JournalJson(const std::string& path, const JournalSummary& journal);

// Returns the non-empty fields of the provenance.
nlohmann::ordered_json ProvenanceJson(const Provenance& provenance);

// Returns the text that the command `sweep` or `channels` printed when it wrote the file, computed
// from the stored samples; "" for files of other commands. Throws Error (failure) if the file is
// damaged; Cancelled.
std::string PrintedTable(const RunReader& reader, const JobContext& job = {});

// Returns the report of the sweep in a file for which IsStoredSweep (probes/sweep/stored_result.h)
// is true, over the gold places in `places` (ParseChosenPlaces; "": all). Throws Error: (failure)
// if the file is damaged, (usage) if a place is not in it; Cancelled.
CellReport StoredReport(const RunReader& reader, const std::string& places = "",
                        const JobContext& job = {});

// Returns whether `midscope channels` wrote the file; such a file has no sweep plan.
bool IsChannelSearch(const RunReader& reader);
// Return the tables of a file that `midscope scan` (with plan `plan`) or `midscope channels` wrote.
// Throw Error (failure) if the file is damaged; Cancelled.
Printout StoredScanTables(const RunReader& reader, const SweepPlan& plan,
                          const JobContext& job = {});
Printout StoredChannelTables(const RunReader& reader);

// A record without arrays of more than 16 million elements, and a text with a line per omitted
// array.
struct SummarisedRecord {
  Record record;
  std::string large;
};
// Reads record `name` without its largest arrays. Throws Error (failure) if the file is damaged.
SummarisedRecord ReadSummarised(const RunReader& reader, const std::string& name);

// Makes the option --places of commands that read sweeps.
Parameter ChosenPlacesOption();

// Returns the plan stored in `file` of the sweep that is to be continued; "" if there is none or it
// cannot be read (the store reports that later). Reads the journal (samples not merged into the
// file) only if there is a single process, because other ranks may be writing theirs.
std::string ContinuedPlanJson(const std::string& file, const RankGroup& ranks);

// Returns the decoder options for a sweep of `model`. Without --products, uses the products of
// `continued_plan` ("": none). With --dtype auto, uses the dtype of `continued_plan`, otherwise the
// rule in core/compute/arithmetic.h; all ranks use the dtype that rank 0 finds.
DecoderOptions SweepDecoderOptions(const std::string& model, const OptionSet& options,
                                   const std::string& continued_plan, RankGroup& ranks);

}  // namespace midscope::cli
