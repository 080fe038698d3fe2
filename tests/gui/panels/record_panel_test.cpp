// SPDX-License-Identifier: MIT
// Records unknown to the window are shown using their own descriptions.
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include "gui/files/result_file.h"
#include "gui/main_window.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/record_panel.h"
#include "gui/plots/record_plot.h"
#include "gui/session/session.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

constexpr int64_t kLines = 3;
constexpr int64_t kPlaces = 5;

double Planted(int64_t layer, int64_t line, int64_t along) {
  return static_cast<double>(100 * layer + 10 * line + along) - 17;
}

// A record with single values, columns, a matrix and a stack of
// matrices.
Record PlantedRecord() {
  Record record;
  record.name = "planted";
  record.axes = {{"layer", 2, "", {}, {}},
                 {"word", kLines, "", {"red", "green", "blue"}, {}},
                 {"depth", kPlaces, "m", {}, {0, 2, 4, 8, 16}}};
  std::vector<double> stack;
  for (int64_t layer = 0; layer < 2; ++layer) {
    for (int64_t line = 0; line < kLines; ++line) {
      for (int64_t along = 0; along < kPlaces; ++along)
        stack.push_back(Planted(layer, line, along));
    }
  }
  stack[1] = std::nan("");
  std::vector<float> matrix;
  matrix.reserve(kLines * kPlaces);
  for (int i = 0; i < kLines * kPlaces; ++i) matrix.push_back(static_cast<float>(i));
  record.arrays = {{"total", {}, std::vector<int64_t>{42}, "tokens", "a single value"},
                   {"length", {"word"}, std::vector<double>{3, 5, std::nan("")}, "cm", ""},
                   {"warm", {"word"}, std::vector<uint8_t>{1, 0, 0}, "", ""},
                   {"note", {"word"}, std::vector<std::string>{"a", "b", "c"}, "", ""},
                   {"heat", {"word", "depth"}, matrix, "K", "how warm it is"},
                   {"stack", {"layer", "word", "depth"}, stack, "Pa", ""},
                   {"names", {"word", "depth"}, std::vector<std::string>(15, "x"), "", ""}};
  record.attributes["options"] = std::string(R"({"top": 3})");
  return record;
}

class EngineWithRecord : public FakeEngine {
 public:
  using FakeEngine::FakeEngine;
  CaptureRunReply CaptureRun(const CaptureRunRequest& request, const JobContext& context) override {
    CaptureRunReply reply = FakeEngine::CaptureRun(request, context);
    reply.records.push_back(PlantedRecord());
    Stamp(request.intervention, request.place, reply.records.back());
    return reply;
  }
};

class RecordPanelTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<EngineWithRecord> {
    RecordPanel* panel = window.panel<RecordPanel>();

    Rig() {
      window.ShowPanel(panel);
      Show();
    }
    QVariant Cell(int row, int column) {
      return panel->table()->data(panel->table()->index(row, column), Qt::DisplayRole);
    }
    QVariant Header(int section, Qt::Orientation orientation) {
      return panel->table()->headerData(section, orientation, Qt::DisplayRole);
    }
  };

 private Q_SLOTS:
  void OffersWhatNoOtherPanelShows() {
    Rig rig;
    QVERIFY(rig.panel->choices().isEmpty());
    QVERIFY(rig.OpenModel());
    const QStringList choices = rig.panel->choices();
    QVERIFY(choices.contains(QStringLiteral("planted")));
    QVERIFY(choices.contains(QStringLiteral("planted: by word")));
    QVERIFY(choices.contains(QStringLiteral("planted: heat [word, depth]")));
    QVERIFY(choices.contains(QStringLiteral("planted: stack [layer, word, depth]")));
    // Texts over two axes have no picture, and records with a panel are shown only there.
    QVERIFY(choices.filter(QStringLiteral("names")).isEmpty());
    QVERIFY(choices.filter(QStringLiteral("last_query_attention")).isEmpty());
    QCOMPARE(choices.filter(QStringLiteral("planted: by word")).size(), 1);
  }

  void ATableHasTheAxisAndUnits() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.panel->Choose(QStringLiteral("planted: by word"));
    QVERIFY(!rig.panel->shows_picture());
    QCOMPARE(rig.panel->table()->rowCount(), 3);
    QCOMPARE(rig.panel->table()->columnCount(), 3);
    QCOMPARE(rig.Header(0, Qt::Horizontal).toString(), QStringLiteral("length (cm)"));
    QCOMPARE(rig.Header(2, Qt::Vertical).toString(), QStringLiteral("blue"));
    QCOMPARE(rig.Cell(1, 0).toString(), QStringLiteral("5"));
    QCOMPARE(rig.Cell(2, 0).toString(), QString());  // NaN: no value
    QCOMPARE(rig.Cell(0, 1).toString(), QStringLiteral("true"));
    QCOMPARE(rig.Cell(2, 2).toString(), QStringLiteral("c"));
    QCOMPARE(rig.window.findChild<QLabel*>("record_note")->text(), QStringLiteral("with top 3"));
    rig.panel->Choose(QStringLiteral("planted"));
    QCOMPARE(rig.Header(0, Qt::Horizontal).toString(), QStringLiteral("total (tokens)"));
    QCOMPARE(rig.Cell(0, 0).toString(), QStringLiteral("42"));
  }

  void AMatrixIsAHeatMapOrLines() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.panel->Choose(QStringLiteral("planted: heat [word, depth]"));
    QVERIFY(rig.panel->shows_picture());
    RecordPlot* plot = rig.panel->plot();
    QCOMPARE(plot->xAxis->label(), QStringLiteral("depth (m)"));
    QCOMPARE(plot->yAxis->label(), QStringLiteral("word"));
    QVERIFY(plot->title().contains(QStringLiteral("heat (K)")));
    QCOMPARE(plot->lines(), kLines);
    QCOMPARE(plot->ValueOf(2, 4), 14.0);
    QVERIFY(std::isnan(plot->ValueOf(3, 0)));
    plot->replot();
    const QPointF at(plot->xAxis->coordToPixel(3), plot->yAxis->coordToPixel(1));
    QCOMPARE(plot->TooltipAt(at), QStringLiteral("word green, depth (m) 8\nheat (K): 8"));
    rig.window.findChild<QComboBox*>("record_form")->setCurrentIndex(1);
    QCOMPARE(plot->graphCount(), 3);
    QCOMPARE(plot->yAxis->label(), QStringLiteral("heat (K)"));
    QCOMPARE(plot->graph(1)->data()->at(3)->value, 8.0);
    rig.window.findChild<QComboBox*>("record_form")->setCurrentIndex(0);
    QCOMPARE(plot->graphCount(), 0);
  }

  void OuterAxesHaveABoxEach() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.panel->Choose(QStringLiteral("planted: stack [layer, word, depth]"));
    RecordPlot* plot = rig.panel->plot();
    QCOMPARE(plot->ValueOf(1, 2), Planted(0, 1, 2));
    QVERIFY(std::isnan(plot->ValueOf(0, 1)));
    auto* layer = rig.window.findChild<QSpinBox*>("place_layer");
    QVERIFY(layer);
    QCOMPARE(layer->maximum(), 1);
    layer->setValue(1);
    QCOMPARE(plot->ValueOf(1, 2), Planted(1, 1, 2));
    QVERIFY(plot->title().contains(QStringLiteral("layer 1")));
    rig.panel->Choose(QStringLiteral("planted: by word"));
    QVERIFY(!layer->isVisible());
  }

  void ItIsSavedShownAgainAndRendered() {
    QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("run.h5"));
    {
      Rig rig;
      QVERIFY(rig.OpenModel());
      SaveResults(*rig.window.session(), file);
    }
    Rig rig;
    QVERIFY(rig.OpenResults(file));
    QVERIFY(rig.panel->choices().contains(QStringLiteral("planted: heat [word, depth]")));
    rig.panel->Choose(QStringLiteral("planted: heat [word, depth]"));
    QCOMPARE(rig.panel->plot()->ValueOf(2, 4), 14.0);
    QCOMPARE(rig.panel->plot()->xAxis->label(), QStringLiteral("depth (m)"));
    RenderRequest request;
    request.file = file;
    request.folder = folder.filePath(QStringLiteral("pictures"));
    request.formats = {QStringLiteral("svg")};
    const QStringList written = RenderFile(request);
    QCOMPARE(written.filter(QStringLiteral("planted_heat.svg")).size(), 1);
    QCOMPARE(written.filter(QStringLiteral("planted_stack")).size(), 0);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::RecordPanelTest)
#include "record_panel_test.moc"
