// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/error.h"
#include "core/base/record_lookup.h"
#include "core/base/record_names.h"
#include "core/base/utf8.h"
#include "core/intervention/intervention_text.h"
#include "core/plan/context_limit.h"
#include "data/export/export.h"
#include "data/store/run_store.h"
#include "probes/base/record_values.h"
#include "probes/cli/command.h"
#include "probes/cli/output.h"
#include "probes/cli/probe_batch_options.h"
#include "probes/cli/probe_help.h"
#include "probes/cli/prompt_options.h"
#include "probes/cli/record_text.h"
#include "probes/cli/text_table.h"
#include "probes/engine/run_probe.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/plugin/plugin_loader.h"
#include "probes/prompt/prompt_format_options.h"
#include "probes/prompt/prompt_record.h"
#include "probes/prompt/sent_prompt.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

// Records printed in full: those requested by name, and those over several prompts. The others are
// in the file.
std::vector<const Record*> ShownRecords(const std::vector<Record>& records,
                                        const OptionSet& options, const ProbeRegistry& probes) {
  const bool batch = AsksForBatch(options);
  std::vector<const Record*> shown;
  for (const Record& record : records) {
    const auto type =
        std::find_if(probes.types().begin(), probes.types().end(),
                     [&](const ProbeType& probe) { return probe.name == record.name; });
    const bool of_type = type != probes.types().end();
    const bool of_plugin = record.attributes.count("plugin") > 0;
    const bool is_asked_for =
        of_plugin || (of_type ? type->on_request : batch && record.name != "prompt");
    if (is_asked_for) shown.push_back(&record);
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

Json RecordsJson(const std::vector<const Record*>& shown) {
  std::vector<Record> records;
  records.reserve(shown.size());
  for (const Record* record : shown) records.push_back(*record);
  std::ostringstream text;
  WriteJson(records, {}, text);
  return Json::parse(text.str())["records"];
}

std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Whether a probe's run was longer than the context (RunProbeTypes).
bool IsMarkedBeyondContext(const std::vector<Record>& records) {
  return std::any_of(records.begin(), records.end(), [](const Record& record) {
    const auto mark = record.attributes.find("beyond_context");
    return mark != record.attributes.end() && mark->second == Attribute(int64_t{1});
  });
}

std::string ProbeJson(const Tokenizer& tokenizer, const Prompt& prompt,
                      const std::vector<Record>& records, const CommandInput& input,
                      const ProbeRegistry& probes) {
  Json json = {{"tokens", prompt.ids.size()},
               {kTokenIds, prompt.ids},
               {"begin_of_text_tokens", BeginOfTextTokens(prompt, tokenizer)},
               {"prompt_text", prompt.text}};
  if (IsMarkedBeyondContext(records)) json["beyond_context"] = true;
  if (const Record* next = FindRecord(records, kNextTokensRecord)) {
    json["top"] = TopJson(*next, tokenizer);
  }
  const std::string& file = input.options.Text("out");
  json["file"] = file.empty() ? Json(nullptr) : Json(file);
  if (const Record* answer = FindRecord(records, kAnswerRecord)) {
    json["answer"] = prompt.answer;
    json[kAnswerNll] = std::get<double>(answer->attributes.at(kAnswerNll));
    json["answer_correct"] = std::get<int64_t>(answer->attributes.at("correct")) != 0;
  }
  const std::vector<const Record*> shown = ShownRecords(records, input.options, probes);
  if (!shown.empty()) json["records"] = RecordsJson(shown);
  return Dump(json);
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

std::string RecordsText(const std::vector<Record>& records, const OptionSet& options,
                        const ProbeRegistry& probes) {
  std::string text;
  for (const Record* record : ShownRecords(records, options, probes)) text += RecordText(*record);
  return text + FileNote(options.Text("out"));
}

std::string ProbeText(const Prompt& prompt, const Tokenizer& tokenizer, const PromptFormat& format,
                      const std::vector<Record>& records, const OptionSet& options,
                      const ProbeRegistry& probes) {
  const bool beyond = IsMarkedBeyondContext(records);
  std::string text = SentLine(prompt, tokenizer, format, beyond ? " *" : "") + "\n";
  if (beyond) text += fmt::format("* beyond the context: {}\n", kBeyondContextMeaning);
  if (const Record* next = FindRecord(records, kNextTokensRecord)) text += NextTokensText(*next);
  if (const Record* answer = FindRecord(records, kAnswerRecord)) {
    const bool correct = std::get<int64_t>(answer->attributes.at("correct")) != 0;
    text += fmt::format("answer '{}': {:.4f} nats, {}the greedy continuation\n",
                        DisplayText(prompt.answer),
                        std::get<double>(answer->attributes.at(kAnswerNll)), correct ? "" : "not ");
  }
  return text + RecordsText(records, options, probes);
}

void Save(const CommandInput& input, const Decoder& decoder, const std::vector<Record>& records) {
  const OptionSet& options = input.options;
  if (options.Text("out").empty()) return;
  WriteOptions write;
  write.overwrite = options.Flag("overwrite");
  WriteRecords(
      options.Text("out"), records,
      MakeProvenance(decoder, input.command_line, options.Integer("seed"), options.ToJson()),
      write);
}

// Several prompts of a task.
void RunBatch(const CommandInput& input, const ProbeRegistry& probes, const Decoder& decoder,
              const Intervention& intervention, const PromptFormat& format) {
  const OptionSet& options = input.options;
  const ProbeBatch batch = ReadBatch(options, format, decoder.tokenizer());
  const Prompt first = batch.prompt(batch.samples.front(), batch.places.front());
  input.job.Log(SentLine(first, decoder.tokenizer(), format));
  int64_t done = 0;
  std::vector<Record> records =
      RunProbeBatch(decoder, batch, intervention, probes, options, input.job, &done);
  NoteFormat(format, records.back());
  records.back().attributes["intervention"] = PrintIntervention(intervention);
  Save(input, decoder, records);
  const std::string& file = options.Text("out");
  if (options.Flag("json")) {
    input.out << Dump({{"file", file.empty() ? Json(nullptr) : Json(file)},
                       {"records", RecordsJson(ShownRecords(records, options, probes))}});
  } else {
    input.out << RecordsText(records, options, probes);
  }
  if (done == static_cast<int64_t>(batch.samples.size())) return;
  throw Interrupted(fmt::format("probe interrupted: {} of {} samples are done{}", done,
                                batch.samples.size(), file.empty() ? "" : ", and in " + file));
}

void RunProbe(const ProbeRegistry& probes, const CommandInput& input) {
  const OptionSet& options = input.options;
  if (options.Flag("list")) {
    input.out << (options.Flag("json") ? ProbeListJson(probes) : ProbeHelp(probes));
    return;
  }
  CheckTextSource(options);
  const bool batch = AsksForBatch(options);
  // Unknown names are reported before a model is loaded.
  probes.RefuseUnusedOptions(options, probes.Selected(options, batch));
  const PromptFormat format = ReadPromptFormat(options);
  const Intervention intervention = ParseIntervention(OneSetting(options, "probe"));
  const std::string& file = options.Text("out");
  if (!file.empty()) {
    CheckOutputPath(file, options.Flag("overwrite"), "Give --overwrite, or another --out");
  }
  const auto decoder = Decoder::Open(options.Text("model"), ReadDecoderOptions(options), input.job);
  if (batch) {
    RunBatch(input, probes, *decoder, intervention, format);
    return;
  }
  const Tokenizer& tokenizer = decoder->tokenizer();
  const auto [prompt, place] = ReadPrompt(options, format, tokenizer);
  PatchSources sources(*decoder, ReadSourcePrompts(options, format, tokenizer));
  if (!options.IsSet("task")) LogPromptNotes(prompt, format, input.job);
  std::vector<Record> records = RunProbes(
      *decoder, prompt, sources.Give(intervention, prompt, input.job), probes, options, input.job);
  // Last, because viewers open a file's first record.
  records.push_back(PromptRecord(prompt, tokenizer, place));
  NoteFormat(prompt, tokenizer, format, records.back());
  records.back().attributes["intervention"] = PrintIntervention(intervention);
  Save(input, *decoder, records);
  input.out << (options.Flag("json")
                    ? ProbeJson(tokenizer, prompt, records, input, probes)
                    : ProbeText(prompt, tokenizer, format, records, options, probes));
}

// Options of plugins that collide with the command's are found here: a plugin can't know them all.
void RefuseTakenOptions(const ProbeRegistry& probes, const std::vector<Parameter>& own) {
  for (const ProbeType& type : probes.types()) {
    if (type.plugin.empty()) continue;
    for (const Parameter& option : type.options) {
      const bool taken = std::any_of(own.begin(), own.end(), [&](const Parameter& other) {
        return other.name == option.name;
      });
      if (!taken) continue;
      throw Failure("plugin " + type.plugin,
                    "its option --" + option.name + " is an option of midscope probe",
                    "Rename probe '" + type.name + "'");
    }
  }
}

std::vector<Parameter> ProbeOptions(const ProbeRegistry& probes) {
  std::vector<Parameter> options = ModelOptions();
  const auto add = [&](const std::vector<Parameter>& more) {
    options.insert(options.end(), more.begin(), more.end());
  };
  add(PromptOptions());
  add(SourcePromptOptions());
  add(BatchOptions());
  add(InGroup("Setting", {WithOption("what to change, one setting"), BeyondContextOption()}));
  add(InGroup("Output",
              {OutOption("the HDF5 file to write"),
               FlagParameter("overwrite", "replace the file where it exists"), JsonOption()}));
  add(InGroup("Probes",
              {PluginOption(), FlagParameter("list", "describe each probe, and do nothing else")}));
  RefuseTakenOptions(probes, options);
  add(InGroup("Probes", probes.Options()));
  return options;
}

Command ProbeCommandWith(const ProbeRegistry& probes) {
  Command command;
  command.name = "probe";
  command.summary = "one prompt through the model, with all probes";
  command.description =
      "Runs one prompt once and stores what the probes read: last-query attention, "
      "position-awareness\n"
      "scores, position ratios, logits, and hidden channels or residual rows where requested.\n"
      "--probes names others. With --places or --samples a task's prompts run one after "
      "another.\n\n"
      "Probes (--list describes each):\n" +
      ProbeSummaries(probes);
  command.informs = "list";
  command.positionals = {"model"};
  command.options = ProbeOptions(probes);
  command.examples =
      "  midscope probe embedded --prompt 'The capital of France is' --out france.h5\n"
      "  midscope probe embedded --prompt-file notes.txt --span 'gold=the key is 42' \\\n"
      "      --answer ' 42' --with 'channel(100, factor=-1, layers=8-25)' --out notes.h5\n"
      "  midscope probe embedded --task list:lines=20 --place 10 --channels 100,215 --out "
      "list.h5\n"
      "  midscope probe embedded --task list:lines=20 --places 1,10,20 --samples 3 \\\n"
      "      --probes span_attention,logit_lens --out places.h5\n"
      "  midscope probe embedded --prompt-file book.txt --probes perplexity --window 2048\n"
      "  midscope probe --plugin ./libmine.so --list";
  command.run = [probes](const CommandInput& input) { RunProbe(probes, input); };
  command.with_probes = ProbeCommandWith;
  return command;
}

}  // namespace

Command ProbeCommand() { return ProbeCommandWith(BuiltInProbes()); }

}  // namespace midscope::cli
