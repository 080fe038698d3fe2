// SPDX-License-Identifier: MIT
// Shared by commands that read files of results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/record.h"
#include "data/store/record_reader.h"
#include "data/sweep/journal_summary.h"

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

}  // namespace midscope::cli
