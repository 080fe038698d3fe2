// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/curves_panel.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <algorithm>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/panels/map_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/record_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/panel_layout.h"

namespace midscope {
namespace {

// The arrays [curve, parameter] (or with a place, where `axes` is 3) that are no bounds of others.
std::vector<std::string> DrawnArrays(const Record& record, size_t axes = 2) {
  std::vector<std::string> names;
  for (const Array& array : record.arrays) {
    const bool bound = array.name.ends_with("_low") || array.name.ends_with("_high");
    if (array.axes.size() == axes && !bound) names.push_back(array.name);
  }
  return names;
}

// "answer_nll_mean over pi.ratio".
void ShowCurves(const Record& record, const std::string& array, LinesPlot& plot) {
  LinesPlot::View view;
  view.array = array;
  plot.Show(&record, view);
  plot.xAxis->setLabel(TextAttribute(record, "parameter"));
  plot.SetTitle(QObject::tr("%1 over %2")
                    .arg(QString::fromStdString(array), TextAttribute(record, "parameter")));
}

}  // namespace

CurvesPanel::CurvesPanel(const PanelContext& context) : Panel(context) {
  plot_ = new LinesPlot(this);
  plot_->setObjectName(QStringLiteral("curves_plot"));
  what_ = new QComboBox(this);
  what_->setObjectName(QStringLiteral("curves_what"));
  what_->setToolTip(tr("What is drawn over the parameter"));
  what_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  curve_ = new QComboBox(this);
  curve_->setObjectName(QStringLiteral("curves_curve"));
  curve_->setToolTip(tr("Which curve's map is drawn"));
  curve_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  map_ = new RecordPlot(this, QStringLiteral("curves_map"));
  map_->setObjectName(QStringLiteral("curves_map"));
  pages_ = new QStackedWidget(this);
  pages_->addWidget(plot_);
  pages_->addWidget(map_);
  FlowLayout* row = MakeControlFlow();
  row->addWidget(what_);
  row->addWidget(curve_);
  LayOutPanel(this, pages_, row);
  connect(what_, &QComboBox::currentIndexChanged, this, &CurvesPanel::Draw);
  connect(curve_, &QComboBox::currentIndexChanged, this, &CurvesPanel::Draw);
  Draw();
}

std::vector<std::string> CurvesPanel::Records() { return {kOutcomeCurves}; }

const Record* CurvesPanel::ShownRecord() const {
  return session()->record(Side::kA, kOutcomeCurves);
}

void CurvesPanel::Refresh(Changes changes) {
  if (!(changes & (Change::kModel | Change::kSampleFile))) return;
  const Record* record = ShownRecord();
  {
    const QSignalBlocker blocker(what_);
    const QSignalBlocker curve_blocker(curve_);
    what_->clear();
    curve_->clear();
    if (record) {
      for (const std::string& name : DrawnArrays(*record)) {
        what_->addItem(QString::fromStdString(name), false);
      }
      for (const std::string& name : DrawnArrays(*record, 3)) {
        what_->addItem(tr("%1 by place").arg(QString::fromStdString(name)), true);
      }
      curve_->addItems(AxisLabels(*record, "curve"));
    }
    what_->setVisible(record != nullptr);
  }
  Draw();
}

void CurvesPanel::Draw() {
  const Record* record = ShownRecord();
  const bool is_map = record && what_->currentData().toBool();
  pages_->setCurrentWidget(is_map ? static_cast<QWidget*>(map_) : plot_);
  curve_->setVisible(is_map);
  plot_->SetReason(tr("Open a file of midscope curves"));
  if (is_map) {
    const auto lines = static_cast<int>(DrawnArrays(*record).size());
    DrawMap(*record,
            DrawnArrays(*record, 3).at(static_cast<size_t>(what_->currentIndex() - lines)));
    return;
  }
  if (!record || what_->currentIndex() < 0) {
    plot_->Show(nullptr, {});
    return;
  }
  ShowCurves(*record, what_->currentText().toStdString(), *plot_);
  plot_->SetCaption(CaptionWith(*session(), {}));
}

void CurvesPanel::DrawMap(const Record& record, const std::string& array) {
  const int64_t curve = std::max(0, curve_->currentIndex());
  map_->Show(&record, array, {curve}, RecordForm::kHeatMap);
  map_->SetCaption(CaptionWith(*session(), {}));
}

std::vector<Plot*> CurvesPanel::plots() const {
  if (!ShownRecord()) return {};
  if (pages_->currentWidget() == map_) return {map_};
  return {plot_};
}

void CurvesPanel::Render(FilePictures& pictures) {
  for (const Record& record : pictures.records()) {
    if (record.name != kOutcomeCurves) continue;
    for (const std::string& array : DrawnArrays(record)) {
      LinesPlot plot;
      ShowCurves(record, array, plot);
      pictures.Write(plot, QStringLiteral("curves_") + QString::fromStdString(array));
    }
  }
  RenderMaps(pictures);
}

}  // namespace midscope
