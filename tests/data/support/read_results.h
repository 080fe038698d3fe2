// SPDX-License-Identifier: MIT
// Runs all readers of results on a file, for tests that pass them damaged ones.
#pragma once

#include <string>

namespace midscope::test {

struct ReadOutcome {
  int read = 0;     // number of readers that succeeded
  int refused = 0;  // number of readers that threw an Error
  std::string first_error;
  std::string other;   // an exception of another type and the reader that threw it; "" if none
  double longest = 0;  // CPU seconds of the slowest reader, including its helper process
};

// Passes the folder's run.h5, or its journal, to each reader: record by record, sample by sample,
// as in the window, and as in merge.
ReadOutcome ReadInEveryWay(const std::string& folder);

// Reads all of a file with HDF5 in this process, which may crash it.
void ReadHere(const std::string& path);

}  // namespace midscope::test
