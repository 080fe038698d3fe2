// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings/history_panel.h"

#include <QColor>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QInputDialog>
#include <QKeyEvent>
#include <QMenu>
#include <QPushButton>
#include <QTableWidget>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/terms/intervention_text.h"
#include "gui/base/display_text.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_marks.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

SettingChips::SettingChips(Session* session, TriedSettings* tried, QWidget* parent)
    : QWidget(parent), session_(session), tried_(tried) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(1);
  for (int letter = 0; letter < SettingMarks::kLetters; ++letter) {
    auto* chip = Named(new QToolButton(this),
                       QStringLiteral("chip_") + SettingMarks::Letter(letter).toLower());
    chip->setCheckable(true);
    chip->setFocusPolicy(Qt::StrongFocus);
    chip->setContextMenuPolicy(Qt::CustomContextMenu);
    chip->installEventFilter(this);
    const QColor color = OutcomePlot::SettingColor(static_cast<size_t>(letter));
    chip->setStyleSheet(
        QStringLiteral("QToolButton { border: 1px solid %1; border-radius: 3px; padding: 1px 4px; }"
                       "QToolButton:checked { background: %1; color: white; font-weight: bold; }"
                       "QToolButton:focus { border: 2px solid palette(highlight); }")
            .arg(color.name()));
    connect(chip, &QToolButton::clicked, this, [this, letter](bool drawn) {
      session_->marks()->SetDrawn(letter, drawn);
      Refresh();
    });
    connect(chip, &QWidget::customContextMenuRequested, this, [this, letter] { OpenMenu(letter); });
    row->addWidget(chip);
    chips_.push_back(chip);
  }
  connect(session_->marks(), &SettingMarks::Changed, this, &SettingChips::Refresh);
  connect(tried_, &TriedSettings::Changed, this, &SettingChips::Refresh);
  Refresh();
}

QString SettingChips::SettingAt(int letter) const {
  if (letter == 1 && !session_->differs()) return {};
  if (letter < 2) {
    const Side side = letter == 0 ? Side::kA : Side::kB;
    return QString::fromStdString(PrintIntervention(session_->setting(side)));
  }
  return session_->shows_file() ? QString() : QString::fromStdString(tried_->TextOf(letter - 2));
}

void SettingChips::Refresh() {
  SettingMarks* marks = session_->marks();
  constexpr int kLongestName = 16;
  for (int letter = 0; letter < SettingMarks::kLetters; ++letter) {
    QToolButton* chip = chips_[static_cast<size_t>(letter)];
    const QString setting = SettingAt(letter);
    chip->setVisible(!setting.isEmpty());
    if (setting.isEmpty()) continue;
    const QString name = SettingMarks::Letter(letter);
    QString shown = marks->Name(setting);
    if (shown.size() > kLongestName) shown = shown.left(kLongestName - 1) + QChar(0x2026);
    chip->setText(shown.isEmpty() ? name : tr("%1 “%2”").arg(name, shown));
    chip->setChecked(marks->Draws(letter));
    chip->setAccessibleName(tr("Draw setting %1").arg(name));
    chip->setToolTip(tr("<p><b>%1</b>: %2</p><p>Click: draw it or leave it out. Double click: draw "
                        "it alone, or all again. Right click, F2: name it</p>")
                         .arg(marks->WithLetter(name, setting), setting.toHtmlEscaped()));
  }
  updateGeometry();
}

bool SettingChips::eventFilter(QObject* watched, QEvent* event) {
  const auto found = std::find(chips_.begin(), chips_.end(), watched);
  if (found == chips_.end()) return QWidget::eventFilter(watched, event);
  const auto letter = static_cast<int>(found - chips_.begin());
  if (event->type() == QEvent::MouseButtonDblClick) {
    // The first click of a double click has toggled the setting; this restores it.
    session_->marks()->SetDrawn(letter, !session_->marks()->Draws(letter));
    session_->marks()->Solo(letter);
    return true;
  }
  const bool key = event->type() == QEvent::KeyPress;
  if (key && static_cast<QKeyEvent*>(event)->key() == Qt::Key_F2) {
    AskName(letter);
    return true;
  }
  return QWidget::eventFilter(watched, event);
}

void SettingChips::AskName(int letter) {
  const QString setting = SettingAt(letter);
  bool given = false;
  const QString name =
      QInputDialog::getText(this, tr("Name of %1").arg(SettingMarks::Letter(letter)),
                            tr("A name for %1").arg(WithoutFolders(setting)), QLineEdit::Normal,
                            session_->marks()->Name(setting), &given);
  if (given) session_->marks()->SetName(setting, name);
}

void SettingChips::OpenMenu(int letter) {
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addAction(tr("Name…"), this, [this, letter] { AskName(letter); });
  menu->addAction(tr("Draw alone, or all"), this,
                  [this, letter] { session_->marks()->Solo(letter); });
  menu->popup(QCursor::pos());
}

namespace {

enum HistoryColumn {
  kKeptColumn,
  kSettingColumn,
  kNatsColumn,
  kGapColumn,
  kMeanColumn,
  kMeanGapColumn,
  kNameColumn,
  kColumns
};

struct Summary {
  double mean = 0;  // over places
  double gap = 0;   // largest minus smallest value over places
};

std::optional<Summary> SummaryOf(const OutcomeSeries& series) {
  if (series.values.isEmpty() || std::any_of(series.values.begin(), series.values.end(),
                                             [](double v) { return std::isnan(v); }))
    return std::nullopt;
  Summary summary;
  for (const double value : series.values) summary.mean += value;
  summary.mean /= static_cast<double>(series.values.size());
  const auto [low, high] = std::minmax_element(series.values.begin(), series.values.end());
  summary.gap = *high - *low;
  return summary;
}

QTableWidgetItem* NumberItem(const std::optional<double>& value) {
  auto* item = new QTableWidgetItem(value ? QString::number(*value, 'f', 2) : QString());
  item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  item->setFlags(item->flags() & ~Qt::ItemIsEditable);
  return item;
}

}  // namespace

HistoryPanel::HistoryPanel(Session* session, TriedSettings* tried, QWidget* parent)
    : QWidget(parent), session_(session), tried_(tried) {
  table_ = Named(new QTableWidget(0, kColumns, this), "history_table");
  table_->setAccessibleName(tr("Settings that were tried"));
  table_->setHorizontalHeaderLabels({tr("keep"), tr("setting"), tr("nats"), tr("gap"),
                                     tr("mean nats"), tr("gap of means"), tr("name")});
  table_->horizontalHeaderItem(kNatsColumn)
      ->setToolTip(tr("-log p(answer) of this sample, mean over places"));
  table_->horizontalHeaderItem(kGapColumn)->setToolTip(tr("Worst place minus best place"));
  table_->horizontalHeaderItem(kMeanColumn)
      ->setToolTip(tr("Over samples too, where means were made"));
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->horizontalHeader()->setSectionResizeMode(kSettingColumn, QHeaderView::Stretch);
  // Moves the name column next to the letter column.
  table_->horizontalHeader()->moveSection(kNameColumn, kSettingColumn);
  table_->horizontalHeaderItem(kNameColumn)
      ->setToolTip(
          tr("What legends call the setting instead of its text; double click to name it"));
  table_->setWordWrap(false);
  table_->setTextElideMode(Qt::ElideMiddle);  // settings often differ at their end
  table_->verticalHeader()->hide();
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  auto* to_b = Named(new QPushButton(tr("To B"), this), "history_to_b",
                     tr("Sets B to the chosen setting; what was seen of it comes back at once"));
  auto* to_a =
      Named(new QPushButton(tr("To A"), this), "history_to_a", tr("Sets A to the chosen setting"));
  FlowLayout* row = MakeControlFlow({to_b, to_a});
  LayOutPanel(this, table_)->addLayout(row);
  connect(to_b, &QPushButton::clicked, this, [this] {
    if (!Chosen().isEmpty()) Q_EMIT SettingOffered(Side::kB, Chosen());
  });
  connect(to_a, &QPushButton::clicked, this, [this] {
    if (!Chosen().isEmpty()) Q_EMIT SettingOffered(Side::kA, Chosen());
  });
  connect(table_, &QTableWidget::cellDoubleClicked, this, [this](int /*row*/, int column) {
    if (column != kKeptColumn && column != kNameColumn) Q_EMIT SettingOffered(Side::kB, Chosen());
  });
  connect(table_, &QTableWidget::itemChanged, this, [this](QTableWidgetItem* item) {
    if (filling_) return;
    const QString setting = SettingAt(item->row());
    if (item->column() == kNameColumn) session_->marks()->SetName(setting, item->text());
    if (item->column() != kKeptColumn) return;
    if (!tried_->Keep(setting.toStdString(), item->checkState() == Qt::Checked)) Fill();
  });
  connect(tried_, &TriedSettings::Changed, this, [this] {
    if (isVisible()) Fill();
  });
  connect(session_->marks(), &SettingMarks::Changed, this, [this] {
    if (isVisible()) QMetaObject::invokeMethod(this, "Fill", Qt::QueuedConnection);
  });
  Fill();
}

void HistoryPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  Fill();
}

QString HistoryPanel::SettingAt(int row) const {
  const QTableWidgetItem* item = table_->item(row, kSettingColumn);
  return item ? item->data(Qt::UserRole).toString() : QString();
}

QString HistoryPanel::Chosen() const { return SettingAt(table_->currentRow()); }

void HistoryPanel::Fill() {
  filling_ = true;
  const int chosen = table_->currentRow();
  table_->setRowCount(static_cast<int>(tried_->list().size()));
  for (size_t i = 0; i < tried_->list().size(); ++i) FillRow(static_cast<int>(i), i);
  // Hides columns without means, because they would leave no room for the settings.
  for (const int column : {kMeanColumn, kMeanGapColumn}) {
    bool any = false;
    for (int row = 0; row < table_->rowCount(); ++row)
      any = any || !table_->item(row, column)->text().isEmpty();
    table_->setColumnHidden(column, !any);
  }
  table_->setCurrentCell(std::min(std::max(chosen, 0), table_->rowCount() - 1), kSettingColumn);
  filling_ = false;
}

void HistoryPanel::FillRow(int row, size_t index) {
  const TriedSetting& tried = tried_->list()[index];
  auto* keep = new QTableWidgetItem(tried.kept < 0 ? QString() : TriedSettings::Letter(tried.kept));
  keep->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
  keep->setCheckState(tried.kept < 0 ? Qt::Unchecked : Qt::Checked);
  if (tried.kept >= 0)
    keep->setForeground(OutcomePlot::SettingColor(2 + static_cast<size_t>(tried.kept)));
  table_->setItem(row, kKeptColumn, keep);
  const QString text = QString::fromStdString(tried.text);
  auto* setting = new QTableWidgetItem(WithoutFolders(text));
  setting->setData(Qt::UserRole, text);
  setting->setFlags(setting->flags() & ~Qt::ItemIsEditable);
  setting->setToolTip(text);
  auto* name = new QTableWidgetItem(session_->marks()->Name(text));
  table_->setItem(row, kNameColumn, name);
  table_->setItem(row, kSettingColumn, setting);
  std::optional<Summary> sample;
  if (tried.outcome) {
    const std::vector<OutcomeSeries> series = SeriesOf(*tried.outcome, Measure::kNll);
    if (!series.empty()) sample = SummaryOf(series.front());
  }
  std::optional<Summary> means;
  if (const auto found = session_->MeansOfSetting(tried.text, Measure::kNll))
    means = SummaryOf(found->series);
  const auto show = [&](int column, const std::optional<Summary>& summary, double Summary::*field) {
    table_->setItem(row, column,
                    NumberItem(summary ? std::optional<double>((*summary).*field) : std::nullopt));
  };
  show(kNatsColumn, sample, &Summary::mean);
  show(kGapColumn, sample, &Summary::gap);
  show(kMeanColumn, means, &Summary::mean);
  show(kMeanGapColumn, means, &Summary::gap);
}

}  // namespace midscope
