// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/settings/history_panel.h"

#include <QHeaderView>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTableWidget>
#include <algorithm>
#include <cmath>
#include <optional>

#include "gui/base/display_text.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/session.h"
#include "gui/session/tried_settings.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
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
  // Without means, their columns would leave no room for the settings.
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
