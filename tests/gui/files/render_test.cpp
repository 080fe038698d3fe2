// SPDX-License-Identifier: MIT
// Pictures out of files of results.
#include <QFile>
#include <QFileInfo>
#include <QImage>
#include <QTemporaryDir>
#include <QTest>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "gui/files/render.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/record_plot.h"
#include "tests/gui/support/fake_engine.h"

namespace midscope {

class RenderTest : public QObject {
  Q_OBJECT

 private:
  static QByteArray Head(const QString& path) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return {};
    return file.read(400);
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
    RenderRequest request{file, folder.filePath("out/deep"), PlotFormats(), HeadId{2, 1}, {}};
    const QStringList written = RenderFile(request);
    QVERIFY(written.size() >= 12);
    for (const char* stem :
         {"head_map", "attention_L2H1", "hidden_channel_100", "position_ratio_position_ratio"}) {
      const QString base = folder.filePath("out/deep/") + stem;
      QVERIFY(written.contains(base + ".png"));
      const QImage image(base + ".png");
      QVERIFY(!image.isNull() && image.width() > 1000);
      QVERIFY(Head(base + ".svg").contains("<svg"));
      QVERIFY(Head(base + ".pdf").startsWith("%PDF"));
      QVERIFY(QFileInfo(base + ".pdf").size() > 2000);
    }
  }

  // Gold place by answered place.
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
    QCOMPARE(written, (QStringList{stem.arg(1), stem.arg(2)}));
    QVERIFY(Head(written[1]).contains("<svg"));
    QFile svg(written[1]);
    QVERIFY(svg.open(QIODevice::ReadOnly));
    QVERIFY(svg.readAll().contains("pi(1.5)"));
  }

  void SweepFileGivesOutcomes() {
    QTemporaryDir folder;
    const QString file = folder.filePath("sweep.h5");
    WriteRecords(file.toStdString(), {SweepRecord()}, {});
    const QStringList written = RenderFile({file, folder.path(), {"svg"}, {}, {}});
    QCOMPARE(written, (QStringList{folder.filePath("outcome_nll.svg"),
                                   folder.filePath("outcome_accuracy.svg")}));
    // The legend names every setting.
    QFile svg(written.first());
    QVERIFY(svg.open(QIODevice::ReadOnly));
    const QByteArray text = svg.readAll();
    for (const char* setting : {"none", "pi(1.5)", "pi(0.8)"}) QVERIFY(text.contains(setting));
    QVERIFY(text.contains("means over 2 samples"));
  }

  void IdsAreNoPictureAndOneSignHasNoMiddle() {
    Record record;
    record.name = "logit_lens";
    record.axes = {{"layer", 2, "", {}, {}}, {"place", 2, "", {}, {1, 20}}};
    const std::vector<std::string> axes = {"layer", "place"};
    record.arrays = {{"lens_token_ids", axes, std::vector<int64_t>{5, 6, 7, 8}, "", ""},
                     {"log_probability", axes, std::vector<double>{-8, -6, -4, -2}, "nats", ""}};
    QTemporaryDir folder;
    const QString file = folder.filePath("lens.h5");
    WriteRecords(file.toStdString(), {record}, {});
    const QStringList written = RenderFile({file, folder.path(), {"png"}, {}, {}});
    QCOMPARE(written, QStringList{folder.filePath("logit_lens_log_probability.png")});

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
        RenderFile({file, folder.path(), {"png"}, HeadId{FakeEngine::kLayers, 0}, {}}), Error);
  }
};

}  // namespace midscope

QTEST_MAIN(midscope::RenderTest)
#include "render_test.moc"
