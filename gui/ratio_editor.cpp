// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/ratio_editor.h"

#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/terms/terms.h"
#include "gui/base/write_whole_file.h"
#include "gui/panels/head_map/ratio_table.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/flow_layout.h"
#include "probes/base/records.h"

namespace midscope {

RatioEditor::RatioEditor(const RatioEditorContext& context, QWidget* parent)
    : QDialog(parent), context_(context), table_(new RatioTable(this)) {
  setWindowTitle(tr("Position ratios"));
  view_ = new QTableView(this);
  view_->setModel(table_);
  view_->horizontalHeader()->setDefaultSectionSize(54);
  view_->verticalHeader()->setDefaultSectionSize(22);
  auto* column = new QVBoxLayout(this);
  auto* help = new QLabel(
      tr("Positions of a head are divided by its ratio: 1 changes nothing. Type, or paste rows of "
         "numbers at the selected cell."),
      this);
  help->setWordWrap(true);
  column->addWidget(help);
  column->addWidget(view_, 1);
  auto* row = new QHBoxLayout;
  const auto add = [this, row](const char* name, const QString& text, const QString& tip,
                               auto member) {
    auto* button = Named(new QPushButton(text, this), name, tip);
    button->setAutoDefault(false);
    row->addWidget(button);
    connect(button, &QPushButton::clicked, this, member);
  };
  add("ratios_screen", tr("From the screen"), tr("The ratios of the last run of B, or of A"),
      [this] { TakeFromScreen(); });
  add("ratios_reset", tr("Reset"), tr("1 for every head"),
      [this] { table_->Reset(table_->rowCount(), table_->columnCount()); });
  add("ratios_copy", tr("Copy"), tr("All ratios, as rows of numbers"),
      [this] { QGuiApplication::clipboard()->setText(table_->Text()); });
  add("ratios_paste", tr("Paste"), tr("Rows of numbers, from the selected cell on"),
      [this] { Paste(); });
  add("ratios_save", tr("Save as…"), tr("A file for ratios(FILE)"), [this] {
    const QString path = QFileDialog::getSaveFileName(
        this, tr("Save ratios"), QStringLiteral("ratios.json"), tr("Ratios (*.json)"));
    if (!path.isEmpty()) SaveAs(path);
  });
  add("ratios_use", tr("Use as B"), tr("Keep the table in a file and make it B's positions"),
      [this] { Use(); });
  column->addLayout(row);
  resize(700, 560);
  TakeFromScreen();
}

void RatioEditor::TakeFromScreen() {
  const Session& session = *context_.session;
  for (const Side side : {Side::kB, Side::kA}) {
    const Record* record = session.record(side, kPositionRatio);
    if (record && !IsPartial(*record) && table_->TakeFrom(*record)) return;
  }
  if (session.model()) table_->Reset(session.model()->config.layers, session.model()->config.heads);
}

void RatioEditor::Paste() {
  const QModelIndex at = view_->currentIndex();
  context_.errors->Try([this, &at] {
    table_->Paste(QGuiApplication::clipboard()->text(), std::max(at.row(), 0),
                  std::max(at.column(), 0));
  });
}

void RatioEditor::Write(const QString& path) const {
  WriteWholeFile("ratios", path, table_->Json());
}

void RatioEditor::Use() {
  context_.errors->Try([this] {
    if (table_->rowCount() == 0) {
      throw UsageError("position ratios", "there are none", "Open a model first");
    }
    SettingPair next = context_.history->current();
    HeadRatioTable table = InFolder(table_->Table(), folder_, true);
    table.rows = PositionSchemeRows(next.b);
    next.b.Add(TermOf(std::move(table)));
    context_.history->Change(next, false);
  });
}

void RatioEditor::SaveAs(const QString& path) {
  context_.errors->Try([this, &path] { Write(path); });
}

}  // namespace midscope
