// SPDX-License-Identifier: GPL-3.0-or-later
// The outcome by gold place of A and B, or of a file's settings: the sample on the screen, means
// over samples, and published lines beside them.
#pragma once

#include <QWidget>

class QCheckBox;
class QComboBox;
class QLabel;
class QSpinBox;

namespace midscope {

class OutcomePlot;
class ReferenceRow;
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
  ReferenceRow* reference_;
};

}  // namespace midscope
