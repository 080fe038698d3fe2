// SPDX-License-Identifier: GPL-3.0-or-later
// Selects the prompt: a sample of a task at several places, or the user's own text.
#pragma once

#include <QStringList>
#include <QWidget>
#include <string>
#include <vector>

#include "gui/panels/prompt/own_text_page.h"
#include "gui/panels/prompt/prompt_editor.h"
#include "probes/engine/engine.h"

class QComboBox;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTabWidget;

namespace midscope {

class ParameterForm;
class TaskForm;

// Values of all fields of the panel, including those of the hidden page.
struct PromptFields {
  int page = 0;  // 0: a task, 1: own text
  QString task;
  int seed = 0;
  int sample = 0;
  QString places;
  std::string format;  // from OptionSet::ToJson
  QString answer;
  QString question;
  QString text_places;  // places of own text with pieces
  MarkedText text;
  bool operator==(const PromptFields&) const = default;
};

class PromptPanel : public QWidget {
  Q_OBJECT

 public:
  explicit PromptPanel(QWidget* parent = nullptr);

  void SetTask(const QString& task);
  // Selects the page of tasks with this task.
  void ChooseTask(const QString& task);
  // Throws Error (usage) if the places or the prompt format cannot be read.
  PromptRequest prompt_request() const;
  void SetPrompt(const PromptRequest& prompt_request);
  PromptFields fields() const;
  void SetFields(const PromptFields& fields);
  void ShowPlaces(const std::vector<Record>& prompts, size_t current);
  // Sets whether the Run button is marked because the panel's request differs from the one on the
  // screen.
  void SetWaiting(bool waiting);
  PromptEditor* editor() const { return own_text_->editor(); }
  OwnTextPage* own_text() const { return own_text_; }
  // Widgets that the window shows in its top bar.
  QSpinBox* sample_box() const { return sample_; }
  QComboBox* place_box() const { return place_; }
  QPushButton* run_button() const { return run_; }
  void ShowOwnText();
  // Returns to the task if there is no own text.
  void LeaveOwnText();

 Q_SIGNALS:
  void RunRequested();
  // Emitted when the request has changed.
  void Edited();
  void PlaceChosen(int index);
  // Emitted when the page of own text is to show the prompts of this request before they are run.
  void PreviewRequested(const midscope::PromptRequest& prompt_request);

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void ShowSent();
  void AskPreview();
  QWidget* MakeFormatFold(QWidget* parent);
  QWidget* MakeTaskPage();

  QTabWidget* pages_;
  TaskForm* task_;
  QSpinBox* seed_;
  QSpinBox* sample_;
  QLineEdit* places_;
  OwnTextPage* own_text_;
  ParameterForm* format_;
  QLineEdit* sent_;
  QStringList sent_texts_;  // [place]
  QComboBox* place_;
  QPushButton* run_;
};

}  // namespace midscope
