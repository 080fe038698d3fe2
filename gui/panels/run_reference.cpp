// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/panels/run_reference.h"

#include <QFileInfo>
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/published/published_record.h"
#include "data/sweep/view_records.h"
#include "gui/base/error_text.h"
#include "gui/plots/outcome_series.h"

namespace midscope {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string TaskOfPlan(const std::string& plan_json) {
  const nlohmann::json plan = nlohmann::json::parse(plan_json, nullptr, false);
  const bool named = plan.is_object() && plan.contains("task") && plan["task"].is_string();
  return named ? plan["task"].get<std::string>() : "";
}

// [line, point] of the series with these settings; NaN where there is none.
std::vector<double> ValuesOf(const std::vector<OutcomeSeries>& all, const QStringList& settings,
                             qsizetype points) {
  std::vector<double> values(static_cast<size_t>(settings.size() * points), kNone);
  for (const OutcomeSeries& series : all) {
    const qsizetype line = settings.indexOf(series.setting);
    if (line < 0 || series.values.size() != points) continue;
    std::copy(series.values.begin(), series.values.end(), values.begin() + line * points);
  }
  return values;
}

}  // namespace

Record RunReference(const RunFile& run, const QString& path) {
  const QString name = QFileInfo(path).fileName();
  const std::vector<OutcomeSeries> accuracy = BestSeriesOf(run.records, Measure::kAccuracy);
  const std::vector<OutcomeSeries> nll = BestSeriesOf(run.records, Measure::kNll);
  const std::vector<OutcomeSeries>& known = accuracy.empty() ? nll : accuracy;
  if (known.empty() || known.front().places.isEmpty()) {
    throw Failure("'" + path.toStdString() + "'", "it holds no outcome by place",
                  "Give a file of midscope sweep");
  }
  const QVector<double>& places = known.front().places;
  const qsizetype points = places.size();
  QStringList settings;
  std::vector<std::string> labels;
  std::vector<int64_t> samples;
  std::vector<double> place;
  std::vector<int64_t> own_place;
  for (const OutcomeSeries& series : known) {
    settings.append(series.setting);
    labels.push_back(series.setting.toStdString());
    samples.push_back(series.samples);
    for (const double at : places) {
      place.push_back(points == 1 ? kNone : at);
      own_place.push_back(static_cast<int64_t>(at));
    }
  }
  const size_t lines = labels.size();
  Record record;
  record.name = kPublishedRecord;
  record.axes = {{"line", settings.size(), "", std::move(labels), {}},
                 {"point", points, "", {}, {}}};
  record.arrays = {
      {"accuracy", {"line", "point"}, ValuesOf(accuracy, settings, points), "", "of another run"},
      {kAnswerNll, {"line", "point"}, ValuesOf(nll, settings, points), "nat", "of another run"},
      {"place",
       {"line", "point"},
       std::move(place),
       "rank",
       "place of the gold piece; NaN: the number holds for all places"},
      {"published_place", {"line", "point"}, std::move(own_place), "rank", "of the other run"},
      {"note",
       {"line", "point"},
       std::vector<std::string>(lines * static_cast<size_t>(points)),
       "",
       ""},
      {"pieces", {"line"}, std::vector<int64_t>(lines, 0), "", "0: not stated"},
      {"samples", {"line"}, std::move(samples), "", "samples behind each number"}};
  const std::string task = TaskOfPlan(run.plan_json);
  record.attributes = {{"table", name.toStdString()}, {"title", task}, {"task", task}};
  record.signal = "accuracy";
  return record;
}

RunReferenceReader::RunReferenceReader(QObject* parent)
    : QObject(parent), thread_([this](const QString& path) {
        auto reply = std::make_shared<Reply>();
        reply->path = path;
        reply->failure = ErrorText(
            [&] { reply->reference = RunReference(ReadForViewing(path.toStdString()), path); });
        Q_EMIT Replied(reply);
      }) {
  qRegisterMetaType<ReplyPointer>("midscope::RunReferenceReader::ReplyPointer");
}

}  // namespace midscope
