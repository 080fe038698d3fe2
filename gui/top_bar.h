// SPDX-License-Identifier: GPL-3.0-or-later
// The bar on top of the window: the model, the prompt and the place of its gold passage, Run, which
// of A and B every panel shows, and the search for actions.
#pragma once

#include <QWidget>
#include <vector>

class QKeyEvent;
class QToolButton;

namespace midscope {

class CompareSwitch;
class PlaceButtons;
class PromptPanel;
class Selection;

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
  bool two_models_ = false;
};

}  // namespace midscope
