// SPDX-License-Identifier: GPL-3.0-or-later
// Shows errors, the newest first, with their number, until they are dismissed or until what failed
// has succeeded.
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

  // Adds an error, unless it is shown already. `what` failed: Succeed of it takes the error away;
  // empty: it stays until it is dismissed.
  void Add(const QString& message, const QString& what = QString());
  void Succeed(const QString& what);
  // Puts a button beside the error of that message, which runs `action` and takes the error away.
  void OfferAction(const QString& message, const QString& label,
                   const std::function<void()>& action);
  // Runs `work` and adds the message of what it throws; else Succeed(what).
  void Try(const std::function<void()>& work, const QString& what = QString());
  void DismissTop();
  QStringList messages() const;

 private:
  void Refresh();

  struct Message {
    QString text;
    QString what;
    QString label{};  // of its action; "": it has none
    std::function<void()> action{};
  };
  void RunAction();

  std::vector<Message> messages_;  // newest last
  QLabel* text_;
  QLabel* count_;
  QToolButton* action_;
};

// The error below a field: red, wrapped, hidden where there is none.

QLabel* MakeErrorLabel(QWidget* parent);
// An empty text hides the label.
void ShowError(QLabel* label, const QString& text);
// The style sheet of a text that is an error.
QString ErrorStyle();

}  // namespace midscope
