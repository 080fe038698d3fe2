// SPDX-License-Identifier: GPL-3.0-or-later
// A strip of cards of equal height with the question, the expected answer, and the model's output
// under A and B: the next token, the answer's first token with its probability and rank, the
// answer's loss in nats, whether the output is right, and generated text on request.
#pragma once

#include <QWidget>
#include <map>
#include <vector>

#include "gui/base/view_types.h"
#include "gui/panels/outcome/answer_facts.h"
#include "gui/session/changes.h"

class QFrame;
class QLabel;
class QPushButton;
class QSpinBox;
class QTextEdit;

namespace midscope {

class ElidedLabel;
class Session;

class AnswerStrip : public QWidget {
  Q_OBJECT

 public:
  explicit AnswerStrip(Session* session, QWidget* parent = nullptr);

  // Shows the current state of the session. `changes`: what has changed since the last call.
  void Refresh(Changes changes);
  // Does what the button does: starts or stops the generation.
  void GenerateOrStop();
  int tokens() const;
  void SetTokens(int tokens);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  struct Row {
    QLabel* mark = nullptr;  // "A ✓"
    ElidedLabel* setting = nullptr;
    QLabel* next = nullptr;    // the next token
    QLabel* answer = nullptr;  // the answer's first token
    QLabel* nats = nullptr;
    QTextEdit* text = nullptr;
    QString shown{};  // the contents of `text`, as HTML
  };
  Row MakeRow(Side side);
  QFrame* MakeCard(const std::vector<std::vector<QWidget*>>& lines);
  void FitCards();
  void ShowRequested(const SaidFacts& a, const SaidFacts& b);
  QString TokensOfB() const;
  void ShowSaid(Side side, const SaidFacts& said);
  void ShowTexts();
  void ShowButton();

  Session* session_;
  ShownAnswer requested_;  // for the shown prompt
  ElidedLabel* question_;
  QLabel* expected_;
  QLabel* difference_;  // B - A
  QLabel* warning_;
  QSpinBox* tokens_;
  QPushButton* generate_;
  std::map<Side, Row> rows_;
  std::vector<QFrame*> cards_;
  QWidget* texts_;  // generated texts; hidden if there are none
};

}  // namespace midscope
