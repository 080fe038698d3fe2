// SPDX-License-Identifier: GPL-3.0-or-later
// Shows records that no other panel shows: arrays over one axis as a
// table, others as a heat map or lines. All labels come from the record.
#pragma once

#include <string>
#include <vector>

#include "gui/base/view_types.h"
#include "gui/panels/panel.h"
#include "gui/plots/record_plot.h"

class QComboBox;
class QHBoxLayout;
class QLabel;
class QSpinBox;
class QStackedWidget;
class QTableView;
class QToolButton;

namespace midscope {

class ProbeForm;
class RecordTable;

class RecordPanel : public Panel {
  Q_OBJECT

 public:
  explicit RecordPanel(const PanelContext& context);

  static std::string StateKey() { return "probes"; }
  static void CheckState(const JsonFields& session);
  // Draws the two-dimensional arrays of records that no other panel shows.
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;
  nlohmann::json State() const override;
  void Restore(const nlohmann::json& state) override;

  RecordPlot* plot() const { return plot_; }
  RecordTable* table() const { return table_; }
  // The entries of the box by identifier, such as "attention_entropy: entropy [layer, head]"; the
  // box displays titles().
  QStringList choices() const;
  QStringList titles() const;
  void Choose(const QString& choice);
  bool shows_picture() const { return chosen().array != nullptr; }

 private:
  // An entry of the box: a table if `array` is empty, else a plot.
  struct Choice {
    std::string record;
    std::string axis;
    std::string array;
    QString text;   // identifiers; unambiguous
    QString title;  // in words
    bool operator==(const Choice&) const = default;
  };
  // The chosen array and its record; null if the session lacks them.
  struct Chosen {
    Choice choice;
    const Record* record = nullptr;
    const Array* array = nullptr;
  };
  Chosen chosen() const;
  static void AddChoices(const Record& record, std::vector<Choice>& choices);

  void MakeProbes();
  void OfferProbes();
  void OfferRecords();
  Side ShownSide() const;
  void Draw() override;
  void MakePlaceBoxes(const Record& record, const Array& array);
  void ShowPicture(const Record& record, const Array& array);
  void RefreshNote(const Record* record);

  std::vector<Choice> choices_;
  QComboBox* choice_;
  QComboBox* side_;
  QComboBox* form_;
  QHBoxLayout* place_row_;
  std::vector<std::string> place_axes_;  // axes of the index boxes below the plot
  std::vector<QSpinBox*> place_boxes_;
  std::vector<QWidget*> place_widgets_;  // the boxes and their labels
  QStackedWidget* pages_;
  RecordPlot* plot_;
  QTableView* table_view_;
  RecordTable* table_;
  QLabel* note_;
  ProbeForm* probes_;
  QToolButton* probes_shown_;
};

}  // namespace midscope
