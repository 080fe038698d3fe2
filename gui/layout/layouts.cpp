// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/layout/layouts.h"

#include <QObject>
#include <algorithm>
#include <utility>

namespace midscope {
namespace {

// Below this height, settings, prompt and model are tabs, and at most two plots are above each
// other.
constexpr int kLowWindow = 860;
constexpr int kNarrowWindow = 1300;

Arrangement Tabs(int share, const QStringList& panels) {
  return {Arrangement::Kind::kTabs, share, {}, panels};
}
Arrangement Row(int share, std::vector<Arrangement> parts) {
  return {Arrangement::Kind::kRow, share, std::move(parts), {}};
}
Arrangement Column(int share, std::vector<Arrangement> parts) {
  return {Arrangement::Kind::kColumn, share, std::move(parts), {}};
}

// The part with the panels for the request and for the settings.
Arrangement Controls(int share, const QSize& window) {
  if (window.height() < kLowWindow) return Tabs(share, {"settings", "prompt", "model"});
  return Column(share, {Tabs(55, {"settings"}), Tabs(45, {"prompt", "model"})});
}

Arrangement Explore(const QSize& window) {
  if (window.width() < kNarrowWindow) {
    return Row(
        1,
        {Controls(30, window),
         Column(70, {Row(50, {Tabs(40, {"head-map", "channel"}), Tabs(60, {"attention", "text"})}),
                     Tabs(50, {"outcome", "next-tokens", "history", "scan", "notes"})})});
  }
  return Row(1, {Controls(24, window),
                 Column(42, {Row(55, {Tabs(45, {"head-map"}), Tabs(55, {"text", "logit-lens"})}),
                             Tabs(45, {"attention"})}),
                 Column(34, {Tabs(50, {"channel", "channels"}),
                             Tabs(50, {"outcome", "history", "next-tokens", "attribution", "scan",
                                       "curves", "positions", "records", "notes"})})});
}

Arrangement Channels(const QSize& window) {
  if (window.width() < kNarrowWindow) {
    return Row(1, {Controls(30, window),
                   Column(70, {Tabs(50, {"channels"}), Tabs(50, {"channel", "outcome"})})});
  }
  return Row(1, {Controls(24, window), Tabs(38, {"channels"}),
                 Column(38, {Tabs(50, {"channel"}), Tabs(50, {"outcome", "attention", "text"})})});
}

Arrangement Causal(const QSize& window) {
  if (window.width() < kNarrowWindow) {
    return Row(1, {Controls(30, window), Column(70, {Tabs(50, {"scan", "attribution"}),
                                                     Tabs(50, {"head-map", "outcome"})})});
  }
  return Row(1, {Controls(24, window),
                 Column(38, {Tabs(50, {"scan"}), Tabs(50, {"attribution", "logit-lens"})}),
                 Column(38, {Tabs(50, {"head-map", "attention"}), Tabs(50, {"outcome", "text"})})});
}

Arrangement Sweep(const QSize& window) {
  if (window.width() < kNarrowWindow) {
    return Row(1, {Controls(30, window), Column(70, {Tabs(50, {"sweep", "outcome"}),
                                                     Tabs(50, {"curves", "records", "notes"})})});
  }
  return Row(1, {Controls(24, window), Column(38, {Tabs(55, {"sweep"}), Tabs(45, {"records"})}),
                 Column(38, {Tabs(50, {"outcome"}), Tabs(50, {"curves", "head-map", "notes"})})});
}

void Collect(const Arrangement& arrangement, QStringList* ids) {
  *ids += arrangement.panels;
  for (const Arrangement& part : arrangement.parts) Collect(part, ids);
}

}  // namespace

const std::vector<LayoutEntry>& LayoutList() {
  static const std::vector<LayoutEntry> list = {
      {"explore", QObject::tr("&Explore"),
       QObject::tr("Heads, text, attention, one channel and the outcome side by side"), &Explore},
      {"channels", QObject::tr("&Channels"),
       QObject::tr(
           "The search for channels that carry position, beside the channel and the outcome"),
       &Channels},
      {"causal", QObject::tr("C&ausal"),
       QObject::tr("Scans, patches and attribution beside the heads and the outcome"), &Causal},
      {"sweep", QObject::tr("&Sweep"),
       QObject::tr("Settings over samples and places, curves, and records of files"), &Sweep},
  };
  return list;
}

const LayoutEntry* FindLayout(const QString& id) {
  const auto& list = LayoutList();
  const auto found = std::find_if(list.begin(), list.end(),
                                  [&id](const LayoutEntry& entry) { return entry.id == id; });
  return found == list.end() ? nullptr : &*found;
}

QStringList PanelsOf(const Arrangement& arrangement) {
  QStringList ids;
  Collect(arrangement, &ids);
  return ids;
}

}  // namespace midscope
