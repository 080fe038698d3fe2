// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/session/command_arguments.h"

#include <vector>

#include "core/base/error.h"
#include "core/base/shell_text.h"
#include "core/intervention/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "probes/prompt/prompt_format_options.h"

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

QStringList ProbeArguments(const Session& session, Side side) {
  const auto& request = session.shown_prompt_request();
  const Record* prompt = session.prompt();
  if (!request || !prompt || !session.model()) {
    throw UsageError("command", "no prompt of a model is shown", "Open a model and run a prompt");
  }
  QStringList arguments = {QStringLiteral("probe")};
  arguments += ModelArguments(*session.model());
  if (request->task.empty()) {
    AddArgument("prompt", request->text, &arguments);
    if (request->gold_end > request->gold_begin) {
      AddArgument(
          "span",
          "gold=" + std::to_string(request->gold_begin) + ":" + std::to_string(request->gold_end),
          &arguments);
    }
    if (!request->answer.empty()) AddArgument("answer", request->answer, &arguments);
  } else {
    AddArgument("task", request->task, &arguments);
    AddArgument("place", std::to_string(IntegerAttribute(*prompt, "place", 1)), &arguments);
    AddArgument("sample", std::to_string(request->sample), &arguments);
    AddArgument("seed", std::to_string(request->seed), &arguments);
  }
  AddArguments(OptionsOf(request->format), &arguments);
  AddArgument("with", PrintIntervention(session.setting(side)), &arguments);
  AddArgument("channels", std::to_string(session.channel()), &arguments);
  AddArgument("out", side == Side::kA ? "a.h5" : "b.h5", &arguments);
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

}  // namespace midscope
