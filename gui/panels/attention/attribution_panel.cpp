// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/attention/attribution_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QTabWidget>
#include <algorithm>
#include <cmath>

#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/record_plot.h"
#include "gui/plots/tokens/token_view.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/selection.h"

namespace midscope {
namespace {

constexpr char kRecord[] = "answer_attribution";
constexpr char kOfHead[] = "answer_attribution";
constexpr char kOfPart[] = "attribution_of_part";
constexpr char kOfKey[] = "answer_attribution_of_key";
constexpr char kByKey[] = "answer_attribution_by_key";
constexpr qsizetype kMostBars = 24;

// The terms of the sum, largest first: each head, attention biases and MLPs by layer, the embedding
// and the constant. Empty if the record is not of a single prompt.
QVector<BarPlot::Bar> TermsOf(const Record* record) {
  QVector<BarPlot::Bar> bars;
  if (!record || !HasArray(*record, kOfHead, {"layer", "head"})) return bars;
  const QStringList parts = AxisLabels(*record, "part");
  for (int64_t layer = 0; layer < AxisSize(*record, "layer"); ++layer) {
    const QVector<double> heads = LastAxisRow(*record, kOfHead, {layer});
    for (qsizetype head = 0; head < heads.size(); ++head)
      bars.append({HeadText({layer, head}), heads[head]});
    // Skips the first part, which is the sum of the heads.
    for (qsizetype part = 1; part < parts.size(); ++part) {
      bars.append({QStringLiteral("L%1 %2").arg(layer).arg(parts[part]),
                   ValueAt(*record, kOfPart, {part, layer})});
    }
  }
  bars.append({QObject::tr("embedding"), NumberAttribute(*record, "embedding_attribution", 0)});
  bars.append({QObject::tr("constant"), NumberAttribute(*record, "constant_attribution", 0)});
  bars.removeIf([](const BarPlot::Bar& bar) { return !(std::abs(bar.value) > 0); });
  std::stable_sort(bars.begin(), bars.end(), [](const BarPlot::Bar& a, const BarPlot::Bar& b) {
    return std::abs(a.value) > std::abs(b.value);
  });
  return bars.first(std::min(bars.size(), kMostBars));
}

// Text such as "' Paris' over ' London': 3.1 logits".
QString ComparedText(const Record& record) {
  return QObject::tr("%1 over %2: %3 logits")
      .arg(ShownToken(TextAttribute(record, "answer_token_text")),
           ShownToken(TextAttribute(record, "against_token_text")))
      .arg(NumberAttribute(record, "logit_difference", 0), 0, 'g', 4);
}

void ShowTerms(const Record* record, BarPlot& plot) {
  const QVector<BarPlot::Bar> bars = TermsOf(record);
  plot.SetTitle(bars.isEmpty() ? QString()
                               : QObject::tr("Largest terms of %1").arg(ComparedText(*record)));
  plot.Show(bars, QObject::tr("attribution (logits)"));
}

}  // namespace

AttributionPanel::AttributionPanel(const PanelContext& context) : Panel(context) {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  bars_ = new BarPlot(tabs_);
  map_ = new RecordPlot(tabs_);
  tokens_ = new TokenView(tabs_);
  tokens_->ShowSigned(tr("attribution (logits)"));
  tabs_->addTab(bars_, tr("Bars"));
  tabs_->addTab(map_, tr("Heads"));
  tabs_->addTab(tokens_, tr("Text"));
  side_ = Named(new QComboBox(this), "attribution_side", tr("Setting whose attribution is shown"));
  side_->addItems({tr("A"), tr("B")});
  chosen_head_ = Named(new QCheckBox(tr("chosen head"), this), "attribution_head",
                       tr("The text shows what the chosen head reads, else all heads"));
  note_ = Named(new QLabel(this), "attribution_note");
  switch_on_ = MakeSwitch(QStringLiteral("attribution_on"), kRecord);
  FlowLayout* row = MakeControlFlow({switch_on_, side_, chosen_head_, note_});
  LayOutPanel(this, tabs_)->addLayout(row);
  connect(side_, &QComboBox::currentIndexChanged, this, &AttributionPanel::Draw);
  connect(chosen_head_, &QCheckBox::toggled, this, &AttributionPanel::Draw);
  connect(selection(), &Selection::HeadChanged, this, [this] { ColourTokens(ShownRecord()); });
  Draw();
}

std::vector<std::string> AttributionPanel::Records() { return {kRecord}; }

bool AttributionPanel::CanSwitchOn() const { return !ShownRecord() && OffersProbe(kRecord); }

const Record* AttributionPanel::ShownRecord() const {
  const bool b = session()->differs() && side_->currentIndex() == 1;
  return session()->record(b ? Side::kB : Side::kA, kRecord);
}

void AttributionPanel::Refresh(Changes changes) {
  if (changes & Change::kPrompts) tokens_->SetPrompt(session()->prompt());
  if (!(changes &
        (Change::kModel | Change::kPrompts | Change::kSettings | Change::kCaptureRecords)))
    return;
  DrawWhenShown();
}

void AttributionPanel::Draw() {
  side_->setVisible(session()->differs());
  switch_on_->setVisible(CanSwitchOn());
  const Record* record = ShownRecord();
  const bool b = record && record == session()->record(Side::kB, kRecord);
  const QString reason = session()->shows_file() ? tr("The file has no attribution of one prompt")
                         : CanSwitchOn()
                             ? tr("Not measured yet. Press Switch on; every full run then has it")
                             : tr("The attribution comes with the next full run");
  bars_->SetReason(reason);
  map_->SetReason(reason);
  ShowTerms(record, *bars_);
  map_->Show(record, kOfHead, {}, RecordForm::kHeatMap);
  const RecordName name = NameOf(*session(), b ? Side::kB : Side::kA, record);
  for (Plot* plot : {static_cast<Plot*>(bars_), static_cast<Plot*>(map_)}) {
    plot->SetOlderNote(record && name.older ? name.text : QString());
    plot->SetCaption(record ? CaptionWith(*session(), {name}) : QString());
    if (record) plot->SetTitle(QStringLiteral("%1 — %2").arg(plot->title(), name.text));
  }
  chosen_head_->setVisible(record && record->FindArray(kByKey));
  note_->setText(record ? ComparedText(*record) : QString());
  if (session()->second()) tokens_->SetPrompt(session()->prompt(b ? Side::kB : Side::kA));
  ColourTokens(record);
}

void AttributionPanel::ColourTokens(const Record* record) {
  QVector<double> row;
  QString source;
  if (record && record->FindArray(kByKey) && chosen_head_->isChecked()) {
    const HeadId head = selection()->head();
    row = LastAxisRow(*record, kByKey, {head.layer, head.head});
    source = HeadText(head);
  } else if (record && HasArray(*record, kOfKey, {"key"})) {
    row = LastAxisRow(*record, kOfKey, {});
    source = tr("all heads");
  }
  tokens_->SetRow(row);
  tokens_->SetSource(source);
}

std::vector<Plot*> AttributionPanel::plots() const {
  // Works even before a hidden panel has drawn the terms.
  if (TermsOf(ShownRecord()).isEmpty()) return {};
  return {bars_};
}

void AttributionPanel::Render(FilePictures& pictures) {
  const RecordSides sides = pictures.Find(kOfHead, {"layer", "head"});
  for (const Record* record : {sides.a, sides.b}) {
    if (!record || TermsOf(record).isEmpty()) continue;
    const QString ending = record == sides.b ? QStringLiteral("_b") : QString();
    BarPlot bars;
    ShowTerms(record, bars);
    bars.SetTitle(pictures.Titled(bars.title(), record));
    pictures.Write(bars, QString::fromLatin1(kRecord) + QStringLiteral("_bars") + ending);
    RecordPlot map;
    map.Show(record, kOfHead, {}, RecordForm::kHeatMap);
    map.SetTitle(pictures.Titled(map.title(), record));
    pictures.Write(map, QString::fromLatin1(kRecord) + QStringLiteral("_heads") + ending);
  }
}

}  // namespace midscope
