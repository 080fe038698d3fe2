// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/panel_list.h"

#include <QObject>
#include <algorithm>

#include "gui/panels/attention_panel.h"
#include "gui/panels/attribution_panel.h"
#include "gui/panels/channel_panel.h"
#include "gui/panels/channel_search_panel.h"
#include "gui/panels/curves_panel.h"
#include "gui/panels/head_map_panel.h"
#include "gui/panels/outcome_panel.h"
#include "gui/panels/positions_panel.h"
#include "gui/panels/record_panel.h"
#include "gui/panels/scan_panel.h"
#include "gui/panels/text_panel.h"

namespace midscope {
namespace {

template <typename Shown>
PanelEntry Entry(PanelArea area, const QString& title) {
  return {area,
          title,
          Shown::Records(),
          [](const PanelContext& context) -> Panel* { return new Shown(context); },
          Shown::StateKey(),
          &Shown::CheckState,
          &Shown::Render};
}

}  // namespace

const std::vector<PanelEntry>& PanelList() {
  // The map before the attention, which suggests the head that the map marks.
  static const std::vector<PanelEntry> list = {
      Entry<HeadMapPanel>(PanelArea::kTopLeft, QObject::tr("Head map")),
      Entry<TextPanel>(PanelArea::kTopRight, QObject::tr("Text")),
      Entry<AttentionPanel>(PanelArea::kTopRight, QObject::tr("Attention")),
      Entry<ChannelPanel>(PanelArea::kBottomLeft, QObject::tr("Hidden channel")),
      Entry<OutcomePanel>(PanelArea::kBottomRight, QObject::tr("Outcome")),
      Entry<AttributionPanel>(PanelArea::kBottomRight, QObject::tr("Attribution")),
      Entry<ScanPanel>(PanelArea::kBottomRight, QObject::tr("Scan")),
      Entry<ChannelSearchPanel>(PanelArea::kBottomRight, QObject::tr("Channels")),
      Entry<CurvesPanel>(PanelArea::kBottomRight, QObject::tr("Curves")),
      Entry<PositionsPanel>(PanelArea::kBottomRight, QObject::tr("Positions")),
      Entry<RecordPanel>(PanelArea::kBottomRight, QObject::tr("Other records")),
  };
  return list;
}

bool HasOwnPanel(const std::string& record) {
  const auto owns = [&record](const PanelEntry& entry) {
    return std::find(entry.records.begin(), entry.records.end(), record) != entry.records.end();
  };
  return std::any_of(PanelList().begin(), PanelList().end(), owns);
}

}  // namespace midscope
