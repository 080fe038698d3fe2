// SPDX-License-Identifier: GPL-3.0-or-later
// The shown request as arguments of the command line program, and as Python that reads its file.
#pragma once

#include <QString>
#include <QStringList>
#include <string>

#include "core/base/options.h"
#include "gui/base/view_types.h"
#include "probes/engine/engine.h"

namespace midscope {

class Session;

// Appends --option value.
void AddArgument(const std::string& option, const std::string& value, QStringList* arguments);
// Appends the options that are set.
void AddArguments(const OptionSet& options, QStringList* arguments);
// The model and how it runs: "embedded", "--dtype", "float32", ...
QStringList ModelArguments(const ModelSummary& model);

// `midscope probe` with the shown prompt, place, channel and the side's setting. Throws Error
// (usage) where no prompt of a model is shown.
QStringList ProbeArguments(const Session& session, Side side);

// As above, under another setting and into another file.
QStringList ProbeArguments(const Session& session, const Intervention& setting, const QString& out);

// The axes of a sweep, beside the shown prompt.
struct SweepChoice {
  std::vector<std::string> settings;  // as texts; a duplicate counts once
  std::string places = {};            // "": those of the prompt
  int64_t samples = 0;                // of a task; own text has one
  QString text_file;                  // of own text, which WriteTextFile makes
};
// `midscope sweep` without options of what it writes. Throws Error (usage) where no prompt of a
// model is shown, and for own text without an answer.
QStringList SweepArguments(const Session& session, const SweepChoice& choice);

// Own text with a question or pieces is read from a file (data/tasks/passages_task.h).
bool NeedsTextFile(const PromptRequest& request);
// Throws Error (failure).
void WriteTextFile(const PromptRequest& request, const QString& path);
// The contents of that file.
QString TextFileLine(const PromptRequest& request);
// The shell command that makes the file kTextFile.
inline constexpr char kTextFile[] = "prompt.jsonl";
QString TextFileCommand(const PromptRequest& request);

// The command as a shell reads it: "midscope sweep embedded --with 'pi(1.5)'".
QString CommandText(const QStringList& arguments);

// Python that reads the arrays of these records from the file that the command writes.
QString PythonText(const Session& session, const std::vector<std::string>& records,
                   const QString& file);

}  // namespace midscope
