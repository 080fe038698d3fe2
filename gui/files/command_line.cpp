// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/command_line.h"

#include <QCommandLineParser>
#include <QRegularExpression>
#include <algorithm>

#include "core/base/error.h"
#include "gui/panels/model_panel.h"
#include "gui/plots/plot_files.h"

namespace midscope {
namespace {

constexpr char kVersionText[] = "midscope-gui " MIDSCOPE_VERSION;

struct QtOption {
  const char* name;
  const char* value;  // placeholder of the value in help; null: takes no value
  const char* help;
};

// The options of QApplication and QGuiApplication that are documented for every platform.
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

std::optional<int64_t> ReadNumber(const QCommandLineParser& parser, const QString& option) {
  if (!parser.isSet(option)) return std::nullopt;
  bool read = false;
  const QString text = parser.value(option);
  const qlonglong number = text.toLongLong(&read);
  if (!read || number < 0) {
    throw UsageError("--" + option.toStdString(), "'" + text.toStdString() + "' is not a number",
                     "Give a whole number from 0 on");
  }
  return number;
}

void ReadRender(const QCommandLineParser& parser, RenderRequest& render) {
  render.file = parser.value(QStringLiteral("render"));
  render.folder = parser.value(QStringLiteral("out"));
  if (render.folder.isEmpty()) {
    throw UsageError("--render", "--out is missing", "Name their folder with --out DIR");
  }
  render.formats = ReadFormats(parser.value(QStringLiteral("format")));
  if (parser.isSet(QStringLiteral("head"))) {
    render.head = ReadHeadId(parser.value(QStringLiteral("head")));
  }
  render.channel = ReadNumber(parser, QStringLiteral("channel"));
}

void AddOptions(QCommandLineParser& parser) {
  parser.setApplicationDescription(
      QStringLiteral("Shows why a language model loses what stands in the middle of its context, "
                     "and what changes when its positions are changed."));
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument(
      QStringLiteral("open"),
      QStringLiteral("A .gguf model or a .h5 file of results; without: the embedded model."),
      QStringLiteral("[open]"));
  const auto add = [&parser](const char* name, const char* help, const char* value,
                             const char* otherwise = "") {
    parser.addOption({QString::fromLatin1(name), QString::fromLatin1(help),
                      QString::fromLatin1(value), QString::fromLatin1(otherwise)});
  };
  for (const Parameter& option : OptionsBesideModel()) {
    parser.addOption({QString::fromStdString(option.name), QString::fromStdString(option.help),
                      QString::fromStdString(option.name)});
  }
  add("session", "A session that File > Save session has written.", "file.midscope");
  add("task", "What is asked at the start: list:lines=20, kv:pairs=10.", "task");
  add("with", "Setting B at the start, such as \"channel(100, factor=-1, layers=8-25)\".", "text");
  add("samples", "How many samples the means are over; 0: no means.", "number");
  add("plugin",
      "A library with probes of your own; may be given more than once. MIDSCOPE_PLUGIN_PATH names "
      "folders whose libraries are always loaded.",
      "file.so");
  add("render", "Draw the pictures of a file of results into --out, without a display.", "run.h5");
  add("out", "Folder for the pictures; made if it is not there.", "dir");
  add("format", "Formats of the pictures.", "list", "png,svg,pdf");
  add("head",
      "Head whose attention is drawn, as L12H3; without: the one that attends most to gold.",
      "head");
  add("channel", "Hidden channel that is drawn; without: the first in the file.", "number");
  add("screenshot", "Run once, write a picture of the window, and leave.", "file.png");
}

}  // namespace

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

HeadId ReadHeadId(const QString& text) {
  static const QRegularExpression pattern(QStringLiteral("^(?:attn_)?L?(\\d{1,4})[H_](\\d{1,4})$"),
                                          QRegularExpression::CaseInsensitiveOption);
  const QRegularExpressionMatch match = pattern.match(text);
  if (!match.hasMatch()) {
    throw UsageError("--head", "'" + text.toStdString() + "' is not a head",
                     "Write it as L12H3, layers and heads counted from zero");
  }
  return {match.captured(1).toLongLong(), match.captured(2).toLongLong()};
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
    // QCoreApplication, from which Qt reads the program's name, does not exist yet.
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
  OptionSet options(OptionsBesideModel());
  for (const Parameter& option : options.descriptions()) {
    const QString name = QString::fromStdString(option.name);
    if (!parser.isSet(name)) continue;
    command.model_options.emplace_back(option.name, parser.value(name).toStdString());
    options.SetText(option.name, command.model_options.back().second);
  }
  command.session = parser.value(QStringLiteral("session"));
  if (!command.session.isEmpty() && !command.open.isEmpty()) {
    throw UsageError("--session", "a session names the model that it opens",
                     "Leave '" + command.open.toStdString() + "' out");
  }
  command.samples = ReadNumber(parser, QStringLiteral("samples"));
  command.prompt_task = parser.value(QStringLiteral("task"));
  command.plugins = parser.values(QStringLiteral("plugin"));
  command.setting_b = parser.value(QStringLiteral("with"));
  if (parser.isSet(QStringLiteral("render"))) {
    command.task = GuiTask::kRender;
    ReadRender(parser, command.render);
  } else if (parser.isSet(QStringLiteral("screenshot"))) {
    command.task = GuiTask::kScreenshot;
    command.screenshot = parser.value(QStringLiteral("screenshot"));
  }
  return command;
}

}  // namespace midscope
