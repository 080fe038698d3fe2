// SPDX-License-Identifier: GPL-3.0-or-later
// How the second model was tuned: a switch and a slider for the scale of its LoRA adapter, and the
// setting that midscope_recipe.json names, with a button that gives it to A and B. Hidden unless
// the second model has an adapter or a recipe.
#pragma once

#include <QString>
#include <QWidget>

class QCheckBox;
class QPushButton;
class QSlider;

namespace midscope {

class ElidedLabel;
class Session;
class SettingHistory;

class AdapterBar : public QWidget {
  Q_OBJECT

 public:
  AdapterBar(Session* session, SettingHistory* history, QWidget* parent = nullptr);

  // Opens the second model anew with this factor of its adapter; 0: without it. Throws Error
  // (usage) if it has none.
  void SetScale(double scale);

 Q_SIGNALS:
  void Failed(const QString& why);
  void Offered(bool adapter);  // whether the second model has one

 private:
  void Refresh();
  void ReadRecipe();
  void UseSetting();

  Session* session_;
  SettingHistory* history_;
  QCheckBox* on_;
  QSlider* scale_;
  ElidedLabel* note_;
  QPushButton* use_;
  double last_scale_ = 1;  // of the adapter that is on, or was
  QString recipe_;         // as text; "": none
  QString setting_;        // of the recipe; "": none
};

}  // namespace midscope
