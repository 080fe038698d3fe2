// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/head_map_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>

#include "gui/plots/head_map_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/widgets/head_selection.h"
#include "gui/widgets/panel_layout.h"

namespace midscope {

HeadMapPanel::HeadMapPanel(Session* session, HeadSelection* selection, QWidget* parent)
    : QWidget(parent), session_(session) {
  plot_ = new HeadMapPlot(this);
  mode_ = new QComboBox(this);
  mode_->setObjectName(QStringLiteral("map_mode"));
  mode_->addItems({tr("A"), tr("B"), tr("B − A")});
  mode_->setToolTip(tr("What the map shows (keys A, B, D)"));
  note_ = new QLabel(this);
  note_->setObjectName(QStringLiteral("map_note"));
  note_->setToolTip(tr("Click a cell, or use the arrow keys (up: next layer), to choose a head"));
  auto* row = MakeControlRow();
  row->addWidget(new QLabel(tr("map of"), this));
  row->addWidget(mode_);
  row->addWidget(note_, 1);
  LayOutPanel(this, plot_, row);
  connect(mode_, &QComboBox::currentIndexChanged, this, &HeadMapPanel::Refresh);
  connect(session_, &Session::FullRunChanged, this, &HeadMapPanel::Refresh);
  connect(session_, &Session::Followed, this, &HeadMapPanel::Refresh);
  connect(session_, &Session::PromptsChanged, this, &HeadMapPanel::Refresh);
  connect(plot_, &HeadMapPlot::HeadChosen, selection, &HeadSelection::Choose);
  connect(selection, &HeadSelection::Changed, plot_, &HeadMapPlot::SelectHead);
  connect(session_, &Session::ModelChanged, this, &HeadMapPanel::Refresh);
  Refresh();
}

MapMode HeadMapPanel::mode() const { return static_cast<MapMode>(mode_->currentIndex()); }

void HeadMapPanel::SetMode(MapMode mode) { mode_->setCurrentIndex(static_cast<int>(mode)); }

MapMode HeadMapPanel::drawn_mode() const { return session_->differs() ? mode() : MapMode::kA; }

void HeadMapPanel::Refresh() {
  if (session_->model()) {
    plot_->SetHeadsPerKeyValueHead(session_->model()->config.heads_per_key_value_head());
  }
  plot_->SetReason(session_->shows_file() ? tr("The file has no position-awareness scores")
                                          : QString());
  const Record* a = session_->record(Side::kA, "position_awareness");
  const Record* b = session_->record(Side::kB, "position_awareness");
  const MapMode drawn = drawn_mode();
  plot_->Show(a, b, session_->record(Side::kA, "position_ratio"),
              session_->record(Side::kB, "position_ratio"), drawn);
  const RecordName name_a = NameOf(*session_, Side::kA, a);
  const RecordName name_b = NameOf(*session_, Side::kB, b);
  const RecordName name = drawn == MapMode::kA   ? name_a
                          : drawn == MapMode::kB ? name_b
                                                 : NameOfDifference(name_a, name_b);
  const bool any = plot_->layers() > 0;
  plot_->SetTitle(any ? tr("Position-awareness score — %1").arg(name.text)
                      : tr("Position-awareness score"));
  plot_->SetOlderNote(any && name.older ? name.text : QString());
  plot_->SetCaption(CaptionWith(*session_, {name}));
  note_->setText(drawn == mode() ? QString() : tr("B is the same as A: A is shown"));
}

}  // namespace midscope
