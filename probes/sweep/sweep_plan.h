// SPDX-License-Identifier: MIT
// The plan of a sweep, as a value that can be compared with a file's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "data/tasks/task.h"
#include "probes/measure/scan/scan_kind.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

struct SweepSetting {
  std::string text;  // as given
  Intervention intervention;
  std::string control_of = {};  // the text of the setting that this one is a control of

  // Every argument stated.
  std::string canonical() const;
};

// Throws Error (usage) that names the column.
SweepSetting ReadSetting(const std::string& text);

// How answers are scored.
struct ScoreArms {
  bool likelihood = true;   // teacher-forced: answer_nll, correct, choice_correct
  bool generation = false;  // greedy text by the task's own scorer: generation_score
  bool operator==(const ScoreArms&) const = default;
};

// "likelihood", "generation", "both". Parsing throws Error (usage); "published" parses to the
// task's published scoring: likelihood, or generation together with likelihood.
std::string ScoreArmsName(const ScoreArms& arms);
ScoreArms ParseScoreArms(std::string_view name, const Task& task);

struct SweepPlan {
  std::string task;                  // with all parameters, "list:lines=20"
  std::string task_files_hash = {};  // of the files that the task reads; "" for none
  // Hashes (PromptsHash) of the prompts that patches take values from, by name.
  std::map<std::string, std::string> source_prompts = {};
  ScoreArms score = {};
  PromptFormat format = {};
  uint64_t seed = 1;
  int64_t samples = 40;
  std::vector<int64_t> places;         // 1-based ranks of the gold piece
  std::vector<SweepSetting> settings;  // differences are to the first
  bool attention = false;              // store last-query attention: first setting, first place
  // Share of the way from the task's first place to its last, for each place, 0 to 1; empty:
  // unknown.
  std::vector<double> place_shares = {};
  // How places are printed ("50 %") where that is not their rank; empty: by rank.
  std::vector<std::string> place_texts = {};

  // The stored instruction set of a sweep that continues under another one, as requested; "": this
  // process'.
  std::string instructions = {};

  // The settings are those of a scan: run together (SampleRequest::together) and summarised by
  // their effects (scan_effects.h).
  std::optional<Scan> scan = {};

  std::vector<std::string> CanonicalSettings() const;
};

// The plan and everything else that affects its numbers (the model's hash, the dtype), as JSON. Two
// sweeps with equal JSON can share a file.
std::string PlanJson(const SweepPlan& plan, const Decoder& decoder);

// The member instructions of such a JSON; "" if it has none.
std::string PlanInstructions(const std::string& plan_json);

// The products of such a JSON: "float" if it has none.
std::string PlanProducts(const std::string& plan_json);

// The dtype of such a JSON; "" if it has none.
std::string PlanDtype(const std::string& plan_json);

// Throws Error (usage) if the model cannot take one of the settings (a layer or channel out of
// range), before anything runs.
void CheckSettings(const std::vector<SweepSetting>& settings, const ModelConfig& config);

// The order of evaluation: unchanged first, then channel scalings, which re-run only the last rows
// of the same trace, then position schemes; each kind ordered by canonical text. The results have
// the same bits in any order of the given settings.
std::vector<size_t> EvaluationOrder(const std::vector<SweepSetting>& settings);

}  // namespace midscope
