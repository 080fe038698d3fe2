// SPDX-License-Identifier: MIT
// The outcome of a sweep, as its file has it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/published/tuning_recipe.h"
#include "data/store/record_reader.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope::cli {

// The outcome of a sweep by setting and place, from its file.
struct FileOutcome {
  std::string task;  // with all parameters; "" if the file does not have it
  // The task without paths, with the hash of its files: equal where the questions are.
  std::string asked;
  uint64_t seed = 1;
  std::vector<std::string> settings;  // canonical
  std::vector<int64_t> places;
  std::vector<double> accuracy;    // [setting, place]
  std::vector<double> answer_nll;  // [setting, place]
  // [setting, place]: generation_score, or else that of choices, or else accuracy.
  std::vector<double> answered;
  std::vector<Interval> answered_interval = {};  // [setting, place]; NaN if the file has none
  std::string answered_measure = "accuracy";     // which of them `answered` is
  // [setting]: over places; NaN if the file has none.
  std::vector<double> mean = {};
  std::vector<Interval> mean_interval = {};
  // Perplexity of running text, [setting, place]; empty for others.
  std::vector<double> perplexity = {};
  std::vector<Interval> perplexity_interval = {};
  std::vector<double> seconds = {};  // [setting], wall time per sample; empty: not in the file
  // Data set to the mean of `answered`, [setting]; empty if there is one data set.
  std::map<std::string, std::vector<double>> sets = {};
  TuningRecipe recipe = {};  // of the model
  int64_t samples = 0;
  // The prompt format (probes/prompt/prompt_format.h); "" if the file does not have it.
  std::string bos;
  std::string chat_template;
  std::vector<std::string> place_texts = {};  // how places are printed; empty: by rank

  // Row-major index of a setting at a place; -1 if the file does not have it.
  int64_t Cell(const std::string& setting, int64_t place) const;
};

// Throws Error (failure) if the file holds no means over samples.
FileOutcome ReadFileOutcome(const RunReader& reader);
std::vector<FileOutcome> ReadFileOutcomes(const std::vector<RunReader>& readers);
bool HasOutcome(const RunReader& reader);

// The plan of a sweep's file; an empty object if it has none.
nlohmann::json PlanOf(const RunReader& reader);

}  // namespace midscope::cli
