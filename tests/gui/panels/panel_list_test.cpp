// SPDX-License-Identifier: MIT
// The list of panels: each has a title and a place in the window, shows records that the panel of
// other records then omits, and takes part in export and in --render.
#include <QComboBox>
#include <QDir>
#include <QPlainTextEdit>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>

#include "data/store/record_reader.h"
#include "gui/files/result_file.h"
#include "gui/files/session_file.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/channels/channel_search_panel.h"
#include "gui/panels/file_pictures.h"
#include "gui/panels/influence/influence_panel.h"
#include "gui/panels/notes_panel.h"
#include "gui/panels/outcome/curves_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/outcome/tuning_panel.h"
#include "gui/panels/panel_list.h"
#include "gui/panels/positions_panel.h"
#include "gui/panels/record_panel.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/plot.h"
#include "gui/plots/record_plot.h"
#include "gui/widgets/parameter_form.h"
#include "probes/measure/builtin/position_coverage.h"
#include "probes/measure/builtin/rope_periods.h"
#include "probes/measure/channels/prompt_channels.h"
#include "tests/gui/support/attribution_record.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class PanelListTest : public QObject {
  Q_OBJECT

 private:
  // A record that any panel could draw.
  static Record Square(const std::string& name) {
    Record record;
    record.name = name;
    record.axes = {{"layer", 2, "", {}, {}}, {"head", 2, "", {}, {}}};
    record.arrays = {{"value", {"layer", "head"}, std::vector<double>{1, 2, 3, 4}, "", ""}};
    return record;
  }

  // A record in the form that midscope curves makes.
  static Record Curves() {
    Record record;
    record.name = "outcome_curves";
    record.axes = {{"curve", 2, "", {"none", "pi"}, {}}, {"pi_ratio", 3, "", {}, {1.2, 1.5, 2}}};
    for (const char* name : {"answer_nll_mean", "answer_nll_mean_low", "answer_nll_mean_high"}) {
      record.arrays.push_back(
          {name, {"curve", "pi_ratio"}, std::vector<double>{1, 1, 1, 2, 3, 4}, "nats", ""});
    }
    record.attributes = {{"parameter", std::string("pi.ratio")}};
    return record;
  }

  // A record in the form that midscope tune makes.
  static Record Losses() {
    Record record;
    record.name = "tuning";
    record.axes = {{"step", 2, "", {}, {1, 2}}};
    record.arrays = {{"loss", {"step"}, std::vector<double>{3, 2}, "nats", ""}};
    return record;
  }

  // A record in the form that midscope influence makes.
  static Record Influence() {
    Record record;
    record.name = "influence_by_place";
    record.axes = {{"share", 2, "%", {}, {25, 75}}};
    record.arrays = {
        {"answer_gradient_by_share", {"share"}, std::vector<double>{1.5, 0.5}, "", ""}};
    return record;
  }

  // Runs a scan, whose records exist only after it was started.
  static bool RunScan(Session& session, const std::string& over) {
    ScanRequest request;
    request.over = over;
    session.Scan(request);
    const bool done = QTest::qWaitFor([&] { return !session.scans(); });
    session.FlushChanges();
    return done;
  }
  static bool RankPromptChannels(Session& session) {
    session.RankPromptChannels("{}");
    const bool done =
        QTest::qWaitFor([&] { return session.record(Side::kA, kPromptChannelsRecord) != nullptr; });
    session.FlushChanges();
    return done;
  }
  static void ShowPositions(MainWindow& window) {
    auto* panel = window.panel<PositionsPanel>();
    QSignalSpy made(panel, &PositionsPanel::Made);
    window.ShowPanel(panel);
    QVERIFY(SpyUntil(made, [&] { return !made.isEmpty(); }));
  }
  static std::vector<Record> PositionRecords() {
    const PositionSampler& sampler = *FindPositionSampler("cream");
    const SampledPositions positions = MakeSampledPositions(sampler, {.tokens = 64, .context = 256},
                                                            OptionSet(sampler.parameters));
    return {PositionSamples(positions, 0, 3, {}), PositionCoverage({positions}, 10, {}),
            RopePeriods({})};
  }

 private Q_SLOTS:
  void EveryPanelHasATitleAndRecords() {
    QSet<QString> titles;
    for (const PanelEntry& entry : PanelList()) {
      QVERIFY(!entry.title.isEmpty());
      QVERIFY2(!titles.contains(entry.title), qPrintable(entry.title));
      titles.insert(entry.title);
      for (const std::string& record : entry.records) {
        QVERIFY2(HasOwnPanel(record), record.c_str());
      }
    }
    for (const char* record : {"prompt", "last_query_attention", "position_awareness",
                               "hidden_channels", "outcome", "outcome_means"}) {
      QVERIFY2(HasOwnPanel(record), record);
    }
    QVERIFY(!HasOwnPanel("position_ratio"));
    // Only the panel of other records names no records, because it shows those that the others
    // omit.
    WindowRig<> rig;
    for (size_t i = 0; i < PanelList().size(); ++i) {
      const bool shows_the_rest = qobject_cast<RecordPanel*>(rig.window.panels()[i]) != nullptr;
      QCOMPARE(PanelList()[i].records.empty(), shows_the_rest);
    }
  }

  // Session files iterate over the list: the state of each panel is written under its key and read
  // again.
  void EveryPanelsStateIsInSessions() {
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    ShowPositions(rig.window);  // it stores a state only after it was shown
    rig.window.panel<ChannelSearchPanel>()->form()->SetText("threshold", "5");
    rig.Find<QComboBox>("lens_side")->setCurrentIndex(2);
    rig.window.panel<NotesPanel>()->editor()->setPlainText("seen");
    SavedSession saved;
    QSet<QString> keys;
    for (size_t i = 0; i < PanelList().size(); ++i) {
      const std::string& key = PanelList()[i].state_key;
      const nlohmann::json state = rig.window.panels()[i]->State();
      QCOMPARE(state.is_null(), key.empty());
      if (key.empty()) continue;
      QVERIFY2(!keys.contains(QString::fromStdString(key)), key.c_str());
      keys.insert(QString::fromStdString(key));
      saved.panels[key] = state;
    }
    const std::string text = SessionText(saved);
    const nlohmann::json json = nlohmann::json::parse(text);
    for (const auto& [key, state] : saved.panels) QVERIFY2(json.at(key) == state, key.c_str());
    QVERIFY(ParseSession(text, "x").panels == saved.panels);
    // The session's own keys are not used by a panel.
    const nlohmann::json bare = nlohmann::json::parse(SessionText(SavedSession()));
    for (const auto& [key, value] : bare.items())
      QVERIFY2(!keys.contains(QString::fromStdString(key)), key.c_str());
  }

  void WhatAPanelShowsIsNotShownTwice() {
    std::vector<Record> records = {Square("nobody_knows")};
    for (const PanelEntry& entry : PanelList()) {
      for (const std::string& record : entry.records) records.push_back(Square(record));
    }
    WindowRig<> rig;
    rig.session->ShowFile({records, {}, {}});
    rig.session->FlushChanges();
    QCOMPARE(rig.window.panel<RecordPanel>()->choices(),
             QStringList{"nobody_knows: value [layer, head]"});
  }

  void CurvesAreLinesWithBars() {
    WindowRig<> rig;
    rig.Show();
    rig.session->ShowFile({{Curves()}, {}, {}});
    rig.session->FlushChanges();
    auto* panel = rig.window.panel<CurvesPanel>();
    QCOMPARE(panel->plot()->lines(), 2);
    QCOMPARE(panel->plot()->plottableCount(), 4);  // two lines, each with error bars
    QCOMPARE(panel->plot()->graph(1)->data()->at(2)->value, 4.0);
    QCOMPARE(panel->plot()->graph(1)->data()->at(2)->key, 2.0);
    QCOMPARE(panel->plot()->title(), QStringLiteral("answer_nll_mean over pi.ratio"));
    QCOMPARE(panel->plots().size(), size_t{1});
  }

  void ACurveIsAMapByPlaceToo() {
    Record record = Curves();
    const int64_t values = record.FindAxis(record.arrays.front().axes[1])->size;
    record.axes.push_back({"place", 2, "rank", {}, {1, 20}});
    std::vector<double> cells;
    for (int64_t i = 0; i < 2 * values * 2; ++i) cells.push_back(static_cast<double>(i));
    record.arrays.push_back(
        {"accuracy", {"curve", record.arrays.front().axes[1], "place"}, cells, "", ""});
    WindowRig<> rig;
    rig.Show();
    rig.session->ShowFile({{record}, {}, {}});
    rig.session->FlushChanges();
    auto* panel = rig.window.panel<CurvesPanel>();
    auto* what = panel->findChild<QComboBox*>(QStringLiteral("curves_what"));
    auto* curve = panel->findChild<QComboBox*>(QStringLiteral("curves_curve"));
    QVERIFY(curve->isHidden());
    what->setCurrentText(QStringLiteral("accuracy by place"));
    curve->setCurrentIndex(1);
    QVERIFY(!curve->isHidden());
    QCOMPARE(panel->map()->ValueOf(0, 1), static_cast<double>(2 * values + 1));
    QCOMPARE(panel->plots(), std::vector<Plot*>{panel->map()});
    what->setCurrentIndex(0);
    QCOMPARE(panel->plots(), std::vector<Plot*>{panel->plot()});
  }

  void EveryPanelIsInTheWindowOnce() {
    WindowRig<> rig;
    rig.Show();
    QCOMPARE(rig.window.panels().size(), PanelList().size());
    for (Panel* panel : rig.window.panels()) {
      rig.window.ShowPanel(panel);
      QTRY_VERIFY(panel->isVisible());
      QCOMPARE(panel->window(), &rig.window);
    }
    // In a group of tabs, the front panel hides the others, which then do not draw.
    QTRY_VERIFY(!rig.window.panel<ChannelPanel>()->isVisible());
  }

  void EveryPanelsPlotsAreExported() {
    WindowRig<EngineWithAttribution> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    ShowPositions(rig.window);
    QVERIFY(RunScan(*rig.session, "heads"));
    QVERIFY(RankPromptChannels(*rig.session));
    rig.window.panel<ChannelSearchPanel>()->DrawWaiting();
    QTemporaryDir folder;
    const auto exported = [&](const char* into) {
      rig.window.ExportTo(folder.filePath(into), false);
      return QDir(folder.filePath(into)).entryList({"*.svg"}, QDir::Files);
    };
    QStringList expected;
    for (const Panel* panel : rig.window.panels()) {
      // Curves and losses exist only for files, and notes have no plot.
      if (qobject_cast<const CurvesPanel*>(panel) || qobject_cast<const TuningPanel*>(panel) ||
          qobject_cast<const NotesPanel*>(panel) || qobject_cast<const InfluencePanel*>(panel))
        continue;
      QCOMPARE(panel->plots().size(), size_t{1});
      QVERIFY(panel->isAncestorOf(panel->plots().front()));
      expected << panel->plots().front()->file_stem() + ".svg";
    }
    expected.sort();
    QCOMPARE(expected.removeDuplicates(), 0);  // all names are distinct
    QCOMPARE(exported("all"), expected);
    // Panels that have no picture at present.
    rig.session->ShowFile({{}, {}, {}});
    rig.session->FlushChanges();
    expected.removeAll("record.svg");  // plots of position ids need no model
    expected.removeAll("bars.svg");
    expected.removeAll("text.svg");
    expected.removeAll("next_tokens.svg");
    expected.removeAll("logit_lens.svg");
    expected.removeAll("scan_largest.svg");
    expected.removeAll("channel_search.svg");
    QCOMPARE(rig.window.panel<RecordPanel>()->plots().size(), size_t{0});
    QCOMPARE(exported("fewer"), expected);
  }

  void EveryPanelRendersAFile() {
    QTemporaryDir folder;
    const QString file = folder.filePath("run.h5");
    {
      WindowRig<> rig;
      QVERIFY(rig.OpenModel());
      QVERIFY(RunScan(*rig.session, "layers"));  // scans over heads are drawn in the head map
      QVERIFY(RankPromptChannels(*rig.session));
      SaveResults(*rig.session, file);
    }
    RunFile run = ReadRecords(file.toStdString());
    for (Record& record : PositionRecords()) run.records.push_back(std::move(record));
    run.records.push_back(AttributionRecord());
    run.records.push_back(LensRecord());
    run.records.push_back(Curves());
    run.records.push_back(Losses());
    run.records.push_back(Influence());
    const RenderRequest request{file, folder.filePath("pictures"), {"svg"}, {}, {}};
    FilePictures pictures(request, run);
    for (const PanelEntry& entry : PanelList()) {
      if (entry.state_key == NotesPanel::StateKey()) continue;  // no picture
      const auto before = pictures.written().size();
      entry.render(pictures);
      QVERIFY2(pictures.written().size() > before, qPrintable(entry.title));
    }
    QStringList names = pictures.written();
    QCOMPARE(names.removeDuplicates(), 0);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PanelListTest)
#include "panel_list_test.moc"
