// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/panel_list.h"

#include <QObject>
#include <QTemporaryDir>
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/published/tuning_recipe.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/attention/attribution_panel.h"
#include "gui/panels/attention/logit_lens_panel.h"
#include "gui/panels/attention/text_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/channels/channel_search_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/influence/influence_panel.h"
#include "gui/panels/influence/influence_pictures.h"
#include "gui/panels/notes_panel.h"
#include "gui/panels/outcome/curves_panel.h"
#include "gui/panels/outcome/next_tokens_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/outcome/reference_row.h"
#include "gui/panels/outcome/tuning_panel.h"
#include "gui/panels/positions_panel.h"
#include "gui/panels/record_panel.h"
#include "gui/panels/scan_panel.h"
#include "probes/client/result_files.h"
#include "probes/measure/influence/influence_names.h"

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

namespace {

// Moves the last-query attention of a sweep, which is that of its first place, to a record
// last_query_attention with axis `place`, as a batch of probes has it. `whole`: all records of the
// file, for the place.
void MoveAttention(const std::vector<Record>& whole, std::vector<Record>& records) {
  const auto is_sweep = [](const Record& record) {
    return record.name != kLastQueryAttention && record.FindArray(kLastQueryAttention);
  };
  const auto found = std::ranges::find_if(records, is_sweep);
  if (found == records.end()) return;
  const auto at = std::ranges::find(found->arrays, kLastQueryAttention, &Array::name);
  std::vector<std::string>& axes = at->axes;
  if (axes.empty() || std::ranges::find(axes, "place") != axes.end()) return;
  Axis place{"place", 1, "", {}, {}};
  for (const Record& record : whole) {
    const Axis* places = record.FindAxis("place");
    if (!places || !record.FindArray("gold_token_begin")) continue;
    place.labels.assign(places->labels.begin(), places->labels.begin() + !places->labels.empty());
    place.values.assign(places->values.begin(), places->values.begin() + !places->values.empty());
  }
  axes.insert(axes.begin() + (axes.front() == "sample" ? 1 : 0), place.name);
  Record moved{kLastQueryAttention, {std::move(place)}, {}, {}, kLastQueryAttention};
  for (const Axis& axis : found->axes) {
    if (axis.name != "place" && std::ranges::find(axes, axis.name) != axes.end())
      moved.axes.push_back(axis);
  }
  moved.arrays.push_back(std::move(*at));
  found->arrays.erase(at);
  if (found->signal == kLastQueryAttention) found->signal.clear();
  records.push_back(std::move(moved));
}

// Names the records of the file that can be drawn.
std::string DrawableRecords(const RenderRequest& request, const RunFile& whole) {
  QStringList names;
  for (const Record& record : whole.records) {
    const QTemporaryDir folder;
    RenderRequest one = request;
    one.folder = folder.path();
    one.formats.clear();
    one.heads.clear();
    RunFile file{{record}, whole.provenance, whole.plan_json};
    MoveAttention(whole.records, file.records);
    FilePictures pictures(one, file, &whole);
    for (const PanelEntry& panel : PanelList()) panel.render(pictures);
    if (!pictures.written().isEmpty()) names << QString::fromStdString(record.name);
  }
  return names.join(QStringLiteral(", ")).toStdString();
}

}  // namespace

QStringList RenderFile(const RenderRequest& request) {
  const ResultFiles files(std::make_shared<EngineLink>(LocalEngine()));
  const std::string address = request.file.toStdString();
  RunFile file = files.Read(address);
  std::optional<RunFile> whole;
  if (const size_t end = address.rfind("::"); end != std::string::npos)
    whole = files.Read(address.substr(0, end));
  MoveAttention(whole ? whole->records : file.records, file.records);
  std::optional<Record> reference;
  // Losses of several runs are one picture, and so are gradients.
  auto* read = FindRecord(file.records, kTuningRecord)             ? &ReadTuningRecord
               : FindRecord(file.records, kInfluenceByPlaceRecord) ? &ReadInfluence
                                                                   : nullptr;
  if (read) {
    for (const QString& path : request.reference) file.records.push_back(read(files, path));
  } else if (!request.reference.isEmpty()) {
    reference = RunReference(files, request.reference);
  }
  const auto has_heads = [](const Record& record) { return record.FindAxis("head") != nullptr; };
  if (!request.heads.empty() && std::ranges::none_of(file.records, has_heads)) {
    throw UsageError("--head", "'" + address + "' has no records over heads", "Leave --head out");
  }
  FilePictures pictures(request, file, whole ? &*whole : nullptr,
                        reference ? &*reference : nullptr);
  for (const PanelEntry& panel : PanelList()) panel.render(pictures);
  if (pictures.written().isEmpty()) {
    const std::string others = whole ? DrawableRecords(request, *whole) : "";
    throw Failure("'" + address + "'", "it holds nothing that can be drawn",
                  others.empty()
                      ? "Give a file written by midscope probe, midscope sweep or the window"
                      : "Records of the file that can be drawn: " + others);
  }
  return pictures.written();
}

}  // namespace midscope
