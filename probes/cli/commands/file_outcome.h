// SPDX-License-Identifier: MIT
// Reads the outcome of a sweep from its file.
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

// The outcome of a sweep by setting and place.
struct FileOutcome {
  std::string task;  // with all parameters; "" if not in the file
  // The task without paths, with the hash of its files: equal for equal questions.
  std::string asked;
  uint64_t seed = 1;
  std::vector<std::string> settings;  // in canonical form
  std::vector<int64_t> places;
  std::vector<double> accuracy;    // [setting, place]
  std::vector<double> answer_nll;  // [setting, place]
  // [setting, place]: generation_score if there is one, else the score of choices, else accuracy.
  std::vector<double> answered;
  std::vector<Interval> answered_interval = {};  // [setting, place]; NaN if the file has none
  std::string answered_measure = "accuracy";     // which of these `answered` is
  // [setting]: mean of `answered` over places; NaN if not in the file.
  std::vector<double> mean = {};
  std::vector<Interval> mean_interval = {};
  // [setting, place]: perplexity, for tasks of running text; otherwise empty.
  std::vector<double> perplexity = {};
  std::vector<Interval> perplexity_interval = {};
  // [setting, place]: mean over documents of their perplexities; empty if there are no documents.
  std::vector<double> document_perplexity = {};
  std::vector<Interval> document_perplexity_interval = {};
  std::vector<double> seconds = {};  // [setting], wall time per sample; empty: not in the file
  // By data set: mean of `answered`, [setting]. Empty if there is only one data set.
  std::map<std::string, std::vector<double>> sets = {};
  TuningRecipe recipe = {};  // tuning of the model
  int64_t samples = 0;
  // The prompt format (probes/prompt/prompt_format.h); "" if not in the file.
  std::string bos;
  std::string chat_template;
  std::vector<std::string> place_texts = {};  // how places are printed; empty: by rank

  // Index of a setting and place in the arrays above; -1 if not in the file.
  int64_t Cell(const std::string& setting, int64_t place) const;
};

// Throws Error (failure) if the file has no means over samples.
FileOutcome ReadFileOutcome(const RunReader& reader);
std::vector<FileOutcome> ReadFileOutcomes(const std::vector<RunReader>& readers);
bool HasOutcome(const RunReader& reader);

// Returns the plan in a sweep's file; an empty object if it has none.
nlohmann::json PlanOf(const RunReader& reader);

}  // namespace midscope::cli
