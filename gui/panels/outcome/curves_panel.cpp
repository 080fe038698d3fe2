// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/curves_panel.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QToolButton>
#include <algorithm>

#include "core/base/record_names.h"
#include "core/base/text.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/panels/outcome/map_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/record_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/flow_layout.h"
#include "probes/measure/statistics/outcome_measures.h"

namespace midscope {
namespace {

// The arrays [curve, parameter] (or, if `axes` is 3, also with a place) that are not bounds of
// other arrays.
std::vector<std::string> DrawnArrays(const Record& record, size_t axes = 2) {
  std::vector<std::string> names;
  for (const Array& array : record.arrays) {
    const bool bound = array.name.ends_with("_low") || array.name.ends_with("_high");
    if (array.axes.size() == axes && !bound) names.push_back(array.name);
  }
  return names;
}

// The title is, for example, "answer_nll_mean over pi.ratio".
void ShowCurves(const Record& record, const std::string& array, LinesPlot& plot) {
  LinesPlot::View view;
  view.array = array;
  plot.Show(&record, view);
  plot.xAxis->setLabel(TextAttribute(record, "parameter"));
  plot.SetTitle(QObject::tr("%1 over %2")
                    .arg(QString::fromStdString(array), TextAttribute(record, "parameter")));
}

QString SweepsText(int64_t count) { return QString::fromStdString(CountText(count, "sweep")); }

}  // namespace

CurvesPanel::CurvesPanel(const PanelContext& context)
    : Panel(context),
      reader_(
          this,
          [files = files()](const QStringList& paths, const JobContext& job, const auto& deliver) {
            std::vector<std::string> given;
            given.reserve(static_cast<size_t>(paths.size()));
            for (const QString& path : paths) given.push_back(path.toStdString());
            deliver({files.Curves(given, job), {}});
          },
          [this](const QStringList& paths, const ReadCurves& read) { TakeRuns(paths, read); }) {
  plot_ = Named(new LinesPlot(this, QStringLiteral("curves")), "curves_plot");
  what_ = Named(new QComboBox(this), "curves_what", tr("What is drawn over the parameter"));
  what_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  curve_ = Named(new QComboBox(this), "curves_curve", tr("Which curve's map is drawn"));
  curve_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  map_ = Named(new RecordPlot(this, QStringLiteral("curves_map")), "curves_map");
  pages_ = new QStackedWidget(this);
  pages_->addWidget(plot_);
  pages_->addWidget(map_);
  MakeOpenButton();
  over_ = Named(new QComboBox(this), "curves_over",
                tr("The parameter along the axis; the first has the most points"));
  over_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  over_->hide();
  note_ = Named(new QLabel(this), "curves_note");
  FlowLayout* row = MakeControlFlow({open_, over_, what_, curve_, note_});
  LayOutPanel(this, pages_)->addLayout(row);
  connect(what_, &QComboBox::currentIndexChanged, this, &CurvesPanel::Draw);
  connect(curve_, &QComboBox::currentIndexChanged, this, &CurvesPanel::Draw);
  connect(over_, &QComboBox::currentIndexChanged, this, &CurvesPanel::MakeCurves);
  OfferArrays();
}

void CurvesPanel::MakeOpenButton() {
  open_ = Named(new QToolButton(this), "curves_open",
                tr("<p>Draws curves of files of midscope sweep: settings and files that differ in "
                   "one number, "
                   "as midscope curves does</p>"));
  open_->setText(tr("Open runs"));
  open_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(open_);
  menu->addAction(tr("Folder of runs…"), this, [this] {
    const QString folder = ChooseEngineFolder(this, files().link(), tr("Folder of runs"));
    if (!folder.isEmpty()) OpenRuns({folder});
  });
  const auto ask = [this] {
    return ChooseEngineFiles(this, files().link(), tr("Files of sweeps"),
                             tr("Results (*.h5);;All files (*)"));
  };
  menu->addAction(tr("Files…"), this, [this, ask] {
    const QStringList files = ask();
    if (!files.isEmpty()) OpenRuns(files);
  });
  QAction* add = menu->addAction(tr("Add files…"), this, [this, ask] {
    const QStringList files = ask();
    if (!files.isEmpty()) OpenRuns(paths_ + files);
  });
  connect(menu, &QMenu::aboutToShow, add, [this, add] { add->setEnabled(!paths_.isEmpty()); });
  open_->setMenu(menu);
}

void CurvesPanel::OpenRuns(const QStringList& paths) {
  note_->setText(tr("reading"));
  reader_.Ask(paths);
}

void CurvesPanel::TakeRuns(const QStringList& paths, const ReadCurves& read) {
  note_->clear();
  // Files without curves leave the picture unchanged.
  if (!read.failure.isEmpty()) {
    Q_EMIT session()->Failed(read.failure);
    Q_EMIT RunsRead();
    return;
  }
  paths_ = paths;
  curves_ = read.curves;
  {
    const QSignalBlocker blocker(over_);
    const QString before = over_->currentText();
    over_->clear();
    for (const std::string& name : curves_.parameters) over_->addItem(QString::fromStdString(name));
    over_->setCurrentIndex(std::max(0, over_->findText(before)));
  }
  MakeCurves();
  Q_EMIT RunsRead();
}

void CurvesPanel::MakeCurves() {
  if (curves_.curves.empty()) return;
  made_ = curves_.curves.at(static_cast<size_t>(std::max(0, over_->currentIndex())));
  OfferArrays();
}

std::vector<std::string> CurvesPanel::Records() { return {kOutcomeCurves}; }

const Record* CurvesPanel::ShownRecord() const {
  return made_ ? &*made_ : session()->record(Side::kA, kOutcomeCurves);
}

void CurvesPanel::Refresh(Changes changes) {
  if (!(changes & (Change::kModel | Change::kSampleFile))) return;
  if (session()->record(Side::kA, kOutcomeCurves)) made_.reset();
  OfferArrays();
}

void CurvesPanel::OfferArrays() {
  const Record* record = ShownRecord();
  {
    const QSignalBlocker blocker(what_);
    const QSignalBlocker curve_blocker(curve_);
    const QString before = what_->currentText();
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
      what_->setCurrentIndex(std::max(0, what_->findText(before)));
    }
    what_->setVisible(record != nullptr);
    over_->setVisible(made_.has_value());
    note_->setText(made_ ? SweepsText(curves_.files) : QString());
  }
  Draw();
}

// The session has no provenance of runs that were opened here.
QString CurvesPanel::Caption(const Record& record) const {
  if (!made_) return CaptionWith(*session(), {});
  return tr("%1; %2 and others: %3, %4")
      .arg(TextAttribute(record, "model"), TextAttribute(record, "task"), SweepsText(curves_.files),
           QString::fromStdString(CountText(IntegerAttribute(record, "samples", 0), "sample")));
}

void CurvesPanel::Draw() {
  const Record* record = ShownRecord();
  const bool is_map = record && what_->currentData().toBool();
  pages_->setCurrentWidget(is_map ? static_cast<QWidget*>(map_) : plot_);
  curve_->setVisible(is_map);
  plot_->SetReason(tr("Open runs: files of midscope sweep that differ in one number"));
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
  plot_->SetCaption(Caption(*record));
}

void CurvesPanel::DrawMap(const Record& record, const std::string& array) {
  const int64_t curve = std::max(0, curve_->currentIndex());
  map_->Show(&record, array, {curve}, RecordForm::kHeatMap);
  map_->SetCaption(Caption(record));
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
      const QString interval =
          array.ends_with("_gap") ? QString::fromLatin1(kBootstrapMethod) : QString();
      pictures.Write(plot, QStringLiteral("curves_") + QString::fromStdString(array), {}, interval);
    }
  }
  RenderMaps(pictures);
}

}  // namespace midscope
