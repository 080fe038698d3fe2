// SPDX-License-Identifier: MIT
// Pictures drawn from results files.
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QLocale>
#include <QTemporaryDir>
#include <QTest>
#include <cstring>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "gui/panels/panel_list.h"
#include "gui/plots/panels_plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/record_plot.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class RenderTest : public QObject {
  Q_OBJECT

 private:
  static QByteArray Head(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    return file.read(400);
  }

  static QByteArray All(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }

  static std::vector<Record> ProbeRecords() {
    FakeEngine engine(std::make_shared<FakeControl>());
    engine.Open({}, {});
    std::vector<Record> records = engine.SetPrompt({}, {});
    records.resize(1);
    CaptureRunRequest capture;
    capture.channels = {100};
    for (Record& record : engine.CaptureRun(capture, {}).records)
      records.push_back(std::move(record));
    return records;
  }

  static Record SweepRecord() {
    Record record;
    record.name = "sweep";
    record.axes = {{"sample", 2, "", {}, {}},
                   {"setting", 3, "", {"none", "pi(1.5)", "pi(0.8)"}, {}},
                   {"place", 2, "", {}, {1, 20}}};
    std::vector<double> nll;
    std::vector<uint8_t> correct;
    for (int i = 0; i < 12; ++i) {
      nll.push_back(1 + 0.25 * i);
      correct.push_back(i % 2);
    }
    record.arrays = {{"answer_nll", {"sample", "setting", "place"}, nll, "nat", ""},
                     {"correct", {"sample", "setting", "place"}, correct, "", ""}};
    record.signal = "answer_nll";
    return record;
  }

 private Q_SLOTS:
  void ProbeFileGivesItsPictures() {
    QTemporaryDir folder;
    const QString file = folder.filePath("probe.h5");
    WriteRecords(file.toStdString(), ProbeRecords(), {});
    RenderRequest request{file, folder.filePath("out/deep"), PlotFormats(), {HeadId{2, 1}}, {}};
    const QStringList written = RenderFile(request);
    QVERIFY(written.size() >= 12);
    for (const char* stem : {"head_map", "attention_L2H1", "text_L2H1", "hidden_channel_100",
                             "position_ratio_position_ratio"}) {
      const QString base = folder.filePath("out/deep/") + stem;
      QVERIFY(written.contains(base + ".png"));
      const QImage image(base + ".png");
      QVERIFY(!image.isNull() && image.width() > 1000);
      QVERIFY(Head(base + ".svg").contains("<svg"));
      QVERIFY(Head(base + ".pdf").startsWith("%PDF"));
      QVERIFY(QFileInfo(base + ".pdf").size() > 2000);
    }
  }

  // The picture's numbers contain the means of another run, and the command beside them names it.
  void TheOutcomeHasAnotherRunBesideIt() {
    QTemporaryDir folder;
    const QString file = folder.filePath("sweep.h5");
    WriteRecords(file.toStdString(), {SweepRecord()}, {});
    Record alone = SweepRecord();
    alone.axes[2] = {"place", 1, "", {}, {1}};
    alone.arrays[0].data = std::vector<double>{7, 8, 9, 8, 9, 10};
    alone.arrays[1].data = std::vector<uint8_t>(6, 1);
    const QString reference = folder.filePath("alone.h5");
    WriteRecords(reference.toStdString(), {alone}, {});
    RenderRequest request{file, folder.filePath("out"), {"svg"}, {}, {}};
    request.reference = {reference};
    RenderFile(request);
    QFile numbers(folder.filePath("out/outcome_nll.csv"));
    QVERIFY(numbers.open(QIODevice::ReadOnly));
    const QByteArray text = numbers.readAll();
    QVERIFY2(text.contains("alone.h5: none"), text);
    QVERIFY2(text.contains("--reference " + reference.toUtf8()), text);
    request.reference = {folder.filePath("missing.h5")};
    QVERIFY_EXCEPTION_THROWN(RenderFile(request), Error);
  }

  // The losses of two runs are one picture; the means of a sweep are not among them.
  void AReferenceOfLossesHasLosses() {
    QTemporaryDir folder;
    const auto path = [&](const char* name) { return folder.filePath(name).toStdString(); };
    WriteRecords(path("losses.h5"),
                 {{.name = "tuning",
                   .axes = {{"step", 2, "", {}, {1, 2}}},
                   .arrays = {{"loss", {"step"}, std::vector<double>{2, 1}, "nats", ""}},
                   .attributes = {},
                   .signal = "loss"}},
                 {});
    WriteRecords(path("sweep.h5"), {SweepRecord()}, {});
    const RenderRequest request{
        folder.filePath("losses.h5"), folder.filePath("out"), {"svg"}, {}, {},
        {folder.filePath("sweep.h5")}};
    QVERIFY_EXCEPTION_THROWN(RenderFile(request), Error);
  }

  // A record influence_by_place of two places.
  static Record Influence(const std::string& model, bool has_closed_form) {
    const std::vector<double> shares(100, 1.0);
    Record record{.name = "influence_by_place",
                  .axes = {{"layer", 2, "", {}, {}},
                           {"place", 2, "rank", {}, {1, 20}},
                           {"share", 100, "%", {}, {}}},
                  .arrays = {{"output_gradient_by_share", {"share"}, shares, "", ""}},
                  .attributes = {{"model", model}, {"closed_form_alpha", 0.12}},
                  .signal = ""};
    for (const char* end : {"", "_low", "_high"}) {
      const double value = std::string(end) == "_low" ? 2 : std::string(end) == "_high" ? 4 : 3;
      record.arrays.push_back({std::string("output_gradient_gold_ratio") + end,
                               {"place", "layer"},
                               std::vector<double>(4, value),
                               "",
                               ""});
    }
    if (has_closed_form)
      record.arrays.push_back({"closed_form_by_share", {"share"}, shares, "", ""});
    return record;
  }

  // Two models and the closed form are one picture.
  void GradientsOfTwoModelsAreOnePicture() {
    QTemporaryDir folder;
    const auto path = [&](const char* name) { return folder.filePath(name).toStdString(); };
    Record by_token{.name = "influence",
                    .axes = {{"sample", 1, "", {}, {0}},
                             {"place", 1, "rank", {}, {1}},
                             {"layer", 2, "", {}, {}},
                             {"token", 3, "", {}, {}}},
                    .arrays = {{"output_gradient",
                                {"sample", "place", "layer", "token"},
                                std::vector<double>{1, 10, 100, 1, 2, 3},
                                "",
                                ""}},
                    .attributes = {},
                    .signal = ""};
    WriteRecords(path("trained.h5"), {Influence("trained", false), by_token}, {});
    WriteRecords(path("born.h5"), {Influence("trained@init", true)}, {});
    const RenderRequest request{
        folder.filePath("trained.h5"), folder.filePath("out"), {"svg"}, {}, {},
        {folder.filePath("born.h5")}};
    const QStringList written = RenderFile(request);
    QCOMPARE(written.filter(".svg"),
             QStringList({folder.filePath("out/output_gradient_along_prompt.svg"),
                          folder.filePath("out/output_gradient_gold_ratio_by_place.svg"),
                          folder.filePath("out/output_gradient_by_layer_and_token.svg")}));
    const QByteArray along = All(folder.filePath("out/output_gradient_along_prompt.csv"));
    for (const char* line : {"trained,0,1", "trained@init,0,1"})
      QVERIFY2(along.contains(line), along);
    QCOMPARE(along.count("closed form"), 100);  // of one file
    const QByteArray gold = All(folder.filePath("out/output_gradient_gold_ratio_by_place.csv"));
    QVERIFY2(gold.contains("trained@init,20,3,2,4"), gold);
    const QByteArray map = All(folder.filePath("out/output_gradient_by_layer_and_token.csv"));
    QVERIFY2(map.contains("100"), map);
  }

  // The caption says what the bars are; wall times are no results and have no picture.
  void BarsAreNamedAndWallTimesAreLeftOut() {
    QTemporaryDir folder;
    Record means;
    means.name = "outcome_means";
    means.axes = {{"setting", 2, "", {"none", "pi(1.5)"}, {}}, {"place", 2, "rank", {}, {1, 20}}};
    const auto add = [&](const char* name, std::vector<double> values) {
      means.arrays.push_back({name, {"setting", "place"}, std::move(values), "nats", ""});
    };
    add("answer_nll", {1, 2, 3, 4});
    add("answer_nll_low", {0.5, 1.5, 2.5, 3.5});
    add("answer_nll_high", {1.5, 2.5, 3.5, 4.5});
    means.attributes["answer_nll_interval"] = std::string("Student's t, cut at 0");
    means.signal = "answer_nll";
    Record times;
    times.name = "sweep";
    times.axes = {{"sample", 2, "", {}, {}}, {"setting", 2, "", {"none", "pi(1.5)"}, {}}};
    times.arrays = {{"setting_seconds",
                     {"sample", "setting"},
                     std::vector<double>{0.1, 0.2, 0.3, 0.4},
                     "s",
                     ""}};
    const QString file = folder.filePath("sweep.h5");
    WriteRecords(file.toStdString(), {means, times}, {});
    const QStringList written = RenderFile({file, folder.path(), {"svg"}, {}, {}});
    QVERIFY(written.filter("seconds").isEmpty());
    QVERIFY(written.contains(folder.filePath("outcome_nll.svg")));
    const QByteArray picture = All(folder.filePath("outcome_nll.svg"));
    QVERIFY2(picture.contains("bars: 95 %"), picture.right(2000));
    QVERIFY2(picture.contains("Student"), picture.right(2000));
  }

  // Numbers of pictures have points as decimal marks whatever the language of the user is.
  void PicturesAreTheSameInEveryLocale() {
    QTemporaryDir folder;
    const QString file = folder.filePath("probe.h5");
    std::vector<Record> records = ProbeRecords();
    records.push_back(SweepRecord());
    WriteRecords(file.toStdString(), records, {});
    std::map<QString, QByteArray> pictures;
    const QLocale before;
    for (const QLocale& locale : {QLocale::c(), QLocale(QLocale::German, QLocale::Germany)}) {
      QLocale::setDefault(locale);
      const QStringList written = RenderFile({file, folder.path(), {"svg", "png"}, {}, {}});
      QVERIFY(written.size() > 8);
      for (const QString& name : written) {
        const QByteArray bytes = All(name);
        if (pictures.contains(name)) QVERIFY2(pictures[name] == bytes, qPrintable(name));
        pictures[name] = bytes;
      }
    }
    QLocale::setDefault(before);
  }

  // A single panel without a name has no empty space above it.
  void OnePanelFillsThePicture() {
    PanelsPlot plot;
    plot.resize(760, 460);
    plot.ShowMaps(
        {{QString(), {{1, 2}, {3, 4}}, {0, 0}}},
        {QStringLiteral("place"), QStringLiteral("layer"), QStringLiteral("value"), {}, {}});
    plot.replot();
    QVERIFY2(plot.axisRect()->height() > 350,
             qPrintable(QString::number(plot.axisRect()->height())));
  }

  // A map of gold place by answered place.
  void AnsweredPlacesGiveAPictureASetting() {
    QTemporaryDir folder;
    Record record;
    record.name = "generated_outcomes";
    record.axes = {{"setting", 2, "", {"none", "pi(1.5)"}, {}},
                   {"place", 2, "rank", {}, {1, 20}},
                   {"answered", 3, "rank", {}, {1, 2, 3}}};
    record.arrays = {{"answered_place",
                      {"setting", "place", "answered"},
                      std::vector<double>{0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1},
                      "",
                      ""}};
    const QString file = folder.filePath("sweep.h5");
    WriteRecords(file.toStdString(), {record}, {});
    const QStringList written = RenderFile({file, folder.path(), {"svg"}, {}, {}});
    const QString stem = folder.filePath("generated_outcomes_answered_place_%1.svg");
    const QString numbers = folder.filePath("generated_outcomes_answered_place_%1.csv");
    QCOMPARE(written, (QStringList{stem.arg(1), numbers.arg(1), stem.arg(2), numbers.arg(2)}));
    QVERIFY(Head(written[2]).contains("<svg"));
    QFile svg(written[2]);
    QVERIFY(svg.open(QIODevice::ReadOnly));
    QVERIFY(svg.readAll().contains("pi(1.5)"));
  }

  // A batch with 2 samples at 2 places; values are 1000 sample + 100 place + 10 layer + piece.
  void BatchFileGivesMapsWithTheirNumbers() {
    QTemporaryDir folder;
    Record record;
    record.name = "key_information";
    record.axes = {{"sample", 2, "", {}, {0, 1}},
                   {"place", 2, "", {}, {1, 3}},
                   {"layer", 2, "", {}, {4, 7}},
                   {"head", 1, "", {}, {}},
                   {"piece", 3, "", {}, {1, 2, 3}}};
    std::vector<double> sums(24);
    for (int i = 0; i < 24; ++i) {
      const int digits = 1000 * (i / 12) + 100 * (i / 6 % 2) + 10 * (i / 3 % 2) + i % 3;
      sums[static_cast<size_t>(i)] = digits;
    }
    record.arrays = {
        {"piece_attention_sum", {"sample", "place", "layer", "piece"}, sums, "", ""},
        {"piece_attention_by_head", {"sample", "place", "layer", "head", "piece"}, sums, "", ""},
        {"gold_piece", {"sample", "place"}, std::vector<int64_t>{1, 3, 1, 3}, "", ""}};
    const QString file = folder.filePath("batch.h5");
    Provenance provenance;
    provenance.model_path = "model.gguf";
    provenance.command = "midscope probe model.gguf --task list";
    provenance.options_json = "{\"task\": \"list:lines=3\", \"samples\": 2, \"with\": \"pi(1.5)\"}";
    WriteRecords(file.toStdString(), {record}, provenance);
    const QStringList written = RenderFile({file, folder.path(), {"png"}, {}, {}});
    for (const char* stem :
         {"pieces_by_layer", "pieces_by_head_L4", "pieces_by_head_L7", "gold_by_layer"}) {
      QVERIFY2(written.contains(folder.filePath(stem) + ".png"), stem);
    }
    const QByteArray layers = All(folder.filePath("pieces_by_layer.csv"));
    QVERIFY(layers.contains("# model.gguf, list:lines=3, pi(1.5), samples: 2\n"));
    QVERIFY(layers.contains("# run: midscope probe model.gguf --task list\n"));
    QVERIFY(layers.contains("# picture: midscope export "));
    QVERIFY(layers.contains("\npanel,gold place,piece,attention\n"));
    // The mean of samples 0 and 1.
    QVERIFY(layers.contains("\nlayer 7,3,2,611\n"));
    QCOMPARE(layers.count("\nlayer "), 12);
    const QByteArray gold = All(folder.filePath("gold_by_layer.csv"));
    QVERIFY(gold.contains("\n4,1,500\n"));
    QVERIFY(gold.contains("\n7,3,612\n"));
    // If a head is requested, only its layer is drawn.
    QTemporaryDir one;
    const QStringList of_head = RenderFile({file, one.path(), {"png"}, {HeadId{7, 0}}, {}});
    QVERIFY(of_head.contains(one.filePath("pieces_by_head_L7.png")));
    QVERIFY(!of_head.contains(one.filePath("pieces_by_head_L4.png")));
  }

  // A record alone is drawn as in its file, where another record has the tokens of the gold: its
  // map, and the row of the head that attends most to the gold. The title gives the reason.
  void ARecordIsDrawnWithWhatItsFileKnows() {
    Record prompt = {.name = "prompt",
                     .axes = {{"span", 1, "", {}, {}}},
                     .arrays = {},
                     .attributes = {},
                     .signal = ""};
    prompt.arrays = {{"span_name", {"span"}, std::vector<std::string>{"gold"}, "", ""},
                     {"span_token_begin", {"span"}, std::vector<int64_t>{1}, "", ""},
                     {"span_token_end", {"span"}, std::vector<int64_t>{2}, "", ""}};
    const std::vector<Axis> heads = {{"layer", 2, "", {}, {}}, {"head", 2, "", {}, {}}};
    Record attention = {.name = "last_query_attention",
                        .axes = heads,
                        .arrays = {},
                        .attributes = {},
                        .signal = ""};
    attention.axes.push_back({"key", 5, "", {}, {}});
    attention.arrays = {
        {"last_query_attention",
         {"layer", "head", "key"},
         std::vector<float>{1, 0, 0, 0, 0, .5, .25, 0, 0, .25, .25, .75, 0, 0, 0, .5, 0, 0, 0, .5},
         "",
         ""}};
    Record other = {.name = "cache", .axes = heads, .arrays = {}, .attributes = {}, .signal = ""};
    other.axes.push_back({"slot", 2, "", {}, {}});
    other.arrays = {{"kv",
                     {"layer", "head", "slot"},
                     std::vector<double>{11, 12, 13, 14, 15, 16, 17, 18},
                     "",
                     ""}};
    QTemporaryDir folder;
    const QString file = folder.filePath("a.h5");
    WriteRecords(file.toStdString(), {prompt, attention, other}, {});
    const auto rendered = [&](const char* record, const std::vector<HeadId>& shown) {
      return RenderFile({file + "::" + record, folder.path(), {"svg"}, shown, {}});
    };
    const QStringList written = rendered("last_query_attention", {});
    QVERIFY(written.contains(folder.filePath("attention_on_gold.svg")));
    QVERIFY2(All(folder.filePath("attention_L1H0.csv"))
                 .contains("L1H0 (most attention on the gold: 0.75)"),
             All(folder.filePath("attention_L1H0.csv")));
    QVERIFY(written.filter("kv").isEmpty());
    rendered("cache", {});
    QVERIFY(All(folder.filePath("cache_kv_L1H0.csv")).contains("15"));
    rendered("cache", {{0, 1}, {1, 1}});
    const QByteArray two = All(folder.filePath("cache_kv_heads.csv"));
    QVERIFY2(two.contains("L0H1") && two.contains("18") && !two.contains("15"), two);
    QVERIFY_EXCEPTION_THROWN(rendered("cache", {{2, 0}}), Error);
    // Without gold, another reason is given.
    WriteRecords(folder.filePath("b.h5").toStdString(), {attention}, {});
    RenderFile({folder.filePath("b.h5"), folder.path(), {"svg"}, {}, {}});
    QVERIFY(All(folder.filePath("attention_L1H1.csv"))
                .contains("L1H1 (least attention on the first 4 tokens: 0.5)"));
  }

  void RowsOfAHeadByPlaceShadeTheGold() {
    Record record;
    record.name = "last_query_attention";
    record.axes = {{"sample", 1, "", {}, {0}},
                   {"place", 2, "", {}, {1, 3}},
                   {"layer", 1, "", {}, {}},
                   {"head", 2, "", {}, {}},
                   {"key", 4, "", {}, {}}};
    std::vector<float> weights(16);
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5F * static_cast<float>(i);
    record.arrays = {
        {"last_query_attention", {"sample", "place", "layer", "head", "key"}, weights, "", ""}};
    Record spans;
    spans.name = "span_attention";
    spans.axes = {{"sample", 1, "", {}, {0}}, {"place", 2, "", {}, {1, 3}}};
    spans.arrays = {{"gold_token_begin", {"sample", "place"}, std::vector<int64_t>{0, 2}, "", ""},
                    {"gold_token_end", {"sample", "place"}, std::vector<int64_t>{1, 4}, "", ""}};
    QTemporaryDir folder;
    const QString file = folder.filePath("rows.h5");
    WriteRecords(file.toStdString(), {record, spans}, {});
    const QStringList written = RenderFile({file, folder.path(), {"svg"}, {HeadId{0, 1}}, {}});
    const QString stem = folder.filePath("attention_L0H1_by_place");
    QVERIFY(written.contains(stem + ".svg"));
    const QByteArray numbers = All(stem + ".csv");
    QVERIFY(numbers.contains("gold at place 3: attention,2,7\n"));
    QVERIFY(numbers.contains("# L0H1: attention of the last token, gold shaded; first sample"));
  }

  // The attention of a sweep, of its first place: the mean over samples by head, and a head's row.
  void AttentionOfASweepIsAMeanOverSamples() {
    Record record = SweepRecord();
    record.axes.push_back({"layer", 1, "", {}, {}});
    record.axes.push_back({"head", 2, "", {}, {}});
    record.axes.push_back({"key", 3, "", {}, {}});
    const std::vector<std::string> cells = {"sample", "place"};
    record.arrays.push_back({"gold_token_begin", cells, std::vector<int64_t>{0, 1, 1, 1}, "", ""});
    record.arrays.push_back({"gold_token_end", cells, std::vector<int64_t>{1, 2, 3, 2}, "", ""});
    constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
    record.arrays.push_back({"last_query_attention",
                             {"sample", "layer", "head", "key"},
                             std::vector<float>{0.25F, 0.75F, kNone, 0.5F, 0.5F, kNone, 0.5F, 0.25F,
                                                0.25F, 0, 0.5F, 0.5F},
                             "",
                             ""});
    QTemporaryDir folder;
    const QString file = folder.filePath("sweep.h5");
    WriteRecords(file.toStdString(), {record}, {});
    for (const char* inside : {"", "::last_query_attention", "::sweep/last_query_attention"}) {
      const QString out = folder.filePath(QStringLiteral("out%1").arg(strlen(inside)));
      const QStringList written = RenderFile({file + inside, out, {"png"}, {}, {}});
      QVERIFY(written.contains(out + "/attention_on_gold.png"));
      const QByteArray map = All(out + "/attention_on_gold.csv");
      QVERIFY2(map.contains("on the gold: mean over samples, gold at place 1\n"), map);
      QVERIFY2(map.contains("\n0,0,0.375\n0,1,0.75\n"), map);
      const QByteArray row = All(out + "/attention_L0H1_by_place.csv");
      QVERIFY2(row.contains("\ngold at place 1: attention,1,0.5\n"), row);
    }
  }

  // Without a picture of the record, the message names records that have one.
  void ARecordWithoutPictureNamesOthers() {
    std::vector<Record> records = ProbeRecords();
    Record counted;
    counted.name = "counted_keys";
    counted.axes = {{"layer", 1, "", {}, {}}, {"head", 1, "", {}, {}}, {"key", 2, "", {}, {}}};
    counted.arrays = {
        {"counted_keys", {"layer", "head", "key"}, std::vector<uint8_t>{0, 1}, "", ""}};
    std::erase_if(records, [](const Record& one) { return one.name == "counted_keys"; });
    records.push_back(counted);
    QTemporaryDir folder;
    const QString file = folder.filePath("probe.h5");
    WriteRecords(file.toStdString(), records, {});
    try {
      RenderFile({file + "::counted_keys", folder.filePath("out"), {"png"}, {}, {}});
      QFAIL("no error");
    } catch (const Error& error) {
      const QByteArray what = error.what();
      QVERIFY2(what.contains("can be drawn: ") && what.contains("last_query_attention"), what);
      QVERIFY2(!what.contains("prompt"), what);
    }
  }

  // One figure with a row of panels per head; the counted keys are its rings.
  void SeveralHeadsByPlaceAreRowsOfOneFigure() {
    Record record;
    record.name = "last_query_attention";
    record.axes = {{"sample", 1, "", {}, {0}},
                   {"place", 2, "", {}, {1, 3}},
                   {"layer", 1, "", {}, {}},
                   {"head", 2, "", {}, {}},
                   {"key", 2, "", {}, {}}};
    const std::vector<std::string> axes = {"sample", "place", "layer", "head", "key"};
    record.arrays = {
        {"last_query_attention", axes, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, "", ""},
        {"counted_keys", axes, std::vector<uint8_t>{0, 0, 0, 0, 0, 1, 1, 1}, "", ""}};
    QTemporaryDir folder;
    const QString file = folder.filePath("rows.h5");
    WriteRecords(file.toStdString(), {record}, {});
    const std::vector<HeadId> heads = {{0, 1}, {0, 0}};
    const QStringList written = RenderFile({file, folder.path(), {"png"}, heads, {}});
    const QString stem = folder.filePath("attention_heads_by_place");
    QVERIFY(written.contains(stem + ".png"));
    const QByteArray numbers = All(stem + ".csv");
    QVERIFY2(numbers.contains("# L0H1, L0H0: attention of the last token, gold shaded, keys that "
                              "the score counts ringed; first sample"),
             numbers);
    QVERIFY(numbers.contains("\n\"L0H1, gold at place 1: attention\",1,4\n"));
    QVERIFY(numbers.contains("\n\"L0H0, gold at place 3: counted by the score\",1,6\n"));
    QCOMPARE(numbers.count("counted by the score"), 3);
    QVERIFY_EXCEPTION_THROWN(RenderFile({file, folder.path(), {"png"}, {HeadId{0, 2}}, {}}), Error);
  }

  // Maps of place by parameter for every curve, with the caption of the sweeps.
  void CurvesGiveMapsByPlace() {
    Record record;
    record.name = "outcome_curves";
    record.axes = {{"curve", 2, "", {"none", "pi, other"}, {}},
                   {"pi_ratio", 2, "", {}, {1, 1.5}},
                   {"place", 2, "", {}, {1, 20}}};
    record.arrays = {{"accuracy",
                      {"curve", "pi_ratio", "place"},
                      std::vector<double>{0, 0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875},
                      "",
                      ""}};
    record.attributes = {{"parameter", std::string("pi.ratio")},
                         {"model", std::string("m.gguf")},
                         {"task", std::string("kv:pairs=3")},
                         {"samples", int64_t{7}}};
    QTemporaryDir folder;
    const QString file = folder.filePath("curves.h5");
    WriteRecords(file.toStdString(), {record}, {});
    QVERIFY(!RenderFile({file, folder.path(), {"png"}, {}, {}}).isEmpty());
    const QByteArray numbers = All(folder.filePath("curves_accuracy_by_place.csv"));
    QVERIFY(numbers.contains("# m.gguf, kv:pairs=3 (of the first sweep), samples: 7\n"));
    QVERIFY(numbers.contains("\npanel,gold place,pi.ratio,accuracy\n"));
    QVERIFY(numbers.contains("\n\"pi, other\",20,1.5,0.875\n"));
  }

  // Attention on the gold over its place, a line per length.
  void CurvesOfProbesGiveALinePerLength() {
    Record record;
    record.name = "outcome_curves";
    record.axes = {{"curve", 1, "", {"none"}, {}},
                   {"lines", 2, "", {}, {5, 10}},
                   {"place", 2, "", {"0 %", "100 %"}, {}}};
    record.arrays = {{"gold_attention",
                      {"curve", "lines", "place"},
                      std::vector<double>{0.125, 0.25, 0.375, 0.5},
                      "",
                      ""}};
    record.attributes = {{"parameter", std::string("lines")}};
    QTemporaryDir folder;
    const QString file = folder.filePath("curves.h5");
    WriteRecords(file.toStdString(), {record}, {});
    RenderFile({file, folder.path(), {"png"}, {}, {}});
    const QByteArray numbers = All(folder.filePath("curves_gold_attention_lines.csv"));
    QVERIFY2(numbers.contains("\nlines 5,0,0.125\n") && numbers.contains("\nlines 10,100,0.5\n"),
             numbers);
  }

  void SweepFileGivesOutcomes() {
    QTemporaryDir folder;
    const QString file = folder.filePath("sweep.h5");
    WriteRecords(file.toStdString(), {SweepRecord()}, {});
    QVERIFY_EXCEPTION_THROWN(RenderFile({file, folder.path(), {"svg"}, {HeadId{0, 0}}, {}}), Error);
    const QStringList written = RenderFile({file, folder.path(), {"svg"}, {}, {}});
    QCOMPARE(written,
             (QStringList{folder.filePath("outcome_nll.svg"), folder.filePath("outcome_nll.csv"),
                          folder.filePath("outcome_accuracy.svg"),
                          folder.filePath("outcome_accuracy.csv")}));
    // The CSV contains the places, not the offset positions at which lines are drawn.
    const QByteArray numbers = All(folder.filePath("outcome_nll.csv"));
    QVERIFY2(numbers.contains("\nnone,1,1.75\n"), numbers);
    QVERIFY2(numbers.contains("\npi(0.8),20,"), numbers);
    // The legend names every setting.
    QFile svg(written.first());
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QByteArray text = svg.readAll();
    for (const char* setting : {"none", "pi(1.5)", "pi(0.8)"}) QVERIFY(text.contains(setting));
    QVERIFY(text.contains("means over 2 samples"));
  }

  // A file that the window wrote with A and B has B - A, of the sample and of the means.
  void AFileOfTwoSidesHasTheirDifference() {
    QTemporaryDir folder;
    const auto side = [](const char* name, const char* setting, std::vector<double> nll) {
      Record record;
      record.name = name;
      record.axes = {{"setting", 1, "", {setting}, {}}, {"place", 2, "", {}, {1, 20}}};
      record.arrays = {{"answer_nll", {"setting", "place"}, std::move(nll), "nat", ""}};
      record.attributes = {{"intervention", std::string(setting)},
                           {"side", std::string(record.name.ends_with("_b") ? "B" : "A")}};
      record.signal = "answer_nll";
      return record;
    };
    Record means = side("outcome_means_b", "pi(1.5)", {2, 3});
    means.attributes["against"] = std::string("none");
    for (const auto& [name, value] : {std::pair("", -0.75), {"_low", -1.0}, {"_high", -0.5}})
      means.arrays.push_back({std::string("answer_nll_difference") + name,
                              {"setting", "place"},
                              std::vector<double>(2, value),
                              "nat",
                              ""});
    means.arrays.push_back({"samples", {"setting"}, std::vector<double>{7}, "", ""});
    const QString file = folder.filePath("window.h5");
    WriteRecords(file.toStdString(),
                 {side("outcome", "none", {1, 4}), side("outcome_b", "pi(1.5)", {2, 3.5}),
                  side("outcome_means", "none", {1, 2}), means},
                 {});
    const QStringList written = RenderFile({file, folder.path(), {"svg"}, {}, {}});
    const QByteArray numbers = All(folder.filePath("outcome_difference.csv"));
    QVERIFY2(numbers.contains("\n\"B − A, this sample\",1,1,,\n"), numbers);
    QVERIFY2(numbers.contains("\n\"B − A, this sample\",20,-0.5,,\n"), numbers);
    QVERIFY2(numbers.contains("\n\"B − A, mean of 7, 95 %\",20,-0.75"), numbers);
    QVERIFY(All(folder.filePath("outcome_difference.svg")).contains("below 0: B is better"));
    QVERIFY2(numbers.contains("A: none; B: pi(1.5)"), numbers);
  }

  void IdsAreNoPictureAndOneSignHasNoMiddle() {
    Record record;
    record.name = "other_lens";
    record.axes = {{"layer", 2, "", {}, {}}, {"place", 2, "", {}, {1, 20}}};
    const std::vector<std::string> axes = {"layer", "place"};
    record.arrays = {{"lens_token_ids", axes, std::vector<int64_t>{5, 6, 7, 8}, "", ""},
                     {"log_probability", axes, std::vector<double>{-8, -6, -4, -2}, "nats", ""}};
    QTemporaryDir folder;
    const QString file = folder.filePath("lens.h5");
    WriteRecords(file.toStdString(), {record}, {});
    const QStringList written = RenderFile({file, folder.path(), {"png"}, {}, {}});
    QCOMPARE(written, (QStringList{folder.filePath("other_lens_log_probability.png"),
                                   folder.filePath("other_lens_log_probability.csv")}));

    RecordPlot plot;
    plot.Show(&record, "log_probability", {}, RecordForm::kHeatMap);
    const auto* map = qobject_cast<QCPColorMap*>(plot.plottable(0));
    QVERIFY(map);
    QCOMPARE(map->dataRange().lower, -8.0);
    QCOMPARE(map->dataRange().upper, -2.0);
  }

  void ErrorsNameWhatIsWrong_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("says");
    QTest::newRow("missing") << "not_there.h5"
                             << "not_there.h5";
    QTest::newRow("not HDF5") << "text.h5"
                              << "text.h5";
    QTest::newRow("nothing to draw") << "empty.h5"
                                     << "nothing that can be drawn";
  }

  void ErrorsNameWhatIsWrong() {
    QFETCH(QString, file);
    QFETCH(QString, says);
    QTemporaryDir folder;
    QFile text(folder.filePath("text.h5"));
    QVERIFY(text.open(QIODevice::WriteOnly));
    text.write("no HDF5 file");
    text.close();
    Record nothing;
    nothing.name = "answer";
    nothing.axes = {{"rank", 1, "", {}, {}}};
    nothing.arrays = {{"logit", {"rank"}, std::vector<float>{1}, "", ""}};
    WriteRecords(folder.filePath("empty.h5").toStdString(), {nothing}, {});
    try {
      RenderFile({folder.filePath(file), folder.path(), {"png"}, {}, {}});
      QFAIL("an error was expected");
    } catch (const Error& error) {
      QVERIFY2(QString::fromUtf8(error.what()).contains(says), error.what());
    }
  }

  void HeadThatIsNotThereIsAnError() {
    QTemporaryDir folder;
    const QString file = folder.filePath("probe.h5");
    WriteRecords(file.toStdString(), ProbeRecords(), {});
    QVERIFY_EXCEPTION_THROWN(
        RenderFile({file, folder.path(), {"png"}, {HeadId{FakeEngine::kLayers, 0}}, {}}), Error);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::RenderTest)
#include "render_test.moc"
