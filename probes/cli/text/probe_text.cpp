// SPDX-License-Identifier: MIT
#include "probes/cli/text/probe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/base/utf8.h"
#include "core/plan/run_positions.h"
#include "data/export/export.h"
#include "probes/base/records.h"
#include "probes/cli/commands/probe_batch_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/prompt/sent_prompt.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Returns the records that are printed in full: those requested by name, and those over several
// prompts. The others are only in the file.
std::vector<const Record*> ShownRecords(const std::vector<Record>& records,
                                        const OptionSet& options, const ProbeRegistry& probes) {
  const bool batch = RequestsBatch(options);
  std::vector<const Record*> shown;
  for (const Record& record : records) {
    const auto type =
        std::find_if(probes.types().begin(), probes.types().end(),
                     [&](const ProbeType& probe) { return probe.name == record.name; });
    const bool of_type = type != probes.types().end();
    const bool is_requested = of_type ? type->on_request : batch && record.name != "prompt";
    if (is_requested) shown.push_back(&record);
  }
  return shown;
}

Json TopJson(const Record& next, const Tokenizer& tokenizer) {
  Json top = Json::array();
  const auto& ids = ArrayValues<int64_t>(next, "next_token_ids");
  for (size_t i = 0; i < ids.size(); ++i) {
    top.push_back({{"id", ids[i]},
                   {"text", tokenizer.TokenText(static_cast<int32_t>(ids[i]))},
                   {"logit", ArrayValues<float>(next, "logit")[i]},
                   {"probability", ArrayValues<double>(next, "probability")[i]}});
  }
  return top;
}

// Returns whether a probe's record is marked as a run beyond the context (RunProbeTypes).
bool IsMarkedBeyondContext(const std::vector<Record>& records) {
  return std::any_of(records.begin(), records.end(), [](const Record& record) {
    const auto mark = record.attributes.find("beyond_context");
    return mark != record.attributes.end() && mark->second == Attribute(int64_t{1});
  });
}

std::string NextTokensText(const Record& next) {
  TextTable table({"rank", "id", "token", "logit", "probability"});
  const auto& ids = ArrayValues<int64_t>(next, "next_token_ids");
  for (size_t i = 0; i < ids.size(); ++i) {
    table.Add({std::to_string(i + 1), std::to_string(ids[i]),
               "'" + ArrayValues<std::string>(next, "token_text")[i] + "'",
               fmt::format("{:.4f}", ArrayValues<float>(next, "logit")[i]),
               fmt::format("{:.4f}", ArrayValues<double>(next, "probability")[i])});
  }
  return table.Text();
}

}  // namespace

nlohmann::ordered_json RecordsJson(const std::vector<Record>& records, const OptionSet& options,
                                   const ProbeRegistry& probes) {
  std::vector<Record> shown;
  for (const Record* record : ShownRecords(records, options, probes)) shown.push_back(*record);
  std::ostringstream text;
  WriteJson(shown, {}, text);
  return Json::parse(text.str())["records"];
}

std::string AnswerText(const Prompt& prompt, const Record& answer) {
  const bool correct = std::get<int64_t>(answer.attributes.at("correct")) != 0;
  return fmt::format("answer '{}': {:.4f} nats, {}the greedy continuation\n",
                     DisplayText(prompt.answer), std::get<double>(answer.attributes.at(kAnswerNll)),
                     correct ? "" : "not ");
}

void AddAnswer(const Prompt& prompt, const Record& answer, nlohmann::ordered_json* json) {
  (*json)["answer"] = prompt.answer;
  (*json)[kAnswerNll] = std::get<double>(answer.attributes.at(kAnswerNll));
  (*json)["answer_correct"] = std::get<int64_t>(answer.attributes.at("correct")) != 0;
}

std::string ProbeJson(const Tokenizer& tokenizer, const Prompt& prompt,
                      const std::vector<Record>& records, const OptionSet& options,
                      const ProbeRegistry& probes) {
  Json json = {{"tokens", prompt.ids.size()},
               {kTokenIds, prompt.ids},
               {"begin_of_text_tokens", BeginOfTextTokens(prompt, tokenizer)},
               {"prompt_text", prompt.text}};
  if (IsMarkedBeyondContext(records)) json["beyond_context"] = true;
  if (const Record* next = FindRecord(records, kNextTokensRecord)) {
    json["top"] = TopJson(*next, tokenizer);
  }
  const std::string& file = options.Text("out");
  json["file"] = file.empty() ? Json(nullptr) : Json(file);
  if (const Record* answer = FindRecord(records, kAnswerRecord)) AddAnswer(prompt, *answer, &json);
  Json shown = RecordsJson(records, options, probes);
  if (!shown.empty()) json["records"] = std::move(shown);
  return JsonText(json);
}

std::string RecordsText(const std::vector<Record>& records, const OptionSet& options,
                        const ProbeRegistry& probes) {
  std::string text;
  for (const Record* record : ShownRecords(records, options, probes)) text += RecordText(*record);
  return text + FileNote(options.Text("out"));
}

std::string ProbeText(const Prompt& prompt, const std::vector<Record>& records,
                      const OptionSet& options, const ProbeRegistry& probes) {
  const bool beyond = IsMarkedBeyondContext(records);
  std::string text;
  if (beyond) text = fmt::format("beyond the context: {}\n", kBeyondContextMeaning);
  if (const Record* next = FindRecord(records, kNextTokensRecord)) text += NextTokensText(*next);
  if (const Record* answer = FindRecord(records, kAnswerRecord))
    text += AnswerText(prompt, *answer);
  return text + RecordsText(records, options, probes);
}

}  // namespace midscope::cli
