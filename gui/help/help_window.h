// SPDX-License-Identifier: GPL-3.0-or-later
// One page of help in a window of its own, which stays beside the main window.
#pragma once

#include <vector>

#include <QDialog>
#include <QString>

class QTextBrowser;

namespace midscope {

// The pages of the Help menu, one entry each in the list in help_pages.cpp. What they say of
// actions, panels and terms comes from the lists of these.

class ActionRegistry;

// State that a page may show.
struct HelpContext {
  const ActionRegistry* actions = nullptr;
  QString model;  // one line for each fact of the open model; "": none is open
};

struct HelpPage {
  QString id;     // "first-look": its action is "help-first-look"
  QString title;  // "&First look"
  QString help;
  QString (*html)(const HelpContext& context) = nullptr;
};

const std::vector<HelpPage>& HelpPages();

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
