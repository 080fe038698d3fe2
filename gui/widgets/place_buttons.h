// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the entries of a combo box as buttons in a row if there are few, else the box itself.
#pragma once

#include <QWidget>
#include <vector>

class QComboBox;
class QHBoxLayout;
class QToolButton;

namespace midscope {

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

}  // namespace midscope
