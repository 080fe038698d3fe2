// SPDX-License-Identifier: MIT
// `midscope completion SHELL`: prints a completion script, generated from the descriptions of the
// commands.
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "probes/cli/program/command.h"
#include "probes/cli/program/help.h"

namespace midscope::cli {
namespace {

// How the shell completes the value of an option or positional argument.
enum class Completed { kNothing, kWords, kFiles };

Completed CompletedBy(const Parameter& parameter) {
  if (!parameter.choices.empty()) return Completed::kWords;
  return parameter.kind == ParameterKind::kFile ? Completed::kFiles : Completed::kNothing;
}

// Returns the words of a parameter: "float32 bfloat16 fp32 bf16". Choices that contain a number,
// such as last:N, are omitted.
std::string WordsOf(const Parameter& parameter) {
  std::string words;
  for (const std::string& choice : parameter.choices) {
    if (choice != parameter.numbered_choice) words += (words.empty() ? "" : " ") + choice;
  }
  for (const Parameter::OtherName& other : parameter.other_names) words += " " + other.name;
  return words;
}

// Returns the allowed words of the command's positional arguments; "" if they are files.
std::string PositionalWords(const Command& command) {
  std::string words;
  for (const Parameter& option : command.options) {
    if (IsPositional(command, option.name)) words += WordsOf(option);
  }
  return words;
}

// Returns the options of a command that are not positional, and the options common to all commands.
std::vector<Parameter> NamedOptions(const Command& command) {
  std::vector<Parameter> named;
  for (const Parameter& option : command.options) {
    if (!IsPositional(command, option.name)) named.push_back(option);
  }
  for (const Parameter& option : CommonOptions()) named.push_back(option);
  return named;
}

std::string TopicWords() { return fmt::format("{}", fmt::join(HelpTopics(), " ")); }

std::string BashValues(const Command& command) {
  std::string lines;
  for (const Parameter& option : NamedOptions(command)) {
    if (option.kind == ParameterKind::kFlag) continue;
    const std::string pattern = "    '" + command.name + " --" + option.name + "') ";
    switch (CompletedBy(option)) {
      case Completed::kWords:
        lines += pattern + "_midscope_words " + ShellQuoted(WordsOf(option)) + "; return ;;\n";
        break;
      case Completed::kFiles:
        lines += pattern + "_midscope_files; return ;;\n";
        break;
      case Completed::kNothing:
        lines += pattern + "return ;;\n";
    }
  }
  return lines;
}

std::string BashCommand(const Command& command) {
  std::string options = "--help";
  for (const Parameter& option : NamedOptions(command)) options += " --" + option.name;
  const std::string words = PositionalWords(command);
  return fmt::format("    {}) options={}; {} ;;\n", command.name, ShellQuoted(options),
                     words.empty() ? "files=1" : "words=" + ShellQuoted(words));
}

std::string BashScript() {
  std::string names;
  std::string values;
  std::string cases;
  for (const Command& command : Commands()) {
    names += command.name + " ";
    values += BashValues(command);
    cases += BashCommand(command);
  }
  return R"(# Completions of midscope for bash: source <(midscope completion bash)
_midscope_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_midscope_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}
_midscope() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command= i
  local options= words= files=
  COMPREPLY=()
  # --option=VALUE is three words here.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = ]]; then
    prev=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  case "$command $prev" in
)" + values +
         R"(  esac
  case $command in
    '') words=')" +
         names +
         "help version --help --version --quiet' ;;\n    help) words=" + ShellQuoted(TopicWords()) +
         " ;;\n" + cases +
         R"(  esac
  if [[ $cur == -* && -n $options ]]; then
    _midscope_words "$options"
  elif [[ -n $files ]]; then
    _midscope_files
  else
    _midscope_words "$words"
  fi
}
complete -F _midscope midscope
)";
}

// Escapes text for use in brackets and between colons in a specification of _arguments.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshAction(Completed completed, const std::string& words) {
  switch (completed) {
    case Completed::kWords:
      return "(" + words + ")";
    case Completed::kFiles:
      return "_files";
    case Completed::kNothing:
      break;
  }
  return " ";
}

std::string ZshCommand(const Command& command) {
  std::string lines = "    " + command.name + ")\n      _arguments \\\n";
  for (const Parameter& option : NamedOptions(command)) {
    std::string spec = option.kind == ParameterKind::kTextList ? "*" : "";
    spec += "--" + option.name;
    if (option.kind != ParameterKind::kFlag) spec += "=";
    spec += "[" + ZshText(option.help) + "]";
    if (option.kind != ParameterKind::kFlag) {
      spec += ":" + ZshText(option.name) + ":" + ZshAction(CompletedBy(option), WordsOf(option));
    }
    lines += "        " + ShellQuoted(spec) + " \\\n";
  }
  const std::string words = PositionalWords(command);
  const Completed completed = words.empty() ? Completed::kFiles : Completed::kWords;
  return lines + "        " + ShellQuoted("--help[print this help]") + " \\\n        " +
         ShellQuoted("*:argument:" + ZshAction(completed, words)) + "\n      ;;\n";
}

std::string ZshScript() {
  std::string names;
  std::string cases;
  for (const Command& command : Commands()) {
    names += "    " + ShellQuoted(command.name + ":" + command.summary) + "\n";
    cases += ZshCommand(command);
  }
  return "#compdef midscope\n"
         "# Completions of midscope for zsh: midscope completion zsh > FOLDER_OF_fpath/_midscope\n"
         "_midscope() {\n"
         "  local -a commands\n"
         "  commands=(\n" +
         names +
         "    'help:what the program and its commands do'\n"
         "    'version:the version'\n"
         "  )\n"
         "  while (( CURRENT > 2 )) && [[ $words[2] == -* ]]; do\n"
         "    words[2]=()\n"
         "    (( CURRENT-- ))\n"
         "  done\n"
         "  if (( CURRENT == 2 )); then\n"
         "    _describe command commands\n"
         "    return\n"
         "  fi\n"
         "  local command=$words[2]\n"
         "  shift words\n"
         "  (( CURRENT-- ))\n"
         "  case $command in\n"
         "    help) compadd " +
         TopicWords() + " ;;\n" + cases +
         "  esac\n"
         "}\n"
         "if [[ $funcstack[1] == _midscope ]]; then _midscope \"$@\"; else compdef _midscope "
         "midscope; fi\n";
}

// Returns the text in single quotes, in which fish supports the escapes \' and \\.
std::string FishText(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "'" + quoted + "'";
}

std::string FishCommand(const Command& command) {
  const std::string line =
      "complete -c midscope -n '__fish_seen_subcommand_from " + command.name + "' ";
  std::string lines;
  for (const Parameter& option : NamedOptions(command)) {
    std::string value;
    if (option.kind != ParameterKind::kFlag) {
      const Completed completed = CompletedBy(option);
      value = completed == Completed::kFiles   ? " -r -F"
              : completed == Completed::kWords ? " -x -a " + FishText(WordsOf(option))
                                               : " -x";
    }
    lines += fmt::format("{}-l {}{} -d {}\n", line, option.name, value, FishText(option.help));
  }
  const std::string words = PositionalWords(command);
  return lines + line + (words.empty() ? "-F" : "-a " + FishText(words)) + "\n";
}

std::string FishScript() {
  std::string script =
      "# Completions of midscope for fish: midscope completion fish | source\n"
      "complete -c midscope -f\n"
      "complete -c midscope -l help -d 'print this help'\n";
  const std::string command_line = "complete -c midscope -n __fish_use_subcommand -a ";
  for (const Command& command : Commands()) {
    script += command_line + command.name + " -d " + FishText(command.summary) + "\n" +
              FishCommand(command);
  }
  return script + command_line + "help -d 'what the program and its commands do'\n" + command_line +
         "version -d 'the version'\n" +
         "complete -c midscope -n '__fish_seen_subcommand_from help' -a " + FishText(TopicWords()) +
         "\n";
}

void RunCompletion(const CommandInput& input) {
  const std::string& shell = input.options.Text("shell");
  input.out << (shell == "bash" ? BashScript() : shell == "zsh" ? ZshScript() : FishScript());
}

}  // namespace

Command CompletionCommand() {
  Command command;
  command.name = "completion";
  command.summary = "completions for a shell: commands, options, choices, files";
  command.description =
      "Prints a script that lets a shell complete commands, options, choices and files. It is\n"
      "made from the commands' own descriptions.";
  command.positionals = {"shell"};
  Parameter shell = ChoiceParameter("shell", "the shell", {"bash", "zsh", "fish"});
  shell.default_value = {};
  command.options = {Required(shell)};
  command.options = WithBrief(std::move(command.options), {"shell"});
  command.examples =
      "  source <(midscope completion bash)\n"
      "  midscope completion zsh > ~/.zfunc/_midscope\n"
      "  midscope completion fish > ~/.config/fish/completions/midscope.fish";
  command.run = RunCompletion;
  return command;
}

}  // namespace midscope::cli
