// SPDX-License-Identifier: MIT
// Published tables for a terminal, alone or beside a sweep's outcome.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/published/published_tables.h"
#include "probes/cli/file_comparison.h"

namespace midscope::cli {

// What there is: name, title, source, places.
std::string PublishedListText();

// The same of one table: {"name", "title", "source", "bos", "unit", "samples", "tasks": [...]}.
nlohmann::ordered_json PublishedHeadJson(const PublishedTable& table);
// That with the table itself: "columns", "rows": [{"label", "method", "settings", "cells": [text,
// as printed], "values": [number or null]}], "marks", "notes".
nlohmann::ordered_json PublishedTableJson(const PublishedTable& table);

// A table as it was printed, with a mark at each cell that something is known about, the notes
// below.
std::string PublishedTableText(const PublishedTable& table);

// Accuracy in percent by place (of generated answers where the sweep has them): each setting of the
// sweep, and under it the published rows of that setting, whole (MatchSetting), with the difference
// at places that both have; rows of its method with other arguments stand there without; the rest
// of the rows below. Then what was set beside what, which of the settings have no counterpart,
// marks and notes as above. The whole table where it has no outcome of the sweep's task.
std::string PublishedBesideText(const PublishedTable& table, const FileOutcome& outcome);

// {"name", "source", "title", "rows": [{"label", "method", "settings", "yours": [{"setting",
// "match"}], "places", "accuracy", "marked"}], "marks": [...], "notes": [...],
// "without_counterpart": [...]} of the lines for the sweep's task.
nlohmann::ordered_json PublishedBesideJson(const PublishedTable& table, const FileOutcome& outcome);

}  // namespace midscope::cli
