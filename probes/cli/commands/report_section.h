// SPDX-License-Identifier: MIT
// Writes what one results file says as a section of an HTML page: the question, the answer,
// pictures, tables, the method, and how the file was made.
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
  std::string answers;   // verdicts and differences, one per line; "" for files without statistics
  int64_t pictures = 0;  // number of pictures in the section
  std::string without_pictures;  // why there are none; "" if there are some
};

// Adds the section, with headings of `level` and below. The numbers are those of `midscope show`.
// Throws Error (failure) if the file is damaged; Cancelled.
ReportSection AddReportSection(const RunReader& reader, int level, const JobContext& job,
                               HtmlPage& page);

}  // namespace midscope::cli
