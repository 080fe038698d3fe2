// SPDX-License-Identifier: GPL-3.0-or-later
// The last query's attention over the tokens, for the chosen head or the mean over its layer or
// key/value group. Pinned heads are drawn in the same plot or in plots below it; or the chosen head
// is drawn at every place of the prompt, one plot per place.
#pragma once

#include <QVector>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "gui/base/view_types.h"
#include "gui/panels/panel.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;
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

  // The head that is drawn: the one under the pointer, else the selected one, clamped to the heads
  // of the model.
  HeadId head() const { return head_; }
  AttentionPlot* plot() const { return plot_; }
  // The plots below the first, for pinned heads or for places.
  const std::vector<AttentionPlot*>& plots_below() const { return stacked_; }
  // Which attention rows are drawn in addition to the row of the chosen head, and where.
  enum class Beside { kPinnedOver, kPinnedBelow, kPlacesBelow };
  void SetBeside(Beside beside);

 private:
  void MakeControls();
  AttentionPlot* MakePlot(QVBoxLayout* column);
  void MakeStack();
  void Draw() override;
  void DrawPlot(AttentionPlot* plot, HeadId head);
  void DrawPinned();
  // Makes `count` plots below the first one.
  void MakeStacked(size_t count);
  void ShowHead();
  void ShowBoxes(const Record* shape);
  void ShowSums();
  // The attention row of the head, or of the mean that is shown instead of it.
  QVector<double> ShownRow(const Record* record, HeadId head) const;
  // The attention row of the head or mean, indexed by the tokens of the record's model.
  QVector<double> RowOf(const Record* record, HeadId head) const;
  QString RowName(HeadId head) const;
  std::vector<AttentionPlot*> all_plots() const;
  Beside beside() const;
  // Defined in attention_places.cpp:
  void DrawPlaces();
  void DrawPlace(AttentionPlot* plot, size_t place);
  // The places that have no attention record under the requested settings.
  std::vector<size_t> UnseenPlaces() const;
  // Shows the places without attention records one after another, so that each is run, then returns
  // to the place where it started.
  void WalkPlaces();
  void ContinueWalk();

  void ReconsiderHead();

  // Task or own text, and the gold passage in it.
  using PromptKey = std::tuple<std::string, std::string, int64_t, int64_t>;

  HeadId head_;
  std::optional<PromptKey> head_is_of_;
  QVBoxLayout* column_;
  AttentionPlot* plot_;
  QScrollArea* stack_;         // of the plots below the first one
  QVBoxLayout* stack_column_;  // inside it
  std::vector<AttentionPlot*> stacked_;
  QSpinBox* layer_box_;
  QSpinBox* head_box_;
  QComboBox* row_of_;
  QComboBox* pinned_form_;
  QCheckBox* logarithmic_;
  QCheckBox* linked_;
  QLabel* sums_;
  QPushButton* walk_places_;
  std::optional<size_t> walk_from_;  // start of the walk, where it ends; nullopt: no walk
};

}  // namespace midscope
