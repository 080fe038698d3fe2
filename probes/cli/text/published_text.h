// SPDX-License-Identifier: MIT
// Published tables as text, alone or beside a sweep's outcome.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/published/published_tables.h"
#include "probes/cli/commands/file_outcome.h"

namespace midscope::cli {

// All tables: name, title, source, places.
std::string PublishedListText();

// One table: {"name", "title", "source", "bos", "unit", "samples", "tasks": [...]}.
nlohmann::ordered_json PublishedHeadJson(const PublishedTable& table);
// With the table itself: "columns", "rows": [{"label", "method", "settings", "cells": [text, as
// printed], "values": [number or null]}], "marks", "notes".
nlohmann::ordered_json PublishedTableJson(const PublishedTable& table);

// A table as printed, with a mark at each cell with a note, the notes below.
std::string PublishedTableText(const PublishedTable& table);

// Accuracy in percent by place (of generated answers where the sweep has them): each setting of the
// sweep, followed by the published rows of that setting, compared with all arguments
// (MatchSetting), with the difference at places that both have; rows of its method with other
// arguments follow without difference; the other rows are below. Then which rows were compared with
// which, which settings have no counterpart, marks and notes as above. The whole table if it has no
// outcome of the sweep's task.
std::string PublishedBesideText(const PublishedTable& table, const FileOutcome& outcome);

// {"name", "source", "title", "rows": [{"label", "method", "settings", "yours": [{"setting",
// "match"}], "places", "accuracy", "marked"}], "marks": [...], "notes": [...],
// "without_counterpart": [...]} of the lines for the sweep's task.
nlohmann::ordered_json PublishedBesideJson(const PublishedTable& table, const FileOutcome& outcome);

}  // namespace midscope::cli
