// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings/knobs_panel.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QGroupBox>
#include <QSignalBlocker>
#include <QStandardItemModel>
#include <algorithm>
#include <iterator>

#include "core/terms/terms.h"
#include "gui/panels/settings/channel_knobs.h"
#include "gui/panels/settings/ms_poe_knobs.h"
#include "gui/widgets/knob_help.h"
#include "gui/widgets/row_pictures.h"
#include "gui/widgets/sliders.h"

namespace midscope {
namespace {

// kOther: a scheme without quick controls.
enum SchemeIndex { kNone, kInterpolation, kMsPoe, kOther };

// In the order of the choices. The last one, with its N, can only be set under Terms.
constexpr ChannelRows kRows[] = {ChannelRows::kAll, ChannelRows::kAnswer, ChannelRows::kLast,
                                 ChannelRows::kLastN};

SchemeIndex IndexOf(const Intervention& intervention) {
  if (!PositionScheme(intervention)) return kNone;
  if (intervention.Find<PositionInterpolation>()) return kInterpolation;
  return intervention.Find<MsPoe>() ? kMsPoe : kOther;
}

}  // namespace

KnobsPanel::KnobsPanel(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  auto* positions = new QGroupBox(tr("Positions (B)"), this);
  scheme_ = new QComboBox(positions);
  scheme_->setObjectName(QStringLiteral("scheme"));
  scheme_->addItems({tr("as trained"), tr("one ratio (PI)"), tr("a ratio per head (Ms-PoE)"),
                     tr("another (under Terms)")});
  scheme_->setItemData(kNone, TermHelp("none"), Qt::ToolTipRole);
  scheme_->setItemData(kInterpolation, TermHelp("pi"), Qt::ToolTipRole);
  scheme_->setItemData(kMsPoe, TermHelp("ms-poe"), Qt::ToolTipRole);
  scheme_->setToolTip(tr("<p>How positions enter the model: at most one scheme at a time</p>"));
  ratio_row_ = new QWidget(positions);
  ratio_ = new QDoubleSpinBox(ratio_row_);
  ratio_->setObjectName(QStringLiteral("pi_ratio"));
  ratio_->setDecimals(3);
  ratio_->setSingleStep(0.1);
  ratio_->setKeyboardTracking(false);
  Describe(ratio_, "pi", "ratio");
  auto* ratio_form = new QFormLayout(ratio_row_);
  ratio_form->setContentsMargins(0, 0, 0, 0);
  ratio_form->addRow(tr("ratio"), ratio_);
  ms_poe_ = new MsPoeKnobs(positions);
  auto* positions_column = new QVBoxLayout(positions);
  positions_column->addWidget(scheme_);
  positions_column->addWidget(ratio_row_);
  positions_column->addWidget(ms_poe_);
  positions_column->addWidget(MakeRows(positions));
  channel_box_ = new QGroupBox(tr("Scale a hidden channel (B)"), this);
  channel_box_->setObjectName(QStringLiteral("channel_on"));
  channel_box_->setCheckable(true);
  channel_box_->setChecked(false);
  channel_box_->setToolTip(TermHelp("channel"));
  channel_ = new ChannelKnobs(channel_box_);
  auto* channel_column = new QVBoxLayout(channel_box_);
  channel_column->addWidget(channel_);
  column->addWidget(positions);
  column->addWidget(channel_box_);
  ShowScheme();
  connect(scheme_, &QComboBox::currentIndexChanged, this, [this] {
    ShowScheme();
    EmitChanged(false);
  });
  connect(ratio_, &QDoubleSpinBox::valueChanged, this, [this] { EmitChanged(false); });
  connect(ms_poe_, &MsPoeKnobs::Changed, this, &KnobsPanel::EmitChanged);
  connect(rows_, &QComboBox::currentIndexChanged, this, [this] { EmitChanged(false); });
  connect(channel_box_, &QGroupBox::toggled, this, [this] { EmitChanged(false); });
  connect(channel_, &ChannelKnobs::Changed, this, &KnobsPanel::EmitChanged);
}

QWidget* KnobsPanel::MakeRows(QWidget* parent) {
  rows_row_ = new QWidget(parent);
  rows_ = new QComboBox(rows_row_);
  rows_->setObjectName(QStringLiteral("position_rows"));
  rows_->addItems({tr("all"), tr("answer"), tr("last"), tr("last N (under Terms)")});
  Describe(static_cast<QWidget*>(rows_), "pi", "rows");
  ShowRowPictures(rows_);
  auto* form = new QFormLayout(rows_row_);
  form->setContentsMargins(0, 0, 0, 0);
  form->addRow(tr("rows"), rows_);
  return rows_row_;
}

void KnobsPanel::ShowRows(const RowChoice& rows) {
  const auto found = std::find(std::begin(kRows), std::end(kRows), rows.rows);
  const auto index = static_cast<int>(found - std::begin(kRows));
  // N can be chosen only under Terms.
  auto* choices = qobject_cast<QStandardItemModel*>(rows_->model());
  choices->item(static_cast<int>(std::size(kRows)) - 1)
      ->setEnabled(rows.rows == ChannelRows::kLastN);
  rows_->setCurrentIndex(index);
}

void KnobsPanel::ShowScheme() {
  const int scheme = scheme_->currentIndex();
  rows_row_->setVisible(scheme == kInterpolation || scheme == kMsPoe);
  ratio_row_->setVisible(scheme == kInterpolation);
  ms_poe_->setVisible(scheme == kMsPoe);
}

void KnobsPanel::EmitChanged(bool dragging) { Q_EMIT Changed(intervention(), dragging); }

Intervention KnobsPanel::intervention() const {
  Intervention result = others_;
  // For kLastN, N is taken from the shown setting.
  RowChoice rows{kRows[rows_->currentIndex()]};
  if (rows.rows == ChannelRows::kLastN) rows = PositionSchemeRows(others_);
  if (scheme_->currentIndex() == kInterpolation) {
    result.Add(TermOf(PositionInterpolation{ratio_->value()}));
  } else if (scheme_->currentIndex() == kMsPoe) {
    result.Add(TermOf(ms_poe_->value()));
  } else if (scheme_->currentIndex() == kNone) {
    std::erase_if(result.terms,
                  [](const Term& term) { return term.type().stage == TermStage::kPositions; });
  }
  if (scheme_->currentIndex() != kOther) result = WithPositionSchemeRows(std::move(result), rows);
  if (channel_box_->isChecked()) {
    for (const ChannelScaling& scaling : channel_->value()) result.Add(TermOf(scaling));
  }
  return result;
}

void KnobsPanel::SetIntervention(const Intervention& intervention) {
  const QSignalBlocker quiet[] = {QSignalBlocker(scheme_), QSignalBlocker(ratio_),
                                  QSignalBlocker(rows_), QSignalBlocker(channel_box_)};
  others_ = intervention;
  others_.Remove<ChannelScaling>();
  const SchemeIndex index = IndexOf(intervention);
  // The user can leave kOther here, but can select such a scheme only under Terms.
  auto* choices = qobject_cast<QStandardItemModel*>(scheme_->model());
  choices->item(kOther)->setEnabled(index == kOther);
  scheme_->setCurrentIndex(index);
  if (const auto* ratio = intervention.Find<PositionInterpolation>())
    ratio_->setValue(ratio->ratio);
  if (const auto* ms_poe = intervention.Find<MsPoe>()) ms_poe_->SetValue(*ms_poe);
  ShowRows(PositionSchemeRows(intervention));
  ShowScheme();
  const auto channels = intervention.All<ChannelScaling>();
  channel_box_->setChecked(!channels.empty());
  // While its signals are blocked, a group box does not enable or disable its contents.
  channel_->setEnabled(channel_box_->isChecked());
  channel_->SetValue(channels);
}

void KnobsPanel::SetModel(int64_t layers, int64_t hidden) {
  ms_poe_->SetLayers(layers);
  channel_->SetModel(layers, hidden);
}

}  // namespace midscope
