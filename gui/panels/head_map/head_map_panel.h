// SPDX-License-Identifier: GPL-3.0-or-later
// A map of all heads for A, B, their difference, or all three side by side, and the same heads as a
// list. The shown quantity can be chosen: scores, quantities computed from the attention of the
// last query (gui/base/head_quantities.h), the effects of a scan, and every array [layer, head] of
// a record.
#pragma once

#include <QStringList>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/base/head_quantities.h"
#include "gui/base/view_types.h"
#include "gui/panels/head_map/ratio_painter.h"
#include "gui/panels/panel.h"
#include "gui/plots/scan_views.h"

class QAction;
class QBoxLayout;
class QCheckBox;
class QComboBox;
class QLabel;
class QToolButton;

namespace midscope {

struct HeadMap;
struct RecordName;
class HeadList;
class HeadMapPlot;

class HeadMapPanel : public Panel {
  Q_OBJECT

 public:
  // The id of the position-awareness score, the quantity that is shown first.
  static constexpr const char* kScoreId = "position_awareness/position_awareness_score";

  // The id of the position ratios. B's ratios can be edited by painting.
  static constexpr const char* kRatioId = "position_ratio/position_ratio";

  // The id of the attention on the gold passage at the shown place, mean over samples.
  static constexpr const char* kMeanGoldId = "gold_following/mean_gold_attention";

  // The id of the gold passage's share in layers with a mixer.
  static constexpr const char* kEffectiveGoldId = "effective_attention/effective_gold_share";

  explicit HeadMapPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "head_map"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  // The panel's choices, and the pinned heads and the comparison that all panels share.
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& saved) override;

  // The map of A if A and B are side by side; else the only map.
  HeadMapPlot* plot() const { return plot_; }
  HeadMapPlot* plot_of_b() const { return plot_b_; }
  HeadMapPlot* plot_of_difference() const { return plot_difference_; }
  HeadList* list() const { return list_; }
  void SetMode(Compare mode);
  // Chooses a quantity by id: "gold", "position_awareness/position_awareness_score", "scan: place
  // 1". Takes effect when that quantity exists.
  void ChooseQuantity(const std::string& id);
  std::string quantity_id() const;
  // The ids of the quantities that can be chosen now.
  QStringList quantity_ids() const;
  // Sets ratios of B and shows them. Throws Error in the same cases as RatioPainter::Set.
  void SetRatios(const std::vector<std::pair<HeadId, double>>& ratios);
  RatioPainter* painter() const { return painter_; }

  // Colour ranges by quantity id; differences have a separate range under the key "ID B - A".
  using ColourRanges = std::map<std::string, std::pair<double, double>>;
  // Sets the colour range of the shown quantity, for the maps of A and B or for that of the
  // difference; nullopt: the range of the values.
  void SetColours(std::optional<std::pair<double, double>> range, bool difference);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // A row of the box. At most one of the last three (`record` with `array` counts as one) is set;
  // if none is, the row is a heading.
  struct Entry {
    std::string id;
    QString name;
    QString help;
    QString unit;
    const AttentionQuantity* attention = nullptr;
    std::string record = {};  // contains `array` [layer, head]
    std::string array = {};
    std::optional<ScanView> scan = {};
    // For an array [place, layer, head]: whether the shown place or the mean over places is shown.
    bool at_place = false;
    bool heading() const { return !attention && record.empty() && !scan; }
    bool operator==(const Entry& other) const { return id == other.id && name == other.name; }
  };

  void MakeActions();
  void MakeMaps();
  void MakePainter();
  void MeasureSamples(bool measure);
  QString SamplesNote(const Entry& entry) const;
  bool ShowsRatios() const;
  void ApplyToRatios(RatioPainter::Edit edit);
  void Paint(const std::vector<HeadId>& heads, double change, bool dragging);
  void ShowB();
  void RefreshPainting(Compare drawn);
  QString PaintingNote() const;
  // Updates the choices. Returns whether they have changed.
  bool Offer();
  void AddScans(std::vector<Entry>& entries) const;
  void AddAttention(std::vector<Entry>& entries) const;
  void AddEffectiveAttention(std::vector<Entry>& entries) const;
  void AddArrays(std::vector<Entry>& entries) const;
  const Entry& entry() const;
  void Draw() override;
  void DrawScan(const Entry& entry);
  void DrawTables(const Entry& entry);
  HeadTable TableOf(Side side, const Entry& entry) const;
  const Record* RecordOf(Side side, const Entry& entry) const;
  HeadMap MapOf(const Entry& entry, const HeadTable& a, const HeadTable& b, Compare drawn) const;
  // Sets the colour range of the map to the one chosen for the shown quantity, if there is one.
  void UseColours(const Entry& entry, bool difference, HeadMap& map) const;
  void DrawMap(HeadMapPlot* plot, const Entry& entry, HeadMap map, const RecordName& name);
  void ShowBeside(bool shown);
  void RefreshNote(const Entry& entry, Compare drawn);
  // Why heads of A and B cannot be subtracted: other models, other sizes; "" if they can.
  QString WhyNoDifference() const;
  // The chosen mode, or kA if B has no map; kSplit instead of a difference that there is not.
  Compare drawn_mode() const;

  HeadMapPlot* plot_;
  HeadMapPlot* plot_b_;
  HeadMapPlot* plot_difference_;
  QBoxLayout* maps_;
  int room_ = 0;  // number of maps that fit side by side or below each other
  HeadList* list_;
  QToolButton* list_shown_;
  QCheckBox* over_samples_;
  QComboBox* quantity_;
  std::vector<Entry> entries_;  // the rows of the box quantity_
  std::string wanted_;          // id of the chosen quantity
  size_t scans_ = 0;            // number of scan views among the choices
  QLabel* note_;
  RatioPainter* painter_;
  QAction* square_;
  ColourRanges colours_;
  QToolButton* grouped_;
  QToolButton* edits_;
};

}  // namespace midscope
