// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/next_tokens_table.h"

#include <QColor>
#include <QFont>
#include <algorithm>
#include <cmath>

#include "gui/base/record_access.h"
#include "gui/plots/plot_style.h"

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

}  // namespace midscope
