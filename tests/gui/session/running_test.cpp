// SPDX-License-Identifier: MIT
// Long runs in the window: their status, stopping them, and closing the window while one is
// running.
#include <QElapsedTimer>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include "core/terms/terms.h"
#include "gui/main_window.h"
#include "gui/panels/command_row.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/error_bar.h"
#include "tests/gui/support/change_spy.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/spy_until.h"

namespace midscope {

constexpr int kLongestStop = 1000;  // milliseconds

class RunningTest : public QObject {
  Q_OBJECT

 private:
  struct Rig {
    std::shared_ptr<FakeControl> control = std::make_shared<FakeControl>();
    std::unique_ptr<MainWindow> window =
        std::make_unique<MainWindow>(std::make_unique<FakeEngine>(control));
    Session* session = window->session();
    QSignalSpy stopped{session, &Session::Stopped};

    Rig() {
      session->SetReleaseDelay(0);
      session->SetSamples(20);
      window->resize(1400, 900);
      window->show();
    }
    // Starts means over samples and waits until half of them are done.
    bool Compare() {
      control->HoldComparisons(true);
      ChangeSpy means(session);
      window->OpenModel(QStringLiteral("embedded"));
      return SpyUntil(means,
                      [this] { return session->MeansOf(Side::kA, Measure::kNll).has_value(); });
    }
    template <typename Widget>
    Widget* Find(const char* name) {
      return window->findChild<Widget*>(QString::fromLatin1(name));
    }
  };

 private Q_SLOTS:
  void RateAndTimeLeftAreOfWhatWasDoneSince() {
    const Progress progress{"sweep", 12, 100, "samples"};
    QCOMPARE(ProgressRow::RateText(progress, 0, 4),
             QString::fromUtf8("12 / 100 samples · 3 per s · 30 s left"));
    // Ten were done before; two in four seconds leave 88 at that rate.
    QCOMPARE(ProgressRow::RateText(progress, 10, 4),
             QString::fromUtf8("12 / 100 samples · 0.5 per s · 3 min left"));
    QCOMPARE(ProgressRow::RateText(progress, 12, 4), QString("12 / 100 samples"));
  }

  void ARunShowsRateAndTimeLeft() {
    Rig rig;
    QVERIFY(rig.Compare());
    auto* what = rig.Find<QLabel>("progress_what");
    auto* rate = rig.Find<QLabel>("progress_rate");
    QVERIFY(what->isVisible() && rate->isVisible());
    QCOMPARE(what->text(), QString("Means over samples"));
    QVERIFY2(rate->text().startsWith("10 / 20 samples"), qPrintable(rate->text()));
    QTest::qWait(250);
    Q_EMIT rig.session->Progressed({"means", 12, 20, "samples"});
    // The longest text fits in its place, in which its beginning would be cut.
    Q_EMIT rig.session->Progressed({"means", 1200, 9000, "examples"});
    QTest::qWait(250);
    Q_EMIT rig.session->Progressed({"means", 1201, 9000, "examples"});
    QVERIFY2(rate->text().contains("per s") && rate->text().contains("left"),
             qPrintable(rate->text()));
    QVERIFY(rate->sizeHint().width() <= rate->width());
    rig.control->HoldComparisons(false);
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session->has_pending_request(); }));
    QVERIFY(!rate->isVisible());
  }

  void CancelStopsWithinASecondAndKeepsWhatIsDone() {
    Rig rig;
    QVERIFY(rig.Compare());
    const auto before = rig.stopped.size();
    QElapsedTimer clock;
    clock.start();
    QTest::mouseClick(rig.Find<QPushButton>("cancel"), Qt::LeftButton);
    QVERIFY(SpyUntil(rig.stopped, [&] { return rig.stopped.size() > before; }));
    QVERIFY2(clock.elapsed() < kLongestStop, qPrintable(QString::number(clock.elapsed())));
    QVERIFY(!rig.Find<QPushButton>("cancel")->isVisible());
    const auto means = rig.session->MeansOf(Side::kA, Measure::kNll);
    QVERIFY(means && !means->complete);
    QCOMPARE(means->series.samples, int64_t{10});
    QCOMPARE(rig.Find<QLabel>("means_note")->text(), QString("partial 10/20"));
    QVERIFY(rig.window->errors()->messages().isEmpty());
  }

  void PartialMeansAreComparedOverTheSameSamples() {
    Rig rig;
    rig.window->OpenModel(QStringLiteral("embedded"));
    QVERIFY(SpyUntil(rig.stopped, [&] {
      const auto means = rig.session->MeansOf(Side::kA, Measure::kNll);
      return means && means->complete && !rig.session->has_pending_request();
    }));
    rig.control->HoldComparisons(true);
    ChangeSpy changed(rig.session);
    Intervention interpolated;
    interpolated.Add(TermOf(PositionInterpolation{1.5}));
    rig.window->history()->Change({{}, interpolated}, false);
    QVERIFY(SpyUntil(changed,
                     [&] { return rig.session->MeansOf(Side::kB, Measure::kNll).has_value(); }));
    rig.session->FlushChanges();  // changes may have arrived after the awaited emission
    QStringList names;
    for (const OutcomePlot::Line& line : rig.window->panel<OutcomePanel>()->plot()->lines()) {
      if (line.mean) names << line.name;
    }
    QCOMPARE(names, (QStringList{"A, mean of 10 (the same samples)", "B, mean of 10 (partial)"}));
    QCOMPARE(rig.Find<QLabel>("means_note")->text(), QString("partial 10/20"));
    rig.control->HoldComparisons(false);
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session->has_pending_request(); }));
    QCOMPARE(rig.session->MeansOf(Side::kA, Measure::kNll)->series.samples, int64_t{20});
    QCOMPARE(rig.session->MeansOf(Side::kB, Measure::kNll)->series.samples, int64_t{20});
  }

  void AWindowClosesWhileMeansAreTaken() {
    Rig rig;
    QVERIFY(rig.Compare());
    QElapsedTimer clock;
    clock.start();
    QVERIFY(rig.window->close());
    rig.window.reset();
    QVERIFY2(clock.elapsed() < kLongestStop, qPrintable(QString::number(clock.elapsed())));
    QCoreApplication::processEvents();  // queued calls for it were removed
  }

  void ALongWhatIfIsShownAndCancelled() {
    Rig rig;
    rig.session->SetSamples(0);
    rig.window->OpenModel(QStringLiteral("embedded"));
    QVERIFY(SpyUntil(rig.stopped, [&] {
      return rig.session->settled(Side::kA) && !rig.session->has_pending_request();
    }));
    auto* cancel = rig.Find<QPushButton>("cancel");
    QVERIFY(!cancel->isVisible());
    rig.session->SetPauseDelay(kLongestStop * 100);  // no full run while the slider is held
    rig.control->HoldWhatIfs(true);
    rig.window->history()->Change({{}, Factor(0.5)}, true);
    QTRY_VERIFY(cancel->isVisible());
    QCOMPARE(rig.Find<QLabel>("progress_what")->text(), QString("Outcome at every place"));
    const QRect place(cancel->mapTo(rig.window.get(), QPoint(0, 0)), cancel->size());
    rig.control->HoldWhatIfs(false);
    QTRY_VERIFY(!cancel->isVisible());
    QCOMPARE(QRect(cancel->mapTo(rig.window.get(), QPoint(0, 0)), cancel->size()), place);
  }

  void AWindowClosesWhileAKnobIsAnswered() {
    Rig rig;
    rig.session->SetSamples(0);
    rig.window->OpenModel(QStringLiteral("embedded"));
    QVERIFY(SpyUntil(rig.stopped, [&] {
      return rig.session->settled(Side::kA) && !rig.session->has_pending_request();
    }));
    rig.control->HoldWhatIfs(true);
    const size_t begun = rig.control->what_ifs().size();
    for (const double ratio : {1.2, 1.4, 1.6}) {
      Intervention interpolated;
      interpolated.Add(TermOf(PositionInterpolation{ratio}));
      rig.window->history()->Change({{}, interpolated}, true);
    }
    QVERIFY(rig.control->WaitForWhatIfsBegun(begun + 1));
    QElapsedTimer clock;
    clock.start();
    rig.window->close();
    rig.window.reset();
    QVERIFY2(clock.elapsed() < kLongestStop, qPrintable(QString::number(clock.elapsed())));
    QCoreApplication::processEvents();
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::RunningTest)
#include "running_test.moc"
