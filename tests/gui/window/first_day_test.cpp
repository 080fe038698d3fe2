// SPDX-License-Identifier: MIT
// A user's first day, on the embedded model and through the widgets: select, brush, drag, undo,
// find a channel and scale it in B, keep six settings, run a sweep, and restore all of it from a
// session file. (For the model's output and own text, see what_the_model_says_test.)
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QSlider>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/base/record_access.h"
#include "gui/file_menu.h"
#include "gui/files/session_file.h"
#include "gui/main_window.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/channels/channel_panel.h"
#include "gui/panels/channels/channel_search_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/outcome/sweep_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/channel_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "gui/session/sweep_process.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/error_bar.h"
#include "gui/widgets/parameter_form.h"
#include "gui/widgets/selection.h"

#include "probes/measure/channels/prompt_channels.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

constexpr int kLongestStep = 90000;  // milliseconds, on a loaded machine

class FirstDayTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  QTemporaryDir folder_;
  Selection* selection_ = nullptr;

  template <typename PanelClass>
  PanelClass* Open() {
    auto* panel = window_->panel<PanelClass>();
    window_->ShowPanel(panel);
    QApplication::processEvents();
    return panel;
  }
  void Make() {
    RealWindow::Make();
    selection_ = window_->findChild<Selection*>();
  }
  Intervention B() { return window_->history()->current().b; }
  double NllOf(Side side) {
    return ValueAt(*session_->record(side, kOutcomeRecord), kAnswerNll,
                   {0, static_cast<int64_t>(session_->place())});
  }

 private Q_SLOTS:
  void initTestCase() {  // NOLINT(readability-identifier-naming): Qt calls it by this name
    Make();
    window_->prompt_panel()->SetTask(QStringLiteral("list:lines=5"));
    Find<QLineEdit>("places")->setText(QStringLiteral("1,3,5"));
    window_->OpenModel(QStringLiteral("embedded"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongestStep);
  }
  void cleanupTestCase() {  // NOLINT(readability-identifier-naming): as above
    window_.reset();
  }

  void HeadsAreChosenByMouseAndKeysAndTokensBrushed() {
    auto* map = Open<HeadMapPanel>()->plot();
    auto* attention = Open<AttentionPanel>()->plot();
    map->replot();
    const QPoint cell(qRound(map->xAxis->coordToPixel(4)), qRound(map->yAxis->coordToPixel(20)));
    QTest::mouseClick(map, Qt::LeftButton, {}, cell);
    QCOMPARE(selection_->head(), (HeadId{20, 4}));
    QTest::keyClick(map, Qt::Key_Up);
    QTest::keyClick(map, Qt::Key_Right);
    QCOMPARE(selection_->head(), (HeadId{21, 5}));
    // The drawn row is that head's row of the record.
    const Record* record = session_->record(Side::kA, kLastQueryAttention);
    QCOMPARE(attention->row(Side::kA), LastAxisRow(*record, kLastQueryAttention, {21, 5}));
    attention->replot();
    const int y = attention->axisRect()->center().y();
    const auto at = [&](double token) {
      return QPoint(qRound(attention->xAxis->coordToPixel(token)), y);
    };
    QTest::mousePress(attention, Qt::LeftButton, Qt::ShiftModifier, at(10));
    QTest::mouseMove(attention, at(14));
    QTest::mouseRelease(attention, Qt::LeftButton, Qt::ShiftModifier, at(14));
    QCOMPARE(selection_->range(), (TokenSpan{"", 10, 15}));
  }

  void AChannelIsFoundAndPutOnTheKnob() {
    Open<ChannelSearchPanel>();
    Find<QPushButton>("channels_of_prompt")->click();
    QTRY_VERIFY_WITH_TIMEOUT(
        session_->record(Side::kA, kPromptChannelsRecord) && !session_->has_pending_request(),
        kLongestStep);
    session_->FlushChanges();
    auto* table = Find<QTableView>("channels_table");
    QTRY_VERIFY(table->model()->rowCount() > 0);
    table->selectRow(0);
    const int64_t channel = table->model()->index(0, 0).data().toLongLong();
    Find<QPushButton>("channels_to_knob")->click();
    QCOMPARE(B().All<ChannelScaling>().size(), size_t{1});
    QCOMPARE(B().Find<ChannelScaling>()->channel, channel);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongestStep);
    // The channel plot follows.
    QCOMPARE(session_->channel(), channel);
    QVERIFY(Open<ChannelPanel>()->plot()->mean_of(Side::kB));
  }

  void TheFactorIsDraggedAndTakenBack() {
    const double before = B().Find<ChannelScaling>()->factor;
    const double nll = NllOf(Side::kB);
    auto* slider = Find<QSlider>("term_channel_factor_slider");
    const int steps = window_->history()->stack()->count();
    slider->setSliderDown(true);
    for (int position = 0; position >= -150; position -= 30) {
      slider->setSliderPosition(position);
      QTest::qWait(15);
    }
    slider->setSliderDown(false);
    QCOMPARE(B().Find<ChannelScaling>()->factor, -1.5);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongestStep);
    QVERIFY(NllOf(Side::kB) != nll);
    QCOMPARE(window_->history()->stack()->count(), steps + 1);
    window_->history()->stack()->undo();
    QCOMPARE(B().Find<ChannelScaling>()->factor, before);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongestStep);
    QCOMPARE(NllOf(Side::kB), nll);
  }

  void SixSettingsStandBesideEachOther() {
    for (const char* setting : {"pi(1.1)", "pi(1.3)", "channel(100, factor=0, layers=8-25)",
                                "ms-poe(min=1.1, max=1.5)", "pi(1.7)"}) {
      window_->actions_list()->Do(QStringLiteral("setting-b ") + QLatin1String(setting));
      QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongestStep);
      if (window_->tried()->Kept().size() < 4)
        QVERIFY(window_->tried()->Keep(PrintIntervention(B()), true));
    }
    session_->FlushChanges();
    QSet<QString> drawn;
    for (const auto& line : Open<OutcomePanel>()->plot()->lines()) drawn << line.series.setting;
    QVERIFY2(drawn.size() == 6, qPrintable(QStringList(drawn.values()).join("; ")));
    QVERIFY2(Errors().isEmpty(), qPrintable(Errors()));
  }

  void ASweepIsStoppedAndGoesOn() {
    auto* panel = Open<SweepPanel>();
    panel->form()->SetText("samples", "8");
    panel->form()->SetText("places", "1,5");
    panel->form()->SetText("out", folder_.filePath("run.h5").toStdString());
    int64_t done = 0;
    connect(panel->sweep(), &SweepProcess::Progressed, panel, [&done](const Progress& progress) {
      if (progress.stage == "sweep") done = std::max<int64_t>(done, progress.done);
    });
    Find<QPushButton>("sweep_start")->click();
    QTRY_VERIFY_WITH_TIMEOUT(done >= 1, kLongestStep);
    Find<QPushButton>("sweep_cancel")->click();
    QTRY_VERIFY_WITH_TIMEOUT(!panel->sweep()->running(), kLongestStep);
    QVERIFY(done < 8);
    Find<QPushButton>("sweep_start")->click();
    QTRY_VERIFY_WITH_TIMEOUT(!panel->sweep()->running(), kLongestStep);
    QVERIFY2(Find<ElidedLabel>("sweep_note")->text().startsWith("Done: "),
             qPrintable(Find<ElidedLabel>("sweep_note")->text()));
    QVERIFY2(panel->table().contains("gap by chance"), qPrintable(panel->table()));
  }

  void ASessionComesBackEqual() {
    window_->actions_list()->Do(QStringLiteral("head L12H3"));
    window_->actions_list()->Do(QStringLiteral("pin L21H7"));
    window_->actions_list()->Do(QStringLiteral("quantity gold"));
    window_->actions_list()->Do(QStringLiteral("place 5"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongestStep);
    const QString path = folder_.filePath("day.midscope");
    window_->files()->SaveSession(path);
    QVERIFY2(Errors().isEmpty(), qPrintable(Errors()));
    const SavedSession saved = window_->files()->session();
    const double nll_a = NllOf(Side::kA);
    const double nll_b = NllOf(Side::kB);
    window_.reset();
    Make();
    window_->OpenPath(path);
    QTRY_VERIFY_WITH_TIMEOUT(session_->differs() && Settled(), kLongestStep);
    session_->FlushChanges();
    QApplication::processEvents();
    QCOMPARE(NllOf(Side::kA), nll_a);
    QCOMPARE(NllOf(Side::kB), nll_b);
    // Everything that a session stores is unchanged, except the choice in the ranking of channels,
    // which is computed again on request, and pixel sizes of docks (tested in layouts_test).
    const auto lines = [](const SavedSession& session) {
      const QStringList all = QString::fromStdString(SessionText(session)).split(QLatin1Char('\n'));
      return all.filter(
          QRegularExpression(QStringLiteral("^(?!.*\"(channels_(layer|record)|layout)\")")));
    };
    QCOMPARE(lines(window_->files()->session()), lines(saved));
    QCOMPARE(selection_->head(), (HeadId{12, 3}));
    QVERIFY(selection_->PinOf({21, 7}));
  }

  void ThePaletteFindsWhatIsTyped() {
    window_->actions_list()->Do(QStringLiteral("palette"));
    auto* line = Find<QLineEdit>("palette_line");
    QVERIFY(line);
    QTest::keyClicks(line, QStringLiteral("L21H7"));
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(selection_->head(), (HeadId{21, 7}));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::FirstDayTest)
#include "first_day_test.moc"
