// SPDX-License-Identifier: MIT
// Random walks over a session whose engine holds back its replies: user actions while replies are
// outstanding must not leave the view and the engine with different prompts.
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>
#include <random>

#include "gui/session/session.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

// The prompts that the engine has; opening another model drops them.
struct Accepted {
  std::mutex mutex;
  std::optional<PromptRequest> prompt_request;

  void Set(std::optional<PromptRequest> accepted) {
    const std::lock_guard lock(mutex);
    prompt_request = std::move(accepted);
  }
};

class WalkEngine : public FakeEngine {
 public:
  WalkEngine(std::shared_ptr<FakeControl> control, std::shared_ptr<Accepted> accepted)
      : FakeEngine(std::move(control)), accepted_(std::move(accepted)) {}
  ModelSummary Open(const OpenRequest& request, const JobContext& context) override {
    ModelSummary summary = FakeEngine::Open(request, context);
    accepted_->Set(std::nullopt);
    return summary;
  }
  std::vector<Record> SetPrompt(const PromptRequest& request, const JobContext& context) override {
    std::vector<Record> records = FakeEngine::SetPrompt(request, context);
    accepted_->Set(request);
    return records;
  }

 private:
  std::shared_ptr<Accepted> accepted_;
};

class SessionWalkTest : public QObject {
  Q_OBJECT

 private:
  class Walk {
   public:
    explicit Walk(unsigned seed) : random_(seed) {
      session_.SetSamples(4);
      session_.SetReleaseDelay(0);
      session_.SetPauseDelay(0);
      session_.Open(OpenRequest{});
      Rest();
      done_.clear();
    }
    // Performs one action of the user or of the engine.
    void Step() {
      switch (Below(16)) {
        case 0:
          return Open();
        case 1:
        case 2:
          return SetPrompt();
        case 3:
          requested_ = Request();
          done_ << "restore";
          return session_.RestorePrompt(*requested_, static_cast<size_t>(Below(2)));
        case 4:
        case 5:
        case 6:
          done_ << "place";
          return session_.SetPlace(static_cast<size_t>(Below(6)));
        case 7:
        case 8:
        case 9:
          return SetSettings();
        case 10:
          return Cancel();
        case 11:
          done_ << "channel";
          return session_.SetChannel(Below(FakeEngine::kHidden));
        case 12:
          return Background();
        case 13:
          return Hold(Below(2) == 0);
        default:
          return QTest::qWait(Below(4));
      }
    }
    // Delivers all outstanding replies.
    bool Rest() {
      Hold(false);
      QElapsedTimer clock;
      clock.start();
      do {
        QTest::qWait(1);
      } while (session_.has_pending_request() && clock.elapsed() < 10000);
      return !session_.has_pending_request();
    }
    // Describes an inconsistency when nothing is outstanding; empty: none.
    QString Wrong() {
      for (const QVariantList& failure : failed_) {
        const QString why = failure.front().toString();
        if (why.contains("bug")) return why;
      }
      const std::lock_guard lock(accepted_->mutex);
      const SessionView& view = session_.live();
      if (view.prompt_request.has_value() != accepted_->prompt_request.has_value())
        return "one of view and engine has no prompts";
      if (view.prompt_request && !SamePrompts(*view.prompt_request, *accepted_->prompt_request))
        return "the engine has other prompts than the view";
      if (!requested_ || cancelled_) return {};
      if (!view.prompt_request || !SamePrompts(*view.prompt_request, *requested_))
        return "the newest prompt request is not shown, and nothing says why";
      for (const Side side : {Side::kA, Side::kB}) {
        if (side == Side::kB && !view.differs()) break;
        const Record* outcome = session_.record(side, "outcome");
        if (!session_.settled(side)) return "no capture run of the settings";
        if (!outcome || !session_.IsRequested(side, *outcome)) return "no outcome of the settings";
      }
      return {};
    }
    QString Done() { return std::exchange(done_, {}).join(", "); }

   private:
    int Below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
    // A request with one, two, three or five places.
    PromptRequest Request() {
      PromptRequest request;
      request.places = std::vector<std::string>{"", "1", "4,9", "1,6,11"}[Below(4)];
      return request;
    }
    void Open() {
      OpenRequest request;
      if (Below(2) == 0) request.model = "missing";
      done_ << (request.model == "missing" ? "open a missing model" : "open");
      session_.Open(request);
    }
    void SetPrompt() {
      PromptRequest request = Request();
      requested_ = request;
      if (Below(5) == 0) {
        request.task = "bad";
        requested_.reset();
      }
      cancelled_ = false;
      done_ << (requested_ ? "prompt" : "bad prompt");
      session_.SetPrompt(request);
    }
    void SetSettings() {
      const bool dragging = Below(2) == 0;
      done_ << (dragging ? "drag" : "set");
      session_.SetSettings(Below(3) == 0 ? Factor(0.1 * Below(9)) : session_.live().a.setting,
                           Factor(0.1 * Below(9)), dragging);
    }
    void Cancel() {
      cancelled_ = true;
      done_ << "cancel";
      session_.Cancel();
    }
    void Background() {
      const int which = Below(4);
      done_ << QStringList{"scan", "search", "rank", "generate"}[which];
      if (which == 0) session_.Scan(ScanRequest{});
      if (which == 1) session_.SearchChannels(ChannelSearchRequest{});
      if (which == 2) session_.RankPromptChannels("{}");
      if (which == 3) session_.Generate(4);
    }
    void Hold(bool hold) {
      done_ << (hold ? "hold" : "release");
      control_->IgnoreCancel(hold && Below(2) == 0);
      control_->HoldPrompts(hold);
      control_->HoldWhatIfs(hold && Below(2) == 0);
      control_->HoldCaptureRuns(hold && Below(2) == 0);
      control_->HoldComparisons(hold && Below(2) == 0);
    }

    std::mt19937 random_;
    std::shared_ptr<FakeControl> control_ = std::make_shared<FakeControl>();
    std::shared_ptr<Accepted> accepted_ = std::make_shared<Accepted>();
    Session session_{std::make_unique<WalkEngine>(control_, accepted_)};
    QSignalSpy failed_{&session_, &Session::Failed};
    // Must be shown when nothing is outstanding; nullopt: it failed.
    std::optional<PromptRequest> requested_;
    bool cancelled_ = false;  // since the newest prompt request
    QStringList done_;        // since nothing was outstanding
  };

 private Q_SLOTS:
  void ViewAndEngineAgreeAtRest() {
    for (unsigned seed = 1; seed <= 20; ++seed) {
      Walk walk(seed);
      for (int rest = 0; rest < 15; ++rest) {
        for (int step = 0; step < 12; ++step) walk.Step();
        QVERIFY2(walk.Rest(), "replies do not come");
        const QString wrong = walk.Wrong();
        QVERIFY2(wrong.isEmpty(),
                 qPrintable(QString("seed %1: %2\nafter: %3").arg(seed).arg(wrong, walk.Done())));
        walk.Done();
      }
    }
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::SessionWalkTest)
#include "session_walk_test.moc"
