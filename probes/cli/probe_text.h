// SPDX-License-Identifier: MIT
// What `midscope probe` prints.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/options.h"
#include "core/base/record.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/plugin/probe_registry.h"
#include "probes/prompt/prompt_format.h"

namespace midscope::cli {

// The records that are printed in full, those requested by name and those over several prompts: as
// tables, with the file's name behind them; and as JSON.
std::string RecordsText(const std::vector<Record>& records, const OptionSet& options,
                        const ProbeRegistry& probes);
nlohmann::ordered_json RecordsJson(const std::vector<Record>& records, const OptionSet& options,
                                   const ProbeRegistry& probes);

// Of a single prompt.
std::string ProbeText(const Prompt& prompt, const Tokenizer& tokenizer, const PromptFormat& format,
                      const std::vector<Record>& records, const OptionSet& options,
                      const ProbeRegistry& probes);
std::string ProbeJson(const Tokenizer& tokenizer, const Prompt& prompt,
                      const std::vector<Record>& records, const OptionSet& options,
                      const ProbeRegistry& probes);

}  // namespace midscope::cli
