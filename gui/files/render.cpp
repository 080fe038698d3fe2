// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/files/render.h"

#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/base/record_lookup.h"
#include "core/intervention/intervention_text.h"
#include "data/store/array_kind.h"
#include "data/sweep/view_records.h"
#include "gui/base/head_choice.h"
#include "gui/base/record_access.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/record_plot.h"
#include "gui/session/record_name.h"

namespace midscope {
namespace {

constexpr QSize kPictureSize(760, 460);

// Records that hold the array: A's, and B's where the window wrote the file.
struct Sides {
  const Record* a = nullptr;
  const Record* b = nullptr;
};

Sides FindSides(const std::vector<Record>& records, const std::string& array,
                const std::vector<std::string>& axes) {
  Sides sides;
  for (const Record& record : records) {
    if (!HasArray(record, array, axes)) continue;
    const bool is_b = TextAttribute(record, "side") == QLatin1String("B");
    const Record*& slot = is_b ? sides.b : sides.a;
    if (!slot) slot = &record;
  }
  return sides;
}

// The window writes the intervention to each record, midscope probe to the prompt.
QString SettingText(const std::vector<Record>& records, const Record* record) {
  QString text = record ? TextAttribute(*record, "intervention") : QString();
  const Record* prompt = FindRecord(records, "prompt");
  if (text.isEmpty() && prompt) text = TextAttribute(*prompt, "intervention");
  return text;
}

LayerSet ScaledLayers(const QString& setting) {
  try {
    const Intervention intervention = ParseIntervention(setting.toStdString());
    if (!intervention.channels.empty()) return intervention.channels.front().layers;
  } catch (const Error&) {
    // A term of a later version: the picture is drawn without highlighted layers.
  }
  return {false, {}};
}

class Renderer {
 public:
  Renderer(const RenderRequest& request, const RunFile& file)
      : request_(request),
        records_(file.records),
        provenance_(file.provenance),
        prompt_(FindRecord(records_, "prompt")) {}

  QStringList Run() {
    DrawHeadMap();
    DrawAttention();
    DrawChannel();
    DrawOutcome(Measure::kNll, QStringLiteral("outcome_nll"));
    DrawOutcome(Measure::kAccuracy, QStringLiteral("outcome_accuracy"));
    DrawOthers();
    return written_;
  }

 private:
  // Adds the settings of A and B below the picture, where it shows them.
  void Write(Plot& plot, const QString& stem, const Sides& sides = {}) {
    QStringList caption = {PromptRequestCaption(provenance_, prompt_)};
    for (const Record* record : {sides.a, sides.b}) {
      const QString setting = record ? SettingText(records_, record) : QString();
      if (!setting.isEmpty()) {
        caption << QStringLiteral("%1: %2").arg(
            record == sides.a ? QObject::tr("A") : QObject::tr("B"), setting);
      }
    }
    plot.SetCaption(caption.join(QStringLiteral("; ")));
    plot.UsePalette(LightPalette());
    written_ += WritePlotFiles(plot, request_.folder, stem, request_.formats, kPictureSize);
  }

  void DrawHeadMap() {
    const Sides score = FindSides(records_, "position_awareness_score", {"layer", "head"});
    const Sides ratio = FindSides(records_, "position_ratio", {"layer", "head"});
    const struct {
      MapMode mode;
      const char* stem;
      bool wanted;
    } maps[] = {{MapMode::kA, "head_map", score.a != nullptr},
                {MapMode::kB, "head_map_b", score.b != nullptr},
                {MapMode::kDifference, "head_map_difference", score.a && score.b}};
    for (const auto& map : maps) {
      if (!map.wanted) continue;
      HeadMapPlot plot;
      plot.Show(score.a, score.b, ratio.a, ratio.b, map.mode);
      if (map.mode == MapMode::kA) best_ = LargestScore(plot);
      plot.SelectHead(ChosenHead());
      plot.SetTitle(Titled(plot.title(), map.mode == MapMode::kA ? score.a : score.b,
                           map.mode == MapMode::kDifference ? score.a : nullptr));
      Write(plot, QString::fromLatin1(map.stem),
            {map.mode == MapMode::kB ? nullptr : score.a,
             map.mode == MapMode::kA ? nullptr : score.b});
    }
  }

  // "title — setting", "title — B − A (setting of B; setting of A)".
  QString Titled(const QString& title, const Record* record, const Record* without) const {
    const QString setting = SettingText(records_, record);
    if (setting.isEmpty()) return title;
    const QString text =
        without ? QObject::tr("B − A (%1; %2)").arg(setting, SettingText(records_, without))
                : setting;
    return QStringLiteral("%1 — %2").arg(title, text);
  }

  static HeadId LargestScore(const HeadMapPlot& plot) {
    HeadId best;
    for (int64_t layer = 0; layer < plot.layers(); ++layer) {
      for (int64_t head = 0; head < plot.heads(); ++head) {
        if (plot.CellValue({layer, head}) > plot.CellValue(best)) best = {layer, head};
      }
    }
    return best;
  }

  HeadId ChosenHead() const {
    if (request_.head) return *request_.head;
    const Sides attention = FindSides(records_, "last_query_attention", {"layer", "head", "key"});
    const TokenRange gold = prompt_ ? GoldTokens(*prompt_) : TokenRange{};
    if (attention.a && gold.end > gold.begin) return MostAttentionOn(*attention.a, gold);
    return best_;
  }

  void DrawAttention() {
    const Sides attention = FindSides(records_, "last_query_attention", {"layer", "head", "key"});
    if (!attention.a && !attention.b) return;
    const HeadId head = ChosenHead();
    const auto row = [&head](const Record* record) {
      if (!record) return QVector<double>();
      return LastAxisRow(*record, "last_query_attention", {head.layer, head.head});
    };
    if (row(attention.a).isEmpty() && row(attention.b).isEmpty()) {
      throw UsageError("--head", "the file has no such head", "Layers and heads count from zero");
    }
    AttentionPlot plot;
    plot.SetPrompt(prompt_);
    plot.SetNames(SettingText(records_, attention.a), SettingText(records_, attention.b));
    plot.SetRows(row(attention.a), row(attention.b));
    plot.SetTitle(
        QObject::tr("Attention of the last query — L%1H%2").arg(head.layer).arg(head.head));
    Write(plot, QStringLiteral("attention_L%1H%2").arg(head.layer).arg(head.head), attention);
  }

  void DrawChannel() {
    const Sides hidden = FindSides(records_, "hidden_channel", {"layer", "channel", "position"});
    const Record* first = hidden.a ? hidden.a : hidden.b;
    if (!first || AxisSize(*first, "channel") == 0) return;
    ChannelPlot plot;
    ChannelPlot::View view;
    view.channel =
        request_.channel.value_or(static_cast<int64_t>(AxisValues(*first, "channel").front()));
    if (AxisSize(*first, "position") <= 2 * view.dropped) view.dropped = 1;
    view.highlighted = ScaledLayers(SettingText(records_, hidden.b ? hidden.b : hidden.a));
    plot.Show(hidden.a, hidden.b, view);
    Write(plot, QStringLiteral("hidden_channel_%1").arg(view.channel), hidden);
  }

  void DrawOutcome(Measure measure, const QString& stem) {
    std::vector<OutcomePlot::Line> lines;
    size_t index = 0;
    for (const OutcomeSeries& series : BestSeriesOf(records_, measure)) {
      lines.push_back({series, series.setting, OutcomePlot::SettingColor(index++), true});
    }
    if (lines.empty()) return;
    OutcomePlot plot;
    plot.Show(lines, measure);
    const int64_t samples = lines.front().series.samples;
    if (samples > 0) {
      plot.SetTitle(QObject::tr("%1, means over %2 samples").arg(plot.title()).arg(samples));
    }
    Write(plot, stem);
  }

  // Records of plugins and other two-dimensional records.
  void DrawOthers() {
    for (const Record& record : records_) {
      const bool is_b = TextAttribute(record, "side") == QLatin1String("B");
      const bool suffixed = is_b && record.name.ends_with("_b");
      const std::string name =
          suffixed ? record.name.substr(0, record.name.size() - 2) : record.name;
      if (HasOwnPanel(name)) continue;
      for (const Array& array : record.arrays) {
        // Ids, offsets and counts are not drawn.
        if (array.axes.size() != 2 || !IsPicture(record, array) || !IsMeasured(array)) continue;
        RecordPlot plot;
        plot.Show(&record, array.name, {}, RecordForm::kHeatMap);
        plot.SetTitle(Titled(plot.title(), &record, nullptr));
        Write(plot, QString::fromStdString(record.name + "_" + array.name));
      }
    }
  }

  const RenderRequest& request_;
  const std::vector<Record>& records_;
  const Provenance& provenance_;
  const Record* prompt_;
  HeadId best_;
  QStringList written_;
};

}  // namespace

QStringList RenderFile(const RenderRequest& request) {
  const RunFile file = ReadForViewing(request.file.toStdString());
  QStringList written = Renderer(request, file).Run();
  if (written.isEmpty()) {
    throw Failure("'" + request.file.toStdString() + "'", "it holds nothing that can be drawn",
                  "Give a file written by midscope probe, midscope sweep or the window");
  }
  return written;
}

}  // namespace midscope
