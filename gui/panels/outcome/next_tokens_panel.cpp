// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/next_tokens_panel.h"

#include <QColor>
#include <QFont>
#include <QHeaderView>
#include <QLabel>
#include <QTableView>
#include <algorithm>
#include <cmath>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/bar_plot.h"
#include "gui/plots/plot_style.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/two_models.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

namespace {

QString ProbabilityText(double value) {
  return std::isnan(value) ? QString() : QString::number(value, 'g', 3);
}

}  // namespace

NextTokensTable::Side NextTokensTable::SideOf(const Record* record, bool grey) {
  Side side;
  if (!record || !HasArray(*record, "token_text", {"rank"})) return side;
  side.grey = grey;
  side.tokens = Texts(*record, "token_text");
  side.probabilities = LastAxisRow(*record, "probability", {});
  for (const double id : LastAxisRow(*record, "next_token_ids", {}))
    side.ids.append(static_cast<qlonglong>(id));
  side.answer = TextAttribute(*record, "answer_token_text");
  side.answer_id = IntegerAttribute(*record, "answer_token", -1);
  side.answer_rank = IntegerAttribute(*record, "answer_rank", -1);
  side.answer_probability = NumberAttribute(*record, "answer_probability", side.answer_probability);
  return side;
}

void NextTokensTable::Show(const Record* a, const Record* b, bool grey_a, bool grey_b,
                           const QString& other_tokens) {
  beginResetModel();
  other_tokens_ = other_tokens;
  a_ = SideOf(a, grey_a);
  b_ = SideOf(b, grey_b);
  endResetModel();
}

bool NextTokensTable::has_answer_row() const {
  return (a_.answer_rank >= 0 && a_.LacksAnswer()) || (b_.answer_rank >= 0 && b_.LacksAnswer());
}

int NextTokensTable::rowCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  const auto ranks = static_cast<int>(std::max(a_.tokens.size(), b_.tokens.size()));
  return ranks == 0 ? 0 : ranks + (has_answer_row() ? 1 : 0);
}

int NextTokensTable::columnCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  return b_.tokens.isEmpty() ? kProbabilityA + 1 : static_cast<int>(kColumns);
}

QString NextTokensTable::RankInA(int row) const {
  if (!other_tokens_.isEmpty()) return QStringLiteral("–");
  const bool answer_row = row >= std::max(a_.tokens.size(), b_.tokens.size());
  const qlonglong id = answer_row ? b_.answer_id : b_.ids.value(row, -1);
  if (id < 0) return {};
  const qlonglong rank = answer_row ? b_.answer_rank : row;
  const qsizetype listed = a_.ids.indexOf(id);
  const qlonglong before = id == a_.answer_id ? a_.answer_rank : static_cast<qlonglong>(listed);
  if (before < 0) return tr("not listed");
  if (before == rank) return tr("%1 =").arg(before + 1);
  return QStringLiteral("%1 %2%3")
      .arg(before + 1)
      .arg(before > rank ? QStringLiteral("\u2191") : QStringLiteral("\u2193"))
      .arg(std::abs(before - rank));
}

QString NextTokensTable::TextOf(int row, int column) const {
  if (column == kRankInA) return RankInA(row);
  const Side& side = column <= kProbabilityA ? a_ : b_;
  const bool answer_row = row >= std::max(a_.tokens.size(), b_.tokens.size());
  const bool token = column == kTokenA || column == kTokenB;
  if (!answer_row) {
    if (row >= side.tokens.size()) return {};
    return token ? ShownToken(side.tokens[row])
                 : ProbabilityText(side.probabilities.value(row, std::nan("")));
  }
  if (side.answer_rank < 0) return {};
  return token ? tr("%1 (rank %2)").arg(ShownToken(side.answer)).arg(side.answer_rank + 1)
               : ProbabilityText(side.answer_probability);
}

bool NextTokensTable::IsAnswer(int row, int column) const {
  if (column == kRankInA) return false;
  if (row >= std::max(a_.tokens.size(), b_.tokens.size())) return true;
  const Side& side = column <= kProbabilityA ? a_ : b_;
  return side.answer_rank == row;
}

QVariant NextTokensTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const bool answer = IsAnswer(index.row(), index.column());
  const Side& side = index.column() <= kProbabilityA ? a_ : b_;
  switch (role) {
    case Qt::DisplayRole:
      return TextOf(index.row(), index.column());
    case Qt::ToolTipRole:
      if (index.column() == kRankInA && !other_tokens_.isEmpty()) return other_tokens_;
      return answer ? tr("The expected answer's first token") : QString();
    case Qt::TextAlignmentRole:
      return index.column() == kTokenA || index.column() == kTokenB
                 ? QVariant()
                 : static_cast<int>(Qt::AlignRight | Qt::AlignVCenter);
    case Qt::BackgroundRole: {
      QColor gold = GoldColor();
      gold.setAlpha(90);
      return answer ? QVariant(gold) : QVariant();
    }
    case Qt::ForegroundRole:
      return side.grey ? QVariant(QColor(128, 128, 128)) : QVariant();
    case Qt::FontRole: {
      QFont font;
      font.setBold(true);
      return answer ? QVariant(font) : QVariant();
    }
    default:
      return {};
  }
}

QVariant NextTokensTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation == Qt::Vertical) {
    if (role != Qt::DisplayRole) return {};
    const bool answer_row = section >= std::max(a_.tokens.size(), b_.tokens.size());
    return answer_row ? tr("answer") : QString::number(section + 1);
  }
  if (role == Qt::ToolTipRole && section == kRankInA)
    return tr("Rank of B's token under A, and by how much it rose or fell");
  if (role != Qt::DisplayRole) return {};
  switch (section) {
    case kTokenA:
      return tr("A says");
    case kTokenB:
      return tr("B says");
    case kRankInA:
      return tr("rank in A");
    default:
      return tr("probability");
  }
}

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
