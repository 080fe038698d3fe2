// SPDX-License-Identifier: MIT
// Every kind of plot with planted numbers and long texts.
#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/record_names.h"
#include "gui/base/prompt_text.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/bar_plot.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/plots/panels_plot.h"
#include "gui/plots/record_plot.h"
#include "gui/plots/tokens/text_picture.h"
#include "gui/plots/tokens/token_grid_plot.h"

namespace midscope {

// A setting of 90 characters that differs from others at its end only.
inline QString LongSetting(int number) {
  return QStringLiteral(
             "channel(100, factor=-1, layers=8-25, rows=answer) + ms-poe(1.2, 1.8, layers=2-29) + "
             "pi(1.%1)")
      .arg(number);
}

inline Record Numbers(const char* lines, int line_count, const char* along, int count,
                      bool bounds) {
  Record record;
  record.name = "numbers_of_a_record";
  record.axes = {{lines, line_count, "", {}, {}}, {along, count, "tokens", {}, {}}};
  std::vector<double> values;
  std::vector<double> low;
  for (int i = 0; i < line_count * count; ++i) {
    values.push_back(1 + std::sin(i));
    low.push_back(values.back() - 0.2);
  }
  record.arrays = {{"mean_of_values", {lines, along}, values, "nats", ""}};
  if (bounds) {
    record.arrays.push_back({"mean_of_values_low", {lines, along}, low, "nats", ""});
    record.arrays.push_back({"mean_of_values_high", {lines, along}, values, "nats", ""});
  }
  return record;
}

inline std::vector<OutcomePlot::Line> OutcomeOf(int lines, int places, bool long_settings) {
  std::vector<OutcomePlot::Line> all;
  for (int line = 0; line < lines; ++line) {
    OutcomeSeries series;
    for (int place = 0; place < places; ++place) {
      series.places.append(place + 1);
      series.values.append(3 + std::sin(place + line));
      series.low.append(series.values.back() - 0.3);
      series.high.append(series.values.back() + 0.3);
    }
    series.samples = 20;
    const QString name =
        long_settings ? LongSetting(line) : QStringLiteral("%1, mean of 20").arg(QChar('A' + line));
    all.push_back({series, name, OutcomePlot::SettingColor(static_cast<size_t>(line)), true});
  }
  return all;
}

using MadePlot = std::unique_ptr<Plot>;

inline MadePlot Outcome(int lines, int places, bool long_settings) {
  auto plot = std::make_unique<OutcomePlot>();
  std::map<double, QString> names;
  for (int place = 0; place < places; ++place)
    names[place + 1] = QStringLiteral("%1 %").arg(100 * place / std::max(places - 1, 1));
  plot->SetPlaceNames(names);
  plot->Show(OutcomeOf(lines, places, long_settings), Measure::kNll);
  plot->SetCurrentPlace(3);
  return plot;
}

inline MadePlot Attention(int tokens, bool logarithmic, int others) {
  auto plot = std::make_unique<AttentionPlot>();
  Record prompt;
  prompt.name = kPromptRecord;
  std::vector<std::string> texts;
  QVector<double> row;
  for (int i = 0; i < tokens; ++i) {
    texts.push_back(i % 3 == 0 ? " internationalisation" : " is");
    row.append(std::exp(-0.05 * (i % 97)) / 8);
  }
  prompt.axes = {{"token", tokens, "", {}, {}}};
  prompt.arrays = {{"token_text", {"token"}, texts, "", ""}};
  plot->SetPrompt(&prompt);
  std::vector<HeadRow> heads;
  for (int i = 0; i < others; ++i)
    heads.push_back({QStringLiteral("L2%1H8 (KV2)").arg(i), QColor(Qt::darkGreen), row, row});
  plot->SetOthers(heads);
  plot->SetNames(QStringLiteral("A: none"), QStringLiteral("B: pi(1.5)"));
  plot->SetLogarithmic(logarithmic);
  plot->SetRows(row, row);
  plot->SetMarkedKey(2);
  plot->SetRange({"", 1, 3});
  plot->SetTitle(QStringLiteral("Attention of the last query, head L24H1 (KV0), with all tokens"));
  return plot;
}

inline MadePlot Channel() {
  Record hidden;
  hidden.name = kHiddenChannelsRecord;
  constexpr int kLayers = 30;
  constexpr int kPositions = 142;
  hidden.axes = {{"layer", kLayers, "", {}, {}},
                 {"channel", 1, "", {}, {100}},
                 {"position", kPositions, "", {}, {}}};
  std::vector<double> values;
  for (int i = 0; i < kLayers * kPositions; ++i)
    values.push_back((i / kPositions) + 0.05 * (i % kPositions));
  hidden.arrays = {{kHiddenChannel, {"layer", "channel", "position"}, values, "", ""}};
  auto plot = std::make_unique<ChannelPlot>();
  ChannelPlot::View view;
  view.channel = 100;
  view.smoothing = 15;
  view.factor_b = QStringLiteral(" × -1");
  view.factor_now = -1;
  plot->Show(&hidden, &hidden, view);
  plot->SetMarkedToken(50);
  return plot;
}

inline MadePlot Lines(int lines, bool bounds, bool logarithmic) {
  const Record record = Numbers("sample", lines, "position", 40, bounds);
  auto plot = std::make_unique<LinesPlot>();
  LinesPlot::View view;
  view.array = "mean_of_values";
  view.logarithmic = logarithmic;
  plot->Show(&record, view);
  return plot;
}

inline MadePlot Map(RecordForm form) {
  Record record = Numbers("layer", 30, "span", 5, false);
  record.axes[1].labels = {"the gold passage of the text", "question", "instruction", "rest",
                           "answer"};
  auto plot = std::make_unique<RecordPlot>();
  plot->Show(&record, "mean_of_values", {}, form);
  return plot;
}

inline MadePlot Bars(int bars) {
  auto plot = std::make_unique<BarPlot>();
  QVector<BarPlot::Bar> all;
  for (int i = 0; i < bars; ++i)
    all.append({QStringLiteral("L%1 gold passage").arg(i), 1.0 / (i + 1)});
  plot->Show(all, QStringLiteral("share of the effect restored (mean over places and samples)"));
  plot->SetTitle(
      QStringLiteral("patch(from=place:1, span=each span, layers=each layer) — share "
                     "of the effect restored (mean over places)"));
  return plot;
}

inline MadePlot Heads() {
  auto plot = std::make_unique<HeadMapPlot>();
  HeadMap map;
  map.table = {std::vector<double>(30 * 9, 0.5), 30, 9};
  map.scale = QStringLiteral("attention of the last query on the gold passage, mean over places");
  map.table.values[5] = 0.9;
  plot->SetHeadsPerKeyValueHead(3);
  plot->Show(map);
  plot->SelectHead({3, 2});
  plot->SetTitle(QStringLiteral("Attention on gold — B − A (channel(100, factor=-1); none)"));
  return plot;
}

inline MadePlot Panels(bool maps, int count) {
  auto plot = std::make_unique<PanelsPlot>();
  std::vector<PanelsPlot::Panel> panels;
  for (int i = 0; i < count; ++i) {
    const QVector<double> row = QVector<double>(20, 0.1 * i);
    panels.push_back({QStringLiteral("layer %1").arg(i),
                      maps ? QVector<QVector<double>>(5, row) : QVector<QVector<double>>{row},
                      {3, 6}});
  }
  PanelsPlot::Axes axes = {
      QStringLiteral("piece"), QStringLiteral("gold place"), QStringLiteral("attention"), {}, {}};
  if (maps) {
    plot->ShowMaps(panels, axes);
  } else {
    axes.row_axis = QStringLiteral("attention weight");
    plot->ShowLines(panels, axes);
  }
  plot->SetTitle(QStringLiteral("Attention of the last token on each piece, by gold place; mean"));
  return plot;
}

inline MadePlot Text() {
  auto plot = std::make_unique<TextPicture>();
  PromptText prompt;
  QVector<double> values;
  for (int i = 0; i < 142; ++i) {
    const QString token = i % 11 == 10 ? QStringLiteral("\n") : QStringLiteral(" word%1").arg(i);
    prompt.tokens << token;
    prompt.begins << static_cast<int>(prompt.text.size());
    prompt.text += token;
    values.append(0.01 * i);
  }
  prompt.begins << static_cast<int>(prompt.text.size());
  TokenScale scale;
  scale.highest = 1.42;
  plot->Show(prompt, {{QStringLiteral("A: none"), values}, {QStringLiteral("B"), values}}, 2, scale,
             QStringLiteral("attention weight"));
  return plot;
}

inline MadePlot Lens() {
  auto plot = std::make_unique<TokenGridPlot>(QStringLiteral("layer"), QStringLiteral("lens"));
  TokenGridPlot::Grid grid;
  grid.columns = {"1", "2", "3", "4", "5", "answer"};
  for (int i = 0; i < 30 * 6; ++i)
    grid.cells.append({QStringLiteral(" international"), 0.5, i % 6 == 0});
  plot->Show(grid);
  plot->SetTitle(QStringLiteral("Logit lens — B: channel(100, factor=-1, layers=8-25)"));
  return plot;
}

struct PlotKind {
  const char* name;
  std::function<MadePlot()> make;
};

inline const std::vector<PlotKind>& Kinds() {
  static const std::vector<PlotKind> kinds = {
      {"outcome", [] { return Outcome(2, 5, false); }},
      {"outcome of 20 places", [] { return Outcome(4, 20, false); }},
      {"outcome of long settings", [] { return Outcome(3, 20, true); }},
      {"outcome of 20 long settings", [] { return Outcome(20, 20, true); }},
      {"attention", [] { return Attention(142, false, 0); }},
      {"attention of many heads", [] { return Attention(142, true, 5); }},
      {"attention on texts", [] { return Attention(30, false, 2); }},
      {"attention on one token", [] { return Attention(1, true, 0); }},
      {"channel", Channel},
      {"lines", [] { return Lines(3, true, false); }},
      {"many lines", [] { return Lines(30, false, true); }},
      {"map of a record", [] { return Map(RecordForm::kHeatMap); }},
      {"lines of a record", [] { return Map(RecordForm::kLines); }},
      {"bars", [] { return Bars(24); }},
      {"few bars", [] { return Bars(3); }},
      {"head map", Heads},
      {"maps", [] { return Panels(true, 30); }},
      {"one map", [] { return Panels(true, 1); }},
      {"rows", [] { return Panels(false, 5); }},
      {"text", Text},
      {"logit lens", Lens}};
  return kinds;
}

}  // namespace midscope
