// SPDX-License-Identifier: MIT
#include "probes/cli/commands/prompt_options.h"

#include <set>

#include "core/base/error.h"
#include "core/base/utf8.h"
#include "core/terms/intervention_text.h"
#include "core/tokenizer/prompt.h"
#include "probes/cli/program/command.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/task_prompt.h"

namespace midscope::cli {
namespace {

constexpr const char* kPromptGroup = "Prompt";

// Returns NAME of "NAME=FILE". Throws Error (usage).
std::string SourceName(const std::string& given) {
  const size_t equals = given.find('=');
  if (equals != std::string::npos && equals != 0 && equals + 1 != given.size())
    return given.substr(0, equals);
  throw UsageError("option --source-prompt-file", Quote(given) + " is not NAME=FILE",
                   "Write for example --source-prompt-file other=notes.txt");
}

}  // namespace

std::vector<Parameter> TextSourceOptions() {
  return {TextParameter("prompt", "the prompt, as it is: no template, nothing trimmed"),
          FileParameter("prompt-file",
                        "a file whose bytes are the prompt, as they are; - reads standard input")};
}

std::vector<Parameter> PromptOptions() {
  std::vector<Parameter> options = TextSourceOptions();
  Parameter span = TextListParameter(
      "span",
      "NAME=TEXT (must occur once) or NAME=START:END (bytes): a named passage, such as "
      "gold; may be given more than once");
  options.push_back(span);
  options.push_back(TextParameter("answer", "an answer to score, with its leading space"));
  options.push_back(
      TextParameter("task", "take a task's prompt instead of a text (see midscope help tasks)"));
  Parameter place =
      TextParameter("place", "with --task: the gold piece's rank, or a share such as 25%");
  place.default_value = std::string("1");
  options.push_back(place);
  options.push_back(WholeNumberParameter("sample", "with --task: which sample", 0, kNoMaximum, 0));
  options.push_back(
      WholeNumberParameter("seed", "with --task: what samples are drawn by", 0, kNoMaximum, 1));
  options = InGroup(kPromptGroup, options);
  for (const Parameter& option : PromptFormatOptions()) options.push_back(option);
  return options;
}

std::vector<Parameter> SourcePromptOptions() {
  return InGroup(
      kPromptGroup,
      {TextListParameter("source-prompt-file",
                         "NAME=FILE: another prompt, of which patch(from=source:NAME) takes "
                         "values; may be given more than once"),
       TextListParameter("source-span",
                         "NAME=TEXT or NAME=START:END: a passage of the source prompts; may be "
                         "given more than once")});
}

std::vector<SourceText> ReadSourceTexts(const OptionSet& options) {
  std::vector<SourceText> sources;
  for (const std::string& given : options.TextList("source-prompt-file")) {
    const std::string name = SourceName(given);
    SourceText source{name, {ReadPromptFile(given.substr(name.size() + 1))}};
    for (const SourceText& other : sources) {
      if (other.name != source.name) continue;
      throw UsageError("option --source-prompt-file", source.name + " occurs twice",
                       "Give each prompt a name of its own");
    }
    for (const std::string& span : options.TextList("source-span"))
      source.own.spans.push_back(ParseSpan(span));
    sources.push_back(std::move(source));
  }
  if (sources.empty() && options.IsSet("source-span")) {
    throw UsageError("option --source-span", "it has no effect without --source-prompt-file",
                     "Leave it out");
  }
  return sources;
}

void CheckTextSource(const OptionSet& options) {
  std::string given;
  int count = 0;
  bool takes_task = false;
  for (const Parameter& option : options.descriptions()) {
    const bool source =
        option.name == "prompt" || option.name == "prompt-file" || option.name == "task";
    takes_task = takes_task || option.name == "task";
    if (!source || !options.IsSet(option.name)) continue;
    given += (given.empty() ? "--" : " and --") + option.name;
    ++count;
  }
  if (count > 1) throw UsageError("prompt", given + " are both given", "Give one of them");
  if (count == 0) {
    throw UsageError(
        "prompt", "it is missing",
        "Give --prompt TEXT, --prompt-file FILE" + std::string(takes_task ? " or --task T" : ""));
  }
  if (takes_task && !options.IsSet("task")) {
    for (const char* name : {"place", "sample", "seed"}) {
      // In a command that also draws tokens with the seed, the option seed is in another group.
      if (!options.IsSet(name) || options.Describe(name).group != kPromptGroup) continue;
      throw UsageError(std::string("option --") + name, "it has no effect without --task",
                       "Leave it out, or give --task instead of a text");
    }
  }
  if (takes_task && options.IsSet("task")) {
    for (const char* name : {"span", "answer"}) {
      if (options.IsSet(name)) {
        throw UsageError(std::string("option --") + name, "a task brings its own",
                         "Leave it out, or give a text instead of --task");
      }
    }
  }
}

std::string ReadText(const OptionSet& options) {
  if (!options.IsSet("prompt")) {
    const std::string& path = options.Text("prompt-file");
    return ReadPromptFile(path == "-" ? "/dev/stdin" : path);
  }
  CheckUtf8("option --prompt", options.Text("prompt"));
  return options.Text("prompt");
}

const std::string& ReadAnswer(const OptionSet& options) {
  CheckUtf8("option --answer", options.Text("answer"));
  return options.Text("answer");
}

OwnText ReadOwnText(const OptionSet& options) {
  OwnText own{ReadText(options), {}, ReadAnswer(options)};
  for (const std::string& span : options.TextList("span")) own.spans.push_back(ParseSpan(span));
  return own;
}

PlacedPrompt ReadPrompt(const OptionSet& options, const PromptFormat& format,
                        const Tokenizer& tokenizer, const JobContext& job) {
  CheckPromptFormat(tokenizer, format);
  if (!options.IsSet("task")) return {OwnPrompt(tokenizer, ReadOwnText(options), format), 0};
  const auto seed = static_cast<uint64_t>(options.Integer("seed"));
  const std::unique_ptr<Task> task = MakeTaskFor(tokenizer, options.Text("task"), seed);
  const int64_t place = ReadPlace(*task, options.Text("place"));
  LogTaskNotes(*task, {place}, options.Integer("sample"), job);
  return {TaskPrompt(tokenizer, task->Make(options.Integer("sample"), place), format), place};
}

void CheckSourcesUsed(const OptionSet& options, const std::vector<Intervention>& interventions) {
  std::set<std::string> used;
  for (const Intervention& intervention : interventions) {
    for (const Patch& patch : intervention.All<Patch>()) {
      if (patch.source.kind == PatchSource::Kind::kSource) used.insert(patch.source.name);
    }
  }
  for (const std::string& given : options.TextList("source-prompt-file")) {
    const std::string name = SourceName(given);
    if (used.contains(name)) continue;
    throw UsageError("option --source-prompt-file", "no patch takes from " + Quote(name),
                     "Write patch(from=source:" + name + ", ...) in --with, or leave it out");
  }
}

std::vector<std::pair<std::string, Prompt>> ReadNamedPrompts(const OptionSet& options,
                                                             const PromptFormat& format,
                                                             const Tokenizer& tokenizer) {
  std::vector<std::pair<std::string, Prompt>> prompts;
  for (const SourceText& source : ReadSourceTexts(options))
    prompts.emplace_back(source.name, OwnPrompt(tokenizer, source.own, format));
  return prompts;
}

PatchPrompts ReadSourcePrompts(const OptionSet& options, const PromptFormat& format,
                               const Tokenizer& tokenizer) {
  PatchPrompts prompts;
  prompts.named = ReadNamedPrompts(options, format, tokenizer);
  if (!options.IsSet("task")) return prompts;
  const std::shared_ptr<const Task> task =
      MakeTaskFor(tokenizer, options.Text("task"), static_cast<uint64_t>(options.Integer("seed")));
  prompts.at_place = [&tokenizer, task, format, sample = options.Integer("sample")](
                         int64_t place, int64_t samples_on) {
    return PromptOfSample(tokenizer, *task, sample + samples_on, place, format);
  };
  return prompts;
}

}  // namespace midscope::cli
