// SPDX-License-Identifier: MIT
// Outcomes of `midscope whatif` as text and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/engine/engine_service.h"

namespace midscope::cli {

struct WhatIfOutcomeRow {
  std::string setting;             // as PrintIntervention
  double answer_nll = 0;           // nats; NaN: there is no answer
  bool correct = false;            // the answer is the greedy continuation
  bool beyond_context = false;     // the prompt is longer than the context holds
  std::vector<int64_t> token_ids;  // most likely first
  std::vector<std::string> tokens;
  std::vector<double> probabilities;
  WhatIfCost cost;
};

// From a finished what-if's reply, with `top` tokens at most.
WhatIfOutcomeRow OutcomeRow(const EngineReply& reply, int64_t top);

// `layers`: of the model. `plain_nll`: the answer's under `none`, if it is known.
std::string WhatIfText(const WhatIfOutcomeRow& row, std::optional<double> plain_nll,
                       int64_t layers);
// One line; `given`: the setting as typed.
std::string WhatIfJson(const WhatIfOutcomeRow& row, std::optional<double> plain_nll,
                       const std::string& given);

// All settings that were run, one per row.
std::string TriedText(const std::vector<WhatIfOutcomeRow>& rows, std::optional<double> plain_nll);
std::string TriedJson(const std::vector<WhatIfOutcomeRow>& rows, std::optional<double> plain_nll);

// {"line": ..., "setting": ..., "error": ...}
std::string LineErrorJson(int64_t line, const std::string& given, const std::string& why);

// The text of `help` at the prompt.
std::string WhatIfPromptHelp();
// Help on one line: programs that drive the prompt get JSON alone.
std::string HelpJson(const std::string& help);

}  // namespace midscope::cli
