// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/panel_list.h"

#include <QObject>
#include <algorithm>

#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/attention/attribution_panel.h"
#include "gui/panels/attention/logit_lens_panel.h"
#include "gui/panels/attention/text_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/channels/channel_search_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/influence/influence_panel.h"
#include "gui/panels/notes_panel.h"
#include "gui/panels/outcome/curves_panel.h"
#include "gui/panels/outcome/next_tokens_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/outcome/tuning_panel.h"
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

}  // namespace

const std::vector<PanelEntry>& PanelList() {
  // The map is refreshed before the attention panel, which suggests the head that the map marks.
  static const std::vector<PanelEntry> list = {
      Entry<HeadMapPanel>(
          "head-map", QObject::tr("Heads"),
          QObject::tr(
              "One number per head; layers run upwards. The position-awareness "
              "score is the share of keys whose weight in the last query's row, from queries "
              "and keys before rotation, is at least 3 / tokens (Ms-PoE, arXiv 2403.04797): "
              "Ms-PoE gives heads with a large score the small ratios. Others follow from the "
              "attention of the last query or are arrays of records. Click a cell to see that "
              "head's attention, Ctrl+click to keep it beside others.")),
      Entry<TextPanel>(
          "text", QObject::tr("Text"),
          QObject::tr(
              "The prompt, each token on the colour of a number: the last query's attention of "
              "a head or its mean over heads, a hidden channel, or what another record has over "
              "tokens. One scale for A and B, without the first tokens unless they are switched "
              "on. The gold is underlined; click locks a token in all panels, dragging "
              "selects tokens.")),
      Entry<AttentionPanel>(
          "attention", QObject::tr("Attention"),
          QObject::tr(
              "The attention weights of the last prompt token, softmax(q k / sqrt(d)), over "
              "all tokens before it. The shaded part is the gold passage. Rings mark the keys "
              "that the position-awareness score counts.")),
      Entry<ChannelPanel>(
          "channel", QObject::tr("Channel"),
          QObject::tr(
              "One channel of the residual stream by position, after each layer. A channel "
              "that rises or falls steadily with position carries position (Yu et al., arXiv "
              "2406.02536); scaling it changes which places the model uses.")),
      Entry<OutcomePanel>(
          "outcome", QObject::tr("Outcome by place"),
          QObject::tr(
              "How well the answer comes out for every place of the gold passage: nats of the "
              "answer (-log p, lower is better) or the share of right answers, for this sample "
              "and as means over samples with 95 % intervals. A model without position bias "
              "has a flat line.")),
      Entry<AttributionPanel>(
          "attribution", QObject::tr("Attribution"),
          QObject::tr(
              "What makes the answer's logit larger than that of the best wrong piece: each "
              "head's and MLP's part of the last residual, multiplied with the difference of "
              "the two output vectors (direct logit attribution).")),
      Entry<NextTokensPanel>(
          "next-tokens", QObject::tr("Next tokens"),
          QObject::tr(
              "The likeliest tokens after the prompt under A and B, with their probability "
              "(softmax over the vocabulary) and the rank that B's token has under A. The "
              "expected answer's first token is marked; where it is not among them it has a "
              "row of its own.")),
      Entry<LogitLensPanel>(
          "logit-lens", QObject::tr("Logit lens"),
          QObject::tr("The model's prediction if it ended after a layer: the last row through the "
                      "final norm and the output matrix after every block (nostalgebraist, 2020). "
                      "Words by rank, coloured by probability, and the rank of the answer's first "
                      "token among all. Layer 0 is at the bottom.")),
      Entry<ScanPanel>(
          "scan", QObject::tr("Scan"),
          QObject::tr(
              "The change of the answer's nats when a term (an ablation, a patch, a scaling) "
              "is applied to every head, layer, channel or passage in turn, by gold place.")),
      Entry<InfluencePanel>(
          "influence", QObject::tr("Influence"),
          QObject::tr(
              "Which tokens the answer depends on: the norm of the gradient of its log "
              "likelihood with respect to each token's stream before each layer; layer 0 is "
              "the token's embedding. With cotangents also that of all logits, beside the "
              "closed form for even attention (Chowdhury, arXiv 2603.10123).")),
      Entry<ChannelSearchPanel>(
          "channels", QObject::tr("Find channels"),
          QObject::tr(
              "The search for channels that carry position: monotone in many layers, smooth "
              "after a cubic fit, and with an effect on the answer when they are scaled (Yu et "
              "al., section 3).")),
      Entry<CurvesPanel>(
          "curves", QObject::tr("Curves"),
          QObject::tr(
              "The outcome of finished sweeps over a number in which they differ: a ratio, a "
              "factor, a size, a length.")),
      Entry<TuningPanel>(
          "tuning", QObject::tr("Tuning"),
          QObject::tr(
              "Tunes a LoRA adapter, or all weights of a folder, for longer contexts (CREAM, "
              "PoSE, RandPos, full length), as midscope tune does, and shows the loss of every "
              "step. The tuned model can then be opened beside its base.")),
      Entry<PositionsPanel>(
          "positions", QObject::tr("Positions"),
          QObject::tr(
              "Position ids as CREAM, PoSE and RandPos sample them, and the periods of rotary "
              "positions, base^(2 i / d) times 2 pi, under PI, NTK, YaRN and another base.")),
      Entry<NotesPanel>(
          "notes", QObject::tr("Notes"),
          QObject::tr(
              "Your own words on what is on the screen: kept in session files, and in saved "
              "results as the attribute notes of the prompt. Ctrl+Z in the text takes the last "
              "words back. Of a file of results its own notes are shown.")),
      Entry<RecordPanel>(
          "records", QObject::tr("Other records"),
          QObject::tr("Every array that no panel of its own shows, from further probes and "
                      "files.")),
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
