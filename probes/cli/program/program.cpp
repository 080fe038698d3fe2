// SPDX-License-Identifier: MIT
#include "probes/cli/program/program.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/memory_map.h"
#include "core/base/text.h"
#include "probes/cli/console/interrupt.h"
#include "probes/cli/console/output.h"
#include "probes/cli/console/progress_line.h"
#include "probes/cli/program/command.h"
#include "probes/cli/program/help.h"
#include "probes/cli/program/option_binder.h"
#include "probes/model/model_options.h"
#include "probes/model/provenance.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {
namespace {

// Prints a message to standard error; it may quote arbitrary text from files.
void Say(const std::string& message) {
  std::fprintf(stderr, "midscope: %s\n", TerminalText(message).c_str());
}

// Whether the text of an option names the file: alone, or as a value in it such as
// "jsonl:file=q.jsonl".
bool NamesFile(std::string_view text, const std::filesystem::path& file) {
  for (size_t begin = 0; begin != std::string_view::npos;) {
    std::error_code ignored;
    const std::string_view rest = text.substr(begin);
    for (const std::string_view name : {rest, rest.substr(0, rest.find_first_of(",) "))}) {
      if (!name.empty() && std::filesystem::equivalent(name, file, ignored)) return true;
    }
    const size_t equals = text.find_first_of("=(,: ", begin);
    begin = equals == std::string_view::npos ? equals : equals + 1;
  }
  return false;
}

// Throws Error (usage) if the file to write is one that another option names, which would be
// replaced by results that were made from it.
void CheckOutputIsNoInput(const Command& command, const OptionSet& options) {
  const bool writes = std::ranges::any_of(
      command.options, [](const Parameter& option) { return option.name == "out"; });
  if (!writes || !options.IsSet("out")) return;
  const std::filesystem::path out = options.Text("out");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(out, ignored)) return;
  for (const Parameter& option : command.options) {
    if (option.name == "out" || !options.IsSet(option.name)) continue;
    std::vector<std::string> texts;
    if (option.kind == ParameterKind::kTextList) texts = options.TextList(option.name);
    if (option.kind == ParameterKind::kText || option.kind == ParameterKind::kFile)
      texts.push_back(options.Text(option.name));
    if (std::ranges::none_of(texts, [&](const auto& text) { return NamesFile(text, out); }))
      continue;
    throw UsageError(
        "option --out",
        out.string() + " is also an input: " + ShownName(command, option.name) + " names it",
        "Write to another file");
  }
}

// Runs the command. `quiet`: whether --quiet was given before the command's name.
void RunCommand(const std::vector<std::string>& arguments, bool quiet,
                const std::atomic<bool>& cancel, std::ostream& out,
                std::unique_ptr<RankGroup>& ranks) {
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  const Command& command = FindCommand(arguments.front());
  OptionSet options(command.options);
  OptionSet common(CommonOptions());
  if (const std::optional<std::string> help = ParseArguments(command, rest, options, common)) {
    out << *help;
    return;
  }
  JoinAdapter(options);
  // Replaces an output file that is a symbolic link by its target, so that files beside it are
  // written in the target's folder.
  for (const Parameter& option : command.options) {
    if (option.name != "out" || !options.IsSet("out") || IsFolder(options.Text("out"))) continue;
    options.SetText("out", LinkTarget(options.Text("out")));
  }
  CheckOutputIsNoInput(command, options);
  ProgressForm form = isatty(STDERR_FILENO) == 1 ? ProgressForm::kTerminal : ProgressForm::kLog;
  if (common.Text("progress") == "json") form = ProgressForm::kJson;
  ProgressLine line(form);
  JobContext job;
  job.cancel = &cancel;
  job.warn = [&line](const std::string& message) {
    line.Clear();
    Say(message);
  };
  const bool notes = !quiet && !common.Flag("quiet");
  // Progress as JSON is requested explicitly, so --quiet does not suppress it.
  if (notes || form == ProgressForm::kJson)
    job.progress = [&line](const Progress& progress) { line.Draw(progress); };
  if (notes) job.log = job.warn;
  if (LaunchedProcesses() > 1 && !(command.is_shared && command.is_shared(options))) {
    if (LaunchedRank() > 0) return;
    if (job.log) {
      job.log(
          fmt::format("note: this is not shared: 1 of {} processes runs it", LaunchedProcesses()));
    }
  }
  const std::string command_line = ShellCommand("midscope", arguments);
  command.run({options, job, command_line, out, ranks});
}

void Dispatch(std::vector<std::string> arguments, const std::atomic<bool>& cancel,
              std::ostream& out, std::unique_ptr<RankGroup>& ranks) {
  const bool quiet = !arguments.empty() && arguments.front() == "--quiet";
  if (quiet) arguments.erase(arguments.begin());
  if (arguments.empty()) throw UsageError("command", "none is given", "midscope help lists them");
  const std::string& first = arguments.front();
  if (first == "--version" || first == "-V" || first == "version") {
    out << "midscope " << ProgramVersion() << " (" << LibraryVersions() << ")\n";
  } else if (first == "help" || first == "--help" || first == "-h") {
    out << Help({arguments.begin() + 1, arguments.end()});
  } else if (first.front() == '-') {
    throw UsageError("option " + first, "it is before the command",
                     "Options follow the command: midscope COMMAND [OPTIONS]; midscope help");
  } else {
    RunCommand(arguments, quiet, cancel, out, ranks);
  }
}

}  // namespace

int ExitStatusOf(const std::function<void()>& work) {
  try {
    work();
    return 0;
  } catch (const BrokenPipe&) {
    return kExitBrokenPipe;
  } catch (const Interrupted& interrupted) {
    if (*interrupted.what() != '\0') Say(interrupted.what());
    return InterruptStatus();
  } catch (const Cancelled&) {
    Say("interrupted");
    return InterruptStatus();
  } catch (const AnotherRankFailed& error) {  // the failed rank reports the error
    return error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailure;
  } catch (const Error& error) {
    Say(error.what());
    return error.kind() == ErrorKind::kUsage ? kExitUsage : kExitFailure;
  } catch (const std::bad_alloc&) {
    Say("memory: not enough for this run" + MemoryLimitText() +
        ". Use a shorter prompt, fewer places or --dtype bfloat16");
  } catch (const std::filesystem::filesystem_error& error) {
    Say(FileSystemProblem(error));
  } catch (const std::exception& error) {
    Say(BugMessage(error.what()));
  }
  return kExitFailure;
}

int RunProgram(const std::vector<std::string>& arguments) {
  const std::atomic<bool>& cancel = InstallSignalHandlers();
  std::unique_ptr<RankGroup> ranks;
  const int status = ExitStatusOf([&] {
    CheckedStream out(STDOUT_FILENO, "standard output");
    try {
      Dispatch(arguments, cancel, out, ranks);
    } catch (const std::exception&) {
      out.flush();  // print the output so far
      throw;
    }
    out.flush();
  });
  if (ranks) ranks->Leave(status != 0);
  return status;
}

extern "C" int MidscopeMain(int argc, char** argv) {
  GuardMappedFiles();
  return RunProgram({argv + std::min(argc, 1), argv + argc});
}

}  // namespace midscope::cli
