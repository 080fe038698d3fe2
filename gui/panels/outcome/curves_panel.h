// SPDX-License-Identifier: GPL-3.0-or-later
// Plots outcomes against a parameter (record outcome_curves), from a file that midscope curves
// wrote, or computed here from sweep files: one line per curve, with intervals, or a map of
// parameter by place for one curve.
#pragma once

#include <QStringList>
#include <optional>

#include "core/base/record.h"
#include "gui/base/newest_reply.h"
#include "gui/panels/panel.h"
#include "probes/client/result_files.h"

class QComboBox;
class QLabel;
class QStackedWidget;
class QToolButton;

namespace midscope {

class LinesPlot;
class RecordPlot;

class CurvesPanel : public Panel {
  Q_OBJECT

 public:
  explicit CurvesPanel(const PanelContext& context);

  static std::vector<std::string> Records();
  static void Render(FilePictures& pictures);
  void Refresh(Changes changes) override;
  std::vector<Plot*> plots() const override;

  // Shows the curves of these sweep files and of the sweeps in these folders, instead of those of
  // the session's file, until another file with curves is opened. The files are read in the
  // background; Session::Failed reports unreadable files.
  void OpenRuns(const QStringList& paths);

  LinesPlot* plot() const { return plot_; }
  RecordPlot* map() const { return map_; }

 Q_SIGNALS:
  // Emitted when the files of OpenRuns were read, or could not be read.
  void RunsRead();

 private:
  void MakeOpenButton();
  struct ReadCurves {
    FileCurves curves;
    QString failure;  // empty: none
  };
  void TakeRuns(const QStringList& paths, const ReadCurves& read);
  // Makes the record of curves over the chosen parameter.
  void MakeCurves();
  void OfferArrays();
  QString Caption(const Record& record) const;
  void Draw() override;
  void DrawMap(const Record& record, const std::string& array);
  const Record* ShownRecord() const;

  LinesPlot* plot_;
  RecordPlot* map_;
  QStackedWidget* pages_;  // shows plot_ or map_
  QComboBox* what_;        // mean, gap or worst place of a measure, and maps
  QComboBox* curve_;       // the curve shown as a map
  QToolButton* open_;
  QComboBox* over_;  // the parameter on the axis, for opened runs
  QLabel* note_;
  QStringList paths_;           // of the opened runs
  FileCurves curves_;           // of the opened runs
  std::optional<Record> made_;  // nullopt: the session's record is shown
  // Statistics of sweep files take seconds. Last member: it uses the panel.
  NewestReply<QStringList, ReadCurves> reader_;
};

}  // namespace midscope
