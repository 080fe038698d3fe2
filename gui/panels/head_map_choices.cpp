// SPDX-License-Identifier: GPL-3.0-or-later
// HeadMapPanel: what the map can show.
#include <QComboBox>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <algorithm>
#include <utility>

#include "core/base/record_names.h"
#include "gui/base/record_title.h"
#include "gui/panels/head_map_panel.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "probes/sweep/scan_effects.h"

namespace midscope {

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

// Grouped by record, under the names and descriptions that the record gives.
void HeadMapPanel::AddArrays(std::vector<Entry>& entries) const {
  for (const auto& [name, record] : RecordsOfEitherSide(*session())) {
    if (name == kScanRecord) continue;
    bool headed = false;
    for (const Array& array : record->arrays) {
      const std::string id = name + "/" + array.name;
      if (id == kScoreId || id == kRatioId || !IsHeadArray(*record, array)) continue;
      const QString heading = RecordTitle(name);
      if (!std::exchange(headed, true)) entries.push_back({"", heading, "", ""});
      entries.push_back({id, ArrayWords(array.name), QString::fromStdString(array.description),
                         QString::fromStdString(array.unit), nullptr, name, array.name});
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
  // A file without a score was made for its scan; a scan that was started is what is looked at.
  const bool has_score = session()->record(Side::kA, kPositionAwarenessRecord) != nullptr;
  const bool new_scan = scans > 0 && scans != scans_before;
  if (new_scan) wanted_ = entries_[session()->shows_file() && has_score ? 0 : 1].id;
  quantity_->setCurrentIndex(0);
  ChooseQuantity(wanted_.empty() ? std::string(kScoreId) : std::string(wanted_));
  return true;
}

}  // namespace midscope
