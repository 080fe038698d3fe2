// SPDX-License-Identifier: MIT
// Results files of every kind, and ways to damage them. Deterministic: equal seeds give equal
// files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope::test {

// Writes one folder per kind of file into `folder` (a sweep, one with attention, a probe run, a
// channel search, a virtual file with its parts, one with parts of ranks, one with a journal, a
// journal alone). In each, run.h5 or its journal is the file passed to readers.
void WriteCorpus(const std::string& folder);

// A corpus in memory, so that a mutant costs only the writing of its files.
class Corpus {
 public:
  // Reads all folders in `folder`.
  explicit Corpus(const std::string& folder);

  // Replaces the contents of `folder` by one folder of the corpus in which one file is damaged.
  // Returns a description of the damage.
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
