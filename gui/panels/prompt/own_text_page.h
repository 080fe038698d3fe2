// SPDX-License-Identifier: GPL-3.0-or-later
// The page for the user's own text: its editor, search, pieces among which the gold passage is
// moved, question and answer, the number of tokens while the user types, and each prompt as it
// would be sent.
#pragma once

#include <QWidget>

#include "gui/session/session.h"
#include "probes/engine/engine.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QTimer;

namespace midscope {

class PromptEditor;

class OwnTextPage : public QWidget {
  Q_OBJECT

 public:
  explicit OwnTextPage(QWidget* parent = nullptr);

  PromptEditor* editor() const { return editor_; }
  QLineEdit* answer() const { return answer_; }
  // Write and Read transfer the text and everything that belongs to it.
  void Write(PromptRequest& request) const;
  void Read(const PromptRequest& request);
  QString question() const;
  QString places() const;  // places of the pieces
  void SetLines(const QString& question, const QString& places);
  // `context`: number of tokens that the model was trained on; 0: unknown.
  void ShowPreview(const PromptPreview& preview, int64_t context);
  // Requests a preview after a short delay, if the page is visible.
  void Changed();

 Q_SIGNALS:
  void Edited();
  void PreviewRequested();

 protected:
  void showEvent(QShowEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* MakeText();
  QWidget* MakePreview();
  QLayout* MakeFindRow();
  QLayout* MakePieceRow();
  QWidget* MakeFields(QWidget* parent);
  void ShowMarks();
  void Find(bool backwards);
  void ShowPrompt();

  PromptEditor* editor_;
  QLineEdit* find_;
  QLabel* found_;
  QLabel* marks_;
  QLineEdit* question_;
  QLineEdit* answer_;
  QLineEdit* places_;
  QLabel* tokens_;
  QComboBox* place_;
  QPlainTextEdit* prompt_;  // the prompt as it would be sent
  QLabel* note_;            // why there is no prompt
  QTimer* preview_timer_;
  std::vector<Record> prompts_;  // from the last preview
};

}  // namespace midscope
