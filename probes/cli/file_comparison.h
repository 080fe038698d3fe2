// SPDX-License-Identifier: MIT
// Compares files of results: how they were made, how their outcomes differ, and whether their
// arrays are equal.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "data/published/tuning_recipe.h"
#include "data/store/record_reader.h"
#include "probes/statistics/statistics.h"

namespace midscope::cli {

// The outcome of a sweep by setting and place, from its file.
struct FileOutcome {
  std::string task;  // with all parameters; "" where the file does not have it
  uint64_t seed = 1;
  std::vector<std::string> settings;  // canonical
  std::vector<int64_t> places;
  std::vector<double> accuracy;    // [setting, place]
  std::vector<double> answer_nll;  // [setting, place]
  // [setting, place]: generation_score, or else that of choices, or else accuracy.
  std::vector<double> answered;
  std::vector<Interval> answered_interval = {};  // [setting, place]; NaN where the file has none
  std::string answered_measure = "accuracy";     // which of them `answered` is
  // [setting]: over places; NaN where the file has none.
  std::vector<double> mean = {};
  std::vector<Interval> mean_interval = {};
  // Of running text, [setting, place]; empty for others.
  std::vector<double> perplexity = {};
  std::vector<Interval> perplexity_interval = {};
  std::vector<double> seconds = {};  // [setting], wall time per sample; empty: not in the file
  // Data set to the mean of `answered`, [setting]; empty where there is one data set.
  std::map<std::string, std::vector<double>> sets = {};
  TuningRecipe recipe = {};  // of the model
  int64_t samples = 0;
  // The prompt format (probes/prompt/prompt_format.h); "" where the file does not have it.
  std::string bos;
  std::string chat_template;
  std::vector<std::string> place_texts = {};  // how places are printed; empty: by rank

  // Row-major index of a setting at a place; -1 where the file does not have it.
  int64_t Cell(const std::string& setting, int64_t place) const;
};

// Throws Error (failure) where the file holds no means over samples.
FileOutcome ReadFileOutcome(const RunReader& reader);
std::vector<FileOutcome> ReadFileOutcomes(const std::vector<RunReader>& readers);
bool HasOutcome(const RunReader& reader);

// One cell of one file, and its difference to the first file's, where both are of one task; paired
// by sample, where both have the same samples.
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
  Interval interval;  // 95 % of the paired difference, by Student's t; NaN where it is not paired
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
