// SPDX-License-Identifier: MIT
#include <utility>

#include "core/base/error.h"
#include "core/base/parameter.h"
#include "core/compute/arithmetic.h"
#include "probes/base/number_list.h"
#include "probes/cli/commands/model_facts.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/model/model_options.h"

namespace midscope::cli {
namespace {

// Maximum prompt length: beyond any context, and small enough that sums of bytes do not overflow.
constexpr int64_t kMostTokens = 100'000'000;

std::vector<int64_t> Lengths(const OptionSet& options, const ModelFacts& facts) {
  if (!facts.supported) return {};
  if (!options.IsSet("tokens")) return UsualLengths(facts.config);
  return ParseNumberList("option --tokens", options.Text("tokens"), 1, kMostTokens);
}

void RunInfo(const CommandInput& input) {
  const std::string model = input.options.Text("model");
  ModelFacts facts = ReadModelFacts(model);
  if (input.options.Flag("dtypes") && facts.supported) {
    std::vector<Arithmetic> others = {{kernels::Dtype::kBFloat16, Products::kFloat}};
    if (facts.config.quantised_bytes > 0) {
      others.push_back({kernels::Dtype::kFloat32, Products::kInt16});
      others.push_back({kernels::Dtype::kFloat32, Products::kInt8});
    }
    constexpr int64_t kPrompts = 4;
    try {
      const auto distances = MeasureArithmeticDistances(model, {}, others, kPrompts, input.job);
      for (size_t i = 0; i < others.size(); ++i)
        facts.distances.emplace_back(others[i], distances[i]);
    } catch (const Error& error) {  // show the other facts of the model
      input.job.Warn(std::string("dtypes: their differences cannot be measured: ") + error.what());
    }
  }
  const std::vector<int64_t> lengths = Lengths(input.options, facts);
  input.out << (input.options.Flag("json") ? FactsJson(facts, lengths)
                                           : FittedLines(FactsText(facts, lengths)))
            << std::flush;
  if (!facts.supported) throw Failure("not supported", facts.why_not);
}

}  // namespace

Command InfoCommand() {
  Parameter tokens = TextParameter(
      "tokens",
      "prompt lengths whose memory is shown, such as 4000 or 1000,16000, also beyond the "
      "model's context; default: a few up to it");
  tokens.unit = "tokens";

  Command command;
  command.name = "info";
  command.summary = "what a model is, what it supports, and what it takes in memory";
  command.description =
      "Prints the facts in a model's file or folder, the interventions that it supports, the "
      "memory\n"
      "that a prompt needs, and the devices of this machine (--device): their names, their "
      "memory,\n"
      "what the model and the longest prompt of --tokens take there. Reads headers only, no "
      "weights,\n"
      "but for --dtypes. Exit status 1 where the model is not supported; the facts are still\n"
      "printed.";
  command.positionals = {"model"};
  command.options = ModelNameOptions();
  for (Parameter& option :
       std::vector<Parameter>{tokens,
                              FlagParameter("dtypes",
                                            "also runs the model: how far the logits and answers "
                                            "of bfloat16 and of --products int16 "
                                            "and int8 are from float32's"),
                              JsonOption()}) {
    command.options.push_back(std::move(option));
  }
  command.options = WithBrief(std::move(command.options), {"model", "tokens", "dtypes", "json"});
  command.examples =
      "  midscope info embedded\n"
      "  midscope info model.gguf --tokens 4000 --json\n"
      "  midscope info model.gguf --dtypes\n"
      "  midscope info ORG/NAME        (in the Hugging Face cache: see midscope fetch)";
  command.run = RunInfo;
  return command;
}

}  // namespace midscope::cli
