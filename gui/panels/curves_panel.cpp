// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/curves_panel.h"

#include <QComboBox>
#include <QSignalBlocker>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/panel_layout.h"

namespace midscope {
namespace {

// The arrays [curve, parameter] that are no bounds of others.
std::vector<std::string> DrawnArrays(const Record& record) {
  std::vector<std::string> names;
  for (const Array& array : record.arrays) {
    const bool bound = array.name.ends_with("_low") || array.name.ends_with("_high");
    if (array.axes.size() == 2 && !bound) names.push_back(array.name);
  }
  return names;
}

// "answer_nll_mean over pi.ratio".
void ShowCurves(const Record& record, const std::string& array, LinesPlot& plot) {
  LinesPlot::View view;
  view.array = array;
  plot.Show(&record, view);
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
  FlowLayout* row = MakeControlFlow();
  row->addWidget(what_);
  LayOutPanel(this, plot_, row);
  connect(what_, &QComboBox::currentIndexChanged, this, &CurvesPanel::Draw);
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
    what_->clear();
    if (record) {
      for (const std::string& name : DrawnArrays(*record))
        what_->addItem(QString::fromStdString(name));
    }
    what_->setVisible(record != nullptr);
  }
  Draw();
}

void CurvesPanel::Draw() {
  const Record* record = ShownRecord();
  plot_->SetReason(tr("Open a file of midscope curves"));
  if (!record || what_->currentIndex() < 0) {
    plot_->Show(nullptr, {});
    return;
  }
  ShowCurves(*record, what_->currentText().toStdString(), *plot_);
  plot_->SetCaption(CaptionWith(*session(), {}));
}

std::vector<Plot*> CurvesPanel::plots() const {
  return ShownRecord() ? std::vector<Plot*>{plot_} : std::vector<Plot*>();
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
}

}  // namespace midscope
