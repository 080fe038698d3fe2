// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/attention_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/record_lookup.h"
#include "core/base/record_names.h"
#include "gui/base/head_choice.h"
#include "gui/base/head_text.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/token_view.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/head_selection.h"
#include "gui/widgets/panel_layout.h"

namespace midscope {
namespace {

// The record's attention of a head, by key; empty where it has none.
QVector<double> RowOf(const Record* record, HeadId head) {
  if (!record) return {};
  return LastAxisRow(*record, kLastQueryAttention, {head.layer, head.head});
}

// What the score of a head counts, where the record is of the run that made `attention`.
CountedRow CountedOf(const Record* record, const Record* attention, HeadId head) {
  const char* setting = "intervention";
  if (!record || !attention ||
      AttributeText(*record, setting) != AttributeText(*attention, setting)) {
    return {};
  }
  const auto threshold = record->attributes.find(kThresholdWeight);
  if (threshold == record->attributes.end()) return {};
  const auto* weight = std::get_if<double>(&threshold->second);
  return {LastAxisRow(*record, kCountedKeys, {head.layer, head.head}), weight ? *weight : 0,
          QString::fromStdString(AttributeText(*record, "threshold"))};
}

QString TitleOf(HeadId head) {
  return QObject::tr("Attention of the last query — %1").arg(HeadText(head));
}

}  // namespace

AttentionPanel::AttentionPanel(const PanelContext& context) : Panel(context) {
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  plot_ = new AttentionPlot(tabs_);
  tokens_ = new TokenView(tabs_);
  tabs_->addTab(plot_, tr("Plot"));
  tabs_->addTab(tokens_, tr("Text"));
  layer_box_ = new QSpinBox(this);
  head_box_ = new QSpinBox(this);
  layer_box_->setObjectName(QStringLiteral("attention_layer"));
  head_box_->setObjectName(QStringLiteral("attention_head"));
  layer_box_->setToolTip(tr("Layer, zero-based"));
  head_box_->setToolTip(tr("Query head, zero-based"));
  logarithmic_ = new QCheckBox(tr("logarithmic"), this);
  logarithmic_->setChecked(true);
  logarithmic_->setToolTip(
      tr("The first token often takes most of the attention: a logarithmic "
         "axis shows the rest"));
  token_side_ = new QComboBox(this);
  token_side_->addItems({tr("text of A"), tr("text of B")});
  token_side_->setToolTip(tr("Setting whose attention colours the text"));
  FlowLayout* row = MakeControlFlow();
  row->AddLabelled(tr("layer"), layer_box_);
  row->AddLabelled(tr("head"), head_box_);
  row->addWidget(logarithmic_);
  row->addWidget(token_side_);
  LayOutPanel(this, tabs_, row);
  const auto choose = [this] { selection()->Choose({layer_box_->value(), head_box_->value()}); };
  connect(layer_box_, &QSpinBox::valueChanged, this, choose);
  connect(head_box_, &QSpinBox::valueChanged, this, choose);
  connect(logarithmic_, &QCheckBox::toggled, plot_, &AttentionPlot::SetLogarithmic);
  connect(token_side_, &QComboBox::currentIndexChanged, this, &AttentionPanel::RefreshTokens);
  connect(plot_, &AttentionPlot::KeyHovered, tokens_, &TokenView::SetMarkedKey);
  connect(tokens_, &TokenView::KeyHovered, plot_, &AttentionPlot::SetMarkedKey);
  connect(selection(), &HeadSelection::Changed, this, &AttentionPanel::ShowHead);
  Draw();
}

std::vector<std::string> AttentionPanel::Records() {
  return {kPromptRecord, kLastQueryAttention, kCountedKeys};
}

std::vector<Plot*> AttentionPanel::plots() const { return {plot_}; }

// The head that is selected where one is drawn.
nlohmann::json AttentionPanel::State() const {
  if (!session()->record(Side::kA, kLastQueryAttention)) return nullptr;
  return HeadText(selection()->head()).toStdString();
}

void AttentionPanel::CheckState(const JsonFields& session) {
  const auto head = session.FindText(StateKey());
  if (!head) return;
  try {
    ReadHeadId(QString::fromStdString(*head));
  } catch (const Error& error) {
    throw UsageError(session.thing(), error.what());
  }
}

void AttentionPanel::Restore(const nlohmann::json& state) {
  if (state.is_null()) return;
  selection()->Prefer(ReadHeadId(QString::fromStdString(state.get<std::string>())));
}

void AttentionPanel::ShowHead() {
  Draw();
  plot_->ResetView();
}

void AttentionPanel::Refresh(Changes changes) {
  if (changes & Change::kPrompts) {
    plot_->SetPrompt(session()->prompt());
    tokens_->SetPrompt(session()->prompt());
  }
  if (changes & (Change::kPrompts | Change::kWhatIfRecords)) Draw();
}

void AttentionPanel::Draw() {
  const Record* a = session()->record(Side::kA, kLastQueryAttention);
  const Record* b = session()->record(Side::kB, kLastQueryAttention);
  // A what-if replaces the attention of all heads where it also replaces the map.
  if (!selection()->chosen() && a &&
      (session()->settled(Side::kA) || session()->follows(Side::kA))) {
    selection()->Suggest(session()->prompt() ? MostAttentionOn(*a, GoldTokens(*session()->prompt()))
                                             : HeadId{});
  }
  head_ = selection()->head();
  if (const Record* shape = a ? a : b) {
    const QSignalBlocker quiet[] = {QSignalBlocker(layer_box_), QSignalBlocker(head_box_)};
    const int64_t layers = AxisSize(*shape, "layer");
    const int64_t heads = AxisSize(*shape, "head");
    head_ = NearestHead(head_, layers, heads);
    layer_box_->setMaximum(static_cast<int>(std::max<int64_t>(layers - 1, 0)));
    head_box_->setMaximum(static_cast<int>(std::max<int64_t>(heads - 1, 0)));
    layer_box_->setValue(static_cast<int>(head_.layer));
    head_box_->setValue(static_cast<int>(head_.head));
  }
  const bool file = session()->shows_file();
  plot_->SetReason(file ? tr("The file has no attention of the last query") : QString());
  plot_->SetRows(RowOf(a, head_), RowOf(b, head_));
  plot_->SetCounted(CountedOf(session()->record(Side::kA, kCountedKeys), a, head_),
                    CountedOf(session()->record(Side::kB, kCountedKeys), b, head_));
  const RecordName name_a = NameOf(*session(), Side::kA, a);
  const RecordName name_b = NameOf(*session(), Side::kB, b);
  plot_->SetNames(name_a.text, name_b.text);
  plot_->SetOlder(name_a.older, name_b.older);
  std::vector<RecordName> drawn;
  if (a) drawn.push_back(name_a);
  if (b) drawn.push_back(name_b);
  plot_->SetCaption(CaptionWith(*session(), drawn));
  plot_->SetTitle(TitleOf(head_));
  RefreshTokens();
}

void AttentionPanel::RefreshTokens() {
  const bool b = token_side_->currentIndex() == 1 && !plot_->row(Side::kB).isEmpty();
  const Side side = b ? Side::kB : Side::kA;
  tokens_->SetRow(plot_->row(side));
  tokens_->SetSource(plot_->graph_of(side)->name());
}

void AttentionPanel::Render(FilePictures& pictures) {
  const RecordSides sides = pictures.Find(kLastQueryAttention, {"layer", "head", "key"});
  if (!sides.a && !sides.b) return;
  const HeadId head = pictures.head();
  const QVector<double> row_a = RowOf(sides.a, head);
  const QVector<double> row_b = RowOf(sides.b, head);
  if (row_a.isEmpty() && row_b.isEmpty()) {
    throw UsageError("--head", "the file has no such head", "Layers and heads count from zero");
  }
  AttentionPlot plot;
  plot.SetPrompt(pictures.prompt());
  plot.SetNames(pictures.SettingText(sides.a), pictures.SettingText(sides.b));
  plot.SetRows(row_a, row_b);
  const RecordSides counted = pictures.Find(kCountedKeys, {"layer", "head", "key"});
  plot.SetCounted(CountedOf(counted.a, sides.a, head), CountedOf(counted.b, sides.b, head));
  plot.SetTitle(TitleOf(head));
  pictures.Write(plot, QStringLiteral("attention_") + HeadText(head), sides);
}

}  // namespace midscope
