// SPDX-License-Identifier: MIT
// All that readers of results do with a file, for tests that give them damaged ones.
#pragma once

#include <string>

namespace midscope::test {

struct ReadOutcome {
  int read = 0;     // readers that read it
  int refused = 0;  // those that threw an Error
  std::string first_error;
  std::string other;   // an exception that is not ours, and who threw it; "" for none
  double longest = 0;  // seconds of computing of one reader, with the process that reads for it
};

// Gives run.h5, or its journal, of a folder to each reader: record by record, sample by sample, as
// the window does, as merge does.
ReadOutcome ReadInEveryWay(const std::string& folder);

// Reads all of a file by HDF5 in this process, which may end it.
void ReadHere(const std::string& path);

}  // namespace midscope::test
