// SPDX-License-Identifier: GPL-3.0-or-later
// Converts the shown request to arguments of the command line program, and to Python that reads its
// output file.
#pragma once

#include <QString>
#include <QStringList>
#include <string>

#include "core/base/options.h"
#include "gui/base/view_types.h"
#include "gui/session/sweep_process.h"
#include "probes/engine/engine.h"

namespace midscope {

class Session;
class TriedSettings;

// Appends --option and the value.
void AddArgument(const std::string& option, const std::string& value, QStringList* arguments);
// Appends the options that are set.
void AddArguments(const OptionSet& options, QStringList* arguments);
// The options that select the model and its execution: "embedded", "--dtype", "float32", ...
QStringList ModelArguments(const ModelSummary& model);

// Arguments of `midscope probe` for the shown prompt, place and channel and the side's setting.
// Throws Error (usage) if no prompt of a model is shown.
QStringList ProbeArguments(const Session& session, Side side);

// Arguments of `midscope probe` for `setting` on the model of A, with the output file `out`.
QStringList ProbeArguments(const Session& session, const Intervention& setting, const QString& out);

// Arguments of `midscope influence` for the shown prompt and place and the setting of A, without
// its further options. `text_file`: for own text with a question or pieces, the file that
// TextInput returns. Throws as ProbeArguments does.
QStringList InfluenceArguments(const Session& session, const QString& text_file);

// The axes of a sweep, in addition to the shown prompt.
struct SweepChoice {
  std::vector<std::string> settings;  // texts of settings; duplicates are dropped
  std::string places = {};            // "": the places of the prompt
  int64_t samples = 0;                // for a task; own text has one sample
  QString text_file;                  // for own text: the file that TextInput returns
};
// Returns the number of places that the text `places` selects, for an estimate of the cost.
int64_t CountPlaces(const Session& session, const std::string& places);
// Arguments of `midscope sweep` without its output options. Throws Error (usage) if no prompt of a
// model is shown, or if it is own text without an answer.
QStringList SweepArguments(const Session& session, const SweepChoice& choice);

// Whether the prompt must be passed to a command as a file: own text with a question or pieces
// (data/tasks/passages_task.h).
bool NeedsTextFile(const PromptRequest& request);
// The file that passes own text to a command; it is beside the command's results file `out`.
InputFile TextInput(const PromptRequest& request, const QString& out);
// The contents of the file that passes own text to a command: one line.
QString TextFileLine(const PromptRequest& request);
// The shell command that writes the file kTextFile.
inline constexpr char kTextFile[] = "prompt.jsonl";
QString TextFileCommand(const PromptRequest& request);

// The command as text for a shell: "midscope sweep embedded --with 'pi(1.5)'".
QString CommandText(const QStringList& arguments);

// Python that reads the arrays of these records from the output file of the command.
QString PythonText(const Session& session, const std::vector<std::string>& records,
                   const QString& file);

// The shown request as shell commands and as Python: the shown prompt under A, B and the kept
// settings C to F, and a sweep of these settings over samples.

// Shell commands: `midscope probe` for every setting (a.h5, b.h5, c.h5, ...), and `midscope sweep`
// over all (sweep.h5). Both functions throw Error (usage) if no prompt of a model is shown.
QString SessionCommands(const Session& session, const TriedSettings& tried);

// Python that runs these commands if their files are missing, and reads the arrays of every setting
// with h5py: arrays["A"]["last_query_attention"].
QString SessionPython(const Session& session, const TriedSettings& tried);

}  // namespace midscope
