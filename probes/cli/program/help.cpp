// SPDX-License-Identifier: MIT
#include "probes/cli/program/help.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "core/terms/presets.h"
#include "core/terms/terms.h"
#include "data/store/run_schema.h"
#include "data/tasks/own_task.h"
#include "data/tasks/task.h"
#include "probes/cli/console/text_table.h"
#include "probes/cli/program/command.h"
#include "probes/cli/program/option_binder.h"

namespace midscope::cli {

namespace {

std::string Overview() {
  std::string text =
      "Midscope shows why a language model loses what is in the middle of its context, and\n"
      "what changes when its positions are changed.\n\n"
      "Usage: midscope COMMAND MODEL [OPTIONS]\n\nCommands:\n";
  for (const Command& command : Commands()) {
    text += fmt::format("  {:<14} {}\n", command.name, command.summary);
  }
  text +=
      "\nmidscope COMMAND -h shows the most important options of a command, --help all of them, "
      "with\n"
      "examples.\n"
      "midscope help interventions shows what --with takes, midscope help presets the published\n"
      "settings that it supports by name, midscope help tasks what --task takes, midscope help\n"
      "jsonl how to ask questions of your own, midscope help probes what midscope probe measures,\n"
      "midscope help schema what its files hold.\n"
      "midscope version (or --version, -V) prints the version. --quiet, before or behind any "
      "command,\n"
      "leaves only warnings and errors on standard error.\n\n"
      "Results go to standard output, progress and messages to standard error. Exit status: 0 "
      "done,\n"
      "1 failed, 2 an invalid request, 130 interrupted by Ctrl-C, 143 by SIGTERM,\n"
      "128 and its number by another signal of batch systems (HUP, USR1, USR2, XCPU).\n";
  return text;
}

std::string ArgumentHelp(const Parameter& argument) {
  const std::string facts = FactsText(argument);
  constexpr size_t kIndent = 19;
  return Paragraph(fmt::format("      {:<12} ", argument.name),
                   argument.help + (facts.empty() ? "" : " (" + facts + ")"), kIndent);
}

// Returns the examples of position schemes, several per line; `none` has a separate line.
std::string SchemeExamples() {
  constexpr size_t kWidth = 80;
  const std::string between(5, ' ');
  std::string text;
  std::string line;
  for (const TermType& type : TermTypes()) {
    if (type.stage != TermStage::kPositions) continue;
    for (const std::string& example : type.examples) {
      if (line.empty()) {
        line = "  " + example;
      } else if (text.empty() || line.size() + between.size() + example.size() > kWidth) {
        text += line + "\n";
        line = "  " + example;
      } else {
        line += between + example;
      }
    }
  }
  return text + line + "\n";
}

// Returns the examples of edits, one per line. Terms that are shown together share an example.
std::string EditExamples() {
  std::string text;
  std::string last;
  for (const TermType& type : TermTypes()) {
    if (type.stage == TermStage::kPositions || type.name == kPresetTerm) continue;
    for (const std::string& example : type.examples) {
      if (example != last) text += "  " + example + "\n";
      last = example;
    }
  }
  return text;
}

std::string SchemesOfKind(SchemeKind kind) {
  std::string names;
  for (const TermType& type : TermTypes()) {
    if (type.kind == kind) names += (names.empty() ? "" : ", ") + type.name;
  }
  return names;
}

std::string Combinations() {
  const size_t width = std::min<size_t>(92, HelpWidth());  // as wide as the preceding lines
  return Paragraph(
      "Which schemes go together: ",
      "a position scheme acts on positions (" + SchemesOfKind(SchemeKind::kDividesPositions) +
          ": the model's own frequencies stay) or replaces frequencies (" +
          SchemesOfKind(SchemeKind::kReplacesFrequencies) +
          "). Models without rotary positions take none. A scheme that stretches the context lets "
          "prompts be that much longer.",
      0, width);
}

}  // namespace

std::string InterventionHelp() {
  std::string text =
      "What --with takes: terms joined by ' + ', at most one of them a position scheme. One "
      "--with\n"
      "is one setting; nothing is added to it. Layers and heads count from 0, ranges are\n"
      "inclusive, lists are in brackets:\n\n" +
      SchemeExamples() + EditExamples() +
      "  preset(channel-vicuna-7b)                      (midscope help presets)\n"
      "  @setting.txt                                   (a file that holds the text or the JSON)\n"
      "  {\"terms\": [{\"term\": \"ms-poe\", \"max\": 1.6}, {\"term\": \"ablate\", \"head\": "
      "\"L1H2\"}]}\n\n" +
      Combinations() + "\nTerms:\n";
  for (const TermType& term : TermTypes()) {
    text += "\n  " + term.name + "\n" + Paragraph("    ", term.summary, 4) +
            Paragraph("    ", term.source, 4);
    for (const Parameter& argument : term.arguments) text += ArgumentHelp(argument);
  }
  return text;
}

std::string PresetHelp() {
  std::string text =
      "Published settings that --with takes as preset(NAME). Printed forms and files state what\n"
      "they stand for. Those of channels have rows=answer, as the public code; the paper's words,\n"
      "taken strictly, are rows=last.\n";
  for (const Preset& preset : InterventionPresets()) {
    text += fmt::format("\n  {}\n    {}\n    {}; {}\n", preset.name, preset.text, preset.models,
                        preset.source);
    if (!preset.bos.empty()) text += fmt::format("    {}\n", preset.bos);
    if (!preset.warning.empty()) text += fmt::format("    {}\n", preset.warning);
  }
  return text;
}

namespace {

std::string TopicHelp(const std::string& topic) {
  if (topic == "interventions") return InterventionHelp();
  if (topic == "presets") return PresetHelp();
  if (topic == "tasks") {
    return "What --task takes, such as list:lines=20 or kv:pairs=75,query_aware=1; a parameter "
           "that "
           "is\nleft out has its default:\n\n" +
           Wrapped(TaskHelp());
  }
  if (topic == "probes") {
    return "What midscope probe measures. A probe that does not run unasked is named in "
           "--probes:\n\n" +
           ProbeHelp(BuiltInProbes());
  }
  if (topic == "jsonl") return OwnTaskHelp();
  for (const Command& command : Commands()) {
    if (command.name == topic) return HelpText(command);
  }
  throw UsageError("help topic '" + topic + "'", "the topic is unknown",
                   KnownWordsHint(topic, HelpTopics()));
}

}  // namespace

std::string Help(const std::vector<std::string>& topics) {
  if (topics.empty()) return Fitted(Overview());
  if (topics.size() > 1) throw UsageError("help", "it takes one topic");
  return topics.front() == "schema" ? SchemaPage() : Fitted(TopicHelp(topics.front()));
}

std::vector<std::string> HelpTopics() {
  std::vector<std::string> topics = {"interventions", "jsonl",  "presets",
                                     "probes",        "schema", "tasks"};
  for (const Command& command : Commands()) topics.push_back(command.name);
  return topics;
}

namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Returns "    label: text".
std::string Labelled(const std::string& label, const std::string& text) {
  return Paragraph("    " + label + (label.empty() ? "" : ": "), text, 6);
}

std::string When(const ProbeType& type) {
  if (type.wanted) return "with --" + type.options.front().name;
  return type.on_request ? "with --probes " + type.name : "unasked";
}

}  // namespace

std::string ProbeHelp(const ProbeRegistry& probes) {
  std::string text;
  for (const ProbeType& type : probes.types()) {
    text += (text.empty() ? "" : "\n") + fmt::format("  {}    (runs {})\n", type.name, When(type));
    text += Labelled("", type.summary);
    text += Labelled("from", type.source);
    text += Labelled("public code", type.departures);
    text += Labelled("limits", type.limits);
    std::string options;
    for (const Parameter& option : type.options) {
      options += (options.empty() ? "--" : " --") + option.name;
    }
    text += Labelled("options", options);
  }
  return text;
}

std::string ProbeListJson(const ProbeRegistry& probes) {
  Json list = Json::array();
  for (const ProbeType& type : probes.types()) {
    Json options = Json::array();
    for (const Parameter& option : type.options) {
      options.push_back({{"name", option.name},
                         {"help", option.help},
                         {"unit", option.unit},
                         {"allowed", AllowedText(option)},
                         {"default", TextOrNull(ParameterText(option.default_value))}});
    }
    list.push_back({{"name", type.name},
                    {"summary", type.summary},
                    {"source", TextOrNull(type.source)},
                    {"options", options}});
  }
  return list.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ProbeSummaries(const ProbeRegistry& probes) {
  std::string text;
  for (const ProbeType& type : probes.types()) {
    text += fmt::format("  {:<21} {}\n", type.name, type.summary);
  }
  return text;
}

}  // namespace midscope::cli
