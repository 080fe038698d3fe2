// SPDX-License-Identifier: MIT
// The engine's thread: the newest what-if supersedes others, results of stopped ones are never
// shown, and the window never blocks.
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>
#include <chrono>

#include "core/terms/intervention_text.h"
#include "gui/base/record_access.h"
#include "gui/session/engine_worker.h"
#include "gui/session/session.h"
#include "tests/gui/support/change_spy.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/spy_until.h"

namespace midscope {

class WhatIfTest : public QObject {
  Q_OBJECT

 private:
  // A session after its first requests, without means; sliders are released without delay.
  struct Rig {
    std::shared_ptr<FakeControl> control = std::make_shared<FakeControl>();
    Session session{std::make_unique<FakeEngine>(control)};
    QSignalSpy stopped{&session, &Session::Stopped};

    explicit Rig(int64_t samples = 0) {
      session.SetSamples(samples);
      session.SetReleaseDelay(0);
      session.SetPauseDelay(1 << 30);
      session.worker().SetMaxFrameInterval(std::chrono::hours(1));
      session.SetPrompt(PromptRequest{});
      session.Open(OpenRequest{});
    }
    bool Settle() {
      return SpyUntil(
          stopped, [this] { return session.settled(Side::kA) && !session.has_pending_request(); });
    }
    bool WaitForPartialMeans() {
      ChangeSpy changed(&session);
      return SpyUntil(changed,
                      [this] { return session.MeansOf(Side::kA, Measure::kNll).has_value(); });
    }
    double NllOfB(int64_t place_index) {
      const Record* outcome = session.record(Side::kB, "outcome");
      return outcome ? ValueAt(*outcome, "answer_nll", {0, place_index}) : -1;
    }
  };

 private Q_SLOTS:
  void NewestWinsAndStaleRepliesAreDropped() {
    Rig rig;
    QVERIFY(rig.Settle());
    const size_t before = rig.control->what_ifs().size();
    QSignalSpy timed(&rig.session, &Session::WhatIfTimed);
    rig.control->HoldWhatIfs(true);
    // The engine ignores the cancel flag; its late reply must still be dropped.
    rig.control->IgnoreCancel(true);
    rig.session.SetSettings({}, Factor(0.9), true);
    QVERIFY(rig.control->WaitForWhatIfsBegun(before + 1));
    for (int i = 1; i <= 50; ++i) rig.session.SetSettings({}, Factor(0.9 - 0.03 * i), true);
    rig.control->IgnoreCancel(false);
    rig.control->HoldWhatIfs(false);
    QVERIFY(SpyUntil(timed, [&] { return !timed.isEmpty(); }));
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session.has_pending_request(); }));
    const std::vector<Intervention> begun = rig.control->what_ifs();
    QCOMPARE(begun.size(), before + 2);  // only the first and the newest
    QCOMPARE(begun.back(), Factor(0.9 - 0.03 * 50));
    QCOMPARE(timed.size(), 1);  // the first reply arrived as cancelled and was not shown
    QCOMPARE(rig.NllOfB(0), FakeEngine::AnswerNll(1, FakeEngine::Strength(begun.back())));
  }

  void RunUnderWayIsStoppedThroughTheFlag() {
    Rig rig;
    QVERIFY(rig.Settle());
    const size_t before = rig.control->what_ifs().size();
    rig.control->HoldWhatIfs(true);
    rig.session.SetSettings({}, Factor(0.5), true);
    QVERIFY(rig.control->WaitForWhatIfsBegun(before + 1));
    rig.session.SetSettings({}, Factor(0.25), true);
    // The first what-if is held and ends only by the cancel flag: the second begins although
    // nothing is released.
    QVERIFY(rig.control->WaitForWhatIfsBegun(before + 2));
    rig.control->HoldWhatIfs(false);
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session.has_pending_request(); }));
  }

  void HandThatNeverRestsStillSeesPictures() {
    Rig rig;
    QVERIFY(rig.Settle());
    rig.session.worker().SetMaxFrameInterval(std::chrono::milliseconds(0));
    const size_t before = rig.control->what_ifs().size();
    QSignalSpy timed(&rig.session, &Session::WhatIfTimed);
    rig.control->HoldWhatIfs(true);
    rig.session.SetSettings({}, Factor(0.5), true);
    QVERIFY(rig.control->WaitForWhatIfsBegun(before + 1));
    // Stops the first; the maximum frame interval begins here.
    rig.session.SetSettings({}, Factor(0.4), true);
    QVERIFY(rig.control->WaitForWhatIfsBegun(before + 2));
    // The interval has passed, so the second may finish.
    rig.session.SetSettings({}, Factor(0.3), true);
    rig.control->HoldWhatIfs(false);
    QVERIFY(SpyUntil(timed, [&] { return timed.size() >= 2; }));
    const std::vector<Intervention> begun = rig.control->what_ifs();
    QCOMPARE(begun.size(), before + 3);
    QCOMPARE(begun.back(), Factor(0.3));
  }

  void PostingNeverWaitsForTheEngine() {
    Rig rig;
    QVERIFY(rig.Settle());
    rig.control->HoldWhatIfs(true);
    rig.control->IgnoreCancel(true);
    const size_t before = rig.control->what_ifs().size();
    rig.session.SetSettings({}, Factor(0.5), true);
    QVERIFY(rig.control->WaitForWhatIfsBegun(before + 1));
    QElapsedTimer clock;
    clock.start();
    for (int i = 0; i < 1000; ++i) rig.session.SetSettings({}, Factor(0.001 * i), true);
    QVERIFY2(clock.elapsed() < 1000, "the engine is held, so this would never end if it waited");
    rig.control->IgnoreCancel(false);
    rig.control->HoldWhatIfs(false);
    QVERIFY(SpyUntil(rig.stopped, [&] { return !rig.session.has_pending_request(); }));
    QCOMPARE(rig.control->what_ifs().back(), Factor(0.999));
  }

  void MeansArePartialUntilCompleteAndFollowTheHandsRest() {
    Rig rig(8);
    rig.control->HoldComparisons(true);
    QVERIFY(rig.WaitForPartialMeans());
    auto means = rig.session.MeansOf(Side::kA, Measure::kNll);
    QVERIFY(!means->complete);
    QCOMPARE(means->series.samples, int64_t{4});
    rig.control->HoldComparisons(false);
    QVERIFY(rig.Settle());
    means = rig.session.MeansOf(Side::kA, Measure::kNll);
    QVERIFY(means->complete);
    QCOMPARE(means->series.samples, int64_t{8});
    // No comparison begins during a drag; after it, only B is missing.
    const size_t before = rig.control->comparisons();
    rig.session.SetSettings({}, Factor(0.5), true);
    rig.session.SetSettings({}, Factor(-0.5), true);
    QVERIFY(SpyUntil(rig.stopped, [&] { return rig.NllOfB(0) > 0; }));
    QCOMPARE(rig.control->comparisons(), before);
    QVERIFY(!rig.session.MeansOf(Side::kB, Measure::kNll).has_value());
    rig.session.SetSettings({}, Factor(-0.5), false);
    QVERIFY(SpyUntil(rig.stopped, [&] {
      const auto of_b = rig.session.MeansOf(Side::kB, Measure::kNll);
      return of_b && of_b->complete && !rig.session.has_pending_request();
    }));
    QCOMPARE(rig.control->comparisons(), before + 1);
    QVERIFY(rig.session.settled(Side::kB));
  }

  void CancelStopsWithinASecond() {
    Rig rig(1000);
    rig.control->HoldComparisons(true);
    QVERIFY(rig.WaitForPartialMeans());
    QSignalSpy busy(&rig.session, &Session::BusyChanged);
    QElapsedTimer clock;
    clock.start();
    rig.session.Cancel();
    QVERIFY(SpyUntil(busy, [&] { return !busy.isEmpty() && busy.last()[0].toString().isEmpty(); }));
    QVERIFY(clock.elapsed() < 1000);
    QVERIFY(!rig.session.has_pending_request());
  }

  void ExceptionsBecomeFailuresAndWorkGoesOn() {
    Rig rig;
    QVERIFY(rig.Settle());
    QSignalSpy failed(&rig.session, &Session::Failed);
    rig.control->FailNextCaptureRun("the prompt is too long");
    rig.session.SetPlace(1);
    QVERIFY(SpyUntil(failed, [&] { return !failed.isEmpty(); }));
    QVERIFY(failed.first().first().toString().contains("the prompt is too long"));
    rig.session.SetPlace(3);
    QVERIFY(rig.Settle());
    QCOMPARE(failed.size(), 1);
  }

  void ClosingWhileTheEngineWorksDoesNotHang() {
    QElapsedTimer clock;
    {
      Rig rig(1000);
      rig.control->HoldComparisons(true);
      QVERIFY(rig.WaitForPartialMeans());
      clock.start();
    }
    QVERIFY(clock.elapsed() < 1000);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::WhatIfTest)
#include "what_if_test.moc"
