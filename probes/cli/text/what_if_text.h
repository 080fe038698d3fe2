// SPDX-License-Identifier: MIT
// Formats the outcomes of `midscope whatif`, as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/engine/engine_service.h"

namespace midscope::cli {

struct WhatIfOutcomeRow {
  std::string setting;             // text from PrintIntervention
  double answer_nll = 0;           // nats; NaN: no answer
  bool correct = false;            // whether the answer is the greedy continuation
  bool beyond_context = false;     // whether the prompt exceeds the context
  std::vector<int64_t> token_ids;  // most likely first
  std::vector<std::string> tokens;
  std::vector<double> probabilities;
  WhatIfCost cost;
};

// Makes a row of the table from the reply to a finished what-if, with at most `top` tokens.
WhatIfOutcomeRow OutcomeRow(const EngineReply& reply, int64_t top);

// Returns an outcome as text. `layers`: of the model. `plain_nll`: answer_nll of `none`, if known.
std::string WhatIfText(const WhatIfOutcomeRow& row, std::optional<double> plain_nll,
                       int64_t layers);
// Returns an outcome as one line of JSON. `given`: the setting as typed.
std::string WhatIfJson(const WhatIfOutcomeRow& row, std::optional<double> plain_nll,
                       const std::string& given);

// Returns a table of all settings that were run, one per row.
std::string TriedText(const std::vector<WhatIfOutcomeRow>& rows, std::optional<double> plain_nll);
std::string TriedJson(const std::vector<WhatIfOutcomeRow>& rows, std::optional<double> plain_nll);

// Returns an error as one line of JSON: {"line": ..., "setting": ..., "error": ...}.
std::string LineErrorJson(int64_t line, const std::string& given, const std::string& why);

// Returns the text that the command `help` prints at the prompt of `midscope whatif`.
std::string WhatIfPromptHelp();
// Returns a help text as one line of JSON, because programs that use the prompt expect only JSON.
std::string HelpJson(const std::string& help);

}  // namespace midscope::cli
