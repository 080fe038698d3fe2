// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/reference_row.h"

#include <QComboBox>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/published/published_record.h"
#include "gui/base/display_text.h"
#include "gui/base/record_access.h"
#include "gui/plots/outcome_series.h"
#include "gui/session/session.h"
#include "gui/widgets/engine_files.h"
#include "gui/widgets/flow_layout.h"

namespace midscope {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string TaskOfPlan(const std::string& plan_json) {
  const nlohmann::json plan = nlohmann::json::parse(plan_json, nullptr, false);
  const bool named = plan.is_object() && plan.contains("task") && plan["task"].is_string();
  return named ? plan["task"].get<std::string>() : "";
}

struct ReferencePoint {
  double place = kNone;  // NaN: holds for all places
  int64_t own_place = -1;
  double accuracy = kNone;
  double nll = kNone;
};

struct ReferenceLine {
  std::string label;
  int64_t samples = 0;
  std::vector<ReferencePoint> points;
};

double ValueAt(const std::vector<OutcomeSeries>& all, const OutcomeSeries& line, qsizetype point) {
  for (const OutcomeSeries& series : all) {
    if (series.setting == line.setting && series.places == line.places)
      return series.values.value(point, kNone);
  }
  return kNone;
}

// Returns one reference line per setting of the run. Throws the errors of RunReference.
std::vector<ReferenceLine> LinesOf(const RunFile& run, const QString& path) {
  const std::vector<OutcomeSeries> accuracy = BestSeriesOf(run.records, Measure::kAccuracy);
  const std::vector<OutcomeSeries> nll = BestSeriesOf(run.records, Measure::kNll);
  const std::vector<OutcomeSeries>& known = accuracy.empty() ? nll : accuracy;
  if (known.empty()) {
    throw Failure("'" + path.toStdString() + "'", "it holds no outcome by place",
                  "Give a file of midscope sweep");
  }
  std::vector<ReferenceLine> lines;
  for (const OutcomeSeries& series : known) {
    const QString label = QStringLiteral("%1: %2").arg(QFileInfo(path).fileName(), series.setting);
    ReferenceLine line = {label.toStdString(), series.samples, {}};
    for (qsizetype i = 0; i < series.places.size(); ++i) {
      line.points.push_back({series.places.size() == 1 ? kNone : series.places[i],
                             static_cast<int64_t>(series.places[i]), ValueAt(accuracy, series, i),
                             ValueAt(nll, series, i)});
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

Record RecordOf(const std::vector<ReferenceLine>& lines) {
  size_t points = 0;
  for (const ReferenceLine& line : lines) points = std::max(points, line.points.size());
  std::vector<std::string> labels;
  std::vector<int64_t> samples;
  std::vector<double> accuracy;
  std::vector<double> nll;
  std::vector<double> place;
  std::vector<int64_t> own_place;
  for (const ReferenceLine& line : lines) {
    labels.push_back(line.label);
    samples.push_back(line.samples);
    for (size_t i = 0; i < points; ++i) {
      const ReferencePoint point = i < line.points.size() ? line.points[i] : ReferencePoint{};
      accuracy.push_back(point.accuracy);
      nll.push_back(point.nll);
      place.push_back(point.place);
      own_place.push_back(point.own_place);
    }
  }
  Record record;
  record.name = kPublishedRecord;
  record.axes = {{"line", std::ssize(lines), "", std::move(labels), {}},
                 {"point", static_cast<int64_t>(points), "", {}, {}}};
  record.arrays = {
      {"accuracy", {"line", "point"}, std::move(accuracy), "", "of another run"},
      {kAnswerNll, {"line", "point"}, std::move(nll), "nat", "of another run"},
      {"place",
       {"line", "point"},
       std::move(place),
       "rank",
       "place of the gold piece; NaN: the number holds for all places"},
      {"published_place", {"line", "point"}, std::move(own_place), "rank", "of the other run"},
      {"note", {"line", "point"}, std::vector<std::string>(lines.size() * points), "", ""},
      {"pieces", {"line"}, std::vector<int64_t>(lines.size(), 0), "", "0: not stated"},
      {"samples", {"line"}, std::move(samples), "", "samples behind each number"}};
  record.signal = "accuracy";
  return record;
}

}  // namespace

Record RunReference(const ResultFiles& files, const QStringList& paths) {
  std::vector<ReferenceLine> lines;
  QStringList names;
  QStringList tasks;
  for (const QString& path : paths) {
    const RunFile run = files.Read(path.toStdString());
    for (ReferenceLine& line : LinesOf(run, path)) lines.push_back(std::move(line));
    names.append(QFileInfo(path).fileName());
    tasks.append(QString::fromStdString(TaskOfPlan(run.plan_json)));
  }
  Record record = RecordOf(lines);
  record.attributes = {{"runs", std::string("yes")},
                       {"table", names.join(QStringLiteral(", ")).toStdString()},
                       {"title", tasks.join(QStringLiteral("; ")).toStdString()}};
  return record;
}

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
    : QWidget(parent),
      session_(session),
      reader_(
          this,
          [files = session->files_of_engine()](const QStringList& paths, const JobContext&,
                                               const auto& deliver) {
            deliver({RunReference(files, paths), {}});
          },
          [this](const QStringList& paths, const ReadRuns& read) { TakeRuns(paths, read); }) {
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

void ReferenceRow::TakeRuns(const QStringList& paths, const ReadRuns& read) {
  if (paths != opening_) return;  // superseded
  opening_.clear();
  if (!read.failure.isEmpty()) {
    Q_EMIT session_->Failed(read.failure);
    ShowReference();
    return;
  }
  OfferRuns(read.reference);
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
