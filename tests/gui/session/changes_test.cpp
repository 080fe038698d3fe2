// SPDX-License-Identifier: MIT
// Session::Changed: one emission per turn of the event loop, with all flags of that turn.
#include <QTest>
#include <memory>

#include "core/terms/intervention_text.h"
#include "tests/gui/support/change_spy.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class ChangesTest : public QObject {
  Q_OBJECT

 private:
  struct Rig {
    std::shared_ptr<FakeControl> control = std::make_shared<FakeControl>();
    Session session{std::make_unique<FakeEngine>(control)};
    ChangeSpy changed{&session};
    QSignalSpy stopped{&session, &Session::Stopped};

    Rig() {
      session.SetSamples(0);
      session.SetReleaseDelay(0);
      session.SetPauseDelay(1 << 30);
    }
    bool Open() {
      session.SetPrompt(PromptRequest{});
      session.Open(OpenRequest{});
      return SpyUntil(
          stopped, [this] { return session.settled(Side::kA) && !session.has_pending_request(); });
    }
    void Turn() { QCoreApplication::processEvents(); }
  };

  static Record Reference() {
    Record record;
    record.name = "published_reference";
    return record;
  }

 private Q_SLOTS:
  void ChangesOfOneTurnAreOneEmission() {
    Rig rig;
    rig.Turn();
    rig.changed.clear();
    rig.session.SetReference(Reference());
    rig.session.SetSamples(3);
    QVERIFY(rig.changed.isEmpty());  // not before the turn ends
    rig.Turn();
    QCOMPARE(rig.changed.size(), 1);
    QCOMPARE(rig.changed.At(0), Change::kReference | Change::kMeans);
    rig.Turn();
    QCOMPARE(rig.changed.size(), 1);
    rig.session.SetSamples(4);
    rig.Turn();
    QCOMPARE(rig.changed.size(), 2);
    QCOMPARE(rig.changed.At(1), Changes(Change::kMeans));
  }

  void AFlushedChangeIsNotEmittedAgain() {
    Rig rig;
    rig.Turn();
    rig.changed.clear();
    rig.session.SetSamples(3);
    rig.session.FlushChanges();
    QCOMPARE(rig.changed.size(), 1);
    rig.session.FlushChanges();
    rig.Turn();
    QCOMPARE(rig.changed.size(), 1);
    // A change made before the queued call is delivered is not lost.
    rig.session.SetSamples(4);
    rig.session.FlushChanges();
    rig.session.SetReference(Reference());
    rig.Turn();
    QCOMPARE(rig.changed.size(), 3);
    QCOMPARE(rig.changed.At(2), Changes(Change::kReference));
  }

  void AChangeThatAReceiverMakesIsEmittedNext() {
    Rig rig;
    rig.Turn();
    rig.changed.clear();
    connect(&rig.session, &Session::Changed, &rig.session, [&rig](Changes changes) {
      if (changes & Change::kMeans) rig.session.SetReference(Reference());
    });
    rig.session.SetSamples(3);
    QTRY_COMPARE(rig.changed.size(), 2);
    QCOMPARE(rig.changed.At(0), Changes(Change::kMeans));
    QCOMPARE(rig.changed.At(1), Changes(Change::kReference));
  }

  void NothingIsOutstandingWhenWorkHasStopped() {
    Rig rig;
    Changes before_stop;
    connect(&rig.session, &Session::Changed, &rig.session,
            [&before_stop](Changes changes) { before_stop |= changes; });
    QVERIFY(rig.Open());
    QCOMPARE(before_stop, Change::kModel | Change::kPrompts | Change::kMeans | kRecordChanges);
    const auto emissions = rig.changed.size();
    rig.Turn();
    QCOMPARE(rig.changed.size(), emissions);
  }

  void ADragIsOneEmissionAndLeavesMapsAlone() {
    Rig rig;
    QVERIFY(rig.Open());
    rig.control->HoldWhatIfs(true);
    rig.session.SetSettings({}, ParseIntervention("pi(1.5)"), true);  // B becomes different from A
    rig.Turn();
    rig.changed.clear();
    for (int i = 1; i <= 50; ++i) {
      rig.session.SetSettings({}, ParseIntervention("pi(1." + std::to_string(100 + i) + ")"), true);
    }
    rig.Turn();
    QCOMPARE(rig.changed.Count(Change::kSettings), 1);
    QCOMPARE(rig.changed.Count(kRecordChanges), 0);
    rig.control->HoldWhatIfs(false);
    QVERIFY(SpyUntil(rig.stopped, [&] { return rig.session.record(Side::kB, "outcome"); }));
    QCOMPARE(rig.changed.Count(Change::kWhatIfRecords), 1);
    QCOMPARE(rig.changed.Count(Change::kMapRecords | Change::kCaptureRecords), 0);
  }

  void NothingIsEmittedAfterTheEnd() {
    int emissions = 0;
    const auto count = [this, &emissions](Session* session) {
      connect(session, &Session::Changed, this, [&emissions] { ++emissions; });
    };
    auto session =
        std::make_unique<Session>(std::make_unique<FakeEngine>(std::make_shared<FakeControl>()));
    count(session.get());
    session->SetSamples(3);
    session.reset();
    QCoreApplication::processEvents();
    QCOMPARE(emissions, 0);

    auto rig = std::make_unique<WindowRig<>>();
    QVERIFY(rig->OpenModel());
    count(rig->session);
    rig->session->SetSamples(3);
    rig->session->SetPlace(1);
    rig.reset();  // panels and session are children; no signal may reach them during destruction
    QCoreApplication::processEvents();
    QCOMPARE(emissions, 0);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::ChangesTest)
#include "changes_test.moc"
