// SPDX-License-Identifier: MIT
// Data sets of multiple choice whose choices are whole texts: their published lines, and the
// prompts of the Language Model Evaluation Harness (github.com/EleutherAI/lm-evaluation-harness,
// folders arc, hellaswag, piqa, super_glue/boolq, truthfulqa and winogrande of lm_eval/tasks).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json_fields.h"
#include "data/tasks/choices.h"

namespace midscope {

// A question and its choices, at least one of them right. `prompt` is that of the right choice.
struct ChoiceItem {
  std::string prompt;
  std::vector<TaskChoice> choices;
};

// label: the number of the right choice, from 0 on, where it stands in a file beside. Throws Error
// (failure) that names the line: a field is missing, has another type or can't be used.
using ChoiceReader = ChoiceItem (*)(const JsonFields& fields, std::optional<int64_t> label);

struct ChoiceSet {
  std::string name;  // "arc"
  ChoiceRule rule = ChoiceRule::kLikeliest;
  ChoiceReader read = nullptr;
};

// arc (easy and challenge), hellaswag, winogrande, piqa, boolq, truthfulqa-mc1, truthfulqa-mc2. A
// line has the fields of the files that the authors publish, or those of the data hub.
// ARC and HellaSwag are compared per character, as published tables do; the others by the summed
// log-likelihood (the harness prints both of PIQA; tables differ).
const std::vector<ChoiceSet>& ChoiceSets();

}  // namespace midscope
