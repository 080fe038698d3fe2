// SPDX-License-Identifier: GPL-3.0-or-later
// Errors that stay until they are dismissed: the newest on top, with how many there are.
#pragma once

#include <QFrame>
#include <QStringList>
#include <functional>

class QLabel;
class QToolButton;

namespace midscope {

class ErrorBar : public QFrame {
  Q_OBJECT

 public:
  explicit ErrorBar(QWidget* parent = nullptr);

  // An error that is on the bar already is not repeated.
  void Add(const QString& message);
  // Runs `work`; what it throws is added.
  void Try(const std::function<void()>& work);
  void DismissTop();
  const QStringList& messages() const { return messages_; }

 private:
  void Refresh();

  QStringList messages_;  // newest last
  QLabel* text_;
  QLabel* count_;
};

}  // namespace midscope
