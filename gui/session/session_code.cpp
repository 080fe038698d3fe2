// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/session_code.h"

#include <QStringList>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/terms/intervention_text.h"
#include "gui/session/command_arguments.h"
#include "gui/session/session.h"
#include "gui/session/tried_settings.h"

namespace midscope {
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
