// SPDX-License-Identifier: MIT
// Compares results files: how they were made, how their outcomes differ, and whether their arrays
// are equal.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "data/store/record_reader.h"
#include "probes/cli/commands/file_outcome.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope::cli {

// One cell of one file, and its difference to the first file's, if both are of one task; paired by
// sample, if both have the same samples.
struct ComparedCell {
  std::string setting;
  int64_t place = 0;
  std::string place_text;  // as it is printed
  size_t file = 0;
  int64_t samples = 0;
  double accuracy = 0;
  double answer_nll = 0;
  double difference =
      0;              // of answer_nll to the first file; NaN: not comparable, or the first itself
  Interval interval;  // 95 % of the paired difference, by Student's t; NaN if it is not paired
};
// `outcomes`: ReadFileOutcomes.
std::vector<ComparedCell> CompareOutcomes(const std::vector<RunReader>& readers,
                                          const std::vector<FileOutcome>& outcomes);

// The comparison of an array with that of the first file.
struct ComparedArray {
  std::string name;  // "RECORD/ARRAY"
  size_t file = 0;
  // "equal", "differs", or why elements are not compared: "only in A", "wall time", "other places
  // on axis setting", ...
  std::string verdict;
  double largest = 0;  // |difference| where numbers differ
  int64_t differing = 0;
  int64_t elements = 0;
};
// Reads in blocks, never a large array at once. Throws Cancelled.
std::vector<ComparedArray> CompareArrays(const std::vector<RunReader>& readers,
                                         const JobContext& job);

// Fields of provenance and plan ("plan.KEY"), and options of the command ("option --NAME"), in
// which the files differ, with each file's value.
std::vector<std::pair<std::string, std::vector<std::string>>> DifferentFields(
    const std::vector<RunReader>& readers);

}  // namespace midscope::cli
