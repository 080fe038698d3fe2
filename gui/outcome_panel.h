// SPDX-License-Identifier: GPL-3.0-or-later
// The outcome by gold place of A and B: the sample on the screen and means over samples.
#pragma once

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QSpinBox;

namespace midscope {

class OutcomePlot;
class Session;

class OutcomePanel : public QWidget {
  Q_OBJECT

 public:
  explicit OutcomePanel(Session* session, QWidget* parent = nullptr);

  OutcomePlot* plot() const { return plot_; }

 private:
  void Refresh();
  void RefreshPlace();

  Session* session_;
  OutcomePlot* plot_;
  QComboBox* measure_;
  QCheckBox* sample_;
  QCheckBox* means_;
  QSpinBox* samples_;
  QLabel* note_;
};

}  // namespace midscope
