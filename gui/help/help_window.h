// SPDX-License-Identifier: GPL-3.0-or-later
// One page of help in a window of its own, which stays beside the main window.
#pragma once

#include <QDialog>

#include "gui/help/help_pages.h"

class QTextBrowser;

namespace midscope {

class HelpWindow : public QDialog {
  Q_OBJECT

 public:
  explicit HelpWindow(QWidget* parent);

  void ShowPage(const HelpPage& page, const HelpContext& context);
  // A text of its own, such as what a panel shows.
  void ShowText(const QString& title, const QString& text);
  QTextBrowser* text() const { return text_; }

 private:
  QTextBrowser* text_;
};

}  // namespace midscope
