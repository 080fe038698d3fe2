// SPDX-License-Identifier: GPL-3.0-or-later
// Buttons that choose between A, B, B - A and both. The choice is Selection::compare, which all
// panels share.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/base/view_types.h"

class QToolButton;

namespace midscope {

class Selection;

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

}  // namespace midscope
