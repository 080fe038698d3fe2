// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/next_tokens_panel.h"

#include <QHeaderView>
#include <QLabel>
#include <QTableView>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/bar_plot.h"
#include "gui/plots/next_tokens_table.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

constexpr char kTexts[] = "token_text";

QVector<BarPlot::Bar> BarsOf(const Record* record) {
  QVector<BarPlot::Bar> bars;
  if (!record || !HasArray(*record, kTexts, {"rank"})) return bars;
  const QStringList tokens = Texts(*record, kTexts);
  for (qsizetype i = 0; i < tokens.size(); ++i)
    bars.append({ShownToken(tokens[i]), ValueAt(*record, "probability", {i})});
  return bars;
}

}  // namespace

NextTokensPanel::NextTokensPanel(const PanelContext& context) : Panel(context) {
  table_ = new NextTokensTable(this);
  view_ = Named(new QTableView(this), "next_tokens");
  view_->setAccessibleName(tr("Likeliest next tokens"));
  view_->setModel(table_);
  view_->setAlternatingRowColors(true);
  view_->setTabKeyNavigation(false);
  view_->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  view_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
  note_ = Named(new QLabel(this), "next_tokens_note");
  note_->setWordWrap(true);
  bars_a_ = new BarPlot(this, QStringLiteral("next_tokens"));
  bars_b_ = new BarPlot(this, QStringLiteral("next_tokens_b"));
  bars_a_->hide();
  bars_b_->hide();
  LayOutPanel(this, view_)->addWidget(note_);
  Draw();
}

std::vector<std::string> NextTokensPanel::Records() {
  return {kNextTokensRecord, kGenerationRecord};
}

void NextTokensPanel::Refresh(Changes changes) {
  if (!(changes & (Change::kModel | Change::kPrompts | Change::kSettings | kRecordChanges))) return;
  DrawWhenShown();
}

void NextTokensPanel::Draw() {
  const Record* a = session()->record(Side::kA, kNextTokensRecord);
  const Record* b = session()->record(Side::kB, kNextTokensRecord);
  const RecordName name_a = NameOf(*session(), Side::kA, a);
  const RecordName name_b = NameOf(*session(), Side::kB, b);
  table_->Show(a, b, name_a.older, name_b.older,
               WhyNotComparable(*session(), Compared::kNextTokens));
  QStringList names;
  const auto add = [&](const Record* record, const RecordName& name, BarPlot* bars) {
    bars->Show(BarsOf(record), tr("probability"));
    bars->SetTitle(tr("Next tokens — %1").arg(name.text));
    bars->SetCaption(record ? CaptionWith(*session(), {name}) : QString());
    if (record) names << name.text;
  };
  add(a, name_a, bars_a_);
  add(b, name_b, bars_b_);
  const QString empty = session()->shows_file()
                            ? tr("The file has no next tokens of one prompt")
                            : tr("Run a prompt to see the likeliest next tokens");
  note_->setText(table_->rowCount() == 0 ? empty : names.join(QStringLiteral(" | ")));
}

std::vector<Plot*> NextTokensPanel::plots() const {
  // Works even before a hidden panel has drawn the tokens.
  std::vector<Plot*> shown;
  for (const Side side : {Side::kA, Side::kB}) {
    if (!BarsOf(session()->record(side, kNextTokensRecord)).isEmpty())
      shown.push_back(side == Side::kA ? bars_a_ : bars_b_);
  }
  return shown;
}

void NextTokensPanel::Render(FilePictures& pictures) {
  const RecordSides sides = pictures.Find(kTexts, {"rank"});
  for (const Record* record : {sides.a, sides.b}) {
    if (!record || record->name.rfind(kNextTokensRecord, 0) != 0) continue;
    BarPlot bars;
    bars.Show(BarsOf(record), QObject::tr("probability"));
    bars.SetTitle(pictures.Titled(QObject::tr("Next tokens"), record));
    pictures.Write(bars, QString::fromLatin1(kNextTokensRecord) +
                             (record == sides.b ? QStringLiteral("_b") : QString()));
  }
}

}  // namespace midscope
