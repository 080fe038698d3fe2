// SPDX-License-Identifier: GPL-3.0-or-later
// A separate window that shows one help page and stays open beside the main window.
#pragma once

#include <QDialog>
#include <QObject>
#include <QPointer>
#include <QString>
#include <QWidget>
#include <functional>
#include <vector>

class QFrame;
class QLabel;
class QPushButton;
class QTextBrowser;

namespace midscope {

// The pages of the Help menu, which are listed in help_window.cpp. Their texts about actions,
// panels and terms are generated from the lists of these.

class ActionRegistry;
class DockArea;

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

// A tour of a window: notes beside its real controls, one after the other. The window stays usable.

struct TourStep {
  QString title;
  QString text;
  // Brings the step's widget into sight and returns it.
  std::function<QWidget*()> show;
};

class Tour : public QObject {
  Q_OBJECT

 public:
  Tour(std::vector<TourStep> steps, QWidget* window);

  // Shows a step, counted from 0; beyond the last one, ends the tour.
  void Show(int step);
  void End();
  // -1: the tour does not run.
  int step() const { return step_; }
  const std::vector<TourStep>& steps() const { return steps_; }
  // The widget of the shown step; null if the tour does not run.
  QWidget* target() const { return target_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void Place();

  std::vector<TourStep> steps_;
  QWidget* window_;
  QPointer<QWidget> target_;
  QFrame* frame_;  // around the target
  QFrame* note_;
  QLabel* text_;
  QPushButton* back_;
  QPushButton* next_;
  int step_ = -1;
};

// The tour of the window's first findings: its texts and the widgets that they are beside.
Tour* MakeTour(QWidget* window, DockArea* docks, QWidget* answers);

}  // namespace midscope
