// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/head_map_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>

#include "gui/head_map_plot.h"
#include "gui/panel_layout.h"
#include "gui/session.h"

namespace midscope {

HeadMapPanel::HeadMapPanel(Session* session, QWidget* parent) : QWidget(parent), session_(session) {
  plot_ = new HeadMapPlot(this);
  mode_ = new QComboBox(this);
  mode_->setObjectName(QStringLiteral("map_mode"));
  mode_->addItems({tr("A"), tr("B"), tr("B − A")});
  mode_->setToolTip(tr("What the map shows (keys A, B, D)"));
  note_ = new QLabel(this);
  note_->setToolTip(tr("Click a cell, or use the arrow keys (up: next layer), to choose a head"));
  auto* row = MakeControlRow();
  row->addWidget(new QLabel(tr("map of"), this));
  row->addWidget(mode_);
  row->addWidget(note_, 1);
  LayOutPanel(this, plot_, row);
  connect(mode_, &QComboBox::currentIndexChanged, this, &HeadMapPanel::Refresh);
  connect(session_, &Session::FullRunChanged, this, &HeadMapPanel::Refresh);
  connect(session_, &Session::Followed, this, &HeadMapPanel::Refresh);
  connect(session_, &Session::SettingsChanged, this, &HeadMapPanel::RefreshNote);
  connect(session_, &Session::ModelChanged, this, &HeadMapPanel::Refresh);
  Refresh();
}

MapMode HeadMapPanel::mode() const { return static_cast<MapMode>(mode_->currentIndex()); }

void HeadMapPanel::SetMode(MapMode mode) { mode_->setCurrentIndex(static_cast<int>(mode)); }

void HeadMapPanel::Refresh() {
  if (session_->model()) {
    plot_->SetHeadsPerKeyValueHead(session_->model()->config.heads_per_key_value_head());
  }
  const bool file = session_->shows_file();
  plot_->SetReason(file ? tr("The file has no position-awareness scores")
                   : mode() == MapMode::kA || session_->differs() ? QString()
                                                                  : tr("B is the same as A"));
  plot_->Show(session_->record(Side::kA, "position_awareness"),
              session_->record(Side::kB, "position_awareness"),
              session_->record(Side::kA, "position_ratio"),
              session_->record(Side::kB, "position_ratio"), mode());
  RefreshNote();
}

void HeadMapPanel::RefreshNote() {
  const Side side = mode() == MapMode::kA ? Side::kA : Side::kB;
  QString note;
  if (mode() != MapMode::kA && !session_->differs()) {
    note = tr("B is the same as A");
  } else if (plot_->layers() > 0 && !session_->settled(side) && !session_->follows(side)) {
    note = tr("of an older setting until the hand rests");
  }
  note_->setText(note);
}

}  // namespace midscope
