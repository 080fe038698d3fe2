// SPDX-License-Identifier: GPL-3.0-or-later
// The bar on top of the window: the model, the prompt and the place of its gold passage, Run, which
// of A and B every panel shows, and the search for actions.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/base/view_types.h"

class QComboBox;
class QHBoxLayout;
class QKeyEvent;
class QToolButton;

namespace midscope {

class CompareSwitch;
class PlaceButtons;
class PromptPanel;
class Selection;

// Shows the entries of a combo box as buttons in a row if there are few, else the box itself.

class PlaceButtons : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kMostButtons = 7;

  // Takes the box into this widget. A button's text is its entry without what follows two spaces
  // and a bracket, and its tooltip is the whole entry.
  explicit PlaceButtons(QComboBox* box, QWidget* parent = nullptr);

  // Shows the present entries of the box. Called after they were changed with signals blocked.
  void Refresh();

 private:
  void ShowCurrent();

  QComboBox* box_;
  QHBoxLayout* row_;
  std::vector<QToolButton*> buttons_;
};

// Buttons that choose between A, B, B - A and both. The choice is Selection::compare, which all
// panels share.

class CompareSwitch : public QWidget {
  Q_OBJECT

 public:
  explicit CompareSwitch(Selection* selection, QWidget* parent = nullptr);

  // Shows the names of two models beside A and B; empty: A and B are settings of one model.
  void SetModels(const QString& a, const QString& b);

 private:
  void Show(midscope::Compare compare);

  std::vector<QToolButton*> buttons_;  // in the order of the enum Compare
};

class TopBar : public QWidget {
  Q_OBJECT

 public:
  // Takes the boxes for sample and place and the button Run from the prompt panel.
  TopBar(PromptPanel* prompt, Selection* selection, QWidget* parent = nullptr);

  // `label`: the open model with its dtype; "": none is open.
  void ShowModel(const QString& label);
  // Shows the names of two models beside A and B (CompareSwitch::SetModels).
  void ShowSides(const QString& a, const QString& b);
  // Shows the prompt that the prompt panel describes.
  void ShowPrompt();
  // Shows the places of the prompts.
  void ShowPlaces();
  // Shows or hides the prompt's controls and Run; a file without a model has no use for them.
  void OfferPrompt(bool offered);

 Q_SIGNALS:
  // Emitted when the form of the model or of the prompt is to be shown at this position of the
  // screen.
  void FormRequested(const QString& id, const QPoint& position);
  void OwnTextRequested();
  void RunRequested();
  void SearchRequested();

 protected:
  // Enter in a field runs the prompt.
  void keyPressEvent(QKeyEvent* event) override;

  void resizeEvent(QResizeEvent* event) override;

 private:
  void FitTexts();
  QToolButton* MakeButton(const char* name, const QString& help);
  void FillPrompts();

  PromptPanel* prompt_panel_;
  QToolButton* model_;
  QToolButton* prompt_;
  QString model_text_;
  QString prompt_text_;
  std::vector<QWidget*> labels_;  // hidden in a narrow window
  PlaceButtons* places_;
  CompareSwitch* switch_;
};

}  // namespace midscope
