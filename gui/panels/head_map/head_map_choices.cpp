// SPDX-License-Identifier: GPL-3.0-or-later
// HeadMapPanel: the list of quantities that the map can show.
#include <algorithm>
#include <map>
#include <utility>

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <QToolButton>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/terms/terms.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/head_map/ratio_painter.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"
#include "probes/sweep/scan_effects.h"

namespace midscope {
namespace {

constexpr char kAllPlaces[] = ", all places";

}  // namespace

// The mean that belongs to the shown quantity is chosen with the means.
void HeadMapPanel::MeasureSamples(bool measure) {
  static const std::map<std::string, std::string> means = {
      {kScoreId, "position_awareness_by_place/mean_position_awareness_score"},
      {kEffectiveGoldId, "effective_attention_by_place/mean_effective_gold_share"},
      {"answer_attribution/answer_attribution",
       "answer_attribution_by_place/mean_answer_attribution"}};
  if (measure) {
    const auto mean = means.find(entry().id);
    ChooseQuantity(mean == means.end() ? kMeanGoldId : mean->second);
  } else {
    ChooseQuantity(kScoreId);
  }
  session()->SetSampleProbesWanted(measure);
}

QString HeadMapPanel::SamplesNote(const Entry& entry) const {
  const Record* record = RecordOf(Side::kA, entry);
  if (entry.array.empty() || !record || !record->attributes.contains("samples")) return {};
  const int64_t samples = IntegerAttribute(*record, "samples", 0);
  return IntegerAttribute(*record, "complete", 1) != 0
             ? tr("mean over %1 samples").arg(samples)
             : tr("mean over %1 of %2 samples so far").arg(samples).arg(session()->samples());
}

void HeadMapPanel::ChooseQuantity(const std::string& id) {
  wanted_ = id;
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].heading() && entries_[i].id == id) {
      quantity_->setCurrentIndex(static_cast<int>(i));
    }
  }
}

std::string HeadMapPanel::quantity_id() const { return entry().id; }

QStringList HeadMapPanel::quantity_ids() const {
  QStringList ids;
  for (const Entry& each : entries_) {
    if (!each.heading()) ids << QString::fromStdString(each.id);
  }
  return ids;
}

const HeadMapPanel::Entry& HeadMapPanel::entry() const {
  const auto index = static_cast<size_t>(std::max(quantity_->currentIndex(), 0));
  return entries_.at(std::min(index, entries_.size() - 1));
}

void HeadMapPanel::AddScans(std::vector<Entry>& entries) const {
  const Record* record = session()->record(Side::kA, kScanRecord);
  if (!IsHeadScan(record)) return;
  for (const ScanView& view : ScanViews(record)) {
    const QString name = tr("scan: %1").arg(view.name);
    entries.push_back(
        {name.toStdString(), name, ScanValueNote(view), QString(), nullptr, "", "", view});
  }
}

void HeadMapPanel::AddAttention(std::vector<Entry>& entries) const {
  if (!session()->record(Side::kA, kLastQueryAttention) &&
      !session()->record(Side::kB, kLastQueryAttention) && !session()->model()) {
    return;
  }
  entries.push_back({"", tr("From the attention of the last query"), "", ""});
  for (const AttentionQuantity& quantity : AttentionQuantities()) {
    entries.push_back(
        {quantity.id, quantity.name, quantity.help, quantity.unit, &quantity, "", ""});
  }
}

// Adds the gold's share in layers with a mixer, which a probe measures that is switched on
// when this is chosen.
void HeadMapPanel::AddEffectiveAttention(std::vector<Entry>& entries) const {
  const auto& model = session()->model();
  if (!model || model->config.Mixer().heads == 0 ||
      session()->record(Side::kA, kEffectiveAttention))
    return;
  entries.push_back({"", RecordTitle(kEffectiveAttention), "", ""});
  entries.push_back({kEffectiveGoldId, ArrayWords(kEffectiveGoldShare),
                     tr("Share of the gold passage in the weights with which a delta rule or state "
                        "space makes up the last token: switches its probe on"),
                     QString(), nullptr, kEffectiveAttention, kEffectiveGoldShare});
}

// Adds arrays grouped by record, with the names and descriptions given in the record.
void HeadMapPanel::AddArrays(std::vector<Entry>& entries) const {
  for (const auto& [name, record] : RecordsOfEitherSide(*session())) {
    if (name == kScanRecord) continue;
    bool headed = false;
    for (const Array& array : record->arrays) {
      const std::string id = name + "/" + array.name;
      const bool by_place = IsHeadArrayByPlace(*record, array);
      if (id.ends_with(kHalfWidthSuffix)) continue;  // beside the means, where a cell is read
      if (id == kScoreId || id == kRatioId || !(by_place || IsHeadArray(*record, array))) continue;
      const QString heading = RecordTitle(name);
      if (!std::exchange(headed, true)) entries.push_back({"", heading, "", ""});
      Entry entry{id,
                  ArrayWords(array.name),
                  QString::fromStdString(array.description),
                  QString::fromStdString(array.unit),
                  nullptr,
                  name,
                  array.name};
      entry.at_place = by_place;
      entries.push_back(entry);
      if (!by_place) continue;
      entry.at_place = false;
      entry.id += kAllPlaces;
      entry.name = tr("%1, all places").arg(entry.name);
      entries.push_back(std::move(entry));
    }
  }
}

bool HeadMapPanel::Offer() {
  std::vector<Entry> entries = {
      {kScoreId, tr("position-awareness score"),
       tr("Share of the keys whose attention before rotation is above the threshold of Ms-PoE"),
       tr("share of keys"), nullptr, kPositionAwarenessRecord, kPositionAwarenessScore}};
  const bool has_ratio = session()->model() || session()->record(Side::kA, kPositionRatio) ||
                         session()->record(Side::kB, kPositionRatio);
  AddScans(entries);
  const size_t scans = entries.size() - 1;
  if (has_ratio) {
    entries.push_back(
        {kRatioId, tr("position ratio"),
         tr("What the head's positions are divided by: 1 as trained. That of B can be painted"),
         QString(), nullptr, kPositionRatio, kPositionRatio});
  }
  AddAttention(entries);
  AddEffectiveAttention(entries);
  AddArrays(entries);
  if (entries == entries_) return false;
  const size_t scans_before = std::exchange(scans_, scans);
  entries_ = std::move(entries);
  const QSignalBlocker quiet(quantity_);
  quantity_->clear();
  auto* items = qobject_cast<QStandardItemModel*>(quantity_->model());
  for (size_t i = 0; i < entries_.size(); ++i) {
    const bool heading = entries_[i].heading();
    quantity_->addItem(heading ? QStringLiteral("— %1 —").arg(entries_[i].name) : entries_[i].name);
    quantity_->setItemData(static_cast<int>(i), entries_[i].help, Qt::ToolTipRole);
    if (heading && items) items->item(static_cast<int>(i))->setEnabled(false);
  }
  quantity_->setVisible(entries_.size() > 1);
  // A file without a position-awareness score was made for its scan, so the scan is shown; a newly
  // started scan is shown too.
  const bool has_score = session()->record(Side::kA, kPositionAwarenessRecord) != nullptr;
  const bool new_scan = scans > 0 && scans != scans_before;
  if (new_scan) wanted_ = entries_[session()->shows_file() && has_score ? 0 : 1].id;
  quantity_->setCurrentIndex(0);
  ChooseQuantity(wanted_.empty() ? std::string(kScoreId) : std::string(wanted_));
  return true;
}

// HeadMapPanel: painting B's position ratios on the map.

void HeadMapPanel::MakePainter() {
  painter_ = new RatioPainter(session(), this);
  connect(painter_, &RatioPainter::Painted, this, &HeadMapPanel::RatiosOffered);
  for (HeadMapPlot* plot : {plot_, plot_b_})
    connect(plot, &HeadMapPlot::Painted, this, &HeadMapPanel::Paint);
  grouped_ =
      Named(new QToolButton(this), "ratios_grouped",
            tr("<p>What is painted is painted on all heads with the same key/value head</p>"));
  grouped_->setText(tr("KV groups"));
  grouped_->setCheckable(true);
  connect(grouped_, &QToolButton::toggled, painter_, &RatioPainter::SetGrouped);
  edits_ = Named(
      new QToolButton(this), "ratios_edits",
      tr("<p>On: the wheel, a drag and the keys + and − change the ratios of B on the map; off: "
         "they move and zoom it. The arrow: ratios from the score, and controls</p>"));
  edits_->setText(tr("Edit ratios"));
  edits_->setCheckable(true);
  edits_->setPopupMode(QToolButton::MenuButtonPopup);
  connect(edits_, &QToolButton::toggled, this, [this](bool on) {
    if (on && session()->differs()) ShowB();
    Draw();
  });
  auto* menu = new QMenu(edits_);
  menu->setToolTipsVisible(true);
  edits_->setMenu(menu);
  const auto add = [this, menu](const char* id, const QString& title, const QString& help,
                                RatioPainter::Edit edit) {
    auto* action = Named(new QAction(title, this), id, help);
    connect(action, &QAction::triggered, this, [this, edit] { ApplyToRatios(edit); });
    menu->addAction(action);
    addAction(action);  // makes it available in the list of all actions
  };
  add("ratios-from-score", tr("Ratios of B from the &score"),
      tr("In each layer the most position-aware head of A has the least ratio, as in Ms-PoE: the "
         "ratios that B has, or 1.2 to 1.8"),
      RatioPainter::Edit::kFromScore);
  add("ratios-same-in-group", tr("Same ratio in each &key/value group"),
      tr("The mean of the group's ratios of B"), RatioPainter::Edit::kGrouped);
  add("ratios-reversed", tr("Ratios of B in re&versed order"),
      tr("Control: in each layer the head with the least ratio has the largest"),
      RatioPainter::Edit::kReversed);
  add("ratios-random", tr("Ratios of B in ra&ndom order"),
      tr("Control: each layer's ratios go to its heads at random; again: another order"),
      RatioPainter::Edit::kRandom);
  add("ratios-ones", tr("Reset ratios of B to &1"), tr("As trained, as a table"),
      RatioPainter::Edit::kOnes);
}

bool HeadMapPanel::ShowsRatios() const {
  return entry().id == kRatioId && session()->model() && !session()->shows_file();
}

void HeadMapPanel::ApplyToRatios(RatioPainter::Edit edit) {
  try {
    painter_->Apply(edit);
    ChooseQuantity(kRatioId);
    ShowB();
  } catch (const Error& error) {
    Q_EMIT Failed(QString::fromUtf8(error.what()));
  }
}

void HeadMapPanel::SetRatios(const std::vector<std::pair<HeadId, double>>& ratios) {
  painter_->Set(ratios);
  ChooseQuantity(kRatioId);
  ShowB();
}

void HeadMapPanel::Paint(const std::vector<HeadId>& heads, double change, bool dragging) {
  try {
    painter_->Paint(heads, change, dragging);
    ShowB();
  } catch (const Error& error) {
    Q_EMIT Failed(QString::fromUtf8(error.what()));
  }
}

// Makes B visible, because painting changes B.
void HeadMapPanel::ShowB() {
  const Compare shown = selection()->compare();
  if (shown != Compare::kB && (shown != Compare::kSplit || room_ < 2))
    selection()->SetCompare(Compare::kB);
}

void HeadMapPanel::RefreshPainting(Compare drawn) {
  const bool shown = ShowsRatios();
  const bool ratios = shown && edits_->isChecked();
  grouped_->setVisible(shown && session()->model()->config.heads_per_key_value_head() > 1);
  edits_->setVisible(shown);
  // If A and B are side by side, B's map is painted; a single map of A can be painted too, and then
  // shows B.
  plot_->SetPaintable(ratios && (drawn == Compare::kA || drawn == Compare::kB));
  plot_b_->SetPaintable(ratios && drawn == Compare::kSplit);
}

QString HeadMapPanel::PaintingNote() const {
  if (!edits_->isChecked()) return tr("Edit ratios: paint those of B on the map");
  if (painter_->Replaces()) return tr("an edit replaces the position scheme of B");
  if (session()->setting(Side::kB).Find<MsPoe>())
    return tr("an edit turns Ms-PoE of B into a table of its ratios");
  return tr("wheel or drag ↕ on a cell: ratio of B; Shift+drag: block");
}

}  // namespace midscope
