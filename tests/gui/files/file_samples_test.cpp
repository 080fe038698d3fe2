// SPDX-License-Identifier: MIT
// Files with many samples in the window: one sample is shown at a time, with published lines for
// comparison.
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include "data/published/published_record.h"
#include "data/store/run_store.h"
#include "data/sweep/sweep_store.h"
#include "gui/base/record_access.h"
#include "gui/files/result_file.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/outcome/reference_row.h"
#include "gui/panels/record_panel.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/error_bar.h"
#include "tests/gui/support/change_spy.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

constexpr int64_t kSamples = 5;
constexpr int64_t kHeads = 3;

int64_t KeysOf(int64_t sample) { return 20 + 7 * sample; }

float Attention(int64_t sample, int64_t layer, int64_t head, int64_t key) {
  return static_cast<float>(1 + sample * 1000 + layer * 100 + head * 10) / 10000 +
         static_cast<float>(key) / 1e6F;
}

double Nll(int64_t sample, int64_t setting, int64_t place) {
  return static_cast<double>(1 + sample) + 0.1 * static_cast<double>(setting * 3 + place);
}

// A sample of a sweep with two settings at three places.
Record SweepSample(int64_t sample) {
  const int64_t keys = KeysOf(sample);
  Record record;
  record.name = "sweep";
  record.axes = {{"setting", 2, "", {"none", "pi(1.5)"}, {}},
                 {"place", 3, "rank", {}, {1, 5, 10}},
                 {"layer", 2, "", {}, {}},
                 {"head", kHeads, "", {}, {}},
                 {"key", keys, "", {}, {}}};
  std::vector<double> nll;
  std::vector<uint8_t> correct;
  for (int64_t setting = 0; setting < 2; ++setting) {
    for (int64_t place = 0; place < 3; ++place) {
      nll.push_back(Nll(sample, setting, place));
      correct.push_back(static_cast<uint8_t>((sample + place) % 2));
    }
  }
  std::vector<float> attention;
  for (int64_t layer = 0; layer < 2; ++layer) {
    for (int64_t head = 0; head < kHeads; ++head) {
      for (int64_t key = 0; key < keys; ++key) {
        attention.push_back(Attention(sample, layer, head, key));
      }
    }
  }
  record.arrays = {
      {"answer_nll", {"setting", "place"}, nll, "nats", ""},
      {"correct", {"setting", "place"}, correct, "", ""},
      {"prompt_tokens", {"place"}, std::vector<int64_t>(3, keys), "tokens", ""},
      {"gold_token_begin", {"place"}, std::vector<int64_t>{2 + sample, 8, 12}, "tokens", ""},
      {"gold_token_end", {"place"}, std::vector<int64_t>{5 + sample, 11, 15}, "tokens", ""},
      {"last_query_attention", {"layer", "head", "key"}, attention, "", ""}};
  record.signal = "answer_nll";
  return record;
}

QString WriteSweep(const QTemporaryDir& folder) {
  QString path = folder.filePath("sweep.h5");
  SweepStore store =
      SweepStore::Create(path.toStdString(), R"({"task":"kv:pairs=10,query_aware=0"})", {});
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    store.Append(10 + sample, SweepSample(sample));
  }
  store.Finish();
  return path;
}

// Writes scores of two samples at two places, stacked as in a batch of probes.
QString WriteBatch(const QTemporaryDir& folder) {
  Record record;
  record.name = "position_awareness";
  record.axes = {{"sample", 2, "", {}, {3, 4}},
                 {"place", 2, "rank", {}, {1, 9}},
                 {"layer", 2, "", {}, {}},
                 {"head", kHeads, "", {}, {}}};
  std::vector<float> scores;
  constexpr int64_t kScores = 8 * kHeads;  // two samples, two places, two layers
  scores.reserve(kScores);
  for (int64_t i = 0; i < kScores; ++i) scores.push_back(static_cast<float>(i));
  record.arrays = {
      {"position_awareness_score", {"sample", "place", "layer", "head"}, scores, "", ""}};
  QString path = folder.filePath("batch.h5");
  WriteRecords(path.toStdString(), {record}, {}, {});
  return path;
}

class FileSamplesTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    ChangeSpy changed{session};
    QTemporaryDir folder;

    Rig() { Show(); }
    bool Open(const QString& path) {
      window.OpenPath(path);
      return SpyUntil(changed, [this] { return Shown() > 0; });
    }
    // Number of times that a sample was shown.
    qsizetype Shown() const { return changed.Count(Change::kSample); }
    bool UntilSample(int64_t sample) {
      return SpyUntil(changed, [this, sample] {
        const Record* prompt = session->prompt();
        return prompt && IntegerAttribute(*prompt, "sample", -1) == sample;
      });
    }
    const OutcomePlot& outcome() {
      session->FlushChanges();
      return *window.panel<OutcomePanel>()->plot();
    }
  };

  static void CompareAttention(const AttentionPlot& plot, int64_t sample, HeadId head) {
    const auto data = plot.graph_of(Side::kA)->data();
    QCOMPARE(data->size(), static_cast<int>(KeysOf(sample)));
    for (int key = 0; key < data->size(); ++key) {
      QCOMPARE(data->at(key)->value, double{Attention(sample, head.layer, head.head, key)});
    }
  }

 private Q_SLOTS:
  void AFileWithoutAModelOffersNothingToRunAndNamesItsSettings() {
    QTemporaryDir folder;
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenResults(WriteSweep(folder)));
    for (const char* name : {"run", "top_prompt", "sample", "text_B"})
      QVERIFY2(!rig.Find<QWidget>(name)->isVisible(), name);
    QVERIFY(rig.Find<QLabel>("settings_without_model")->isVisible());
    QVERIFY(rig.Find<ElidedLabel>("document_settings")->text().contains("pi(1.5)"));
    QVERIFY(!rig.Find<ElidedLabel>("answer_setting_b")->text().contains("same"));
    const auto curves = [&] {
      QStringList names;
      const auto* plot = rig.window.panel<OutcomePanel>()->plot();
      for (int i = 0; i < plot->legend->itemCount(); ++i)
        names << qobject_cast<QCPPlottableLegendItem*>(plot->legend->item(i))->plottable()->name();
      return names;
    };
    QTRY_VERIFY2(curves().contains("pi(1.5), this sample"), qPrintable(curves().join('\n')));
    rig.window.OpenModel("embedded");
    QTRY_VERIFY(rig.session->live().model.has_value());
    for (const char* name : {"run", "top_prompt", "text_B"})
      QVERIFY2(rig.Find<QWidget>(name)->isVisible(), name);
  }

  void SamplesOfASweepAreChosen() {
    Rig rig;
    QVERIFY(rig.Open(WriteSweep(rig.folder)));
    auto* box = rig.Find<QSpinBox>("file_sample");
    QVERIFY(box->isVisible());
    QCOMPARE(box->maximum(), static_cast<int>(kSamples));
    QVERIFY(!rig.Find<QComboBox>("file_place")->isVisible());
    AttentionPlot* plot = rig.window.panel<AttentionPanel>()->plot();
    CompareAttention(*plot, 0, rig.window.panel<AttentionPanel>()->head());
    QCOMPARE(plot->gold(), (TokenSpan{"gold", 2, 5}));
    box->setValue(4);
    QVERIFY(rig.UntilSample(13));
    CompareAttention(*plot, 3, rig.window.panel<AttentionPanel>()->head());
    QCOMPARE(plot->gold(), (TokenSpan{"gold", 5, 8}));
    const QString note = rig.Find<QLabel>("file_sample_note")->text();
    QVERIFY2(note.contains("number 13") && note.contains("41 tokens") &&
                 note.contains("gold at place 1") && note.contains("none"),
             qPrintable(note));
    QTest::keyClick(&rig.window, Qt::Key_Right, Qt::AltModifier);
    QVERIFY(rig.UntilSample(14));
    CompareAttention(*plot, 4, rig.window.panel<AttentionPanel>()->head());
    QTest::keyClick(&rig.window, Qt::Key_Left, Qt::AltModifier);
    QVERIFY(rig.UntilSample(13));
    QVERIFY(rig.window.errors()->messages().isEmpty());
  }

  void OutcomeHasMeansAndTheSample() {
    Rig rig;
    QVERIFY(rig.Open(WriteSweep(rig.folder)));
    rig.Find<QSpinBox>("file_sample")->setValue(3);
    QVERIFY(rig.UntilSample(12));
    const auto& lines = rig.outcome().lines();
    QCOMPARE(lines.size(), size_t{4});  // means of two settings, and this sample under both
    QVERIFY(lines[0].mean && lines[1].mean && !lines[2].mean && !lines[3].mean);
    QCOMPARE(lines[1].name, QString("pi(1.5)"));
    // The mean of samples 0 to 4 equals sample 2.
    QCOMPARE(lines[1].series.values[2], Nll(2, 1, 2));
    QCOMPARE(lines[3].series.values, (QVector<double>{Nll(2, 1, 0), Nll(2, 1, 1), Nll(2, 1, 2)}));
    QCOMPARE(lines[3].color.rgb(), lines[1].color.rgb());
    QVERIFY(lines[3].in_legend);
  }

  void TheNewestChoiceWins() {
    Rig rig;
    QVERIFY(rig.Open(WriteSweep(rig.folder)));
    const auto before = rig.Shown();
    auto* box = rig.Find<QSpinBox>("file_sample");
    // Replies wait for the window's event loop. Sample 3 is requested once, so it has one reply.
    for (int round = 0; round < 50; ++round) box->setValue(1 + round % 2);
    box->setValue(3);
    QVERIFY(rig.UntilSample(12));
    // No other reply may arrive after that of the last chosen sample.
    QTest::qWait(50);
    QCOMPARE(rig.Shown(), before + 1);
    CompareAttention(*rig.window.panel<AttentionPanel>()->plot(), 2,
                     rig.window.panel<AttentionPanel>()->head());
  }

  void ABatchIsCutAtItsPlace() {
    Rig rig;
    QVERIFY(rig.Open(WriteBatch(rig.folder)));
    auto* place = rig.Find<QComboBox>("file_place");
    QVERIFY(place->isVisible());
    QCOMPARE(place->itemText(1), QString("9"));
    const HeadMapPlot* map = rig.window.panel<HeadMapPanel>()->plot();
    QCOMPARE(map->heads(), kHeads);
    QCOMPARE(map->CellValue({1, 2}), 5.0);
    const auto before = rig.Shown();
    place->setCurrentIndex(1);
    QVERIFY(SpyUntil(rig.changed, [&] { return rig.Shown() > before; }));
    QCOMPARE(map->CellValue({1, 2}), 11.0);
    rig.Find<QSpinBox>("file_sample")->setValue(2);
    QVERIFY(SpyUntil(rig.changed, [&] { return rig.Shown() > before + 1; }));
    QCOMPARE(map->CellValue({0, 0}), 18.0);
  }

  void AModelTakesTheBarAway() {
    Rig rig;
    QVERIFY(rig.Open(WriteSweep(rig.folder)));
    rig.Find<QSpinBox>("file_sample")->setValue(5);  // is being read when the file is left
    QVERIFY(rig.OpenModel());
    QVERIFY(!rig.Find<QSpinBox>("file_sample")->isVisible());
    QCOMPARE(rig.window.panel<AttentionPanel>()->plot()->graph_of(Side::kA)->data()->size(),
             static_cast<int>(FakeEngine::kTokens));
  }

  void PublishedLinesStandBesideTheOutcome() {
    Rig rig;
    QVERIFY(rig.Open(WriteSweep(rig.folder)));
    rig.window.panel<OutcomePanel>()->options()->show();
    auto* tables = rig.Find<QComboBox>("reference_table");
    QVERIFY(tables->isVisible());
    QVERIFY(tables->findData(QString("mspoe-t2-mdqa")) < 0);
    tables->setCurrentIndex(tables->findData(QString("mspoe-t2-kv")));
    // Choosing a table selects accuracy, the only measure that it fits.
    QCOMPARE(rig.Find<QComboBox>("measure")->currentIndex(), static_cast<int>(Measure::kAccuracy));
    QCOMPARE(rig.outcome().lines().size(), size_t{8});
    const OutcomePlot::Line line = rig.outcome().lines()[4];
    QVERIFY(line.reference);
    QCOMPARE(line.name, QString("mspoe-t2-kv: Baseline"));
    const std::vector<PublishedLine> published = PublishedLinesOfKind(
        *FindPublishedTables("mspoe-t2-kv").front(), "kv:pairs=10,query_aware=0");
    for (int i = 0; i < 5; ++i) {
      QCOMPARE(line.series.values[i], published[0].accuracy[static_cast<size_t>(i)]);
    }
    // Place 30 of 50 is at the same share of the range of ten places.
    QCOMPARE(line.series.places[2], 1 + 9 * 29.0 / 49);
    QCOMPARE(line.point_names[2], QString("place 30 of 50"));
    rig.Find<QComboBox>("measure")->setCurrentIndex(static_cast<int>(Measure::kNll));
    QCOMPARE(rig.outcome().lines().size(), size_t{4});
    QVERIFY(rig.Find<QLabel>("means_note")->text().contains("accuracy"));
    tables->setCurrentIndex(0);
    rig.session->FlushChanges();
    QVERIFY(rig.Find<QLabel>("means_note")->text().isEmpty());
    QVERIFY(!rig.session->record(Side::kA, kPublishedRecord));
  }

  // A closed-book run has one place; its number holds for all places.
  void AnotherRunStandsBesideTheOutcome() {
    Rig rig;
    QVERIFY(rig.Open(WriteSweep(rig.folder)));
    rig.Find<QComboBox>("measure")->setCurrentIndex(static_cast<int>(Measure::kNll));
    Record closed;
    closed.name = "sweep";
    closed.axes = {
        {"sample", 2, "", {}, {}}, {"setting", 1, "", {"none"}, {}}, {"place", 1, "", {}, {1}}};
    closed.arrays = {
        {"answer_nll", {"sample", "setting", "place"}, std::vector<double>{2, 4}, "nat", ""},
        {"correct", {"sample", "setting", "place"}, std::vector<uint8_t>{1, 0}, "", ""}};
    const QString path = rig.folder.filePath("closed.h5");
    WriteRecords(path.toStdString(), {closed}, {});
    auto* row = rig.window.findChild<ReferenceRow*>();
    row->OpenRuns({path});
    QTRY_COMPARE(rig.outcome().lines().size(), size_t{5});
    OutcomePlot::Line line = rig.outcome().lines().back();
    QVERIFY(line.reference);
    QCOMPARE(line.name, QString("closed.h5: none"));
    QCOMPARE(line.series.places, (QVector<double>{1, 10}));
    QCOMPARE(line.series.values, (QVector<double>{3, 3}));
    QCOMPARE(line.point_names, (QStringList{"every place", "every place"}));
    QCOMPARE(rig.Find<QComboBox>("reference_table")->currentData().toString(),
             QString("closed.h5"));
    rig.Find<QComboBox>("measure")->setCurrentIndex(static_cast<int>(Measure::kAccuracy));
    QCOMPARE(rig.outcome().lines().back().series.values, (QVector<double>{0.5, 0.5}));

    // Unreadable files leave the lines unchanged.
    row->OpenRuns({rig.folder.filePath("nothing.h5")});
    QTRY_COMPARE(rig.window.errors()->messages().size(), 1);
    QVERIFY(rig.window.errors()->messages().front().contains("nothing.h5"));
    QCOMPARE(rig.outcome().lines().back().name, QString("closed.h5: none"));
    rig.Find<QComboBox>("reference_table")->setCurrentIndex(0);
    rig.session->FlushChanges();
    QVERIFY(!rig.session->record(Side::kA, kPublishedRecord));
  }

  void KnownErrorsAreMarkedAndRowsChosen() {
    Record reference = PublishedRecord(
        PublishedLinesOfKind(*FindPublishedTables("mspoe-t2-mdqa").front(), "mdqa:documents=10"),
        "mdqa:documents=10", 10);
    OutcomePlot plot;
    plot.resize(700, 500);
    plot.Show({{{"none", {1, 10}, {0.5, 0.5}, {}, {}, 0}, "A", Qt::blue, true}},
              Measure::kAccuracy);
    const int graphs = plot.graphCount();
    Rig rig;
    rig.session->ShowFile({{reference}, {}, R"({"task":"mdqa:documents=10"})"});
    rig.session->FlushChanges();
    rig.Find<QComboBox>("measure")->setCurrentIndex(static_cast<int>(Measure::kAccuracy));
    QCOMPARE(rig.Find<QComboBox>("reference_table")->currentData().toString(),
             QString("mspoe-t2-mdqa"));
    const auto& lines = rig.outcome().lines();
    QCOMPARE(lines.size(), size_t{4});
    QCOMPARE(lines[2].name, QString("mspoe-t2-mdqa: Self-Extend*"));
    QVERIFY(lines[2].notes[0].contains("500 samples"));
    QCOMPARE(graphs, 1);
    QCOMPARE(rig.outcome().graphCount(), 5);  // four lines, and the marks of one of them
    // If a table has many rows, the rows of one model are offered as a choice.
    const auto choices = ReferenceRow::RowChoices(
        PublishedLinesOfKind(*FindPublishedTables("poshidden-t1").front(), "kv:pairs=140"));
    QCOMPARE(choices[0].lines.size(), size_t{23});
    QCOMPARE(choices[1].text, QString("LLaMA-2-7b-chat: 3 rows"));
    QCOMPARE(choices[1].lines, (std::vector<size_t>{0, 1, 2}));
    rig.Find<QComboBox>("reference_rows")->setCurrentIndex(2);
    QCOMPARE(rig.outcome().lines().size(), size_t{1});
  }

  void TheReferenceIsATableAndIsSaved() {
    Rig rig;
    QVERIFY(rig.Open(WriteSweep(rig.folder)));
    auto* tables = rig.Find<QComboBox>("reference_table");
    tables->setCurrentIndex(tables->findData(QString("mspoe-t2-kv")));
    rig.session->FlushChanges();
    QVERIFY(rig.window.panel<RecordPanel>()->choices().contains(
        QStringLiteral("published_reference: accuracy [line, point]")));
    const QString saved = rig.folder.filePath("screen.h5");
    SaveResults(*rig.session, saved);
    Rig other;
    QVERIFY2(other.OpenResults(saved), qPrintable(other.window.errors()->messages().join('\n')));
    other.Find<QComboBox>("measure")->setCurrentIndex(static_cast<int>(Measure::kAccuracy));
    const auto& lines = other.outcome().lines();
    QVERIFY(!lines.empty());
    QCOMPARE(lines.back().name, QString("mspoe-t2-kv: Ms-PoE"));
    QCOMPARE(lines.back().series.values, rig.outcome().lines().back().series.values);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::FileSamplesTest)
#include "file_samples_test.moc"
