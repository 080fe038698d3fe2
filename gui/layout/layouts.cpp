// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/layout/layouts.h"

#include <QObject>
#include <algorithm>
#include <utility>

namespace midscope {
namespace {

constexpr int kNarrowWindow = 1300;
constexpr int kLowWindow = 620;

Arrangement Tabs(int share, const QStringList& panels) {
  return {Arrangement::Kind::kTabs, share, {}, panels};
}
Arrangement Row(int share, std::vector<Arrangement> parts) {
  return {Arrangement::Kind::kRow, share, std::move(parts), {}};
}
Arrangement Column(int share, std::vector<Arrangement> parts) {
  return {Arrangement::Kind::kColumn, share, std::move(parts), {}};
}

Arrangement Explore(const QSize& window) {
  if (window.width() < kNarrowWindow) {
    return Row(
        1, {Tabs(30, {"settings"}),
            Column(70, {Tabs(52, {"outcome", "text"}),
                        Row(48, {Tabs(50, {"head-map", "attention"}), Tabs(50, {"channel"})})})});
  }
  return Row(1, {Tabs(21, {"settings"}),
                 Column(55, {Tabs(52, {"outcome"}),
                             Row(48, {Tabs(50, {"head-map"}), Tabs(50, {"channel"})})}),
                 Tabs(24, {"text", "attention"})});
}

Arrangement Parts(const QSize& window) {
  if (window.width() < kNarrowWindow) {
    return Row(1, {Tabs(30, {"settings"}),
                   Column(70, {Tabs(55, {"scan", "influence", "attribution", "logit-lens"}),
                               Tabs(45, {"outcome", "head-map", "next-tokens"})})});
  }
  return Row(1, {Tabs(21, {"settings"}),
                 Column(43, {Tabs(55, {"scan", "influence"}), Tabs(45, {"outcome", "head-map"})}),
                 Column(36, {Tabs(50, {"attribution"}), Tabs(50, {"logit-lens", "next-tokens"})})});
}

Arrangement Samples(const QSize& window) {
  if (window.width() < kNarrowWindow) {
    return Row(1, {Tabs(30, {"settings"}),
                   Column(70, {Tabs(50, {"outcome", "curves"}),
                               Tabs(50, {"sweep", "tuning", "head-map", "text", "history"})})});
  }
  return Row(
      1, {Tabs(21, {"settings"}),
          Column(43, {Tabs(50, {"outcome"}), Tabs(50, {"head-map", "curves"})}),
          Column(36, {Tabs(60, {"sweep", "tuning"}), Tabs(40, {"text", "history", "records"})})});
}

Arrangement OwnTextParts(const QSize& window) {
  if (window.width() < kNarrowWindow)
    return Row(1, {Tabs(50, {"prompt"}), Tabs(50, {"outcome", "text", "settings"})});
  return Row(1, {Tabs(40, {"prompt"}),
                 Column(60, {Tabs(50, {"outcome", "settings"}), Tabs(50, {"text", "attention"})})});
}

void Collect(const Arrangement& arrangement, QStringList* ids) {
  *ids += arrangement.panels;
  for (const Arrangement& part : arrangement.parts) Collect(part, ids);
}

}  // namespace

const std::vector<LayoutEntry>& LayoutList() {
  static const std::vector<LayoutEntry> list = {
      {"explore", QObject::tr("&Explore"),
       QObject::tr("One change and what it does: outcome by place, heads, one channel, the text"),
       &Explore},
      {"parts", QObject::tr("&Which parts matter"),
       QObject::tr("Scans, patches, attribution and predictions by layer"), &Parts},
      {"samples", QObject::tr("Over &samples"),
       QObject::tr("Means over samples, sweeps, curves and settings that were tried"), &Samples},
      {kOwnTextMode, QObject::tr("Own &text"),
       QObject::tr("The prompt: a task with all its options, or your own text"), &OwnTextParts},
  };
  return list;
}

const LayoutEntry* FindLayout(const QString& id) {
  const auto& list = LayoutList();
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&id](const LayoutEntry& entry) { return entry.id == id; });
  return found == list.end() ? nullptr : &*found;
}

Arrangement ArrangementFor(const LayoutEntry& layout, const QSize& window) {
  Arrangement all = layout.arrange(window);
  std::vector<Arrangement*> waiting;
  if (window.height() < kLowWindow) waiting.push_back(&all);
  while (!waiting.empty()) {
    Arrangement* part = waiting.back();
    waiting.pop_back();
    if (part->kind == Arrangement::Kind::kColumn) {
      *part = Tabs(part->share, PanelsOf(*part));
    } else {
      for (Arrangement& inner : part->parts) waiting.push_back(&inner);
    }
  }
  return all;
}

QStringList PanelsOf(const Arrangement& arrangement) {
  QStringList ids;
  Collect(arrangement, &ids);
  return ids;
}

}  // namespace midscope
