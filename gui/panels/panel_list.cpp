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

namespace midscope {
namespace {

template <typename Shown>
PanelEntry Entry(const QString& id, const QString& title, const QString& help) {
  return {id,
          title,
          help,
          Shown::Records(),
          [](const PanelContext& context) -> Panel* { return new Shown(context); },
          Shown::StateKey(),
          &Shown::CheckState,
          &Shown::Render};
}

PanelEntry HeadMapEntry() {
  return Entry<HeadMapPanel>(
      "head-map", QObject::tr("Head map"),
      QObject::tr("A number of every head, layers upwards, heads across. The position-awareness "
                  "score is the share of keys whose weight in the last query's row, from queries "
                  "and keys before rotation, is at least 3 / tokens (Ms-PoE, arXiv 2403.04797): "
                  "Ms-PoE gives heads with a large score the small ratios. Click a cell to see "
                  "that head's attention."));
}

PanelEntry AttentionEntry() {
  return Entry<AttentionPanel>(
      "attention", QObject::tr("Attention"),
      QObject::tr("The attention weights of the last prompt token, softmax(q k / sqrt(d)), over "
                  "all tokens before it. The shaded part is the gold passage. Rings mark the keys "
                  "that the position-awareness score counts."));
}

PanelEntry ChannelEntry() {
  return Entry<ChannelPanel>(
      "channel", QObject::tr("Hidden channel"),
      QObject::tr("One channel of the residual stream by position, after each layer. A channel "
                  "that rises or falls steadily with position carries position (Yu et al., arXiv "
                  "2406.02536); scaling it changes which places the model uses."));
}

PanelEntry OutcomeEntry() {
  return Entry<OutcomePanel>(
      "outcome", QObject::tr("Outcome"),
      QObject::tr("How well the answer comes out for every place of the gold passage: nats of the "
                  "answer (-log p, lower is better) or the share of right answers, for this sample "
                  "and as means over samples with 95 % intervals. A model without position bias "
                  "has a flat line."));
}

PanelEntry AttributionEntry() {
  return Entry<AttributionPanel>(
      "attribution", QObject::tr("Attribution"),
      QObject::tr("What makes the answer's logit larger than that of the best wrong piece: each "
                  "head's and MLP's part of the last residual, multiplied with the difference of "
                  "the two output vectors (direct logit attribution)."));
}

PanelEntry ScanEntry() {
  return Entry<ScanPanel>(
      "scan", QObject::tr("Scan"),
      QObject::tr("The change of the answer's nats when a term (an ablation, a patch, a scaling) "
                  "is applied to every head, layer, channel or passage in turn, by gold place."));
}

PanelEntry ChannelSearchEntry() {
  return Entry<ChannelSearchPanel>(
      "channels", QObject::tr("Channels"),
      QObject::tr("The search for channels that carry position: monotone in many layers, smooth "
                  "after a cubic fit, and with an effect on the answer when they are scaled (Yu et "
                  "al., section 3)."));
}

PanelEntry CurvesEntry() {
  return Entry<CurvesPanel>(
      "curves", QObject::tr("Curves"),
      QObject::tr("The outcome of finished sweeps over a number in which they differ: a ratio, a "
                  "factor, a size, a length."));
}

PanelEntry PositionsEntry() {
  return Entry<PositionsPanel>(
      "positions", QObject::tr("Positions"),
      QObject::tr("Position ids as CREAM, PoSE and RandPos sample them, and the periods of rotary "
                  "positions, base^(2 i / d) times 2 pi, under PI, NTK, YaRN and another base."));
}

PanelEntry RecordsEntry() {
  return Entry<RecordPanel>(
      "records", QObject::tr("Other records"),
      QObject::tr("Every array that no panel of its own shows, from further probes, plugins and "
                  "files."));
}

}  // namespace

const std::vector<PanelEntry>& PanelList() {
  // The map before the attention, which suggests the head that the map marks.
  static const std::vector<PanelEntry> list = {
      HeadMapEntry(), AttentionEntry(),     ChannelEntry(), OutcomeEntry(),   AttributionEntry(),
      ScanEntry(),    ChannelSearchEntry(), CurvesEntry(),  PositionsEntry(), RecordsEntry(),
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
