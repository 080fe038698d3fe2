// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/command_arguments.h"

#include <QDir>
#include <QFileInfo>
#include <QStringList>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "data/tasks/passages_task.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "gui/session/setting_marks.h"
#include "gui/session/two_models.h"
#include "probes/engine/own_text_request.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

void AddArgument(const std::string& option, const std::string& value, QStringList* arguments) {
  *arguments << QLatin1String("--") + QString::fromStdString(option)
             << QString::fromStdString(value);
}

void AddArguments(const OptionSet& options, QStringList* arguments) {
  for (const Parameter& option : options.descriptions()) {
    if (!options.IsSet(option.name)) continue;
    if (option.kind == ParameterKind::kFlag) {
      if (options.Flag(option.name))
        *arguments << QLatin1String("--") + QString::fromStdString(option.name);
    } else if (option.kind == ParameterKind::kTextList) {
      for (const std::string& text : options.TextList(option.name))
        AddArgument(option.name, text, arguments);
    } else {
      AddArgument(option.name, ParameterText(options.Value(option.name)), arguments);
    }
  }
}

QStringList ModelArguments(const ModelSummary& model) {
  QStringList arguments = {QString::fromStdString(model.path)};
  AddArgument("dtype", model.dtype, &arguments);
  if (model.products != "float") AddArgument("products", model.products, &arguments);
  if (!model.sliding_window) AddArgument("sliding-window", "off", &arguments);
  return arguments;
}

namespace {

std::string TextFileTask(const QString& file) { return "passages:file=" + file.toStdString(); }

// Adds the options of further probes, and the shown channel.
void AddProbeOptions(const Session& session, QStringList* arguments) {
  const auto options = nlohmann::json::parse(session.probe_options(), nullptr, false);
  bool channels = false;
  for (const auto& [name, value] : options.items()) {
    if (value.is_boolean()) {
      if (value.get<bool>()) *arguments << QLatin1String("--") + QString::fromStdString(name);
      continue;
    }
    channels = channels || name == "channels";
    for (const nlohmann::json& one : value.is_array() ? value : nlohmann::json::array({value}))
      AddArgument(name, one.is_string() ? one.get<std::string>() : one.dump(), arguments);
  }
  if (!channels) AddArgument("channels", std::to_string(session.channel()), arguments);
}

// Adds a text with its gold passage and answer.
void AddText(const OwnText& own, QStringList* arguments) {
  AddArgument("prompt", own.text, arguments);
  for (const SpanRequest& span : own.spans) {
    if (span.span.name != "gold") continue;
    AddArgument("span",
                "gold=" + std::to_string(span.span.begin) + ":" + std::to_string(span.span.end),
                arguments);
  }
  if (!own.answer.empty()) AddArgument("answer", own.answer, arguments);
}

// Arguments that select prompt and place of a side; `text_file`: of own text with pieces.
QStringList PromptArguments(const Session& session, Side side, const QString& text_file) {
  const auto& request = session.shown_prompt_request();
  const auto& model = session.model(side);
  const Record* prompt = session.prompt(side);
  if (!request || !prompt || !model) {
    throw UsageError("command", "no prompt of a model is shown", "Open a model and run a prompt");
  }
  QStringList arguments;
  const std::string place = std::to_string(IntegerAttribute(*prompt, "place", 1));
  // The tokens of a second model may make other prompts of the task; it has the texts of A.
  const bool given = side == Side::kB && session.second() && !request->task.empty() &&
                     AttributeText(*prompt, "task").empty();
  if (given) {
    AddText(GivenTexts({*prompt}).front().own, &arguments);
  } else if (NeedsTextFile(*request)) {
    AddArgument("task", TextFileTask(text_file), &arguments);
    AddArgument("place", place, &arguments);
  } else if (request->task.empty()) {
    AddText(OwnTextOf(*request), &arguments);
  } else {
    AddArgument("task", request->task, &arguments);
    AddArgument("place", place, &arguments);
    AddArgument("sample", std::to_string(request->sample), &arguments);
    AddArgument("seed", std::to_string(request->seed), &arguments);
  }
  PromptFormat format = request->format;
  if (given) format.chat_template.clear();
  AddArguments(OptionsOf(format), &arguments);
  return arguments;
}

QStringList ProbeOfModel(const Session& session, Side side, const Intervention& setting,
                         const QString& out) {
  const QStringList prompt = PromptArguments(session, side, QLatin1String(kTextFile));
  QStringList arguments =
      QStringList{QStringLiteral("probe")} + ModelArguments(*session.model(side)) + prompt;
  AddArgument("with", PrintIntervention(setting), &arguments);
  AddProbeOptions(session, &arguments);
  AddArgument("out", out.toStdString(), &arguments);
  return arguments;
}

}  // namespace

QStringList ProbeArguments(const Session& session, const Intervention& setting,
                           const QString& out) {
  return ProbeOfModel(session, Side::kA, setting, out);
}

QStringList ProbeArguments(const Session& session, Side side) {
  return ProbeOfModel(session, side, session.setting(side),
                      side == Side::kA ? QStringLiteral("a.h5") : QStringLiteral("b.h5"));
}

QStringList InfluenceArguments(const Session& session, const QString& text_file) {
  const QStringList prompt = PromptArguments(session, Side::kA, text_file);
  const ModelSummary& model = *session.model(Side::kA);
  if (!model.sliding_window) {
    throw UsageError("influence", "the model was opened without its sliding window",
                     "Open it with --sliding-window on");
  }
  QStringList arguments = {QStringLiteral("influence"), QString::fromStdString(model.path)};
  if (model.dtype == "bfloat16") AddArgument("dtype", model.dtype, &arguments);
  arguments += prompt;
  AddArgument("with", PrintIntervention(session.setting(Side::kA)), &arguments);
  return arguments;
}

bool NeedsTextFile(const PromptRequest& request) {
  return request.task.empty() && (!request.question.empty() || !request.pieces.empty());
}

InputFile TextInput(const PromptRequest& request, const QString& out) {
  const QFileInfo file(out);
  return {QDir(file.path()).filePath(file.completeBaseName() + QStringLiteral(".text.jsonl")),
          TextFileLine(request)};
}

QString TextFileLine(const PromptRequest& request) {
  return QString::fromStdString(PassagesLine(PiecesTextOf(request)));
}

QString TextFileCommand(const PromptRequest& request) {
  return QStringLiteral("cat > %1 <<'END_OF_TEXT'\n").arg(QLatin1String(kTextFile)) +
         TextFileLine(request) + QStringLiteral("END_OF_TEXT\n");
}

int64_t CountPlaces(const Session& session, const std::string& places) {
  return places.empty() ? std::ssize(session.prompts())
                        : std::count(places.begin(), places.end(), ',') + 1;
}

QStringList SweepArguments(const Session& session, const SweepChoice& choice) {
  const auto& request = session.shown_prompt_request();
  const auto& model = session.model();
  if (!request || !model) {
    throw UsageError("sweep", "no prompt of a model is shown", "Open a model and run a prompt");
  }
  const bool own = request->task.empty();
  if (own && request->answer.empty()) {
    throw UsageError("sweep", "the own text has no answer, whose likelihood is compared",
                     "Give one under Prompt and run it");
  }
  QStringList arguments = {QStringLiteral("sweep")};
  arguments += ModelArguments(*model);
  AddArgument("task", own ? TextFileTask(choice.text_file) : request->task, &arguments);
  if (!own) AddArgument("seed", std::to_string(request->seed), &arguments);
  const std::string& places = choice.places.empty() ? request->places : choice.places;
  if (!places.empty()) AddArgument("places", places, &arguments);
  AddArgument("samples", std::to_string(own ? 1 : choice.samples), &arguments);
  for (auto setting = choice.settings.begin(); setting != choice.settings.end(); ++setting) {
    if (std::find(choice.settings.begin(), setting, *setting) == setting)
      AddArgument("with", *setting, &arguments);
  }
  AddArguments(OptionsOf(request->format), &arguments);
  return arguments;
}

QString CommandText(const QStringList& arguments) {
  std::vector<std::string> texts;
  texts.reserve(static_cast<size_t>(arguments.size()));
  for (const QString& argument : arguments) texts.push_back(argument.toStdString());
  return QString::fromStdString(ShellCommand("midscope", texts));
}

QString PythonText(const Session& session, const std::vector<std::string>& records,
                   const QString& file) {
  QString text = QStringLiteral(
                     "import h5py\n\n"
                     "arrays = {}\n"
                     "with h5py.File(\"%1\") as file:\n"
                     "    def keep(path, item):\n"
                     "        if isinstance(item, h5py.Dataset):\n"
                     "            arrays[path.rsplit(\"/\", 1)[-1]] = item[()]\n"
                     "    file.visititems(keep)\n\n")
                     .arg(file);
  for (const std::string& name : records) {
    const Record* record = session.record(Side::kA, name);
    if (!record) continue;
    for (const Array& array : record->arrays) {
      QStringList axes;
      for (const std::string& axis : array.axes) axes << QString::fromStdString(axis);
      text += QStringLiteral("%1 = arrays[\"%1\"]  # [%2]\n")
                  .arg(QString::fromStdString(array.name), axes.join(QStringLiteral(", ")));
    }
  }
  return text;
}

namespace {

struct NamedSetting {
  QString letter;
  std::string text;
  QString file() const { return letter.toLower() + QStringLiteral(".h5"); }
};

constexpr char kSweepFile[] = "sweep.h5";

std::vector<NamedSetting> SettingsOf(const Session& session, const TriedSettings& tried) {
  std::vector<NamedSetting> settings = {
      {QStringLiteral("A"), PrintIntervention(session.setting(Side::kA))}};
  if (session.differs())
    settings.push_back({QStringLiteral("B"), PrintIntervention(session.setting(Side::kB))});
  for (const TriedSetting* kept : tried.Kept())
    settings.push_back({TriedSettings::Letter(kept->kept), kept->text});
  return settings;
}

QStringList ProbeOf(const Session& session, const NamedSetting& setting) {
  if (setting.letter == QLatin1String("B")) return ProbeArguments(session, Side::kB);
  return ProbeArguments(session, ParseIntervention(setting.text), setting.file());
}

// Uses the places on the screen, so that the table has the same places as the outcome. Empty for
// own text without an answer, whose likelihood cannot be measured.
QStringList SweepOf(const Session& session, const std::vector<NamedSetting>& settings) {
  const PromptRequest& request = *session.shown_prompt_request();
  if (request.task.empty() && request.answer.empty()) return {};
  SweepChoice choice;
  // A second model would need a sweep of its own.
  for (const NamedSetting& setting : settings) {
    if (!session.second() || setting.letter != QLatin1String("B"))
      choice.settings.push_back(setting.text);
  }
  choice.samples = std::max(session.samples(), request.sample + 1);
  choice.text_file = QLatin1String(kTextFile);
  QStringList arguments = SweepArguments(session, choice);
  AddArgument("out", kSweepFile, &arguments);
  return arguments;
}

// A Python string literal; a JSON string is one.
QString Quoted(const QString& text) {
  return QString::fromStdString(
      nlohmann::json(text.toStdString())
          .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

QString PythonList(const QStringList& arguments) {
  QStringList texts = {Quoted(QStringLiteral("midscope"))};
  for (const QString& argument : arguments) texts << Quoted(argument);
  return QLatin1Char('[') + texts.join(QStringLiteral(", ")) + QLatin1Char(']');
}

}  // namespace

QString SessionCommands(const Session& session, const TriedSettings& tried) {
  QString text;
  const std::vector<NamedSetting> settings = SettingsOf(session, tried);
  for (const NamedSetting& setting : settings)
    text += CommandText(ProbeOf(session, setting)) + QLatin1Char('\n');
  const QStringList sweep = SweepOf(session, settings);
  if (!sweep.isEmpty()) text += CommandText(sweep) + QLatin1Char('\n');
  const PromptRequest& request = *session.shown_prompt_request();
  return (request.task.empty() ? TextFileCommand(request) : QString()) + text;
}

QString SessionPython(const Session& session, const TriedSettings& tried) {
  QString text = QStringLiteral("import os\nimport subprocess\n\nimport h5py\n\n");
  const std::vector<NamedSetting> settings = SettingsOf(session, tried);
  QString runs;
  for (const NamedSetting& setting : settings) {
    runs += QStringLiteral("    %1: %2,\n")
                .arg(Quoted(setting.file()), PythonList(ProbeOf(session, setting)));
  }
  const QStringList sweep = SweepOf(session, settings);
  if (!sweep.isEmpty()) {
    runs +=
        QStringLiteral("    %1: %2,\n").arg(Quoted(QLatin1String(kSweepFile)), PythonList(sweep));
  }
  const PromptRequest& request = *session.shown_prompt_request();
  if (request.task.empty()) {
    text += QStringLiteral("with open(%1, \"w\", encoding=\"utf-8\") as file:\n")
                .arg(Quoted(QLatin1String(kTextFile))) +
            QStringLiteral("    file.write(") + Quoted(TextFileLine(request)) +
            QStringLiteral(")\n\n");
  }
  text += QStringLiteral("runs = {  # file: the command that makes it\n") + runs +
          QStringLiteral(
              "}\n"
              "for path, command in runs.items():\n"
              "    if not os.path.exists(path):\n"
              "        subprocess.run(command, check=True)\n\n\n"
              "def read(path):\n"
              "    arrays = {}\n"
              "    with h5py.File(path) as file:\n"
              "        def keep(name, item):\n"
              "            if isinstance(item, h5py.Dataset):\n"
              "                arrays[name.rsplit(\"/\", 1)[-1]] = item[()]\n"
              "        file.visititems(keep)\n"
              "    return arrays\n\n\n"
              "arrays = {}\n");
  for (const NamedSetting& setting : settings) {
    text += QStringLiteral("arrays[%1] = read(%2)  # %3\n")
                .arg(Quoted(setting.letter), Quoted(setting.file()),
                     QString::fromStdString(setting.text));
  }
  return text;
}

}  // namespace midscope
