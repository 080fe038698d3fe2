// SPDX-License-Identifier: MIT
#include "core/error.h"
#include "probes/cli/command.h"
#include "probes/cli/model_facts.h"
#include "probes/model_options.h"

namespace midscope::cli {
namespace {

void RunInfo(const CommandInput& input) {
  const ModelFacts facts = ReadModelFacts(input.options.Text("model"));
  input.out << (input.options.Flag("json") ? FactsJson(facts) : FactsText(facts)) << std::flush;
  if (!facts.supported) throw Failure("not supported", facts.why_not);
}

}  // namespace

Command InfoCommand() {
  Command command;
  command.name = "info";
  command.summary = "what a model file holds, and what it takes in memory";
  command.description =
      "Prints what a model file's header says and what a prompt takes in memory. Reads the header\n"
      "alone. Exit status 1 where the model is not supported; the facts are printed all the same.";
  command.positionals = {"model"};
  command.options = {ModelOptions().front(), JsonOption()};
  command.examples =
      "  midscope info embedded\n"
      "  midscope info model.gguf --json";
  command.run = RunInfo;
  return command;
}

}  // namespace midscope::cli
