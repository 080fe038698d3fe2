// SPDX-License-Identifier: MIT
// Writes a section of an HTML page about one results file: the question, the answer, pictures,
// tables, the method, and how the file was made.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "data/store/record_reader.h"
#include "probes/cli/text/html_page.h"

namespace midscope::cli {

struct ReportSection {
  std::string answers;   // verdicts and differences between settings, one per line; "" for files
                         // without statistics
  int64_t pictures = 0;  // number of pictures in the section
  std::string without_pictures;  // reason if there are no pictures; else ""
};

// Adds a section about the file to the page, with headings of `level` and below. `midscope show`
// prints the same numbers. Throws Error (failure) if the file is damaged; Cancelled.
ReportSection AddReportSection(const RunReader& reader, int level, const JobContext& job,
                               HtmlPage& page);

}  // namespace midscope::cli
