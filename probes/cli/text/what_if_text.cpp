// SPDX-License-Identifier: MIT
#include "probes/cli/text/what_if_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/record_names.h"
#include "core/hub/hub_listing.h"
#include "core/plan/run_positions.h"
#include "core/terms/intervention_text.h"
#include "kernels/check.h"
#include "probes/base/records.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

const Record& RecordOf(const EngineReply& reply, const std::string& name) {
  const auto found = std::find_if(reply.records.begin(), reply.records.end(),
                                  [&](const Record& record) { return record.name == name; });
  MIDSCOPE_CHECK(found != reply.records.end(), "a what-if without its " + name);
  return *found;
}

std::string RerunText(const WhatIfCost& cost, int64_t layers) {
  if (cost.first_layer == layers) return "nothing was run";
  std::string rows = cost.first_row == 0 ? "all rows" : fmt::format("rows {}-", cost.first_row);
  if (cost.last_rows_only) rows = "last rows";
  return fmt::format("{} of layers {}-{}, {:.{}f} % of a full run", rows, cost.first_layer,
                     layers - 1, 100 * cost.share, cost.share < 0.1 ? 1 : 0);
}

std::string KeptText(const WhatIfCost& cost, int64_t layers) {
  if (cost.first_kept_layer == layers) return "nothing kept: the limit is too low";
  std::string text = "kept " + BytesText(cost.kept_bytes);
  if (cost.first_kept_layer > 0) {
    text += fmt::format(" (limit {}: layers {}-{})", BytesText(cost.kept_limit),
                        cost.first_kept_layer, layers - 1);
  }
  return text;
}

// Returns the setting, with a mark if the prompt exceeds the context.
std::string SettingText(const WhatIfOutcomeRow& row) {
  return row.setting + (row.beyond_context ? " *" : "");
}

std::string ChangeText(double nll, std::optional<double> plain_nll) {
  return plain_nll ? fmt::format("{:+.4f}", nll - *plain_nll) : "";
}

Json RowJson(const WhatIfOutcomeRow& row, std::optional<double> plain_nll) {
  Json top = Json::array();
  for (size_t i = 0; i < row.tokens.size(); ++i) {
    top.push_back(
        {{"id", row.token_ids[i]}, {"text", row.tokens[i]}, {"probability", row.probabilities[i]}});
  }
  const bool scored = !std::isnan(row.answer_nll);
  return {
      {"setting_canonical", row.setting},
      {"top", top},
      {kAnswerNll, NumberOrNull(row.answer_nll)},
      {"answer_nll_change", plain_nll ? NumberOrNull(row.answer_nll - *plain_nll) : Json(nullptr)},
      {"correct", scored ? Json(row.correct) : Json(nullptr)},
      {"beyond_context", row.beyond_context},
      {"milliseconds", row.cost.seconds * 1000},
      {"rerun",
       {{"first_layer", row.cost.first_layer},
        {"first_row", row.cost.first_row},
        {"last_rows_only", row.cost.last_rows_only},
        {"share", row.cost.share}}},
      {"kept",
       {{"bytes", row.cost.kept_bytes},
        {"limit", row.cost.kept_limit},
        {"first_layer", row.cost.first_kept_layer}}}};
}

std::string OneLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

WhatIfOutcomeRow OutcomeRow(const EngineReply& reply, int64_t top) {
  WhatIfOutcomeRow row;
  row.setting = PrintIntervention(std::get<WhatIfRequest>(reply.request).intervention);
  const Record& outcome = RecordOf(reply, kOutcomeRecord);
  row.answer_nll = ArrayValues<double>(outcome, kAnswerNll).front();
  row.correct = ArrayValues<uint8_t>(outcome, "correct").front() != 0;
  row.beyond_context = outcome.attributes.contains("beyond_context");
  const Record& next = RecordOf(reply, kNextTokensRecord);
  row.token_ids = ArrayValues<int64_t>(next, "next_token_ids");
  row.tokens = ArrayValues<std::string>(next, "token_text");
  row.probabilities = ArrayValues<double>(next, "probability");
  const size_t count = std::min(row.tokens.size(), static_cast<size_t>(top));
  row.token_ids.resize(count);
  row.tokens.resize(count);
  row.probabilities.resize(count);
  row.cost = reply.cost;
  return row;
}

std::string WhatIfText(const WhatIfOutcomeRow& row, std::optional<double> plain_nll,
                       int64_t layers) {
  std::string text = SettingText(row) + "\n  next:";
  for (size_t i = 0; i < row.tokens.size(); ++i)
    text += fmt::format("  '{}' {:.4f}", row.tokens[i], row.probabilities[i]);
  text += "\n";
  if (!std::isnan(row.answer_nll)) {
    text += fmt::format("  answer: {:.4f} nats", row.answer_nll);
    if (plain_nll) text += " (" + ChangeText(row.answer_nll, plain_nll) + " against none)";
    text += row.correct ? ", the greedy continuation\n" : "\n";
  }
  if (row.beyond_context)
    text += fmt::format("  * beyond the context: {}\n", kBeyondContextMeaning);
  return text + fmt::format("  {:.1f} ms: {}; {}\n", row.cost.seconds * 1000,
                            RerunText(row.cost, layers), KeptText(row.cost, layers));
}

std::string WhatIfJson(const WhatIfOutcomeRow& row, std::optional<double> plain_nll,
                       const std::string& given) {
  Json json = {{"setting", given}};
  json.update(RowJson(row, plain_nll));
  return OneLine(json);
}

std::string TriedText(const std::vector<WhatIfOutcomeRow>& rows, std::optional<double> plain_nll) {
  TextTable table({"setting", kAnswerNll, "change", "next token", "probability", "ms"});
  for (const WhatIfOutcomeRow& row : rows) {
    const bool scored = !std::isnan(row.answer_nll);
    table.Add({SettingText(row), scored ? fmt::format("{:.4f}", row.answer_nll) : "",
               scored ? ChangeText(row.answer_nll, plain_nll) : "",
               row.tokens.empty() ? "" : "'" + row.tokens.front() + "'",
               row.tokens.empty() ? "" : fmt::format("{:.4f}", row.probabilities.front()),
               fmt::format("{:.1f}", row.cost.seconds * 1000)});
  }
  return table.Text();
}

std::string TriedJson(const std::vector<WhatIfOutcomeRow>& rows, std::optional<double> plain_nll) {
  Json tried = Json::array();
  for (const WhatIfOutcomeRow& row : rows) tried.push_back(RowJson(row, plain_nll));
  return OneLine({{"compare", tried}});
}

std::string LineErrorJson(int64_t line, const std::string& given, const std::string& why) {
  return OneLine({{"line", line}, {"setting", given}, {"error", why}});
}

std::string HelpJson(const std::string& help) { return OneLine({{"help", help}}); }

std::string WhatIfPromptHelp() {
  return "A line is a setting, as --with takes it (midscope help interventions):\n"
         "  channel(100, factor=-1, layers=8-25)\n"
         "  ms-poe(min=1.2, max=1.8) + boost(span=gold, factor=2)\n"
         "or one of\n"
         "  none            the model as it is\n"
         "  undo            the setting before this one\n"
         "  compare         all settings tried, side by side\n"
         "  out FILE        write the last outcome, its attention and ratios to an HDF5 file\n"
         "  help, help terms    this, and what settings are made of\n"
         "  quit            or the end of input\n"
         "Lines that are empty or begin with # are ignored. Ctrl-C stops the run under way.\n";
}

}  // namespace midscope::cli
