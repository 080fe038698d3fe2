// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/command_line.h"

#include <QCommandLineParser>
#include <algorithm>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/parameter.h"
#include "core/base/utf8.h"
#include "gui/base/display_text.h"
#include "gui/panels/model_panel.h"
#include "gui/plots/plot_files.h"

namespace midscope {
namespace {

constexpr char kVersionText[] = "midscope-gui " MIDSCOPE_VERSION;

struct QtOption {
  const char* name;
  const char* value;  // name of the value in the help text; null: the option takes no value
  const char* help;
};

// The options of QApplication and QGuiApplication that are documented for all platforms.
constexpr QtOption kQtOptions[] = {
    {"display", "name", "The X11 display, instead of $DISPLAY."},
    {"geometry", "geometry", "Position and size of the window on X11, as 1200x800+10+10."},
    {"platform", "name", "The platform plugin: xcb, wayland, offscreen, vnc."},
    {"platformpluginpath", "path", "Where platform plugins are."},
    {"platformtheme", "name", "The platform theme."},
    {"qwindowgeometry", "geometry", "Position and size of the window, as 1200x800+10+10."},
    {"qwindowicon", "file", "The window's icon."},
    {"qwindowtitle", "title", "The first window's title."},
    {"reverse", nullptr, "Lay out from right to left."},
    {"style", "name", "The widgets' style: Fusion, Windows."},
    {"stylesheet", "file", "A style sheet for all widgets."},
    {"widgetcount", nullptr, "Say at the end how many widgets are left."}};

QString QtHelp() {
  QString text = QStringLiteral("\nOptions of Qt:\n");
  for (const QtOption& option : kQtOptions) {
    QString name = QStringLiteral("  -") + QLatin1String(option.name);
    if (option.value) name += QStringLiteral(" <%1>").arg(QLatin1String(option.value));
    text += name.leftJustified(31) + QLatin1String(option.help) + QLatin1Char('\n');
  }
  return text;
}

QStringList ReadFormats(const QString& text) {
  QStringList formats;
  for (const QString& part : text.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
    const QString format = part.trimmed().toLower();
    if (!PlotFormats().contains(format)) {
      throw UsageError("--format", "'" + part.toStdString() + "' is not known",
                       "Use " + PlotFormats().join(QStringLiteral(", ")).toStdString());
    }
    if (!formats.contains(format)) formats << format;
  }
  if (formats.isEmpty()) throw UsageError("--format", "it names no format", "Use png,svg,pdf");
  return formats;
}

// The command-line options of the window, without the options of the model.
std::vector<Parameter> WindowOptions() {
  Parameter format = TextParameter("format", "formats of the pictures");
  format.default_value = "png,svg,pdf";
  Parameter head = TextParameter(
      "head",
      "heads whose attention is drawn, as L12H3 or L12H3,L14H0 (by place, one row of the figure "
      "each); without: the one that attends most to gold");
  head.kind = ParameterKind::kHeads;
  return {
      FileParameter("session", "a session (.midscope) that File > Save session has written"),
      TextParameter("task", "task of the first prompt: list:lines=20, kv:pairs=10"),
      TextParameter("with",
                    "setting B at the start, such as \"channel(100, factor=-1, layers=8-25)\""),
      TextParameter("second",
                    "a second model for B, in a process of its own, such as another .gguf file or "
                    "'embedded dtype=bfloat16'"),
      WholeNumberParameter("samples", "how many samples the means are over; 0: no means", 0,
                           kNoMaximum),
      TextParameter(
          "remote",
          "run the engine on another machine, by ssh: user@host or user@host:PROGRAM; or by "
          "a command in quotes that passes standard input and output on, such as 'srun -p "
          "gpu midscope'. Models, data and results files are then of that machine"),
      FileParameter("render",
                    "draw the pictures of a file of results into --out, without a display"),
      FileParameter("out", "folder for the pictures; made if it is not there"),
      format,
      head,
      WholeNumberParameter(
          "channel", "hidden channel that is drawn; without: the first in the file", 0, kNoMaximum),
      TextListParameter(
          "reference",
          "file of midscope sweep whose means are drawn beside the outcome of --render "
          "(a closed-book run, the gold passage alone), or of midscope tune or influence beside "
          "another; may be repeated"),
      TextParameter("do",
                    "actions to run one after another once the first numbers are there, such as "
                    "\"head L12H3; channel 100; export out.svg; quit\"; Help > Keys lists them"),
      FileParameter("screenshot", "run once, write a picture of the window, and leave")};
}

std::vector<Parameter> AllOptions() {
  std::vector<Parameter> all = OptionsBesideModel();
  for (Parameter& option : WindowOptions()) all.push_back(std::move(option));
  return all;
}

QString TextOf(const OptionSet& options, const char* name) {
  return QString::fromStdString(options.Text(name));
}

std::optional<int64_t> NumberOf(const OptionSet& options, const char* name) {
  if (!options.Has(name)) return std::nullopt;
  return options.Integer(name);
}

RenderRequest ReadRender(const OptionSet& options) {
  RenderRequest render;
  render.file = TextOf(options, "render");
  render.folder = TextOf(options, "out");
  if (render.folder.isEmpty()) {
    throw UsageError("--render", "--out is missing", "Name their folder with --out DIR");
  }
  render.formats = ReadFormats(TextOf(options, "format"));
  if (options.IsSet("head")) {
    for (const QString& head : TextOf(options, "head").split(QLatin1Char(',')))
      render.heads.push_back(ReadHeadId(head.trimmed()));
  }
  render.channel = NumberOf(options, "channel");
  for (const std::string& file : options.TextList("reference"))
    render.reference << QString::fromStdString(file);
  return render;
}

// Qt only splits the line; the descriptions define the meaning of the values.
void AddOptions(QCommandLineParser& parser) {
  parser.setApplicationDescription(
      QStringLiteral("Shows why a language model loses what is in the middle of its context, "
                     "and what changes when its positions are changed."));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(
      QStringLiteral("open"),
      QStringLiteral("A .gguf model or a .h5 file of results; without: the embedded model."),
      QStringLiteral("[open]"));
  for (const Parameter& option : AllOptions()) {
    const std::string facts = FactsText(option);
    parser.addOption({QString::fromStdString(option.name),
                      QString::fromStdString(option.help + (facts.empty() ? "" : "; " + facts)),
                      QString::fromStdString(ValueSymbol(option.kind))});
  }
}

// For a value given several times, the last one is used; for a list, all of them.
OptionSet ReadOptions(const QCommandLineParser& parser) {
  OptionSet options(AllOptions());
  for (const Parameter& option : AllOptions()) {
    const QString name = QString::fromStdString(option.name);
    if (option.kind == ParameterKind::kFlag) {
      if (parser.isSet(name)) options.SetText(option.name, "true");
      continue;
    }
    const QStringList values = parser.values(name);
    const bool list = option.kind == ParameterKind::kTextList;
    for (const QString& value : list ? values : values.mid(values.size() - 1))
      options.SetText(option.name, value.toStdString());
  }
  return options;
}

}  // namespace

QStringList ReadArguments(int count, char** arguments) {
  QStringList read;
  for (int i = 0; i < count; ++i) {
    if (FindInvalidUtf8(arguments[i])) {
      throw UsageError(Quote(arguments[i]), "is not UTF-8, which arguments of midscope-gui must be",
                       "Rename the file or folder; commands of midscope take any name");
    }
    read << QString::fromUtf8(arguments[i]);
  }
  return read;
}

SplitArguments SplitQtArguments(const QStringList& arguments) {
  SplitArguments split{{arguments.value(0)}, {arguments.value(0)}};
  for (qsizetype i = 1; i < arguments.size(); ++i) {
    const QString& argument = arguments[i];
    if (argument == QLatin1String("--")) {
      split.own += arguments.mid(i);
      break;
    }
    const qsizetype dashes = argument.startsWith(QLatin1String("--")) ? 2 : 1;
    const QString name = argument.section(QLatin1Char('='), 0, 0).mid(dashes);
    const auto* option =
        std::find_if(std::begin(kQtOptions), std::end(kQtOptions),
                     [&name](const QtOption& known) { return name == QLatin1String(known.name); });
    if (!argument.startsWith(QLatin1Char('-')) || option == std::end(kQtOptions)) {
      split.own << argument;
      continue;
    }
    split.qt << argument;
    if (!option->value || argument.contains(QLatin1Char('='))) continue;
    if (++i >= arguments.size()) {
      throw UsageError(argument.toStdString(), "its value is missing",
                       "See midscope-gui --help-all");
    }
    split.qt << arguments[i];
  }
  return split;
}

GuiCommand ReadCommandLine(const QStringList& arguments) {
  QCommandLineParser parser;
  AddOptions(parser);
  GuiCommand command;
  if (!parser.parse(arguments)) {
    QString reason = parser.errorText();
    if (reason.endsWith(QLatin1Char('.'))) reason.chop(1);
    throw UsageError("command line", reason.toStdString(), "See midscope-gui --help");
  }
  const bool all = parser.isSet(QStringLiteral("help-all"));
  if (all || parser.isSet(QStringLiteral("help"))) {
    command.task = GuiTask::kPrintAndLeave;
    // QCoreApplication, from which Qt takes the program's name, does not exist yet.
    command.text = parser.helpText().replace(QStringLiteral("<executable_name>"),
                                             QStringLiteral("midscope-gui"));
    if (all) command.text += QtHelp();
    return command;
  }
  if (parser.isSet(QStringLiteral("version"))) {
    command.task = GuiTask::kPrintAndLeave;
    command.text = QString::fromLatin1(kVersionText) + QLatin1Char('\n');
    return command;
  }
  const QStringList open = parser.positionalArguments();
  if (open.size() > 1) {
    throw UsageError("'" + open[1].toStdString() + "'", "one model or file at a time",
                     "See midscope-gui --help");
  }
  command.open = open.value(0);
  const OptionSet options = ReadOptions(parser);
  for (const Parameter& option : OptionsBesideModel()) {
    if (options.IsSet(option.name))
      command.model_options.emplace_back(option.name, ParameterText(options.Value(option.name)));
  }
  command.session = TextOf(options, "session");
  if (!command.session.isEmpty() && !command.open.isEmpty()) {
    throw UsageError("--session", "a session names the model that it opens",
                     "Leave '" + command.open.toStdString() + "' out");
  }
  command.samples = NumberOf(options, "samples");
  command.prompt_task = TextOf(options, "task");
  command.remote = TextOf(options, "remote");
  command.setting_b = TextOf(options, "with");
  command.second = TextOf(options, "second");
  command.script = TextOf(options, "do");
  if (options.IsSet("render")) {
    command.task = GuiTask::kRender;
    command.render = ReadRender(options);
  } else if (options.IsSet("screenshot")) {
    command.task = GuiTask::kScreenshot;
    command.screenshot = TextOf(options, "screenshot");
  }
  return command;
}

}  // namespace midscope
