// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/head_map_panel.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/head_map_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/head_selection.h"
#include "gui/widgets/panel_layout.h"
#include "probes/sweep/scan_effects.h"

namespace midscope {

namespace {

void ShowEffect(const Record& scan, const ScanView& view, HeadMapPlot& plot) {
  plot.ShowScan(scan, view);
  plot.SetTitle(ScanTitle(scan, view));
}

}  // namespace

HeadMapPanel::HeadMapPanel(const PanelContext& context) : Panel(context) {
  plot_ = new HeadMapPlot(this);
  quantity_ = new QComboBox(this);
  quantity_->setObjectName(QStringLiteral("map_quantity"));
  quantity_->addItem(tr("position-awareness score"));
  quantity_->setToolTip(tr("The score, or what the file's scan found"));
  quantity_->hide();
  mode_ = new QComboBox(this);
  mode_->setObjectName(QStringLiteral("map_mode"));
  mode_->addItems({tr("A"), tr("B"), tr("B − A")});
  mode_->setToolTip(tr("What the map shows (keys A, B, D)"));
  note_ = new QLabel(this);
  note_->setObjectName(QStringLiteral("map_note"));
  // A longer note does not widen the map.
  note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  note_->setToolTip(tr("Click a cell, or use the arrow keys (up: next layer), to choose a head"));
  auto* row = MakeControlRow();
  row->addWidget(new QLabel(tr("map of"), this));
  row->addWidget(quantity_);
  row->addWidget(mode_);
  row->addWidget(note_, 1);
  LayOutPanel(this, plot_, row);
  connect(mode_, &QComboBox::currentIndexChanged, this, &HeadMapPanel::Draw);
  connect(quantity_, &QComboBox::currentIndexChanged, this, &HeadMapPanel::Draw);
  connect(plot_, &HeadMapPlot::HeadChosen, selection(), &HeadSelection::Choose);
  connect(selection(), &HeadSelection::Changed, plot_, &HeadMapPlot::SelectHead);
  MakeActions();
  Draw();
}

std::vector<std::string> HeadMapPanel::Records() { return {kPositionAwarenessRecord}; }

std::vector<Plot*> HeadMapPanel::plots() const { return {plot_}; }

void HeadMapPanel::MakeActions() {
  // Single letters are shortcuts only while the map has the focus: elsewhere they are text.
  const std::pair<MapMode, QKeySequence> modes[] = {
      {MapMode::kA, Qt::Key_A}, {MapMode::kB, Qt::Key_B}, {MapMode::kDifference, Qt::Key_D}};
  const QString names[] = {tr("Map of &A"), tr("Map of &B"), tr("Map of the &difference B − A")};
  const char* const ids[] = {"map-a", "map-b", "map-difference"};
  for (size_t i = 0; i < std::size(modes); ++i) {
    auto* action = new QAction(names[i], this);
    action->setObjectName(QString::fromLatin1(ids[i]));
    action->setToolTip(tr("What the head map shows"));
    action->setShortcut(modes[i].second);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    const MapMode mode = modes[i].first;
    connect(action, &QAction::triggered, this, [this, mode] { SetMode(mode); });
    addAction(action);
  }
}

MapMode HeadMapPanel::mode() const { return static_cast<MapMode>(mode_->currentIndex()); }

void HeadMapPanel::SetMode(MapMode mode) { mode_->setCurrentIndex(static_cast<int>(mode)); }

MapMode HeadMapPanel::drawn_mode() const { return session()->differs() ? mode() : MapMode::kA; }

void HeadMapPanel::Refresh(Changes changes) {
  const bool offered =
      (changes & (Change::kModel | Change::kSampleFile | Change::kScan)) && OfferScan();
  const bool other_scan = (changes & Change::kScan) && scan();
  if (offered || other_scan || changes & (Change::kModel | Change::kPrompts | Change::kMapRecords))
    Draw();
}

bool HeadMapPanel::OfferScan() {
  const Record* record = session()->record(Side::kA, kScanRecord);
  std::vector<ScanView> views = IsHeadScan(record) ? ScanViews(record) : std::vector<ScanView>();
  if (views == scan_views_) return false;
  scan_views_ = std::move(views);
  const QSignalBlocker blocker(quantity_);
  while (quantity_->count() > 1) quantity_->removeItem(1);
  for (const ScanView& view : scan_views_) quantity_->addItem(tr("scan: %1").arg(view.name));
  quantity_->setVisible(!scan_views_.empty());
  // A file without a score was made for its scan; a scan that was started is what is looked at.
  const bool has_score = session()->record(Side::kA, kPositionAwarenessRecord) != nullptr;
  const bool keep_score = session()->shows_file() && has_score;
  quantity_->setCurrentIndex(scan_views_.empty() || keep_score ? 0 : 1);
  return true;
}

const Record* HeadMapPanel::scan() const {
  const bool chosen = quantity_->currentIndex() > 0;
  return chosen ? session()->record(Side::kA, kScanRecord) : nullptr;
}

void HeadMapPanel::Draw() {
  const Record* record = scan();
  mode_->setEnabled(!record);
  if (!record) return DrawScore();
  const ScanView& view = scan_views_[static_cast<size_t>(quantity_->currentIndex()) - 1];
  ShowEffect(*record, view, *plot_);
  plot_->SetOlderNote(QString());
  plot_->SetCaption(CaptionWith(*session(), {}));
  note_->setText(ScanValueNote(view));
}

void HeadMapPanel::DrawScore() {
  if (session()->model()) {
    plot_->SetHeadsPerKeyValueHead(session()->model()->config.heads_per_key_value_head());
  }
  plot_->SetReason(session()->shows_file() ? tr("The file has no position-awareness scores")
                                           : QString());
  const Record* a = session()->record(Side::kA, kPositionAwarenessRecord);
  const Record* b = session()->record(Side::kB, kPositionAwarenessRecord);
  const MapMode drawn = drawn_mode();
  plot_->Show(a, b, session()->record(Side::kA, kPositionRatio),
              session()->record(Side::kB, kPositionRatio), drawn);
  const RecordName name_a = NameOf(*session(), Side::kA, a);
  const RecordName name_b = NameOf(*session(), Side::kB, b);
  const RecordName name = drawn == MapMode::kA   ? name_a
                          : drawn == MapMode::kB ? name_b
                                                 : NameOfDifference(name_a, name_b);
  const bool any = plot_->layers() > 0;
  plot_->SetTitle(any ? tr("Position-awareness score — %1").arg(name.text)
                      : tr("Position-awareness score"));
  plot_->SetOlderNote(any && name.older ? name.text : QString());
  plot_->SetCaption(CaptionWith(*session(), {name}));
  note_->setText(drawn == mode() ? QString() : tr("B is the same as A: A is shown"));
}

void HeadMapPanel::Render(FilePictures& pictures) {
  const Record* scan = pictures.Find("mean_effect", {"layer", "head"}).a;
  for (const ScanView& view : ScanViews(scan)) {
    HeadMapPlot plot;
    ShowEffect(*scan, view, plot);
    plot.SelectHead(pictures.head());
    const QString place = view.place < 0 ? QString() : QStringLiteral("_%1").arg(view.place + 1);
    pictures.Write(plot, QStringLiteral("scan_") + QString::fromStdString(view.array) + place,
                   {scan, nullptr});
  }
  const RecordSides score = pictures.Find(kPositionAwarenessScore, {"layer", "head"});
  const RecordSides ratio = pictures.Find(kPositionRatio, {"layer", "head"});
  const struct {
    MapMode mode;
    const char* stem;
    bool wanted;
  } maps[] = {{MapMode::kA, "head_map", score.a != nullptr},
              {MapMode::kB, "head_map_b", score.b != nullptr},
              {MapMode::kDifference, "head_map_difference", score.a && score.b}};
  for (const auto& map : maps) {
    if (!map.wanted) continue;
    HeadMapPlot plot;
    plot.Show(score.a, score.b, ratio.a, ratio.b, map.mode);
    plot.SelectHead(pictures.head());
    plot.SetTitle(pictures.Titled(plot.title(), map.mode == MapMode::kA ? score.a : score.b,
                                  map.mode == MapMode::kDifference ? score.a : nullptr));
    pictures.Write(
        plot, QString::fromLatin1(map.stem),
        {map.mode == MapMode::kB ? nullptr : score.a, map.mode == MapMode::kA ? nullptr : score.b});
  }
}

}  // namespace midscope
