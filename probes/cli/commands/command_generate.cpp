// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/intervention/passage.h"
#include "core/plan/run_positions.h"
#include "core/run/generate.h"
#include "core/run/patch_sources.h"
#include "core/run/scoring.h"
#include "core/terms/intervention_text.h"
#include "data/store/run_store.h"
#include "probes/cli/commands/prompt_options.h"
#include "probes/cli/console/output.h"
#include "probes/cli/program/command.h"
#include "probes/cli/text/probe_text.h"
#include "probes/cli/text/record_text.h"
#include "probes/engine/generate_text.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/model/tensor_library.h"
#include "probes/prompt/prompt_fits.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/prompt_record.h"
#include "probes/prompt/sent_prompt.h"

namespace midscope::cli {
namespace {

GenerateOptions ReadGenerateOptions(const OptionSet& options) {
  for (const char* name : {"top-p", "top-k", "seed"}) {
    const bool of_task = name == std::string("seed") && options.IsSet("task");
    if (!options.IsSet(name) || of_task || options.Number("temperature") > 0) continue;
    throw UsageError(std::string("option --") + name,
                     "it has no effect at temperature 0, which takes the likeliest token",
                     "Give --temperature above 0 too, or leave it out");
  }
  GenerateOptions read;
  read.new_tokens = options.Integer("new-tokens");
  read.temperature = options.Number("temperature");
  read.top_p = options.Number("top-p");
  read.top_k = options.Integer("top-k");
  read.seed = static_cast<uint64_t>(options.Integer("seed"));
  return read;
}

Record ScoredAnswer(const Decoder& decoder, const Prompt& prompt, const Intervention& intervention,
                    const JobContext& job) {
  const std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = static_cast<int64_t>(prompt.ids.size());
  request.intervention = intervention;
  const RunResult result = decoder.RunOne(request, job);
  return AnswerRecord(prompt, ScoreAnswer(result, request.prompt_tokens, prompt.answer_ids));
}

void SaveGenerated(const CommandInput& input, const Decoder& decoder, std::vector<Record> records,
                   Record prompt) {
  const OptionSet& options = input.options;
  records.push_back(std::move(prompt));
  WriteRecords(
      options.Text("out"), records,
      MakeProvenance(decoder, input.command_line, options.Integer("seed"), options.ToJson()),
      {.overwrite = options.Flag("overwrite"), .plan_json = {}});
}

void WarnBeyondContext(const Intervention& intervention, int64_t prompt_tokens, int64_t new_tokens,
                       const ModelConfig& config, const JobContext& job) {
  const int64_t rows = PositionsTaken(intervention, prompt_tokens, prompt_tokens + new_tokens - 1);
  if (config.beyond_context && IsBeyondContext(rows, intervention, config))
    job.Warn("warning: " + BeyondContextText(rows, intervention, config));
}

void RunGenerate(const CommandInput& input) {
  const OptionSet& options = input.options;
  CheckTextSource(options);
  const GenerateOptions generate = ReadGenerateOptions(options);
  const Intervention intervention = ParseIntervention(OneSetting(options, "generate"));
  CheckSourcesUsed(options, {intervention});
  const PromptFormat format = ReadPromptFormat(options);
  const std::string& file = options.Text("out");
  CheckOutOption(options);
  const auto decoder = OpenDecoder(options.Text("model"), ReadDecoderOptions(options), input.job);
  const Tokenizer& tokenizer = decoder->tokenizer();
  const auto [prompt, place] = ReadPrompt(options, format, tokenizer, input.job);
  input.job.Log(SentLine(prompt, tokenizer, format));
  if (!options.IsSet("task")) LogPromptNotes(prompt, format, input.job);
  LogBytesWithoutToken(prompt, input.job);
  CheckPromptFits(decoder->config(), prompt, intervention);
  const auto prompt_tokens = static_cast<int64_t>(prompt.ids.size());
  WarnBeyondContext(intervention, prompt_tokens, generate.new_tokens, decoder->config(), input.job);
  const bool json = options.Flag("json");
  std::vector<GeneratedToken> tokens;
  const auto stream = [&](const GeneratedToken& token) {
    tokens.push_back(token);
    if (!json) input.out << token.bytes << std::flush;
    return true;
  };
  // Text and a progress line would overwrite each other.
  JobContext quiet = input.job;
  quiet.progress = nullptr;
  PatchSources sources(*decoder, ReadSourcePrompts(options, format, tokenizer));
  const Intervention given = ResolvePassages(sources.Give(intervention, prompt, quiet), prompt);
  const Generated generated = Generate(*decoder, prompt.ids, given, generate, stream, quiet);
  std::vector<Record> records = {GenerationRecord(tokenizer, tokens, generate, &generated)};
  if (!prompt.answer_ids.empty()) records.push_back(ScoredAnswer(*decoder, prompt, given, quiet));
  const Record* answer = FindRecord(records, kAnswerRecord);
  if (!file.empty()) {
    Record sent = PromptRecord(prompt, tokenizer, place);
    NoteFormat(prompt, tokenizer, format, sent);
    sent.attributes["intervention"] = PrintIntervention(intervention);
    SaveGenerated(input, *decoder, records, std::move(sent));
  }
  if (!json) {
    input.out << "\n" << (answer ? AnswerText(prompt, *answer) : "") << FileNote(file);
    return;
  }
  const auto made = PositionsTaken(intervention, prompt_tokens,
                                   prompt_tokens + static_cast<int64_t>(generated.ids.size()) - 1);
  const bool beyond = IsBeyondContext(made, intervention, decoder->config());
  nlohmann::ordered_json result = {
      {"tokens", prompt.ids.size()},    {"prompt_token_ids", prompt.ids},
      {"new_token_ids", generated.ids}, {"text", generated.text},
      {"ended", generated.ended},       {"beyond_context", beyond}};
  if (answer) AddAnswer(prompt, *answer, &result);
  if (!file.empty()) result["file"] = file;
  input.out << JsonText(result);
}

std::vector<Parameter> SamplingOptions() {
  Parameter temperature = NumberParameter("temperature", "0: always the likeliest token", 0, 100);
  temperature.default_value = 0.0;
  Parameter top_p = NumberParameter(
      "top-p", "draw among the likeliest tokens that hold this share of the probability", 0, 1);
  top_p.default_value = 1.0;
  return {WholeNumberParameter("new-tokens", "at most so many", 1, kNoMaximum, 100), temperature,
          top_p,
          WholeNumberParameter("top-k", "draw among so many of the likeliest tokens; 0: all", 0,
                               kNoMaximum, 0),
          WholeNumberParameter("seed", "what tokens are drawn by, and with --task its samples", 0,
                               kNoMaximum, 1)};
}

}  // namespace

Command GenerateCommand() {
  Command command;
  command.name = "generate";
  command.summary = "text from the model, as it is or changed";
  command.description =
      "Continues a prompt, token by token, until the model ends its text. Where there is an "
      "answer, "
      "of\n"
      "--answer or the task, it also prints how likely that was.";
  command.positionals = {"model"};
  command.options = ModelOptions();
  const auto add = [&](const std::vector<Parameter>& more) {
    command.options.insert(command.options.end(), more.begin(), more.end());
  };
  std::vector<Parameter> prompt = PromptOptions();
  std::erase_if(prompt, [](const Parameter& option) { return option.name == "seed"; });
  add(prompt);
  add(SourcePromptOptions());
  add(InGroup("Setting", {WithOption("what to change, one setting"), BeyondContextOption()}));
  add(InGroup("Sampling", SamplingOptions()));
  add(InGroup(
      "Output",
      {OutOption("the HDF5 file to write: what is generated, the answer's likelihood and the "
                 "prompt"),
       FlagParameter("overwrite", "replace the file where it exists"), JsonOption()}));
  command.options = WithBrief(std::move(command.options),
                              {"model", "prompt", "prompt-file", "task", "with", "new-tokens",
                               "temperature", "chat", "answer", "out", "json"});
  command.examples =
      "  midscope generate embedded --prompt 'The capital of France is' --new-tokens 20\n"
      "  midscope generate embedded --chat --prompt 'Name three rivers.' --temperature 0.7 --seed "
      "3\n"
      "  midscope generate embedded --prompt-file notes.txt --with 'ms-poe(min=1.2, max=1.8)'\n"
      "  midscope generate embedded --task list:lines=20 --place 10 --with 'boost(span=gold, "
      "factor=4)' --out boosted.h5";
  command.run = RunGenerate;
  return command;
}

}  // namespace midscope::cli
