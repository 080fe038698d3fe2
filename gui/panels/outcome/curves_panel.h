// SPDX-License-Identifier: GPL-3.0-or-later
// Outcomes over a parameter (record outcome_curves), of a file that midscope curves wrote or made
// here from files of sweeps: a line per curve, with intervals; of one curve a map of parameter by
// place.
#pragma once

#include <QStringList>
#include <optional>

#include "core/base/record.h"
#include "gui/panels/panel.h"
#include "gui/session/curves_reader.h"

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

  // Curves of these files of sweeps, and of folders of them, instead of those of the session's
  // file, until another file with curves is opened. They are read in the background; unreadable
  // files are reported by Session::Failed.
  void OpenRuns(const QStringList& paths);

  LinesPlot* plot() const { return plot_; }
  RecordPlot* map() const { return map_; }

 Q_SIGNALS:
  // Emitted when files of OpenRuns were read or could not be.
  void RunsRead();

 private:
  void MakeOpenButton();
  void TakeRuns(const CurvesReader::ReplyPointer& reply);
  // Makes the record over the chosen parameter.
  void MakeCurves();
  void OfferArrays();
  QString Caption(const Record& record) const;
  void Draw();
  void DrawMap(const Record& record, const std::string& array);
  const Record* ShownRecord() const;

  LinesPlot* plot_;
  RecordPlot* map_;
  QStackedWidget* pages_;  // plot_ or map_
  QComboBox* what_;        // mean, gap or worst place, by a measure, and maps
  QComboBox* curve_;       // of a map
  QToolButton* open_;
  QComboBox* over_;  // the parameter, of opened runs
  QLabel* note_;
  QStringList paths_;  // of the opened runs
  std::vector<CurveInput> inputs_;
  std::optional<Record> made_;  // nullopt: the session's is shown
  CurvesReader reader_;         // last: it uses the panel
};

}  // namespace midscope
