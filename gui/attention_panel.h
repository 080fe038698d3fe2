// SPDX-License-Identifier: GPL-3.0-or-later
// The last query's attention of the chosen head, as a plot and as coloured text.
#pragma once

#include <QWidget>
#include <optional>

#include "gui/view_types.h"

class QCheckBox;
class QComboBox;
class QSpinBox;
class QTabWidget;

namespace midscope {

class AttentionPlot;
class Session;
class TokenView;

class AttentionPanel : public QWidget {
  Q_OBJECT

 public:
  explicit AttentionPanel(Session* session, QWidget* parent = nullptr);

  HeadId head() const { return head_; }
  AttentionPlot* plot() const { return plot_; }
  TokenView* tokens() const { return tokens_; }
  // The person's choice; until then it is the head that attends most to the gold passage.
  void SetHead(midscope::HeadId head);
  // Chosen when the next numbers come.
  void PreferHead(midscope::HeadId head);

 Q_SIGNALS:
  void HeadChosen(midscope::HeadId head);

 private:
  void RefreshPrompt();
  void RefreshNames();
  void Refresh();
  void RefreshTokens();
  void ShowHead(HeadId head);

  Session* session_;
  HeadId head_;
  bool chosen_ = false;
  std::optional<midscope::HeadId> preferred_;
  QTabWidget* tabs_;
  AttentionPlot* plot_;
  TokenView* tokens_;
  QSpinBox* layer_box_;
  QSpinBox* head_box_;
  QCheckBox* logarithmic_;
  QComboBox* token_side_;
};

}  // namespace midscope
