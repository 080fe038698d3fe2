// SPDX-License-Identifier: MIT
// Reads the outcome of a sweep from its results file.
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

// The outcome of a sweep by setting and gold place, as read from a file.
struct FileOutcome {
  std::string task;  // task with all parameters; "" if not in the file
  // The task without paths, with a hash of the contents of its files: equal for equal questions.
  std::string asked;
  uint64_t seed = 1;
  std::vector<std::string> settings;  // settings in canonical form
  std::vector<int64_t> places;
  std::vector<double> accuracy;    // share of correct answers, [setting, place]
  std::vector<double> answer_nll;  // mean, nats, [setting, place]
  // [setting, place]: generation_score if there is one, else the score of choices, else accuracy.
  std::vector<double> answered;
  std::vector<Interval> answered_interval = {};  // [setting, place]; NaN if the file has none
  std::string answered_measure = "accuracy";     // name of the measure in `answered`
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
  // Mean of `answered` over the samples of each data set, [setting], by name of the data set. Empty
  // if there is only one data set.
  std::map<std::string, std::vector<double>> sets = {};
  TuningRecipe recipe = {};  // recipe with which the model was tuned
  int64_t samples = 0;
  // The prompt format (probes/prompt/prompt_format.h) as text; "" if not in the file.
  std::string bos;
  std::string chat_template;
  std::vector<std::string> place_texts = {};  // how places are printed; empty: by rank

  // Returns the index of a setting and place in arrays [setting, place]; -1 if not in the file.
  int64_t Cell(const std::string& setting, int64_t place) const;
};

// Reads the outcome from a sweep's file. Throws Error (failure) if it has no means over samples.
FileOutcome ReadFileOutcome(const RunReader& reader);
std::vector<FileOutcome> ReadFileOutcomes(const std::vector<RunReader>& readers);
bool HasOutcome(const RunReader& reader);

// Returns the plan stored in a sweep's file; an empty object if there is none.
nlohmann::json PlanOf(const RunReader& reader);

}  // namespace midscope::cli
