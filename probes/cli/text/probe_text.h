// SPDX-License-Identifier: MIT
// Output of `midscope probe`.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/options.h"
#include "core/base/record.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/measure/builtin/probe_registry.h"

namespace midscope::cli {

// Formats, as tables followed by the file's name and as JSON, the records that are printed in full:
// those requested by name and those over several prompts.
std::string RecordsText(const std::vector<Record>& records, const OptionSet& options,
                        const ProbeRegistry& probes);
nlohmann::ordered_json RecordsJson(const std::vector<Record>& records, const OptionSet& options,
                                   const ProbeRegistry& probes);

// Formats record answer (AnswerRecord), the score of a prompt's answer, as a line and as JSON
// members.
std::string AnswerText(const Prompt& prompt, const Record& answer);
void AddAnswer(const Prompt& prompt, const Record& answer, nlohmann::ordered_json* json);

// Formats the output of `midscope probe` for a single prompt.
std::string ProbeText(const Prompt& prompt, const std::vector<Record>& records,
                      const OptionSet& options, const ProbeRegistry& probes);
std::string ProbeJson(const Tokenizer& tokenizer, const Prompt& prompt,
                      const std::vector<Record>& records, const OptionSet& options,
                      const ProbeRegistry& probes);

}  // namespace midscope::cli
