// SPDX-License-Identifier: GPL-3.0-or-later
// The last query's attention over the tokens: of the chosen head, the mean over its layer or its
// key/value group; of the pinned heads in the same plot or in plots below it, or of the chosen head
// at every place of the prompt, a plot each.
#pragma once

#include <QVector>
#include <optional>
#include <vector>

#include "gui/base/view_types.h"
#include "gui/panels/panel.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace midscope {

struct Record;
class AttentionPlot;

class AttentionPanel : public Panel {
  Q_OBJECT

 public:
  explicit AttentionPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "head"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& state) override;

  // The drawn head: the one under the pointer, else the selected one, or the nearest one of the
  // model.
  HeadId head() const { return head_; }
  AttentionPlot* plot() const { return plot_; }
  // Plots of pinned heads or of places that are not in the same plot.
  const std::vector<AttentionPlot*>& plots_below() const { return stacked_; }
  // Rows drawn beside that of the chosen head.
  enum class Beside { kPinnedOver, kPinnedBelow, kPlacesBelow };
  void SetBeside(Beside beside);

 private:
  void MakeControls();
  AttentionPlot* MakePlot();
  void Draw();
  void DrawPlot(AttentionPlot* plot, HeadId head);
  void DrawPinned();
  // As many plots below the first as there are pinned heads to be drawn there.
  void MakeStacked(size_t count);
  void ShowHead();
  void ShowBoxes(const Record* shape);
  void ShowSums();
  void ShowWindow();
  // The row of the head, or the mean that is chosen in its place.
  QVector<double> ShownRow(const Record* record, HeadId head) const;
  QString RowName(HeadId head) const;
  std::vector<AttentionPlot*> all_plots() const;
  Beside beside() const;
  // attention_places.cpp:
  void DrawPlaces();
  void DrawPlace(AttentionPlot* plot, size_t place);
  // The places without numbers under the requested settings.
  std::vector<size_t> UnseenPlaces() const;
  // Shows the places without numbers one after another, and then the one from which it began.
  void WalkPlaces();
  void ContinueWalk();

  HeadId head_;
  QVBoxLayout* column_;
  AttentionPlot* plot_;
  std::vector<AttentionPlot*> stacked_;
  QSpinBox* layer_box_;
  QSpinBox* head_box_;
  QComboBox* row_of_;
  QComboBox* pinned_form_;
  QCheckBox* logarithmic_;
  QCheckBox* linked_;
  QLabel* sums_;
  QPushButton* walk_places_;
  std::optional<size_t> walk_from_;  // a walk goes on; it ends there
};

}  // namespace midscope
