// SPDX-License-Identifier: MIT
#include "probes/cli/program/option_binder.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "probes/cli/console/text_table.h"

namespace midscope::cli {
namespace {

constexpr size_t kHelpColumn = 26;

// Wraps text for the help's right column at spaces; CLI11 indents the text after a line break.
std::string Wrap(const std::string& text) {
  const size_t width = HelpWidth() - kHelpColumn;
  std::string wrapped;
  size_t line_begin = 0;
  while (text.size() - line_begin > width) {
    const size_t space = text.rfind(' ', line_begin + width);
    if (space == std::string::npos || space <= line_begin) break;
    wrapped += text.substr(line_begin, space - line_begin) + "\n";
    line_begin = space + 1;
  }
  return wrapped + text.substr(line_begin);
}

std::string Description(const Parameter& option) { return Wrap(HelpWithFacts(option)); }

// Values are parsed by the option's description, so that forms, JSON files and the command line
// reject the same values with the same message.
void Bind(const Command& command, CLI::App& app, OptionSet& options) {
  // Options without a group are listed with --help.
  const auto group_of = [](const Parameter& option) {
    return option.group.empty() ? std::string("Options") : option.group;
  };
  for (const Parameter& option : options.descriptions()) {
    const bool positional = IsPositional(command, option.name);
    const std::string shown_name = ShownName(command, option.name);
    const std::string shown = positional ? shown_name : "option " + shown_name;
    const auto set = [&options, name = option.name, kind = option.kind,
                      shown](const CLI::results_t& values) {
      if (values.size() > 1 && kind != ParameterKind::kTextList && kind != ParameterKind::kFlag) {
        throw UsageError(shown, fmt::format("it is given {} times", values.size()), "Give it once");
      }
      for (const std::string& value : values) {
        const bool file = kind == ParameterKind::kFile;
        if (value.empty() && (file || kind == ParameterKind::kText)) {
          throw UsageError(
              shown, "it is empty",
              std::string("Give a ") + (file ? "path" : "value") + ", or leave it out");
        }
        options.SetText(name, kind == ParameterKind::kFlag ? "true" : value);
      }
      return true;
    };
    if (option.kind == ParameterKind::kFlag) {
      app.add_flag_function(
             "--" + option.name, [set](int64_t) { set({"true"}); }, Description(option))
          ->group(group_of(option));
      continue;
    }
    const bool many = positional && option.kind == ParameterKind::kTextList;
    app.add_option(shown_name, set, Description(option))
        ->group(group_of(option))
        ->expected(1, many ? CLI::detail::expected_max_vector_size : 1)
        ->allow_extra_args(many)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->type_name(many         ? "..."
                    : positional ? ""
                                 : ValueSymbol(option.kind));
  }
}

std::unique_ptr<CLI::App> MakeApp(const Command& command, OptionSet& options, OptionSet& common) {
  auto app = std::make_unique<CLI::App>(command.description + "\n", "midscope " + command.name);
  app->set_help_flag("--help", "print this help");
  app->set_help_all_flag("-h", "print the most important options");
  app->footer("Examples:\n" + command.examples);
  // Unknown options are reported below, with the nearest known one.
  app->allow_extras();
  app->get_formatter()->column_width(kHelpColumn);
  Bind(command, *app, common);
  Bind(command, *app, options);
  return app;
}

// Removes one of the two empty lines that CLI11 writes between groups.
std::string HelpOf(const CLI::App& app) {
  std::string help = app.help();
  for (size_t at = 0; (at = help.find("\n\n\n", at)) != std::string::npos;) help.erase(at, 1);
  return Fitted(help);
}

void RefuseUnknown(const Command& command, const std::vector<std::string>& rest) {
  if (rest.empty()) return;
  const auto dashed =
      std::find_if(rest.begin(), rest.end(), [](const std::string& s) { return s[0] == '-'; });
  const std::string help = "midscope " + command.name + " --help lists what there is";
  if (dashed == rest.end()) {
    throw UsageError("argument '" + rest.front() + "'", "there is one argument too many", help);
  }
  std::vector<std::string> known = {"help"};
  for (const Parameter& option : CommonOptions()) known.push_back(option.name);
  for (const Parameter& option : command.options) {
    if (!IsPositional(command, option.name)) known.push_back(option.name);
  }
  const std::string given = dashed->substr(0, dashed->find('='));
  const std::string name = given.substr(std::min(given.size(), given.find_first_not_of('-')));
  const std::string nearest = NearestWord(name, known);
  throw UsageError("option " + given, command.name + " has no such option",
                   nearest.empty() ? help : "Did you mean --" + nearest + "? " + help);
}

void CheckPositionals(const Command& command, const OptionSet& options) {
  for (const std::string& name : command.positionals) {
    if (options.Describe(name).required && !options.Has(name)) {
      throw UsageError(UpperCase(name), "it must be given: " + options.Describe(name).help,
                       "midscope " + command.name + " --help shows how");
    }
  }
  options.CheckRequired();
}

// Inserts the default value of options whose value is optional ("--bos") if the next argument is
// not one of their choices, because the parser would use that argument as the value.
std::vector<std::string> WithBareValues(const Command& command,
                                        const std::vector<std::string>& arguments) {
  std::vector<std::string> whole;
  whole.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    whole.push_back(arguments[i]);
    const auto option = std::find_if(
        command.options.begin(), command.options.end(), [&](const Parameter& candidate) {
          return !candidate.value_if_bare.empty() && arguments[i] == "--" + candidate.name;
        });
    if (option == command.options.end()) continue;
    const auto& choices = option->choices;
    const bool named = i + 1 < arguments.size() &&
                       std::find(choices.begin(), choices.end(), arguments[i + 1]) != choices.end();
    if (!named) whole.back() += "=" + option->value_if_bare;
  }
  return whole;
}

}  // namespace

std::optional<std::string> ParseArguments(const Command& command,
                                          const std::vector<std::string>& arguments,
                                          OptionSet& options, OptionSet& common) {
  const std::unique_ptr<CLI::App> app = MakeApp(command, options, common);
  std::vector<std::string> reversed = WithBareValues(command, arguments);
  std::reverse(reversed.begin(), reversed.end());
  try {
    app->parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return HelpOf(*app);
  } catch (const CLI::CallForAllHelp&) {
    return ShortHelpText(command);
  } catch (const CLI::ParseError& error) {
    throw UsageError("command line", error.what(),
                     "midscope " + command.name + " --help lists the options");
  }
  RefuseUnknown(command, app->remaining());
  if (command.informs.empty() || !options.Flag(command.informs)) {
    CheckPositionals(command, options);
  }
  return std::nullopt;
}

namespace {

constexpr size_t kShortHelpWidth = 80;

// Returns the first clause of an option's help, cut at a word to at most `width` characters.
std::string FirstClause(const std::string& help, size_t width) {
  size_t end = help.size();
  for (const char* mark : {"; ", ". ", " ("}) end = std::min(end, help.find(mark));
  std::string clause = help.substr(0, end);
  if (clause.size() <= width) return clause;
  constexpr std::string_view kCut = " ...";
  clause.resize(clause.rfind(' ', width - kCut.size()));
  return clause + std::string(kCut);
}

std::string ShortLine(const Command& command, const Parameter& option) {
  const bool positional = IsPositional(command, option.name);
  const std::string symbol = positional ? "" : ValueSymbol(option.kind);
  std::string line = "  " + ShownName(command, option.name);
  if (!symbol.empty()) line += " " + symbol;
  line.resize(std::max(kHelpColumn, line.size() + 1), ' ');
  return line + FirstClause(option.help, kShortHelpWidth - line.size()) + "\n";
}

}  // namespace

std::string ShortHelpText(const Command& command) {
  std::string usage = "Usage: midscope " + command.name;
  std::string options;
  for (const Parameter& option : command.options) {
    const std::string name = UpperCase(option.name);
    if (IsPositional(command, option.name))
      usage += option.required ? " " + name : " [" + name + "]";
    if (option.brief) options += ShortLine(command, option);
  }
  const auto all =
      std::count_if(command.options.begin(), command.options.end(),
                    [&](const Parameter& option) { return !IsPositional(command, option.name); });
  return usage + " [OPTIONS]\n" + Paragraph("", command.summary, 2, kShortHelpWidth) + "\n" +
         options + (options.empty() ? "" : "\n") +
         fmt::format("midscope {} --help describes {}, with examples.\n", command.name,
                     all > 0 ? "all " + CountText(all, "option") : "it");
}

std::string HelpText(const Command& command) {
  OptionSet options(command.options);
  OptionSet common(CommonOptions());
  return HelpOf(*MakeApp(command, options, common));
}

}  // namespace midscope::cli
