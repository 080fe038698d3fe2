// SPDX-License-Identifier: GPL-3.0-or-later
// All records that have no panel of their own, those of plugins among them: arrays over one axis as
// a table, others as a heat map or lines. Everything that is written comes from the record.
#pragma once

#include <QWidget>
#include <functional>
#include <string>
#include <vector>

#include "gui/base/view_types.h"
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
class Session;

class RecordPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RecordPanel(Session* session, QWidget* parent = nullptr);

  RecordPlot* plot() const { return plot_; }
  RecordTable* table() const { return table_; }
  // What can be chosen, as the box says it: "attention_entropy: entropy [layer, head]".
  QStringList choices() const;
  void Choose(const QString& choice);
  bool shows_picture() const { return shows_picture_; }

 private:
  // A table where `array` is empty, else a picture.
  struct Choice {
    std::string record;
    std::string axis;
    std::string array;
    QString text;
    bool operator==(const Choice&) const = default;
  };
  static void AddChoices(const Record& record, std::vector<Choice>& choices);

  void MakeProbes();
  // Runs something that throws Error; the session tells its message.
  void Try(const std::function<void()>& work);
  void Refresh();
  Side ShownSide() const;
  void ShowChosen();
  void MakePlaceBoxes(const Record& record, const Array& array);
  void ShowPicture(const Record& record, const Array& array);
  void RefreshNote(const Record* record);

  Session* session_;
  std::vector<Choice> choices_;
  QComboBox* choice_;
  QComboBox* side_;
  QComboBox* form_;
  QHBoxLayout* place_row_;
  std::vector<std::string> place_axes_;  // what the boxes below are for
  std::vector<QSpinBox*> place_boxes_;
  std::vector<QWidget*> place_widgets_;  // those and their labels
  QStackedWidget* pages_;
  RecordPlot* plot_;
  QTableView* table_view_;
  RecordTable* table_;
  QLabel* note_;
  ProbeForm* probes_;
  QToolButton* probes_shown_;
  bool shows_picture_ = false;
};

}  // namespace midscope
