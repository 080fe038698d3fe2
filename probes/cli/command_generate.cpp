// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "core/intervention/intervention_text.h"
#include "core/intervention/passage.h"
#include "core/plan/context_limit.h"
#include "core/plan/given_positions.h"
#include "core/run/generate.h"
#include "core/run/patch_sources.h"
#include "probes/cli/command.h"
#include "probes/cli/prompt_options.h"
#include "probes/model/model_options.h"
#include "probes/prompt/prompt_fits.h"
#include "probes/prompt/prompt_format_options.h"
#include "probes/prompt/prompt_record.h"
#include "probes/prompt/sent_prompt.h"
#include "probes/prompt/task_prompt.h"

namespace midscope::cli {
namespace {

GenerateOptions ReadGenerateOptions(const OptionSet& options) {
  for (const char* name : {"top-p", "top-k", "seed"}) {
    if (!options.IsSet(name) || options.Number("temperature") > 0) continue;
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

void RunGenerate(const CommandInput& input) {
  const OptionSet& options = input.options;
  CheckTextSource(options);
  const Intervention intervention = ParseIntervention(OneSetting(options, "generate"));
  const PromptFormat format = ReadPromptFormat(options);
  const GenerateOptions how = ReadGenerateOptions(options);
  CheckSourcesUsed(options, {intervention});
  const std::string text = ReadText(options);
  const auto decoder = Decoder::Open(options.Text("model"), ReadDecoderOptions(options), input.job);
  const Tokenizer& tokenizer = decoder->tokenizer();
  CheckPromptFormat(tokenizer, format);
  const Prompt prompt = OwnPrompt(tokenizer, {text}, format);
  input.job.Log(SentLine(prompt, tokenizer, format));
  LogPromptNotes(prompt, format, input.job);
  LogBytesWithoutToken(prompt, input.job);
  CheckPromptFits(decoder->config(), prompt, intervention);
  const int64_t new_tokens = options.Integer("new-tokens");
  const auto prompt_tokens = static_cast<int64_t>(prompt.ids.size());
  const int64_t rows = PositionsTaken(intervention, prompt_tokens, prompt_tokens + new_tokens - 1);
  const bool may_pass =
      decoder->config().beyond_context && IsBeyondContext(rows, intervention, decoder->config());
  if (may_pass) {
    input.job.Warn("warning: " + BeyondContextText(rows, intervention, decoder->config()));
  }
  const bool json = options.Flag("json");
  const auto stream = [&](const GeneratedToken& token) {
    if (!json) input.out << token.bytes << std::flush;
    return true;
  };
  // Text and a progress line would overwrite each other.
  JobContext quiet = input.job;
  quiet.progress = nullptr;
  PatchPrompts others;
  for (const SourceText& source : ReadSourceTexts(options))
    others.named.emplace_back(source.name, OwnPrompt(tokenizer, source.own, format));
  PatchSources sources(*decoder, std::move(others));
  const Intervention given = ResolvePassages(sources.Give(intervention, prompt, quiet), prompt);
  const Generated generated = Generate(*decoder, prompt.ids, given, how, stream, quiet);
  if (!json) {
    input.out << "\n";
    return;
  }
  const auto made = PositionsTaken(intervention, prompt_tokens,
                                   prompt_tokens + static_cast<int64_t>(generated.ids.size()) - 1);
  const bool beyond = IsBeyondContext(made, intervention, decoder->config());
  const nlohmann::ordered_json result = {
      {"tokens", prompt.ids.size()},    {"prompt_token_ids", prompt.ids},
      {"new_token_ids", generated.ids}, {"text", generated.text},
      {"ended", generated.ended},       {"beyond_context", beyond}};
  input.out << result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << "\n";
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
          WholeNumberParameter("seed", "what tokens are drawn by", 0, kNoMaximum, 0)};
}

}  // namespace

Command GenerateCommand() {
  Command command;
  command.name = "generate";
  command.summary = "text from the model, as it is or changed";
  command.description = "Continues a prompt, token by token, until the model ends its text.";
  command.positionals = {"model"};
  command.options = ModelOptions();
  const auto add = [&](const std::vector<Parameter>& more) {
    command.options.insert(command.options.end(), more.begin(), more.end());
  };
  add(InGroup("Prompt", TextSourceOptions()));
  add(SourcePromptOptions());
  add(PromptFormatOptions());
  add(InGroup("Setting", {WithOption("what to change, one setting"), BeyondContextOption()}));
  add(InGroup("Sampling", SamplingOptions()));
  add(InGroup("Output", {JsonOption()}));
  command.examples =
      "  midscope generate embedded --prompt 'The capital of France is' --new-tokens 20\n"
      "  midscope generate embedded --chat --prompt 'Name three rivers.' --temperature 0.7 --seed "
      "3\n"
      "  midscope generate embedded --prompt-file notes.txt --with 'ms-poe(min=1.2, max=1.8)'";
  command.run = RunGenerate;
  return command;
}

}  // namespace midscope::cli
