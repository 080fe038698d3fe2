// SPDX-License-Identifier: MIT
// Formats published tables, alone or beside the outcome of a sweep.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/published/published_tables.h"
#include "probes/cli/commands/file_outcome.h"

namespace midscope::cli {

// Lists all tables with name, title, source and places.
std::string PublishedListText();

// Returns the description of a table as JSON: {"name", "title", "source", "bos", "unit", "samples",
// "tasks": [...]}.
nlohmann::ordered_json PublishedHeadJson(const PublishedTable& table);
// Returns the description and the contents of a table as JSON: the contents are "columns", "rows":
// [{"label", "method", "settings", "cells": [text, as printed], "values": [number or null]}],
// "marks", "notes".
nlohmann::ordered_json PublishedTableJson(const PublishedTable& table);

// Returns a table as in the publication; cells that have a note are marked, and the notes follow.
std::string PublishedTableText(const PublishedTable& table);

// Returns a sweep's accuracy in percent by place (of generated answers if the sweep has them)
// beside a published table. Each setting of the sweep is followed by the published rows that match
// it in all arguments (MatchSetting), with differences at common places, then by rows of its method
// with other arguments, without differences. The other rows come below, then the compared pairs,
// settings without counterpart, marks and notes. If the table has no outcomes for the sweep's task,
// returns the whole table. `model`: one of table.ModelNames(), whose rows are compared; rows of
// other models are only counted. "": all models; if the table has several, rows without counterpart
// are only counted. Throws Error (usage) for any other model.
std::string PublishedBesideText(const PublishedTable& table, const FileOutcome& outcome,
                                const std::string& model);

// Returns the comparison as JSON: {"name", "source", "title", "rows": [{"label", "method",
// "settings", "yours": [{"setting", "match"}], "places", "accuracy", "marked"}], "marks": [...],
// "notes": [...], "without_counterpart": [...]} for the rows of the sweep's task.
nlohmann::ordered_json PublishedBesideJson(const PublishedTable& table, const FileOutcome& outcome,
                                           const std::string& model);

}  // namespace midscope::cli
