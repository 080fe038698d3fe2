// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <utility>

#include "core/base/error.h"
#include "probes/cli/commands/prompt_options.h"
#include "probes/cli/commands/what_if_prompt.h"
#include "probes/cli/console/interrupt.h"
#include "probes/cli/program/command.h"
#include "probes/model/model_options.h"
#include "probes/prompt/prompt_format.h"

namespace midscope::cli {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

PromptRequest ReadPromptRequest(const OptionSet& options) {
  PromptRequest prompt_request;
  prompt_request.task = options.Text("task");
  prompt_request.kept_limit = options.Integer("kept") * kMebibyte;
  prompt_request.format = ReadPromptFormat(options);
  prompt_request.sources = ReadSourceTexts(options);
  if (options.IsSet("task")) {
    prompt_request.seed = static_cast<uint64_t>(options.Integer("seed"));
    prompt_request.sample = options.Integer("sample");
    prompt_request.places = options.Text("place");
    return prompt_request;
  }
  OwnText own = ReadOwnText(options);
  prompt_request.text = std::move(own.text);
  prompt_request.spans = std::move(own.spans);
  prompt_request.answer = std::move(own.answer);
  return prompt_request;
}

void RunWhatIf(const CommandInput& input) {
  const OptionSet& options = input.options;
  CheckTextSource(options);
  if (options.Text("prompt-file") == "-") {
    throw UsageError("option --prompt-file", "standard input has the settings", "Give a file");
  }
  const PromptRequest prompt_request = ReadPromptRequest(options);
  std::unique_ptr<Engine> engine = MakeLocalEngine();
  WhatIfPromptOptions prompt;
  prompt.layers =
      engine->Open(MakeOpenRequest(options.Text("model"), options), input.job).config.layers;
  prompt.prompt_records = engine->SetPrompt(prompt_request, input.job);
  input.job.Log(std::get<std::string>(prompt.prompt_records.front().attributes.at("sent")));
  prompt.provenance = engine->Describe();
  prompt.provenance.command = input.command_line;
  prompt.provenance.options_json = options.ToJson();
  prompt.json = options.Flag("json");
  prompt.terminal = isatty(STDIN_FILENO) == 1;
  prompt.keep_going = options.Flag("keep-going");
  prompt.top = options.Integer("top");
  InterruptsTaken interrupts;
  WhatIfPrompt(std::move(engine), std::move(prompt), STDIN_FILENO, input.out, interrupts.flag(),
               input.job)
      .Run();
}

}  // namespace

Command WhatIfCommand() {
  Command command;
  command.name = "whatif";
  command.summary = "settings on one cached prompt, each outcome at once";
  command.description =
      "Runs a prompt once and caches the layers' results; then each line of standard input is "
      "a\n"
      "setting, and only what it changes is run again. Prints the likeliest next tokens, the "
      "answer's\n"
      "negative log-likelihood and its change against `none`, the time and what was run. `help` "
      "at\n"
      "the prompt lists other lines: none, undo, compare, out FILE, quit.\n\n"
      "At a terminal a new line or Ctrl-C stops the current run, without ending the program.\n"
      "From a file or a pipe, lines wait for each other, and the first that fails ends it with\n"
      "status 1 unless --keep-going is given.";
  command.positionals = {"model"};
  command.options = ModelOptions();
  const auto add = [&](const std::vector<Parameter>& more) {
    command.options.insert(command.options.end(), more.begin(), more.end());
  };
  add(PromptOptions());
  add(SourcePromptOptions());
  Parameter kept = WholeNumberParameter(
      "kept",
      "memory for what is kept; beyond it layers are dropped, the lowest first; 0: "
      "no limit",
      0, int64_t{1} << 30, 3072);
  kept.unit = "MiB";
  add(InGroup(
      "Run and output",
      {WholeNumberParameter("top", "how many of the likeliest next tokens to print", 1, 10, 5),
       kept, FlagParameter("keep-going", "go on after lines that fail, and end with status 0"),
       BeyondContextOption(), JsonOption()}));
  command.options =
      WithBrief(std::move(command.options), {"model", "prompt", "prompt-file", "task", "place",
                                             "span", "answer", "dtype", "chat", "json"});
  command.examples =
      "  midscope whatif embedded --task list:lines=20 --place 10\n"
      "  midscope whatif embedded --prompt-file notes.txt --span 'gold=the key is 42' --answer ' "
      "42'\n"
      "  echo 'patch(from=place:1, span=last, layers=20)' | midscope whatif embedded --task "
      "list:lines=20 --place 10\n"
      "  printf 'pi(1.5)\\nms-poe\\n' | midscope whatif embedded --prompt 'The capital of France "
      "is' \\\n"
      "      --answer ' Paris' --json";
  command.run = RunWhatIf;
  return command;
}

}  // namespace midscope::cli
