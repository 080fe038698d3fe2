// SPDX-License-Identifier: GPL-3.0-or-later
// HeadMapPanel: position ratios of B that are painted on the map.
#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QToolButton>

#include "core/base/error.h"
#include "gui/panels/head_map_panel.h"
#include "gui/panels/ratio_painter.h"
#include "gui/plots/head_map_plot.h"
#include "gui/session/session.h"
#include "gui/widgets/selection.h"

namespace midscope {

void HeadMapPanel::MakePainter() {
  painter_ = new RatioPainter(session(), this);
  connect(painter_, &RatioPainter::Painted, this, &HeadMapPanel::RatiosOffered);
  for (HeadMapPlot* plot : {plot_, plot_b_})
    connect(plot, &HeadMapPlot::Painted, this, &HeadMapPanel::Paint);
  grouped_ = new QToolButton(this);
  grouped_->setObjectName(QStringLiteral("ratios_grouped"));
  grouped_->setText(tr("KV groups"));
  grouped_->setCheckable(true);
  grouped_->setToolTip(
      tr("<p>What is painted is painted on all heads with the same key/value head</p>"));
  connect(grouped_, &QToolButton::toggled, painter_, &RatioPainter::SetGrouped);
  edits_ = new QToolButton(this);
  edits_->setObjectName(QStringLiteral("ratios_edits"));
  edits_->setText(tr("Ratios of B"));
  edits_->setToolTip(tr("<p>Position ratios of B: from the score, and controls of them</p>"));
  edits_->setPopupMode(QToolButton::InstantPopup);
  auto* menu = new QMenu(edits_);
  menu->setToolTipsVisible(true);
  edits_->setMenu(menu);
  const auto add = [this, menu](const char* id, const QString& title, const QString& help,
                                RatioPainter::Edit edit) {
    auto* action = new QAction(title, this);
    action->setObjectName(QString::fromLatin1(id));
    action->setToolTip(help);
    connect(action, &QAction::triggered, this, [this, edit] { ApplyToRatios(edit); });
    menu->addAction(action);
    addAction(action);  // also among all actions
  };
  add("ratios-from-score", tr("Ratios of B from the &score"),
      tr("In each layer the most position-aware head of A has the least ratio, as in Ms-PoE: the "
         "ratios that B has, or 1.2 to 1.8"),
      RatioPainter::Edit::kFromScore);
  add("ratios-same-in-group", tr("Same ratio in each &key/value group"),
      tr("The mean of the group's ratios of B"), RatioPainter::Edit::kGrouped);
  add("ratios-reversed", tr("Ratios of B in re&versed order"),
      tr("Control: in each layer the head with the least ratio has the largest"),
      RatioPainter::Edit::kReversed);
  add("ratios-random", tr("Ratios of B in ra&ndom order"),
      tr("Control: each layer's ratios go to its heads at random; again: another order"),
      RatioPainter::Edit::kRandom);
  add("ratios-ones", tr("All ratios of B &1"), tr("As trained, as a table"),
      RatioPainter::Edit::kOnes);
}

bool HeadMapPanel::ShowsRatios() const {
  return entry().id == kRatioId && session()->model() && !session()->shows_file();
}

void HeadMapPanel::ApplyToRatios(RatioPainter::Edit edit) {
  try {
    painter_->Apply(edit);
    ChooseQuantity(kRatioId);
    ShowB();
  } catch (const Error& error) {
    Q_EMIT Failed(QString::fromUtf8(error.what()));
  }
}

void HeadMapPanel::SetRatios(const std::vector<std::pair<HeadId, double>>& ratios) {
  painter_->Set(ratios);
  ChooseQuantity(kRatioId);
  ShowB();
}

void HeadMapPanel::Paint(const std::vector<HeadId>& heads, double change, bool dragging) {
  try {
    painter_->Paint(heads, change, dragging);
    ShowB();
  } catch (const Error& error) {
    Q_EMIT Failed(QString::fromUtf8(error.what()));
  }
}

// What is painted is B's.
void HeadMapPanel::ShowB() {
  const Compare shown = selection()->compare();
  if (shown != Compare::kB && (shown != Compare::kSplit || !has_room_))
    selection()->SetCompare(Compare::kB);
}

void HeadMapPanel::RefreshPainting(Compare drawn) {
  const bool ratios = ShowsRatios();
  grouped_->setVisible(ratios && session()->model()->config.heads_per_key_value_head() > 1);
  edits_->setVisible(ratios);
  // Of A | B the map of B is painted; alone, also that of A, which then becomes B's.
  plot_->SetPaintable(ratios && (drawn == Compare::kA || drawn == Compare::kB));
  plot_b_->SetPaintable(ratios && drawn == Compare::kSplit);
}

QString HeadMapPanel::PaintingNote() const {
  if (painter_->Replaces()) return tr("painting replaces the position scheme of B");
  return tr("wheel or drag ↕ on a cell: ratio of B; Shift+drag: block");
}

}  // namespace midscope
