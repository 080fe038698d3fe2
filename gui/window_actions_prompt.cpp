// SPDX-License-Identifier: GPL-3.0-or-later
// Actions that request another prompt: the task, its sample and seed, own text with its gold
// passage.
#include <QUndoStack>
#include <functional>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/parameter.h"
#include "core/base/record_names.h"
#include "gui/actions/action_registry.h"
#include "gui/base/prompt_text.h"
#include "gui/main_window.h"
#include "gui/panels/outcome/answer_facts.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/panels/prompt/sample_bar.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/window_actions.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {
namespace {

constexpr int64_t kLargestNumber = 2147483647;

}  // namespace

// Changes fields of the panel and runs its request, as one undo step.
void WindowActions::AskPrompt(const QString& name,
                              const std::function<void(PromptFields&)>& change) {
  PromptPanel* panel = window_->prompt_panel();
  PromptFields fields = panel->fields();
  change(fields);
  if (fields == panel->fields()) return window_->Run();
  QUndoStack* stack = window_->history()->stack();
  stack->beginMacro(name);
  panel->SetFields(fields);
  window_->Run();
  stack->endMacro();
}

// Requests the previous or next sample of the task; no effect for own text and files without
// samples.
void WindowActions::StepSample(int step) {
  const PromptFields fields = window_->prompt_panel()->fields();
  if (window_->session()->shows_file() || fields.page != 0) return;
  if (fields.sample + step >= 0) ChooseSample(fields.sample + step);
}

void WindowActions::AddPrompt() {
  connect(window_->samples(), &SampleBar::StepRequested, this, &WindowActions::StepSample);
  const QString run = QStringLiteral("run");
  actions_->Add("task", run, tr("&Task…"),
                tr("Selects another task, such as kv:pairs=10, and runs it"),
                {.argument = Required(TextParameter("task", "a task, such as list:lines=20"))},
                [this](const QString& task) {
                  AskPrompt(tr("task %1").arg(task), [&task](PromptFields& fields) {
                    fields.page = 0;
                    fields.task = task;
                  });
                });
  actions_->Add("append-generated", run, tr("Append t&he generated text"),
                tr("Makes A's prompt with the text generated after it your own text, so "
                   "that each of its tokens can be looked at"),
                [this](const QString&) { AppendGenerated(); });
  actions_->Add(
      "sample", run, tr("Sa&mple…"),
      tr("Selects another sample of the task and runs it; of a file: shows it"),
      {.argument = Required(WholeNumberParameter("sample", "counted from 0", 0, kLargestNumber))},
      [this](const QString& text) { ChooseSample(text.toLongLong()); });
  actions_->Add("gold", run, tr("Gold &passage…"),
                tr("Marks the first occurrence of these words in your own text as gold"),
                {.argument = Required(TextParameter("words", "words of the text"))},
                [this](const QString& words) {
                  if (!window_->prompt_panel()->editor()->MarkWords(words)) {
                    throw UsageError("gold '" + words.toStdString() + "'",
                                     "your own text does not have these words",
                                     "Give words exactly as in the text");
                  }
                });
}

// The text of A's prompt as it was sent, with its gold passage, and the generated text.
void WindowActions::AppendGenerated() {
  const Session& session = *window_->session();
  const QStringList generated = GeneratedTokens(session.record(Side::kA, kGenerationRecord));
  if (generated.isEmpty() || !session.ready())
    throw UsageError("generated text", "there is none for A", "Press Generate first");
  const PromptText shown = ReadPromptText(session.prompt());
  AskPrompt(tr("prompt with the generated text"), [&](PromptFields& fields) {
    fields.page = 1;
    fields.text = {shown.text + generated.join(QString())};
    if (!shown.gold.empty())
      fields.text.gold = {shown.begins[shown.gold.begin], shown.begins[shown.gold.end]};
    fields.question.clear();
    fields.answer.clear();
    fields.format = OptionSet(PromptFormatOptions()).ToJson();
  });
}

void WindowActions::ChooseSample(qint64 sample) {
  Session* session = window_->session();
  if (session->sample_view()) {
    SampleChoice choice = session->sample_choice();
    choice.sample = sample;
    return session->ChooseSample(choice);
  }
  AskPrompt(tr("sample %1").arg(sample), [sample](PromptFields& fields) {
    fields.page = 0;
    fields.sample = static_cast<int>(sample);
  });
}

}  // namespace midscope
