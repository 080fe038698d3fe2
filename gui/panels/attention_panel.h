// SPDX-License-Identifier: GPL-3.0-or-later
// The last query's attention of the chosen head, as a plot and as coloured text.
#pragma once

#include <QWidget>

#include "gui/base/view_types.h"

class QCheckBox;
class QComboBox;
class QSpinBox;
class QTabWidget;

namespace midscope {

class AttentionPlot;
class HeadSelection;
class Session;
class TokenView;

class AttentionPanel : public QWidget {
  Q_OBJECT

 public:
  AttentionPanel(Session* session, HeadSelection* selection, QWidget* parent = nullptr);

  // The drawn head: the selected one, or the nearest one of the model.
  HeadId head() const { return head_; }
  AttentionPlot* plot() const { return plot_; }
  TokenView* tokens() const { return tokens_; }

 private:
  void RefreshPrompt();
  void Refresh();
  void RefreshTokens();
  void ShowHead();

  Session* session_;
  HeadSelection* selection_;
  HeadId head_;
  QTabWidget* tabs_;
  AttentionPlot* plot_;
  TokenView* tokens_;
  QSpinBox* layer_box_;
  QSpinBox* head_box_;
  QCheckBox* logarithmic_;
  QComboBox* token_side_;
};

}  // namespace midscope
