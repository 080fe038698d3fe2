// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the newest error and the number of errors. An error remains until it is dismissed or until
// the operation that failed succeeds.
#pragma once

#include <functional>
#include <vector>

#include <QFrame>
#include <QString>
#include <QStringList>

class QLabel;
class QToolButton;
class QWidget;

namespace midscope {

class ErrorBar : public QFrame {
  Q_OBJECT

 public:
  explicit ErrorBar(QWidget* parent = nullptr);

  // Adds an error, unless it is already shown. `what`: the operation that failed, whose Succeed
  // removes the error; if empty, the error stays until dismissed.
  void Add(const QString& message, const QString& what = QString());
  void Succeed(const QString& what);
  // Adds a button to the error with that message, which runs `action` and removes the error.
  void OfferAction(const QString& message, const QString& label,
                   const std::function<void()>& action);
  // Runs `work`. If it throws, adds the message as an error; else calls Succeed(what).
  void Try(const std::function<void()>& work, const QString& what = QString());
  void DismissTop();
  QStringList messages() const;

 private:
  void Refresh();

  struct Message {
    QString text;
    QString what;
    QString label{};  // of the action's button; "": no button
    std::function<void()> action{};
  };
  void RunAction();

  std::vector<Message> messages_;  // newest last
  QLabel* text_;
  QLabel* count_;
  QToolButton* action_;
};

// Makes the error label below a field: red, wrapped, and hidden while there is no error.

QLabel* MakeErrorLabel(QWidget* parent);
// An empty text hides the label.
void ShowError(QLabel* label, const QString& text);
// The style sheet for error texts.
QString ErrorStyle();

}  // namespace midscope
