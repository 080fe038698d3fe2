// SPDX-License-Identifier: MIT
#include "data/published/published_record.h"

#include <algorithm>
#include <limits>

namespace midscope {

std::vector<const PublishedTable*> PublishedTablesFor(std::string_view task) {
  std::vector<const PublishedTable*> tables;
  for (const PublishedTable& table : PublishedTables()) {
    if (!PublishedLinesOfKind(table, task).empty()) tables.push_back(&table);
  }
  return tables;
}

double SamePlace(int64_t place, int64_t from, int64_t to) {
  if (from <= 1 || to <= 1) return static_cast<double>(place);
  const double share = static_cast<double>(place - 1) / static_cast<double>(from - 1);
  return 1 + share * static_cast<double>(to - 1);
}

Record PublishedRecord(const std::vector<PublishedLine>& lines, std::string_view task,
                       int64_t pieces) {
  size_t points = 0;
  for (const PublishedLine& line : lines) points = std::max(points, line.places.size());
  const size_t cells = lines.size() * points;
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> accuracy(cells, none);
  std::vector<double> place(cells, none);
  std::vector<int64_t> published_place(cells, -1);
  std::vector<std::string> note(cells);
  std::vector<std::string> labels;
  std::vector<std::string> settings;
  std::vector<int64_t> published_pieces;
  std::vector<int64_t> samples;
  for (size_t i = 0; i < lines.size(); ++i) {
    const PublishedLine& line = lines[i];
    for (size_t point = 0; point < line.places.size(); ++point) {
      const size_t cell = i * points + point;
      accuracy[cell] = line.accuracy[point];
      published_place[cell] = line.places[point];
      place[cell] = SamePlace(line.places[point], line.pieces, pieces);
      note[cell] = line.notes[point];
    }
    labels.push_back(line.label);
    // Rows of a tuned model get no setting: no setting makes an untuned model equal to it.
    settings.push_back(line.recipe.empty() ? line.method.term : "");
    published_pieces.push_back(line.pieces);
    samples.push_back(line.table->samples);
  }
  Record record;
  record.name = kPublishedRecord;
  record.axes = {{"line", static_cast<int64_t>(lines.size()), "", std::move(labels), {}},
                 {"point", static_cast<int64_t>(points), "", {}, {}}};
  record.arrays = {
      {"accuracy", {"line", "point"}, std::move(accuracy), "", "as published, 0 to 1"},
      {"place",
       {"line", "point"},
       std::move(place),
       "rank",
       "place of the gold piece at the same share of this run's pieces"},
      {"published_place", {"line", "point"}, std::move(published_place), "rank", "as published"},
      {"note", {"line", "point"}, std::move(note), "", "what is known to be wrong with the number"},
      {"setting", {"line"}, std::move(settings), "", "what the row is called in this program"},
      {"pieces", {"line"}, std::move(published_pieces), "", "pieces of the published task"},
      {"samples", {"line"}, std::move(samples), "", "samples behind each number; 0: not stated"}};
  record.attributes = {{"task", std::string(task)}, {"task_pieces", pieces}};
  if (!lines.empty()) {
    record.attributes["table"] = lines.front().table->name;
    record.attributes["title"] = lines.front().table->title;
    record.attributes["source"] = lines.front().table->source;
  }
  record.signal = "accuracy";
  return record;
}

}  // namespace midscope
