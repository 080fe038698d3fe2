// SPDX-License-Identifier: GPL-3.0-or-later
// A separate window for the user's own text, large enough for thousands of words. It has search,
// pieces among which the gold passage is moved, question, answer and format, the number of tokens
// while the user types, and each prompt as it would be sent. While open, it contains the editor of
// the prompt panel.
#pragma once

#include <QWidget>

#include "gui/session/session.h"
#include "probes/engine/engine.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QTimer;

namespace midscope {

class FoldBox;
class ParameterForm;
class PromptEditor;

class PromptWorkbench : public QWidget {
  Q_OBJECT

 public:
  // `editor` stays in its present parent until Open. `owner` becomes the parent of this window.
  PromptWorkbench(PromptEditor* editor, QWidget* owner);

  void Open();
  ParameterForm* format() const { return format_; }
  // Write and Read transfer the fields that the prompt panel lacks: question, places and pieces of
  // own text.
  void Write(PromptRequest& request) const;
  void Read(const PromptRequest& request);
  QString question() const;
  QString places() const;  // places of the pieces
  void SetLines(const QString& question, const QString& places);
  // Sets the fields that also exist in the prompt panel: the answer and the format.
  void SetAnswer(const QString& answer);
  void SetFormat(const OptionSet& options);
  void SetWaiting(bool waiting);
  // `context`: number of tokens that the model was trained on; 0: unknown.
  void ShowPreview(const PromptPreview& preview, int64_t context);
  // Requests a preview after a short delay, if the window is visible.
  void Changed();

 Q_SIGNALS:
  void Edited();
  void AnswerEdited(const QString& answer);
  void FormatEdited();
  void PreviewRequested();
  void RunRequested();
  // Emitted when the editor may return to the prompt panel.
  void Closed();

 protected:
  void closeEvent(QCloseEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* MakeLeft();
  QWidget* MakeRight();
  QLayout* MakeFindRow();
  QLayout* MakePieceRow();
  QWidget* MakeFields(QWidget* parent);
  void ShowMarks();
  void Find(bool backwards);
  void ShowPrompt();

  PromptEditor* editor_;
  QWidget* editor_place_;
  QLineEdit* find_;
  QLabel* found_;
  QLabel* marks_;
  QLineEdit* question_;
  QLineEdit* answer_;
  QLineEdit* places_;
  ParameterForm* format_;
  FoldBox* format_fold_;
  QLabel* tokens_;
  QComboBox* place_;
  QPlainTextEdit* prompt_;  // the prompt as it would be sent
  QLabel* note_;            // why there is no prompt
  QPushButton* run_;
  QTimer* preview_timer_;
  std::vector<Record> prompts_;  // from the last preview
};

}  // namespace midscope
