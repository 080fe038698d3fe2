// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/reference_row.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "data/published/published_record.h"
#include "gui/base/record_access.h"
#include "gui/session/session.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {
namespace {

// If there are more lines, none is drawn by default, because they would be indistinguishable.
constexpr size_t kMostWithoutChoice = 6;
constexpr int kNarrowest = 12;  // smallest width of a box in characters
// Id of the entry that opens a file dialog; no table has this id.
constexpr QLatin1String kAskForRuns("?");

// Takes the width from the available space, not from the longest entry.
QComboBox* MakeBox(const char* name, QWidget* parent) {
  auto* box = Named(new QComboBox(parent), name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(kNarrowest);
  return box;
}

}  // namespace

ReferenceRow::ReferenceRow(Session* session, QWidget* parent)
    : QWidget(parent), session_(session), reader_(session->files_of_engine()) {
  tables_ = MakeBox("reference_table", this);
  tables_->setToolTip(
      tr("<p>Published accuracy of the same task, dashed. Other models, and generated answers "
         "scored as in the paper: shapes can be compared, heights only with care. Where the "
         "numbers of pieces differ, places are drawn at the same share of the way from first to "
         "last.</p><p>Or the means of other sweep files: without the documents "
         "(prompt=closed_book), with the one that answers alone (documents=1).</p>"));
  rows_ = MakeBox("reference_rows", this);
  rows_->setToolTip(tr("Which rows of the table are drawn"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(8, 0, 8, 3);
  row->setSpacing(7);
  row->addWidget(new QLabel(tr("Reference"), this));
  row->addWidget(tables_, 1);
  row->addWidget(rows_, 1);
  connect(tables_, &QComboBox::currentIndexChanged, this, [this] {
    if (choice() == kAskForRuns)
      return;  // handled by `activated`, so that the wheel does not open the dialog
    OfferRows();
    Apply();
    if (table()) Q_EMIT Chosen();
  });
  connect(tables_, &QComboBox::activated, this, [this] {
    if (choice() == kAskForRuns) AskForRuns();
  });
  connect(&reader_, &RunReferenceReader::Replied, this, &ReferenceRow::TakeRuns,
          Qt::QueuedConnection);
  connect(rows_, &QComboBox::currentIndexChanged, this, &ReferenceRow::Apply);
  hide();
}

void ReferenceRow::Refresh(Changes changes) {
  if (changes & Change::kPrompts) OfferTables();
  if (changes & Change::kReference) ShowReference();
}

QString ReferenceRow::choice() const { return tables_->currentData().toString(); }

bool ReferenceRow::IsRuns(const QString& name) const {
  return runs_ && name == TextAttribute(*runs_, "table");
}

const PublishedTable* ReferenceRow::table() const {
  const QString name = choice();
  if (name.isEmpty() || name == kAskForRuns || IsRuns(name)) return nullptr;
  return FindPublishedTables(name.toStdString()).front();
}

void ReferenceRow::AskForRuns() {
  const QStringList paths =
      ChooseEngineFiles(this, session_->files_of_engine().link(), tr("Runs beside the outcome"),
                        tr("Results (*.h5);;All files (*)"));
  if (paths.isEmpty()) {
    ShowReference();
  } else {
    OpenRuns(paths);
  }
}

void ReferenceRow::OpenRuns(const QStringList& paths) {
  opening_ = paths;
  reader_.Ask(paths);
}

void ReferenceRow::TakeRuns(const RunReferenceReader::ReplyPointer& reply) {
  if (reply->paths != opening_) return;  // superseded
  opening_.clear();
  if (!reply->failure.isEmpty()) {
    Q_EMIT session_->Failed(reply->failure);
    ShowReference();
    return;
  }
  OfferRuns(reply->reference);
  tables_->setCurrentIndex(tables_->findData(TextAttribute(*runs_, "table")));
  Apply();
}

// Inserts the entry before the one that opens the file dialog, replacing earlier runs.
void ReferenceRow::OfferRuns(const Record& runs) {
  const QSignalBlocker quiet(tables_);
  if (runs_) tables_->removeItem(tables_->findData(TextAttribute(*runs_, "table")));
  runs_ = runs;
  const QString name = TextAttribute(runs, "table");
  tables_->insertItem(tables_->count() - 1,
                      QStringLiteral("%1: %2").arg(name, TextAttribute(runs, "title")), name);
}

std::vector<ReferenceRow::RowChoice> ReferenceRow::RowChoices(
    const std::vector<PublishedLine>& lines) {
  std::vector<RowChoice> choices(1);
  std::vector<RowChoice> groups;
  std::vector<RowChoice> each;
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto same_task = [&lines, i](const PublishedLine& other) {
      return other.task == lines[i].task;
    };
    QString label = QString::fromStdString(lines[i].label);
    if (!std::all_of(lines.begin(), lines.end(), same_task)) {
      label += QStringLiteral(" (%1)").arg(QString::fromStdString(lines[i].task));
    }
    RowChoice group{label, {i}};
    for (size_t j = 0; j < lines.size(); ++j) {
      if (same_task(lines[j]) && lines[j].label.starts_with(lines[i].label + " ")) {
        group.lines.push_back(j);
      }
    }
    if (group.lines.size() > 1) {
      group.text = tr("%1: %2 rows").arg(label).arg(group.lines.size());
      groups.push_back(std::move(group));
    }
    choices.front().lines.push_back(i);
    each.push_back({label, {i}});
  }
  choices.front().text = tr("all %1 rows").arg(lines.size());
  for (std::vector<RowChoice>* more : {&groups, &each}) {
    std::move(more->begin(), more->end(), std::back_inserter(choices));
  }
  return choices;
}

void ReferenceRow::OfferTables() {
  if (session_->task() == task_) return;
  task_ = session_->task();
  const QString before = tables_->currentData().toString();
  {
    const QSignalBlocker quiet(tables_);
    tables_->clear();
    tables_->addItem(tr("none"), QString());
    for (const PublishedTable* table : PublishedTablesFor(task_)) {
      const QString name = QString::fromStdString(table->name);
      tables_->addItem(QStringLiteral("%1: %2").arg(name, QString::fromStdString(table->title)),
                       name);
      tables_->setItemData(tables_->count() - 1, QString::fromStdString(table->source),
                           Qt::ToolTipRole);
    }
    if (runs_) {
      const QString name = TextAttribute(*runs_, "table");
      tables_->addItem(QStringLiteral("%1: %2").arg(name, TextAttribute(*runs_, "title")), name);
    }
    tables_->addItem(tr("From sweep files…"), QString(kAskForRuns));
    tables_->setCurrentIndex(std::max(tables_->findData(before), 0));
  }
  setVisible(!task_.empty());
  OfferRows();
  // Keeps a reference that the file contains.
  const bool of_file =
      !session_->file_records().empty() && session_->record(Side::kA, kPublishedRecord) != nullptr;
  if (!before.isEmpty() && !of_file) Apply();
}

void ReferenceRow::OfferRows() {
  const PublishedTable* chosen = table();
  lines_ = chosen ? PublishedLinesOfKind(*chosen, task_) : std::vector<PublishedLine>();
  choices_ = RowChoices(lines_);
  const QSignalBlocker quiet(rows_);
  rows_->clear();
  for (const RowChoice& choice : choices_) rows_->addItem(choice.text);
  rows_->setCurrentIndex(lines_.size() > kMostWithoutChoice && choices_.size() > 1 ? 1 : 0);
  rows_->setVisible(lines_.size() > 1);
}

void ReferenceRow::Apply() {
  if (IsRuns(choice())) {
    session_->SetReference(runs_);
    return;
  }
  if (lines_.empty()) {
    session_->SetReference(std::nullopt);
    return;
  }
  std::vector<PublishedLine> chosen;
  const auto row = static_cast<size_t>(std::max(rows_->currentIndex(), 0));
  for (const size_t line : choices_.at(row).lines) chosen.push_back(lines_[line]);
  session_->SetReference(
      PublishedRecord(chosen, task_, PublishedPieces(chosen.front().task, task_)));
}

// The opened file may contain a reference.
void ReferenceRow::ShowReference() {
  const Record* shown = session_->record(Side::kA, kPublishedRecord);
  const QString name = shown ? TextAttribute(*shown, "table") : QString();
  if (name == choice()) return;
  if (shown && tables_->findData(name) < 0) OfferRuns(*shown);  // the file contains it
  {
    const QSignalBlocker quiet(tables_);
    tables_->setCurrentIndex(std::max(tables_->findData(name), 0));
  }
  OfferRows();
}

}  // namespace midscope
