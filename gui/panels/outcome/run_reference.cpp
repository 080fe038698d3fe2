// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/outcome/run_reference.h"

#include <QFileInfo>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/published/published_record.h"
#include "gui/base/display_text.h"
#include "gui/plots/outcome_series.h"

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

// One line per setting. Throws the same errors as RunReference.
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

RunReferenceReader::RunReferenceReader(const ResultFiles& files, QObject* parent)
    : QObject(parent), thread_([this, files](const QStringList& paths) {
        auto reply = std::make_shared<Reply>();
        reply->paths = paths;
        reply->failure = ErrorText([&] { reply->reference = RunReference(files, paths); });
        Q_EMIT Replied(reply);
      }) {
  qRegisterMetaType<ReplyPointer>("midscope::RunReferenceReader::ReplyPointer");
}

}  // namespace midscope
