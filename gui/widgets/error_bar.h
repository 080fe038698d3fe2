// SPDX-License-Identifier: GPL-3.0-or-later
// Shows errors until they are dismissed: the newest first, with their number.
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

  // Adds an error, unless it is shown already.
  void Add(const QString& message);
  // Runs `work` and adds the message of what it throws.
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
