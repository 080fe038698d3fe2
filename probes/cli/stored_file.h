// SPDX-License-Identifier: MIT
// What commands that look into files of results say and ask alike.
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
OptionDescription SliceOption();
// What it was given: a setting as files label it, however it was written.
std::vector<std::string> ReadSlices(const OptionSet& options);
OptionDescription AddressOption(const std::string& name, const std::string& help);

// "float32", "text", ...: the type of an array's elements.
std::string TypeName(const ArrayData& data);
// "[setting 2, place 5]"; "" for a single value.
std::string ShapeText(const Record& record, const Array& array);

// One line: what kind of file it is, of which model, made when, and whether samples wait in a
// journal beside it.
std::string FileLine(const RunReader& reader);

// A journal by itself: of which file it is and how many samples wait in it.
std::string JournalLine(const std::string& path, const JournalSummary& journal);
nlohmann::ordered_json JournalJson(const std::string& path, const JournalSummary& journal);

// The fields of the provenance that are not empty.
nlohmann::ordered_json ProvenanceJson(const Provenance& provenance);

}  // namespace midscope::cli
