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

// The outcome of one setting at one place in one file, with the difference from the first file if
// both have the same task; the difference is paired by sample if both have the same samples.
struct ComparedCell {
  std::string setting;
  int64_t place = 0;
  std::string place_text;  // the printed place; "mean": over the chosen places
  bool is_mean = false;    // whether this is the mean over the chosen places; `place` is then 0
  size_t file = 0;
  int64_t samples = 0;
  double accuracy = 0;
  double answer_nll = 0;
  double difference = 0;  // answer_nll minus that of the first file; NaN: none
  Interval interval;  // 95 % interval of the paired difference, by Student's t; NaN if not paired
};
// Compares the outcomes of files. `outcomes`: the result of ReadFileOutcomes. `places`: the places
// to compare (ParseChosenPlaces), with their mean added for each setting; "": all places, without
// means. Throws Error (usage) if a file lacks a chosen place.
std::vector<ComparedCell> CompareOutcomes(const std::vector<RunReader>& readers,
                                          const std::vector<FileOutcome>& outcomes,
                                          const std::string& places = "");

// Result of comparing one array of a file with the array of the same name in the first file.
struct ComparedArray {
  std::string name;  // "RECORD/ARRAY"
  size_t file = 0;
  // "equal", "differs", or the reason why elements are not compared: "only in A", "wall time",
  // "other places on axis setting", ...
  std::string verdict;
  double largest = 0;  // largest |difference| of the elements, for arrays of numbers
  int64_t differing = 0;
  int64_t elements = 0;
};
// Compares all arrays of the files. Reads them in blocks, so that large arrays are never in memory
// as a whole. Throws Cancelled.
std::vector<ComparedArray> CompareArrays(const std::vector<RunReader>& readers,
                                         const JobContext& job);

// Returns the fields of provenance and plan ("plan.KEY") and the command's options ("option
// --NAME") in which the files differ, each with its value in every file.
std::vector<std::pair<std::string, std::vector<std::string>>> DifferentFields(
    const std::vector<RunReader>& readers);

}  // namespace midscope::cli
