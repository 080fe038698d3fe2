// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/attention_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QTabWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "core/intervention_text.h"
#include "gui/attention_plot.h"
#include "gui/flow_layout.h"
#include "gui/head_choice.h"
#include "gui/panel_layout.h"
#include "gui/record_access.h"
#include "gui/session.h"
#include "gui/token_view.h"

namespace midscope {
namespace {

constexpr char kAttention[] = "last_query_attention";
constexpr qsizetype kLongestName = 60;

}  // namespace

AttentionPanel::AttentionPanel(Session* session, QWidget* parent)
    : QWidget(parent), session_(session) {
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
  token_side_->setToolTip(tr("Whose attention colours the text"));
  FlowLayout* row = MakeControlFlow();
  row->AddLabelled(tr("layer"), layer_box_);
  row->AddLabelled(tr("head"), head_box_);
  row->addWidget(logarithmic_);
  row->addWidget(token_side_);
  LayOutPanel(this, tabs_, row);
  const auto choose = [this] {
    SetHead({layer_box_->value(), head_box_->value()});
    Q_EMIT HeadChosen(head_);
  };
  connect(layer_box_, &QSpinBox::valueChanged, this, choose);
  connect(head_box_, &QSpinBox::valueChanged, this, choose);
  connect(logarithmic_, &QCheckBox::toggled, plot_, &AttentionPlot::SetLogarithmic);
  connect(token_side_, &QComboBox::currentIndexChanged, this, &AttentionPanel::RefreshTokens);
  connect(plot_, &AttentionPlot::KeyHovered, tokens_, &TokenView::SetMarkedKey);
  connect(tokens_, &TokenView::KeyHovered, plot_, &AttentionPlot::SetMarkedKey);
  connect(session_, &Session::PromptsChanged, this, &AttentionPanel::RefreshPrompt);
  connect(session_, &Session::SettingsChanged, this, &AttentionPanel::RefreshNames);
  connect(session_, &Session::SideChanged, this, &AttentionPanel::Refresh);
  RefreshNames();
}

void AttentionPanel::SetHead(midscope::HeadId head) {
  chosen_ = true;
  ShowHead(head);
}

void AttentionPanel::PreferHead(midscope::HeadId head) {
  chosen_ = false;
  preferred_ = head;
}

void AttentionPanel::ShowHead(HeadId head) {
  head_ = head;
  const QSignalBlocker quiet[] = {QSignalBlocker(layer_box_), QSignalBlocker(head_box_)};
  layer_box_->setValue(static_cast<int>(head.layer));
  head_box_->setValue(static_cast<int>(head.head));
  Refresh();
  plot_->ResetView();
}

void AttentionPanel::RefreshPrompt() {
  plot_->SetPrompt(session_->prompt());
  tokens_->SetPrompt(session_->prompt());
  Refresh();
}

void AttentionPanel::RefreshNames() {
  const auto name = [this](const QString& side, const Intervention& setting) {
    QString text = QString::fromStdString(PrintIntervention(setting));
    if (text.size() > kLongestName) text = text.left(kLongestName - 1) + QChar(0x2026);
    return side + QStringLiteral(": ") + text;
  };
  plot_->SetNames(name(tr("A"), session_->setting(Side::kA)),
                  name(tr("B"), session_->setting(Side::kB)));
}

void AttentionPanel::Refresh() {
  const Record* a = session_->record(Side::kA, kAttention);
  const Record* b = session_->record(Side::kB, kAttention);
  const Record* shape = a ? a : b;
  if (shape) {
    const QSignalBlocker quiet[] = {QSignalBlocker(layer_box_), QSignalBlocker(head_box_)};
    const int64_t layers = AxisSize(*shape, "layer");
    const int64_t heads = AxisSize(*shape, "head");
    layer_box_->setMaximum(static_cast<int>(std::max<int64_t>(layers - 1, 0)));
    head_box_->setMaximum(static_cast<int>(std::max<int64_t>(heads - 1, 0)));
    // A what-if brings the whole attention where it brings the map.
    if (!chosen_ && a && (session_->settled(Side::kA) || session_->follows(Side::kA))) {
      chosen_ = true;
      HeadId best =
          session_->prompt() ? MostAttentionOn(*a, GoldTokens(*session_->prompt())) : HeadId{};
      best = std::exchange(preferred_, std::nullopt).value_or(best);
      layer_box_->setValue(static_cast<int>(best.layer));
      head_box_->setValue(static_cast<int>(best.head));
      Q_EMIT HeadChosen(best);
    }
    head_ = {layer_box_->value(), head_box_->value()};
  }
  const auto row = [this](const Record* record) {
    return record ? LastAxisRow(*record, kAttention, {head_.layer, head_.head}) : QVector<double>();
  };
  const bool file = session_->shows_file();
  plot_->SetReason(file ? tr("The file has no attention of the last query") : QString());
  plot_->SetRows(row(a), row(b));
  plot_->SetTitle(tr("Attention of the last query — L%1H%2").arg(head_.layer).arg(head_.head));
  RefreshTokens();
}

void AttentionPanel::RefreshTokens() {
  const bool b = token_side_->currentIndex() == 1 && !plot_->row(Side::kB).isEmpty();
  tokens_->SetRow(plot_->row(b ? Side::kB : Side::kA));
}

}  // namespace midscope
