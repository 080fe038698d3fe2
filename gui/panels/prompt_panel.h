// SPDX-License-Identifier: GPL-3.0-or-later
// What is asked: a task's sample at several places, or one's own text.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

#include "probes/engine/engine.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QTabWidget;

namespace midscope {

class OptionForm;
class PromptEditor;

class PromptPanel : public QWidget {
  Q_OBJECT

 public:
  explicit PromptPanel(QWidget* parent = nullptr);

  void SetTask(const QString& task);
  // Throws Error (usage) for places and a prompt format that can't be read.
  PromptRequest prompt_request() const;
  void SetPrompt(const PromptRequest& prompt_request);
  void ShowPlaces(const std::vector<Record>& prompts, size_t current);
  // Whether what the panel says is not what is on the screen: Run says so.
  void SetWaiting(bool waiting);
  PromptEditor* editor() const { return editor_; }

 Q_SIGNALS:
  void RunAsked();
  // What the panel says has changed.
  void Edited();
  void PlaceChosen(int index);

 private:
  void ShowSent();
  QWidget* MakeFormatFold(QWidget* parent);
  QWidget* MakeTaskPage();
  QWidget* MakeTextPage();

  QTabWidget* pages_;
  QComboBox* task_;
  QSpinBox* seed_;
  QSpinBox* sample_;
  QLineEdit* places_;
  PromptEditor* editor_;
  QLineEdit* answer_;
  QLabel* gold_text_;
  OptionForm* format_;
  QLineEdit* sent_;
  QStringList sent_texts_;  // of each place
  QComboBox* place_;
  QPushButton* run_;
};

}  // namespace midscope
