// SPDX-License-Identifier: GPL-3.0-or-later
// The map of heads, of A, of B, of their difference, or all three beside each other, and the same
// heads as a list. What it shows is chosen: scores, what follows from the attention of the last
// query (gui/base/head_quantities.h), a scan's effects, and every array [layer, head] of a record.
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
  // The id of the position-awareness score, which is shown first.
  static constexpr const char* kScoreId = "position_awareness/position_awareness_score";

  // The id of the position ratios; those of B can be painted.
  static constexpr const char* kRatioId = "position_ratio/position_ratio";

  explicit HeadMapPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static std::string StateKey() { return "head_map"; }
  static void CheckState(const JsonFields& session);
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  // The panel's choices, and the pinned heads and the compared settings of all panels.
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& saved) override;

  // The map of A where A and B are side by side; else the only one.
  HeadMapPlot* plot() const { return plot_; }
  HeadMapPlot* plot_of_b() const { return plot_b_; }
  HeadMapPlot* plot_of_difference() const { return plot_difference_; }
  HeadList* list() const { return list_; }
  void SetMode(Compare mode);
  // The id of a quantity: "gold", "position_awareness/position_awareness_score", "scan: place 1".
  // Without effect until there is one.
  void ChooseQuantity(const std::string& id);
  std::string quantity_id() const;
  // The ids of what can be chosen now.
  QStringList quantity_ids() const;
  // Sets ratios of B and shows them. Throws Error as RatioPainter::Set.
  void SetRatios(const std::vector<std::pair<HeadId, double>>& ratios);
  RatioPainter* painter() const { return painter_; }

  // Ranges of colours by what is shown; differences have their own, named "ID B - A".
  using ColourRanges = std::map<std::string, std::pair<double, double>>;
  // The ends of the colours of what is shown, of the maps of A and B or of that of the difference;
  // nullopt: those of the values.
  void SetColours(std::optional<std::pair<double, double>> range, bool difference);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  // A row of the box. Exactly one of the last three is set; none: a heading.
  struct Entry {
    std::string id;
    QString name;
    QString help;
    QString unit;
    const AttentionQuantity* attention = nullptr;
    std::string record = {};  // with its array [layer, head]
    std::string array = {};
    std::optional<ScanView> scan = {};
    bool heading() const { return !attention && record.empty() && !scan; }
    bool operator==(const Entry& other) const { return id == other.id && name == other.name; }
  };

  void MakeActions();
  void MakeMaps();
  void MakePainter();
  bool ShowsRatios() const;
  void ApplyToRatios(RatioPainter::Edit edit);
  void Paint(const std::vector<HeadId>& heads, double change, bool dragging);
  void ShowB();
  void RefreshPainting(Compare drawn);
  QString PaintingNote() const;
  // Whether there is something else to choose from now.
  bool Offer();
  void AddScans(std::vector<Entry>& entries) const;
  void AddAttention(std::vector<Entry>& entries) const;
  void AddArrays(std::vector<Entry>& entries) const;
  const Entry& entry() const;
  void Draw();
  void DrawScan(const Entry& entry);
  void DrawTables(const Entry& entry);
  HeadTable TableOf(Side side, const Entry& entry) const;
  const Record* RecordOf(Side side, const Entry& entry) const;
  HeadMap MapOf(const Entry& entry, const HeadTable& a, const HeadTable& b, Compare drawn) const;
  // The chosen colours of what is shown, else those of the map.
  void UseColours(const Entry& entry, bool difference, HeadMap& map) const;
  void DrawMap(HeadMapPlot* plot, const Entry& entry, HeadMap map, const RecordName& name,
               bool beside);
  void ShowBeside(bool shown);
  void RefreshNote(const Entry& entry, Compare drawn);
  // The chosen mode; kA where B has no map.
  Compare drawn_mode() const;

  HeadMapPlot* plot_;
  HeadMapPlot* plot_b_;
  HeadMapPlot* plot_difference_;
  QBoxLayout* maps_;
  bool has_room_ = false;  // for three maps, beside or below each other
  HeadList* list_;
  QToolButton* list_shown_;
  QComboBox* quantity_;
  std::vector<Entry> entries_;  // the rows of quantity_
  std::string wanted_;          // id of the chosen quantity
  size_t scans_ = 0;            // number of views of a scan that are offered
  QLabel* note_;
  RatioPainter* painter_;
  QAction* square_;
  ColourRanges colours_;
  QToolButton* grouped_;
  QToolButton* edits_;
};

}  // namespace midscope
