// SPDX-License-Identifier: GPL-3.0-or-later
// A window of its own for the user's text, with room for thousands of words: find, pieces among
// which the gold passage moves, question, answer and format, the number of tokens while one types,
// and each prompt as it would be sent. It borrows the editor of the prompt panel while it is open.
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
  // `editor` stays where it is until Open. `owner` is the parent.
  PromptWorkbench(PromptEditor* editor, QWidget* owner);

  void Open();
  ParameterForm* format() const { return format_; }
  // Fields that the panel beside it lacks: question, places and pieces of own text.
  void Write(PromptRequest& request) const;
  void Read(const PromptRequest& request);
  QString question() const;
  QString places() const;  // of the pieces
  void SetLines(const QString& question, const QString& places);
  // Both are also in the panel.
  void SetAnswer(const QString& answer);
  void SetFormat(const OptionSet& options);
  void SetWaiting(bool waiting);
  // `context`: the tokens that the model was trained on; 0: not known.
  void ShowPreview(const PromptPreview& preview, int64_t context);
  // Requests a preview soon, where the window is visible.
  void Changed();

 Q_SIGNALS:
  void Edited();
  void AnswerEdited(const QString& answer);
  void FormatEdited();
  void PreviewRequested();
  void RunRequested();
  // The editor may go back to its usual place.
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
  QPlainTextEdit* prompt_;  // as it would be sent
  QLabel* note_;            // why there is none
  QPushButton* run_;
  QTimer* preview_timer_;
  std::vector<Record> prompts_;  // of the last preview
};

}  // namespace midscope
