// SPDX-License-Identifier: GPL-3.0-or-later
// A separate window that shows one help page and stays open beside the main window.
#pragma once

#include <vector>

#include <QDialog>
#include <QString>

class QTextBrowser;

namespace midscope {

// The pages of the Help menu, which are listed in help_pages.cpp. Their texts about actions, panels
// and terms are generated from the lists of these.

class ActionRegistry;

// The state that a page can show.
struct HelpContext {
  const ActionRegistry* actions = nullptr;
  QString model;  // one line per fact about the open model; "": none is open
};

struct HelpPage {
  QString id;     // "shortcuts": its action is "help-shortcuts"
  QString title;  // "&Keys, mouse and actions"
  QString help;
  QString (*html)(const HelpContext& context) = nullptr;
};

const std::vector<HelpPage>& HelpPages();

class HelpWindow : public QDialog {
  Q_OBJECT

 public:
  explicit HelpWindow(QWidget* parent);

  void ShowPage(const HelpPage& page, const HelpContext& context);
  // Shows a text that is not a page, such as the help of a panel.
  void ShowText(const QString& title, const QString& text);
  QTextBrowser* text() const { return text_; }

 private:
  QTextBrowser* text_;
};

}  // namespace midscope
