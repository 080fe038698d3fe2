// SPDX-License-Identifier: MIT
// Published tables for a terminal, alone or beside a sweep's outcome.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/published_tables.h"
#include "probes/cli/file_comparison.h"

namespace midscope::cli {

// What there is: name, title, source, places.
std::string PublishedListText();

// A table as it was printed, with a mark at each cell that something is known about, the notes
// below.
std::string PublishedTableText(const PublishedTable& table);

// Accuracy in percent by place (of generated answers where the sweep has them): each setting of the
// sweep, and under it the published rows of that setting (all rows under the last one where none
// fits); at places that both have, the difference. Marks and notes as above. The whole table where
// it has no outcome of the sweep's task.
std::string PublishedBesideText(const PublishedTable& table, const FileOutcome& outcome);

// {"name", "source", "title", "rows": [{"label", "setting", "places", "accuracy", "marked"}],
// "marks": [...], "notes": [...]} of the lines for the sweep's task.
nlohmann::ordered_json PublishedBesideJson(const PublishedTable& table, const FileOutcome& outcome);

}  // namespace midscope::cli
