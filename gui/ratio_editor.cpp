// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/ratio_editor.h"

#include <QClipboard>
#include <QColor>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QTableView>
#include <QVBoxLayout>
#include <cmath>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "core/base/text.h"
#include "core/intervention/head_ratio_file.h"
#include "core/terms/terms.h"
#include "gui/base/head_ratios.h"
#include "gui/base/record_access.h"
#include "gui/base/write_whole_file.h"
#include "gui/plots/plot_style.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/flow_layout.h"
#include "probes/base/records.h"

namespace midscope {

namespace {

// Ratios of 1/e and e get the darkest colours; published ratios are in this range.
constexpr double kDeepest = 1;

double ReadRatio(const QString& text) {
  double ratio = 0;
  if (!ReadWhole(text.trimmed().toStdString(), ratio) ||
      !(ratio >= kSmallestRatio && ratio <= kLargestRatio)) {  // also true for NaN
    throw UsageError(
        "position ratios", "'" + text.toStdString() + "' is not a ratio",
        "Give numbers from " + NumberText(kSmallestRatio) + " to " + NumberText(kLargestRatio));
  }
  return ratio;
}

QString RatioText(double ratio) { return QString::fromStdString(NumberText(ratio)); }

}  // namespace

RatioTable::RatioTable(QObject* parent) : QAbstractTableModel(parent) {}

size_t RatioTable::Place(int64_t layer, int64_t head) const {
  return static_cast<size_t>(layer * heads_ + head);
}

double RatioTable::ratio(int64_t layer, int64_t head) const {
  return ratios_.at(Place(layer, head));
}

void RatioTable::Reset(int64_t layers, int64_t heads) {
  beginResetModel();
  layers_ = layers;
  heads_ = heads;
  ratios_.assign(static_cast<size_t>(layers * heads), 1.0);
  endResetModel();
}

bool RatioTable::TakeFrom(const Record& record) {
  if (!HasArray(record, kPositionRatio, {"layer", "head"})) return false;
  const int64_t layers = AxisSize(record, "layer");
  const int64_t heads = AxisSize(record, "head");
  std::vector<double> ratios;
  for (int64_t layer = 0; layer < layers; ++layer) {
    for (const double ratio : LastAxisRow(record, kPositionRatio, {layer})) ratios.push_back(ratio);
  }
  beginResetModel();
  layers_ = layers;
  heads_ = heads;
  ratios_ = std::move(ratios);
  endResetModel();
  return true;
}

void RatioTable::Paste(const QString& text, int layer, int head) {
  static const QRegularExpression between(QStringLiteral("[\\t,; ]+"));
  std::vector<double> pasted = ratios_;
  int64_t row = layer;
  for (const QString& line : text.split(QLatin1Char('\n'), Qt::SkipEmptyParts)) {
    int64_t column = head;
    for (const QString& cell : line.trimmed().split(between, Qt::SkipEmptyParts)) {
      const double ratio = ReadRatio(cell);
      if (row < layers_ && column < heads_) pasted[Place(row, column)] = ratio;
      ++column;
    }
    ++row;
  }
  beginResetModel();
  ratios_ = std::move(pasted);
  endResetModel();
}

QString RatioTable::Text() const {
  QString text;
  for (int64_t layer = 0; layer < layers_; ++layer) {
    for (int64_t head = 0; head < heads_; ++head) {
      if (head > 0) text += QLatin1Char('\t');
      text += RatioText(ratio(layer, head));
    }
    text += QLatin1Char('\n');
  }
  return text;
}

std::string RatioTable::Json() const { return RatioJson(Table()); }

HeadRatioTable RatioTable::Table() const {
  HeadRatioTable table;
  table.heads = heads_;
  table.ratios = ratios_;
  return table;
}

int RatioTable::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(layers_);
}

int RatioTable::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(heads_);
}

QVariant RatioTable::data(const QModelIndex& index, int role) const {
  const double own = ratio(index.row(), index.column());
  if (role == Qt::DisplayRole) return QString::number(own, 'g', 4);
  if (role == Qt::EditRole) return RatioText(own);
  if (role == Qt::TextAlignmentRole) return Qt::AlignCenter;
  if (role == Qt::ToolTipRole) {
    return QStringLiteral("L%1H%2: %3").arg(index.row()).arg(index.column()).arg(RatioText(own));
  }
  if (role != Qt::BackgroundRole && role != Qt::ForegroundRole) return {};
  QCPColorGradient gradient = DifferenceGradient();
  const QColor color =
      QColor::fromRgb(gradient.color(std::log(own), QCPRange(-kDeepest, kDeepest)));
  if (role == Qt::BackgroundRole) return color;
  return QColor(color.lightnessF() > 0.5 ? Qt::black : Qt::white);
}

bool RatioTable::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (role != Qt::EditRole) return false;
  try {
    ratios_.at(Place(index.row(), index.column())) = ReadRatio(value.toString());
  } catch (const Error&) {
    return false;  // the cell keeps its old value
  }
  Q_EMIT dataChanged(index, index);
  return true;
}

Qt::ItemFlags RatioTable::flags(const QModelIndex& index) const {
  return QAbstractTableModel::flags(index) | Qt::ItemIsEditable;
}

QVariant RatioTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole) return {};
  return (orientation == Qt::Horizontal ? QStringLiteral("H%1") : QStringLiteral("L%1"))
      .arg(section);
}

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
