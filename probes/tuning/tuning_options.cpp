// SPDX-License-Identifier: MIT
#include "probes/tuning/tuning_options.h"

#include <cstdint>

#include "core/base/error.h"
#include "core/positions/position_sampler.h"
#include "core/tuning/lens_fit.h"
#include "probes/model/model_options.h"

namespace midscope {
namespace {

constexpr int64_t kMostSteps = 100'000'000;
constexpr int64_t kMostBatch = 1 << 20;
constexpr int64_t kMostRank = 1 << 16;
constexpr int64_t kMostFactor = 1 << 14;
constexpr int64_t kMostThreads = 4096;
constexpr int64_t kOtherPlaces = 4;  // default of the public code of pos2distill

std::vector<Parameter> DataOptions() {
  return InGroup(
      "Data",
      {TextListParameter("data",
                         "text: a file .txt (one document), a file .jsonl (a document per line) or "
                         "a folder of these; may be repeated"),
       TextListParameter("task",
                         "instead of text: prompts of a task with their answers, the gold piece at "
                         "a random place; may be repeated (see midscope help tasks)"),
       [] {
         Parameter field = TextParameter("field", "the field of a .jsonl line that has the text");
         field.default_value = "text";
         return field;
       }(),
       ChoiceParameter("packing",
                       "select: documents with fewer tokens than a sample are left out, as for "
                       "CREAM's base model; join: consecutive documents are joined until they have "
                       "enough, as for its chat model",
                       {"select", "join"}),
       FlagParameter("chat",
                     "lines of .jsonl are conversations (`conversations`, the form of ShareGPT, or "
                     "`messages`), written with the chat template"),
       TextParameter("chat-template",
                     "a family's template, such as vicuna, or a file, in place of the model's own"),
       ChoiceParameter(
           "mask-user",
           "on: the loss counts only the assistant's turns, as CREAM's paper says; off: "
           "all tokens, as its code does",
           {"on", "off"}),
       FlagParameter("repeat", "take the documents again, in another order, if there are too few"),
       WholeNumberParameter("other-places",
                            "pos2distill: samples at other places for each one at the first", 1,
                            kMostBatch, kOtherPlaces),
       ChoiceParameter("loss", "the tokens of a task's prompt that the loss counts",
                       {"answer", "all"}),
       WholeNumberParameter("held-out",
                            "samples kept out of the training, whose mean loss is computed before "
                            "and after",
                            0, kMostBatch, 0)});
}

std::vector<Parameter> OptimizerOptions() {
  return InGroup(
      "Optimizer",
      {WholeNumberParameter("batch",
                            "samples per step, run one after the other; several processes "
                            "(mpirun, srun) share them",
                            1, kMostBatch, 1),
       NumberParameter("rate", "the highest learning rate of AdamW", 1e-12, 1e3, 2e-5),
       Required(WholeNumberParameter("steps", "number of steps", 1, kMostSteps)),
       WholeNumberParameter("warm-up",
                            "steps before the highest rate, which then falls linearly to 0; by "
                            "default 10, and at most half of the steps",
                            0, kMostSteps),
       NumberParameter("clip", "gradients of a larger norm are scaled down to it; 0: never", 0, 1e9,
                       1),
       NumberParameter("weight-decay", "AdamW's weight decay", 0, 1e3, 0),
       WholeNumberParameter("seed",
                            "seed of position ids, of the order of documents, of task samples and "
                            "of the adapter",
                            0, kNoMaximum, 1)});
}

std::vector<Parameter> TunedWeightOptions() {
  Parameter projections =
      TextParameter("projections", "the matrices that an adapter changes, separated by commas");
  projections.default_value = "query,key,value,attention_out";
  return InGroup(
      "Weights",
      {WholeNumberParameter("lora",
                            "tune a low-rank adapter of this rank instead of all weights; the only "
                            "way for a GGUF file",
                            1, kMostRank),
       NumberParameter("alpha", "the adapter is scaled by alpha / rank; by default 2 rank", 1e-6,
                       1e9),
       projections,
       ChoiceParameter("dtype",
                       "dtype of the computation; the tensors that the optimizer changes are "
                       "float32 in both",
                       {"float32", "bfloat16"}),
       FlagParameter("recompute",
                     "keep only the layers' inputs and compute them again in the backward pass: "
                     "less memory, about a third more time"),
       WholeNumberParameter("threads", "CPU threads; by default one per core", 1, kMostThreads),
       OneDeviceOption()});
}

std::vector<Parameter> TunedOutputOptions() {
  Parameter out = FileParameter("out", "the folder to write");
  return InGroup(
      "Output", {Required(out),
                 WholeNumberParameter("checkpoint", "steps between checkpoints", 1, kMostSteps, 50),
                 FlagParameter("resume", "continue an interrupted run from its last checkpoint"),
                 FlagParameter("json", "print the results as JSON")});
}

}  // namespace

bool Distils(const OptionSet& options) {
  return options.Has("recipe") && options.Text("recipe") == kDistillation;
}

std::vector<Parameter> TuneOptions() {
  Parameter recipe = SamplerChoice(
      "recipe",
      "what the position ids are drawn by; pos2distill: the model with the gold piece of a task at "
      "the first place teaches itself for other places");
  recipe.choices.emplace_back(kDistillation);
  std::vector<Parameter> options = {ModelOptions().front(), recipe};
  const auto add = [&](const std::vector<Parameter>& more) {
    options.insert(options.end(), more.begin(), more.end());
  };
  add({Required(WholeNumberParameter(
           "tokens", "N: tokens of a sample; a sample of the recipe full has N times the factor", 2,
           kLargestPositionContext)),
       WholeNumberParameter("factor", "position ids are below N times the factor", 1, kMostFactor,
                            4),
       ChoiceParameter("interpolation",
                       "position scheme: linear: pi(FACTOR); ntk: ntk(FACTOR); yarn: yarn(FACTOR, "
                       "form=cream)",
                       {"linear", "ntk", "yarn", "none"}),
       TextListParameter("with",
                         "any position scheme in place of --interpolation (see midscope help "
                         "interventions)")});
  add(DataOptions());
  add(OptimizerOptions());
  add(TunedWeightOptions());
  add(TunedOutputOptions());
  add(SamplerOptions());
  return options;
}

std::vector<Parameter> LensPromptOptions() {
  constexpr int64_t kMostSamples = 1'000'000'000;
  Parameter field = TextParameter("field", "the field of a .jsonl line that has the text");
  field.default_value = "text";
  return InGroup(
      "Data",
      {TextListParameter("data",
                         "text: a file .txt (one document), a file .jsonl (a document per line) or "
                         "a folder of these; may be repeated"),
       field,
       TextParameter("task",
                     "instead of text: prompts of a task with their answers (see midscope help "
                     "tasks)"),
       WholeNumberParameter("seed", "seed of the task", 0, kNoMaximum, 1),
       WholeNumberParameter("samples",
                            "number of prompts; the paper takes 1000, and says that 100 are usable",
                            1, kMostSamples, 100),
       TokensParameter("tokens", "the most tokens of a prompt; later ones are cut off",
                       kLeastLensTokens, 128)});
}

void CheckLensSource(const OptionSet& options) {
  const bool has_data = !options.TextList("data").empty();
  const bool has_task = !options.Text("task").empty();
  if (has_data != has_task) return;
  throw UsageError("option --data", has_data ? "it excludes --task" : "a fit needs text",
                   "Give --data or --task");
}

}  // namespace midscope
