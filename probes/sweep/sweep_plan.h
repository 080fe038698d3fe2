// SPDX-License-Identifier: MIT
// The plan of a sweep, a value that can be compared with the plan in a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "data/tasks/task.h"
#include "probes/measure/scan/scan_kind.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

struct SweepSetting {
  std::string text;  // setting as the user wrote it
  Intervention intervention;
  std::string control_of = {};  // text of the setting for which this is a control

  // Returns the text as tables name the setting: "ms-poe (control)".
  std::string TextWithRole() const { return control_of.empty() ? text : text + " (control)"; }
  // Returns the setting with every argument stated.
  std::string canonical() const;
};

// Parses a setting of a sweep. Throws Error (usage), which states the column of the mistake.
SweepSetting ReadSetting(const std::string& text);

// How answers are scored.
struct ScoreArms {
  bool likelihood = true;   // teacher-forced: answer_nll, correct, choice_correct
  bool generation = false;  // greedy text, scored by the task: generation_score
  bool operator==(const ScoreArms&) const = default;
};

// Convert a scoring to and from "likelihood", "generation" and "both". Parsing also accepts
// "published", the task's published scoring: likelihood, or both; throws Error (usage).
std::string ScoreArmsName(const ScoreArms& arms);
ScoreArms ParseScoreArms(std::string_view name, const Task& task);

struct SweepPlan {
  std::string task;                  // task with all parameters, "list:lines=20"
  std::string task_files_hash = {};  // hash of the files that the task reads; "": none
  // If lines can be appended to the task's file (GrowingFileBytes), its size in bytes and the
  // task's number of places, which appended lines may change; 0 otherwise.
  int64_t task_file_bytes = 0;
  int64_t task_places = 0;
  // Hashes (PromptsHash) of the prompts from which patches take values, by name.
  std::map<std::string, std::string> source_prompts = {};
  ScoreArms score = {};
  PromptFormat format = {};
  uint64_t seed = 1;
  int64_t samples = 40;  // one more than the number of the last sample
  // Number of the first sample that this process runs; other processes run the earlier ones. Not
  // included in PlanJson.
  int64_t first_sample = 0;
  std::vector<int64_t> places;         // 1-based ranks of the gold piece
  std::vector<SweepSetting> settings;  // differences are relative to the first setting
  bool attention = false;              // store last-query attention (first setting and place)
  // [place]: relative position between the task's first and last place, 0 to 1; empty: unknown.
  std::vector<double> place_shares = {};
  // Printed texts of places ("50 %"), if they are not printed by rank; else empty.
  std::vector<std::string> place_texts = {};

  // CPU instruction set in the file of a sweep that continues on a CPU with another one, as the
  // user requested; "": the instruction set of this CPU.
  std::string instructions = {};

  // The scan, if any, that defines the settings: they run together (SampleRequest::together) and
  // are summarised by their effects (scan_effects.h).
  std::optional<Scan> scan = {};

  std::vector<std::string> CanonicalSettings() const;
  // Number of samples from first_sample on.
  int64_t samples_to_run() const { return samples - first_sample; }
};

// Returns the plan and everything else that affects its numbers (the model's hash, the dtype) as
// JSON. Sweeps with equal JSON can share a file.
std::string PlanJson(const SweepPlan& plan, const Decoder& decoder);

// Returns the CPU instruction set in the JSON of a plan (PlanJson); "" if it has none.
std::string PlanInstructions(const std::string& plan_json);

// Returns the products (arithmetic of matrix products) in the JSON of a plan; "float" if none.
std::string PlanProducts(const std::string& plan_json);

// Returns the dtype in the JSON of a plan; "" if it has none.
std::string PlanDtype(const std::string& plan_json);

// Throws Error (usage) if the model does not support a setting (a layer or channel out of range).
// Call it before anything runs.
void CheckSettings(const std::vector<SweepSetting>& settings, const ModelConfig& config);

// Returns the order in which settings run: the unchanged model first, then channel scalings, which
// run only the last rows of the same trace again, then position schemes; each kind is ordered by
// canonical text. Results therefore have the same bits for any order of the given settings.
std::vector<size_t> EvaluationOrder(const std::vector<SweepSetting>& settings);

// Returns control settings, random variants of interventions that separate the effect of the chosen
// channel or order: one control per setting that scales channels (control: other, random channels
// with the same factors, layers and rows), orders heads by score (order=random) or has ratios from
// a file (each layer's ratios in random order). Other settings, and settings without an
// alternative, get no control. `control_of` names the setting. Equal settings and seeds give equal
// controls.
std::vector<SweepSetting> ControlSettings(const std::vector<SweepSetting>& settings,
                                          const ModelConfig& config, uint64_t seed);

// Returns the texts of the settings, in a list that includes controls, that change something and
// have no control.
std::vector<std::string> SettingsWithoutControl(const std::vector<SweepSetting>& settings);

}  // namespace midscope
