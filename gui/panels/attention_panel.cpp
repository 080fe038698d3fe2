// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/attention_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <vector>

#include "gui/base/head_choice.h"
#include "gui/base/record_access.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/token_view.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/flow_layout.h"
#include "gui/widgets/head_selection.h"
#include "gui/widgets/panel_layout.h"

namespace midscope {
namespace {

constexpr char kAttention[] = "last_query_attention";

}  // namespace

AttentionPanel::AttentionPanel(Session* session, HeadSelection* selection, QWidget* parent)
    : QWidget(parent), session_(session), selection_(selection) {
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
  const auto choose = [this] { selection_->Choose({layer_box_->value(), head_box_->value()}); };
  connect(layer_box_, &QSpinBox::valueChanged, this, choose);
  connect(head_box_, &QSpinBox::valueChanged, this, choose);
  connect(logarithmic_, &QCheckBox::toggled, plot_, &AttentionPlot::SetLogarithmic);
  connect(token_side_, &QComboBox::currentIndexChanged, this, &AttentionPanel::RefreshTokens);
  connect(plot_, &AttentionPlot::KeyHovered, tokens_, &TokenView::SetMarkedKey);
  connect(tokens_, &TokenView::KeyHovered, plot_, &AttentionPlot::SetMarkedKey);
  connect(session_, &Session::PromptsChanged, this, &AttentionPanel::RefreshPrompt);
  connect(session_, &Session::SideChanged, this, &AttentionPanel::Refresh);
  connect(selection_, &HeadSelection::Changed, this, &AttentionPanel::ShowHead);
  Refresh();
}

void AttentionPanel::ShowHead() {
  Refresh();
  plot_->ResetView();
}

void AttentionPanel::RefreshPrompt() {
  plot_->SetPrompt(session_->prompt());
  tokens_->SetPrompt(session_->prompt());
  Refresh();
}

void AttentionPanel::Refresh() {
  const Record* a = session_->record(Side::kA, kAttention);
  const Record* b = session_->record(Side::kB, kAttention);
  // A what-if replaces the attention of all heads where it also replaces the map.
  if (!selection_->chosen() && a && (session_->settled(Side::kA) || session_->follows(Side::kA))) {
    selection_->Suggest(session_->prompt() ? MostAttentionOn(*a, GoldTokens(*session_->prompt()))
                                           : HeadId{});
  }
  head_ = selection_->head();
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
  const auto row = [this](const Record* record) {
    return record ? LastAxisRow(*record, kAttention, {head_.layer, head_.head}) : QVector<double>();
  };
  const bool file = session_->shows_file();
  plot_->SetReason(file ? tr("The file has no attention of the last query") : QString());
  plot_->SetRows(row(a), row(b));
  const RecordName name_a = NameOf(*session_, Side::kA, a);
  const RecordName name_b = NameOf(*session_, Side::kB, b);
  plot_->SetNames(name_a.text, name_b.text);
  plot_->SetOlder(name_a.older, name_b.older);
  std::vector<RecordName> drawn;
  if (a) drawn.push_back(name_a);
  if (b) drawn.push_back(name_b);
  plot_->SetCaption(CaptionWith(*session_, drawn));
  plot_->SetTitle(tr("Attention of the last query — L%1H%2").arg(head_.layer).arg(head_.head));
  RefreshTokens();
}

void AttentionPanel::RefreshTokens() {
  const bool b = token_side_->currentIndex() == 1 && !plot_->row(Side::kB).isEmpty();
  const Side side = b ? Side::kB : Side::kA;
  tokens_->SetRow(plot_->row(side));
  tokens_->SetSource(plot_->graph_of(side)->name());
}

}  // namespace midscope
