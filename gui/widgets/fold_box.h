// SPDX-License-Identifier: GPL-3.0-or-later
// A heading that shows or hides the content below it.
#pragma once

#include <QWidget>

class QToolButton;

namespace midscope {

class FoldBox : public QWidget {
  Q_OBJECT

 public:
  // Initially folded. Takes ownership of `content`.
  FoldBox(const QString& title, QWidget* content, QWidget* parent = nullptr);

  void SetTitle(const QString& title);
  // Sets whether the heading is highlighted because something in the content was changed.
  void SetChanged(bool changed);
  bool changed() const { return changed_; }
  QString title() const;
  void SetOpen(bool open);
  bool open() const;
  QToolButton* heading() const { return heading_; }

 Q_SIGNALS:
  void Toggled(bool open);

 private:
  QToolButton* heading_;
  QWidget* content_;
  bool changed_ = false;
};

}  // namespace midscope
