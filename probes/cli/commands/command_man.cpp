// SPDX-License-Identifier: MIT
// `midscope man`: prints the manual page, generated from the descriptions of the commands.
#include <fmt/format.h>

#include <algorithm>

#include "probes/cli/program/command.h"
#include "probes/cli/program/help.h"
#include "probes/model/provenance.h"

namespace midscope::cli {
namespace {

// Escapes text for roff: backslashes, hyphens, and lines that would be requests.
std::string Roff(const std::string& text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string WithLineEnd(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text + "\n";
}

// Returns lines between roff requests that prevent filling.
std::string Lines(const std::string& text) { return ".nf\n" + WithLineEnd(Roff(text)) + ".fi\n"; }

std::string OptionText(const Command& command, const Parameter& option) {
  const bool positional = IsPositional(command, option.name);
  const std::string symbol = positional ? "" : ValueSymbol(option.kind);
  std::string text = ".TP\n";
  text += positional ? "\\fI" + Roff(UpperCase(option.name)) + "\\fR"
                     : "\\fB" + Roff("--" + option.name) + "\\fR";
  if (!symbol.empty()) text += " \\fI" + symbol + "\\fR";
  return text + "\n" + WithLineEnd(Roff(HelpWithFacts(option)));
}

// Returns the options of a command by group; groups are in the order of their first options.
std::string OptionsText(const Command& command) {
  std::vector<std::string> groups;
  for (const Parameter& option : command.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end())
      groups.push_back(option.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    if (!group.empty()) text += ".PP\n\\fI" + Roff(group) + "\\fR\n";
    for (const Parameter& option : command.options) {
      if (option.group == group) text += OptionText(command, option);
    }
  }
  return text;
}

std::string CommandText(const Command& command) {
  std::string usage = "\\fBmidscope " + Roff(command.name) + "\\fR";
  for (const std::string& name : command.positionals)
    usage += " \\fI" + Roff(UpperCase(name)) + "\\fR";
  return ".SS " + Roff(command.name) + "\n" + usage + " [\\fIOPTIONS\\fR]\n.PP\n" +
         Lines(command.description) + OptionsText(command) + ".PP\nExamples:\n.PP\n" +
         Lines(command.examples);
}

std::string ManPage() {
  std::string text = ".TH MIDSCOPE 1 \"\" \"midscope " + Roff(ProgramVersion()) +
                     "\" \"User commands\"\n"
                     ".SH NAME\n"
                     "midscope \\- position bias of language models, and what changes it\n"
                     ".SH SYNOPSIS\n"
                     "\\fBmidscope\\fR \\fICOMMAND\\fR [\\fIMODEL\\fR] [\\fIOPTIONS\\fR]\n"
                     ".br\n"
                     "\\fBmidscope help\\fR [\\fITOPIC\\fR]\n"
                     ".SH DESCRIPTION\n" +
                     Lines(Help({})) +
                     ".SH OPTIONS OF ALL COMMANDS\n"
                     ".TP\n\\fB\\-h\\fR\nprint the most important options\n"
                     ".TP\n\\fB\\-\\-help\\fR\nprint the command's help\n";
  const Command none;
  for (const Parameter& option : CommonOptions()) text += OptionText(none, option);
  text += ".SH COMMANDS\n";
  for (const Command& command : Commands()) text += CommandText(command);
  return text;
}

}  // namespace

Command ManCommand() {
  Command command;
  command.name = "man";
  command.summary = "the manual page of all commands, as roff";
  command.description =
      "Prints the manual page, made from the commands' own descriptions, for man and groff.";
  command.examples =
      "  midscope man > midscope.1\n"
      "  man -l midscope.1";
  command.run = [](const CommandInput& input) { input.out << ManPage(); };
  return command;
}

}  // namespace midscope::cli
