// SPDX-License-Identifier: GPL-3.0-or-later
// Plots any array with two or more axes as a heat map or as lines, using the record's names, units
// and labels. Used for records that have no specific plot.
#pragma once

#include <QAbstractTableModel>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "gui/plots/plot.h"

namespace midscope {

enum class RecordForm { kHeatMap, kLines, kLogarithmicMap };

// Whether the array can be drawn: it is numeric and has two or more axes, none of size 0.
bool IsPicture(const Record& record, const Array& array);

class RecordPlot : public Plot {
  Q_OBJECT

 public:
  explicit RecordPlot(QWidget* parent = nullptr,
                      const QString& file_stem = QStringLiteral("record"));

  // Shows the array's last two axes, [line, along], at the indices `leading` of the axes before
  // them; empty if the record is null or the array cannot be drawn.
  void Show(const Record* record, const std::string& array, const std::vector<int64_t>& leading,
            RecordForm form);

  // Writes numbers instead of long labels below the last axis, until the next Show; tooltips and
  // the CSV keep the labels.
  void NumberAlong();

  int64_t lines() const { return rows_.size(); }
  double ValueOf(int64_t line, int64_t along) const;

  void ResetView() override;
  QString TooltipAt(const QPointF& position) const override;

 Q_SIGNALS:
  // Emitted when the user has clicked a cell of a heat map.
  void CellChosen(int64_t line, int64_t along);

 protected:
  void ClickAt(const QPointF& position) override;

 private:
  struct Cell {
    qsizetype line = 0;
    qsizetype along = 0;
  };
  // The cell of a heat map at the position, or the nearest point of lines; nullopt if there is none
  // nearby.
  std::optional<Cell> CellAt(const QPointF& position) const;
  void Clear();
  void DrawMap();
  void DrawLines();
  void UseScale(bool used);
  bool is_map() const { return form_ != RecordForm::kLines; }

  QCPColorMap* map_;
  QCPColorScale* scale_;
  RecordForm form_ = RecordForm::kHeatMap;
  bool layers_upwards_ = false;  // the lines of the map are layers, the first one at the bottom
  QString value_name_;           // including the unit
  QString line_axis_;
  QString along_axis_;
  QStringList line_labels_;
  QStringList along_labels_;
  QVector<QVector<double>> rows_;  // [line][along]
};

// Shows the arrays of a record over one axis as a table: one row per index, one column per array.

class RecordTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;

  // Shows all arrays whose only axis is `axis`; if that is "", all single values. If the record is
  // null, the table is empty.
  void Show(const Record* record, const std::string& axis);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<Array> columns_;
  QStringList places_;
};

// The list of axes that an array in such a table must have.
std::vector<std::string> TableAxes(const std::string& axis);

}  // namespace midscope
