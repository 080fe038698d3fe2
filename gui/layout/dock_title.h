// SPDX-License-Identifier: GPL-3.0-or-later
// The title of a dock: its name, and small buttons for help, tearing off and closing. A double
// click lets the panel fill the window's area of docks.
#pragma once

#include <QWidget>

class QDockWidget;
class QLabel;
class QToolButton;

namespace midscope {

class DockTitle : public QWidget {
  Q_OBJECT

 public:
  // `help`: what the panel shows, as the tooltip; "": no help button.
  DockTitle(QDockWidget* dock, const QString& help);

 Q_SIGNALS:
  void WholeAsked();
  void HelpAsked();

 protected:
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  QToolButton* Button(const QString& text, const QString& name, const QString& tooltip);

  QDockWidget* dock_;
  QLabel* text_;
};

}  // namespace midscope
