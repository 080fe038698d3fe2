// SPDX-License-Identifier: MIT
// Files of results of every kind, and ways to damage them. Deterministic: equal seeds give equal
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope::test {

// Writes a folder for each kind of file (a sweep, one with attention, a probe's, a channel
// search's, a virtual one with its parts, one with parts of ranks, one with a journal, a journal
// alone) into `folder`. In each, run.h5 or its journal is what readers are given.
void WriteCorpus(const std::string& folder);

// A corpus in memory, so that a mutant costs no more than writing its files.
class Corpus {
 public:
  // Reads all folders in `folder`.
  explicit Corpus(const std::string& folder);

  // Replaces what `folder` holds by one of the corpus' folders with one of its files damaged.
  // Returns what was done, in words.
  std::string WriteMutant(uint64_t seed, const std::string& folder) const;

 private:
  struct File {
    std::string name;
    std::string bytes;
  };
  struct Kind {
    std::string name;
    std::vector<File> files;
  };
  std::vector<Kind> kinds_;
};

}  // namespace midscope::test
