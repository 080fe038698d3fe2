// SPDX-License-Identifier: MIT
// The channel search panel: the form becomes a search, whose ranking is shown during its trials;
// the search pauses for other requests, and can be stopped with its results kept; the chosen row's
// mean and fit are drawn, and a button selects its channel for the factor control of B.
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include "core/terms/intervention_text.h"
#include "data/store/record_reader.h"
#include "gui/files/result_file.h"
#include "gui/panels/channels/channel_search_panel.h"
#include "gui/panels/file_pictures.h"
#include "gui/plots/lines_plot.h"
#include "gui/widgets/parameter_form.h"
#include "probes/measure/channels/channel_options.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/measure/channels/prompt_channels.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class ChannelSearchPanelTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    ChannelSearchPanel* panel = window.panel<ChannelSearchPanel>();
    QPushButton* start = Find<QPushButton>("channels_start");
    QPushButton* of_prompt = Find<QPushButton>("channels_of_prompt");
    QPushButton* to_knob = Find<QPushButton>("channels_to_knob");
    QComboBox* record = Find<QComboBox>("channels_record");
    QComboBox* layer = Find<QComboBox>("channels_layer");
    QLabel* note = Find<QLabel>("channels_note");
    QTableView* table = Find<QTableView>("channels_table");
    LinesPlot* plot = panel->plot();

    bool Open() {
      Show();
      return OpenModel();
    }
    bool Has(const char* name) { return session->record(Side::kA, name) != nullptr; }
    void Draw() {
      session->FlushChanges();
      panel->DrawWaiting();
    }
    bool SearchToTheEnd() {
      start->click();
      const bool done = QTest::qWaitFor([this] { return !session->searches(); });
      Draw();
      return done;
    }
    // Waits until the ranking has arrived and the trials are running.
    void StartAndHold() {
      control->HoldSearches(true);
      start->click();
      QTRY_VERIFY(Has(kChannelSearchRecord));
      Draw();
    }
    QStringList Column(int column) {
      QStringList texts;
      const QAbstractItemModel* model = table->model();
      for (int row = 0; row < model->rowCount(); ++row)
        texts << model->index(row, column).data().toString();
      return texts;
    }
    QString SettingB() {
      return QString::fromStdString(PrintIntervention(session->setting(Side::kB)));
    }
    ~Rig() { control->HoldSearches(false); }
  };
  static double At(const LinesPlot& plot, int line, int point) {
    return plot.graph(line)->data()->at(point)->value;
  }

 private Q_SLOTS:
  void TheFormIsTheCommandsAndTheRankingIsThereBeforeTheTrials() {
    Rig rig;
    rig.Show();
    QVERIFY(!rig.start->isEnabled());
    QVERIFY(rig.OpenModel());
    rig.Draw();
    QVERIFY(rig.start->isEnabled());
    rig.panel->form()->SetText("threshold", "5");
    rig.panel->form()->SetText("smoothing", "0");
    rig.panel->form()->SetText("ranking", "no-smoothness");
    QVERIFY2(rig.start->text().contains("then trials"), qPrintable(rig.start->text()));
    rig.StartAndHold();
    QVERIFY(rig.session->searches());
    rig.window.ShowPanel(rig.panel);
    QTRY_COMPARE(rig.table->width(), rig.plot->width());  // below each other, so that columns fit
    QCOMPARE(rig.Column(0), (QStringList{"3", "8", "5"}));
    QCOMPARE(rig.Column(1), (QStringList{"3", "8", "5"}));
    QCOMPARE(rig.Column(2), (QStringList{"falling", "rising", "falling"}));
    QCOMPARE(rig.Column(3), (QStringList{"0.7500", "2.0000", "1.2500"}));
    QVERIFY(rig.table->isColumnHidden(6));
    QVERIFY2(rig.note->text().contains("Trials go on"), qPrintable(rig.note->text()));
    rig.control->HoldSearches(false);
    QTRY_VERIFY(!rig.session->searches());
    rig.Draw();
    QVERIFY(!rig.table->isColumnHidden(6));
    QVERIFY(rig.table->columnViewportPosition(6) + rig.table->columnWidth(6) < 330);
    QCOMPARE(rig.Column(5), (QStringList{"0", "-0.5", ""}));
    QCOMPARE(rig.Column(6), (QStringList{"1.750 (-0.250)", "1.250 (-0.750)", ""}));
    QVERIFY(rig.note->text().contains("channel(8, factor=-0.5, layers=1-4)"));
    QCOMPARE(rig.control->searches().size(), size_t{1});
    const auto asked = nlohmann::json::parse(rig.control->searches().front().options);
    QCOMPARE(asked.size(), size_t{3});  // options that are not set have the variant's default
    QCOMPARE(asked.at("threshold").get<int>(), 5);
    QCOMPARE(asked.at("smoothing").get<int>(), 0);
    QCOMPARE(asked.at("ranking").get<std::string>(), std::string("no-smoothness"));
  }

  void ThePreliminaryRankingIsShownAndRefined() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.window.ShowPanel(rig.panel);
    rig.control->HoldFirstPrompts(true);
    rig.control->HoldTrials(true);
    rig.start->click();
    QTRY_VERIFY(rig.Has(kChannelSearchRecord));
    rig.Draw();
    QCOMPARE(rig.Column(0), (QStringList{"8", "3"}));
    QVERIFY2(rig.note->text().startsWith("Preliminary, after 1 of 24 prompts"),
             qPrintable(rig.note->text()));
    QVERIFY(rig.plot->title().startsWith("Channel 8"));
    rig.table->selectRow(1);
    QCOMPARE(rig.plot->lines(), 2);
    QVERIFY(rig.plot->title().startsWith("Channel 3"));
    QVERIFY(rig.to_knob->isEnabled());
    rig.control->HoldFirstPrompts(false);
    QTRY_VERIFY(rig.Has(kChannelValidationRecord));
    rig.Draw();
    QCOMPARE(rig.Column(0), (QStringList{"3", "8", "5"}));
    QVERIFY2(rig.note->text().contains("Preliminary losses: 1 of 4 examples. Trials go on"),
             qPrintable(rig.note->text()));
    QVERIFY(!rig.note->text().contains("prompts:"));
    QVERIFY(rig.plot->title().startsWith("Channel 3"));  // still the chosen one
    rig.table->sortByColumn(3, Qt::DescendingOrder);
    QSignalSpy reset(rig.table->model(), &QAbstractItemModel::modelReset);
    rig.control->HoldTrials(false);
    QTRY_VERIFY(!rig.session->searches());
    rig.Draw();
    QCOMPARE(rig.Column(0), (QStringList{"8", "5", "3"}));  // still sorted
    QVERIFY(rig.plot->title().startsWith("Channel 3"));
    QCOMPARE(reset.count(), 0);
    QVERIFY(!rig.note->text().contains("Preliminary"));
  }

  void TheChosenRowsMeanAndFitAreDrawn() {
    Rig rig;
    QVERIFY(rig.Open());
    QVERIFY(rig.SearchToTheEnd());
    QCOMPARE(rig.plot->lines(), 2);  // channel 3 after its smoothest layer, 3
    QCOMPARE(At(*rig.plot, 0, 0), 300. + 30 + 40);
    QCOMPARE(At(*rig.plot, 1, 0), 300. + 30 + 40.5);
    QVERIFY(rig.plot->graph(1)->pen().widthF() > rig.plot->graph(0)->pen().widthF());
    rig.table->selectRow(1);
    QCOMPARE(At(*rig.plot, 0, 5), 800. + 20 + 45);
    QVERIFY(rig.plot->title().startsWith("Channel 8, layer 2: rising in 8 of 3 layers"));
    rig.layer->setCurrentText("layer 4");
    QCOMPARE(At(*rig.plot, 0, 5), 800. + 40 + 45);
    rig.layer->setCurrentText("all layers");
    QCOMPARE(rig.plot->lines(), 3);
    QCOMPARE(rig.panel->plots(), std::vector<Plot*>{rig.plot});
    rig.table->selectRow(2);  // not among the candidates that have curves
    QCOMPARE(rig.plot->lines(), 0);
    QVERIFY(rig.panel->plots().empty());
    // Rows still refer to the right channel after the table is sorted.
    rig.table->sortByColumn(3, Qt::DescendingOrder);
    QCOMPARE(rig.Column(0), (QStringList{"8", "5", "3"}));
    rig.table->selectRow(2);
    QVERIFY(rig.plot->title().startsWith("Channel 3"));
  }

  void AClickPutsTheRowOnTheKnob() {
    Rig rig;
    QVERIFY(rig.Open());
    QVERIFY(rig.SearchToTheEnd());
    rig.table->selectRow(1);
    rig.to_knob->click();
    QCOMPARE(rig.SettingB(), QString("channel(8, factor=-0.5, layers=1-4, rows=answer)"));
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_channel_channel")->value(), 8.0);
    QCOMPARE(rig.Find<QDoubleSpinBox>("term_channel_factor")->value(), -0.5);
    // A channel that was not tried takes the factor and layers of the control, replacing the other
    // channel.
    rig.table->selectRow(2);
    rig.to_knob->click();
    QCOMPARE(rig.SettingB(), QString("channel(5, factor=-0.5, layers=1-4, rows=answer)"));
  }

  void WithoutTrialsAndKnobTheChannelIsRemoved() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.panel->form()->SetText("validate", "none");
    QVERIFY(rig.SearchToTheEnd());
    QVERIFY(!rig.Has(kChannelValidationRecord));
    rig.to_knob->click();
    const std::vector<ChannelScaling> scaled = rig.session->setting(Side::kB).All<ChannelScaling>();
    QCOMPARE(scaled.size(), size_t{1});
    QCOMPARE(scaled.front().channel, int64_t{3});
    QCOMPARE(scaled.front().factor, 0.0);
    QVERIFY(scaled.front().layers == MiddleLayers(FakeEngine::kLayers));
  }

  void ThisPromptsChannelsNeedNoSearchAndGoWithThePrompt() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.of_prompt->click();
    QTRY_VERIFY(rig.Has(kPromptChannelsRecord));
    rig.Draw();
    QVERIFY(rig.control->searches().empty());
    QCOMPARE(rig.Column(0), (QStringList{"8", "3", "5"}));
    QVERIFY(rig.note->text().contains("this prompt alone"));
    QVERIFY(rig.record->isHidden());
    rig.table->selectRow(1);
    QVERIFY(rig.plot->title().startsWith("Channel 3"));
    QVERIFY(rig.SearchToTheEnd());
    QVERIFY(!rig.record->isHidden());
    QCOMPARE(rig.Column(0), (QStringList{"3", "8", "5"}));
    rig.table->selectRow(1);  // is still chosen in the other ranking
    rig.record->setCurrentText("of this prompt");
    QCOMPARE(rig.Column(0), (QStringList{"8", "3", "5"}));
    QVERIFY(rig.plot->title().startsWith("Channel 8"));
    const size_t other = rig.session->place() == 0 ? 1 : 0;
    rig.session->SetPlace(other);
    QVERIFY(rig.Settle());
    rig.Draw();
    QVERIFY(!rig.Has(kPromptChannelsRecord));
    QVERIFY(rig.Has(kChannelSearchRecord));
    QCOMPARE(rig.Column(0), (QStringList{"3", "8", "5"}));
  }

  // Neither a slider nor a prompt waits for a search.
  void ASearchGivesWayAndGoesOn() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.StartAndHold();
    rig.session->SetSettings({}, Factor(0), false);
    QTRY_VERIFY(rig.session->settled(Side::kB));
    QTRY_COMPARE(rig.control->searches().size(), size_t{2});
    PromptRequest request = *rig.session->shown_prompt_request();
    request.sample = 3;
    rig.session->SetPrompt(request);
    QTRY_COMPARE(rig.control->searches().size(), size_t{3});
    QVERIFY(rig.session->searches());
    rig.session->Scan({});  // the newer request runs first
    QTRY_VERIFY(!rig.session->scans());
    QTRY_COMPARE(rig.control->searches().size(), size_t{4});
    rig.control->HoldSearches(false);
    QTRY_VERIFY(!rig.session->searches());
    QVERIFY(rig.Has(kChannelValidationRecord));
  }

  // A slider drags the factor while the table is visible: neither its rows nor its curves change.
  void ASettingRebuildsNeitherTableNorCurves() {
    Rig rig;
    QVERIFY(rig.Open());
    QVERIFY(rig.SearchToTheEnd());
    rig.window.ShowPanel(rig.panel);
    rig.Draw();
    rig.table->selectRow(1);
    const QAbstractItemModel* model = rig.table->model();
    QSignalSpy reset(model, &QAbstractItemModel::modelReset);
    QSignalSpy inserted(model, &QAbstractItemModel::rowsInserted);
    QSignalSpy changed(model, &QAbstractItemModel::dataChanged);
    const QCPGraph* curve = rig.plot->graph(0);
    rig.session->SetSettings({}, Factor(0.25), true);
    rig.session->SetSettings({}, Factor(0.5), false);
    QVERIFY(rig.Settle());
    rig.panel->Refresh(Change::kSettings | Change::kMeans | kRecordChanges);
    QCOMPARE(reset.count() + inserted.count() + changed.count(), 0);
    QCOMPARE(rig.plot->graph(0), curve);
    QVERIFY(rig.plot->title().startsWith("Channel 8"));
    // Results that are the same do not rebuild it either.
    rig.panel->Refresh(Change::kChannels);
    QCOMPARE(reset.count() + inserted.count() + changed.count(), 0);
  }

  void CancelStopsItAndTheRankingStays() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.StartAndHold();
    QElapsedTimer since;
    since.start();
    rig.session->Cancel();
    QTRY_VERIFY(!rig.session->has_pending_request());
    QVERIFY(since.elapsed() < 1000);
    rig.Draw();
    QVERIFY(!rig.session->searches());
    QCOMPARE(rig.table->model()->rowCount(), 3);
    QVERIFY(!rig.note->text().contains("Trials go on"));
    rig.window.OpenModel("another");
    QTRY_VERIFY(!rig.Has(kChannelSearchRecord));
  }

  // Means take minutes, and the ranking a second, so the ranking runs first.
  void ThisPromptsChannelsComeBeforeTheMeans() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.control->HoldComparisons(true);
    rig.session->SetSamples(20);
    QTRY_COMPARE(rig.control->comparisons(), size_t{1});
    rig.of_prompt->click();
    QTRY_VERIFY(rig.Has(kPromptChannelsRecord));
    QTRY_COMPARE(rig.control->comparisons(), size_t{2});
    rig.control->HoldComparisons(false);
  }

  // Running the same prompt again keeps the ranking of its channels; another prompt drops it.
  void TheRankingOfThePromptStaysWhileThePromptDoes() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.of_prompt->click();
    QTRY_VERIFY(rig.Has(kPromptChannelsRecord));
    PromptRequest request = *rig.session->shown_prompt_request();
    rig.session->SetPrompt(request);
    QVERIFY(rig.Settle());
    QVERIFY(rig.Has(kPromptChannelsRecord));
    request.sample = 3;
    rig.session->SetPrompt(request);
    QVERIFY(rig.Settle());
    QVERIFY(!rig.Has(kPromptChannelsRecord));
  }

  void WhatTheFormRefusesIsInTheBar() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.panel->form()->SetText("factors", "one");
    rig.start->click();
    QVERIFY(rig.window.errors()->messages().join(QString()).contains("factors"));
    QVERIFY(rig.control->searches().empty());
  }

  void ASavedFileShowsAndRendersTheSame() {
    QTemporaryDir folder;
    const QString file = folder.filePath("run.h5");
    {
      Rig rig;
      QVERIFY(rig.Open());
      QVERIFY(rig.SearchToTheEnd());
      rig.of_prompt->click();
      QTRY_VERIFY(rig.Has(kPromptChannelsRecord));
      SaveResults(*rig.session, file);
    }
    Rig rig;
    rig.Show();
    QVERIFY(rig.OpenResults(file));
    rig.Draw();
    QCOMPARE(rig.Column(0), (QStringList{"3", "8", "5"}));
    QCOMPARE(rig.Column(5), (QStringList{"0", "-0.5", ""}));
    QCOMPARE(At(*rig.plot, 0, 0), 300. + 30 + 40);
    QVERIFY(!rig.to_knob->isEnabled());  // no model is open
    const RunFile run = ReadRecords(file.toStdString());
    const RenderRequest request{file, folder.filePath("pictures"), {"svg"}, {}, 8};
    FilePictures pictures(request, run);
    ChannelSearchPanel::Render(pictures);
    const QString written = pictures.written().join(' ');
    QVERIFY2(written.contains("channel_search_8.svg") && written.contains("prompt_channels_8.svg"),
             qPrintable(written));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::ChannelSearchPanelTest)
#include "channel_search_panel_test.moc"
