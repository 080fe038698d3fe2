// SPDX-License-Identifier: MIT
// A random walk over the window of a real model: each setting on each prompt keeps one outcome, and
// settings that change nothing show no difference. MIDSCOPE_WALK_ACTIONS: number of actions.
#include <QTest>
#include <map>
#include <random>
#include <vector>

#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/base/record_access.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/selection.h"
#include "probes/engine/settled_outcomes.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class OutcomeWalkTest : public QObject {
  Q_OBJECT

 private:
  class Walk {
   public:
    explicit Walk(const char* dtype) : random_(7) {
      session_->SetReleaseDelay(0);
      session_->SetPauseDelay(0);
      session_->SetSamples(0);
      OpenRequest open;
      open.dtype = dtype;
      session_->Open(open, Request(0));
    }
    bool Rest() {
      constexpr int kLongestWalk = 120000;  // milliseconds
      return QTest::qWaitFor([this] { return IsSettled(*session_); }, kLongestWalk);
    }
    // Makes one action; returns its name.
    QString Step() {
      const int action = Below(11);
      Selection* selection = window_.selection();
      switch (action) {
        case 0:
        case 1:
          session_->SetPlace(static_cast<size_t>(Below(3)));
          return "place";
        case 2:
        case 3:
        case 4: {
          const int a = Below(4) == 0 ? Below(kSettings) : 0;
          const int b = Below(kSettings);
          window_.history()->Change({Setting(a), Setting(b)}, false);
          return QString("settings %1, %2").arg(a).arg(b);
        }
        case 5:
          session_->SetChannel(Below(576));
          return "channel";
        case 6:
          selection->Choose({Below(30), Below(9)});
          return "head";
        case 7:
          selection->TogglePin({Below(30), Below(9)});
          return "pin";
        case 8:
          selection->SetCompare(static_cast<Compare>(Below(4)));
          return "compare";
        case 9:
          if (window_.history()->stack()->canUndo()) window_.actions_list()->Do("undo");
          return "undo";
        default:
          // F5, or another prompt.
          if (Below(2) == 0) sample_ = Below(2);
          session_->SetPrompt(Request(sample_));
          return "run";
      }
    }
    // Describes a changed outcome; empty: none.
    QString Wrong() {
      for (const Side side : {Side::kA, Side::kB}) {
        const Record* outcome = session_->record(side, kOutcomeRecord);
        if (!outcome) continue;
        if (!session_->IsRequested(side, *outcome)) return "the outcome is of another request";
        const QVector<double> nll = LastAxisRow(*outcome, kAnswerNll, {0});
        const std::string key = std::to_string(sample_) + AttributeText(*outcome, "intervention");
        const auto [known, added] = outcomes_.emplace(key, nll);
        if (!added && known->second != nll)
          return QString::fromStdString("another outcome: " + key);
        const Record* answer = session_->record(side, kAnswerRecord);
        if (!answer) return "no answer";
        const double of_answer = std::get<double>(answer->attributes.at(kAnswerNll));
        if (of_answer != nll[static_cast<qsizetype>(session_->place())])
          return QString("answer %1, outcome %2")
              .arg(of_answer)
              .arg(nll[static_cast<qsizetype>(session_->place())]);
        if (Changes(side) || !session_->differs() || Changes(Side::kA)) continue;
        const Record* of_a = session_->record(Side::kA, kOutcomeRecord);
        if (LastAxisRow(*of_a, kAnswerNll, {0}) != nll) return "a difference of nothing";
        ++nothing_;
      }
      return {};
    }
    QString Summary() const {
      const Record* outcome = session_->record(Side::kA, kOutcomeRecord);
      const auto noise = outcome->attributes.find(kAnswerNllNoise);
      return QString("%1 settings on prompts, %2 times nothing, noise %3")
          .arg(outcomes_.size())
          .arg(nothing_)
          .arg(noise == outcome->attributes.end() ? 0 : std::get<double>(noise->second));
    }

   private:
    static constexpr int kSettings = 9;
    static constexpr int kChangesNothing = 5;  // the first settings
    static Intervention Setting(int index) {
      static const char* texts[kSettings] = {"none",
                                             "channel(100, factor=1)",
                                             "ms-poe(min=1, max=1)",
                                             "pi(1)",
                                             "temperature(L3H1, 1)",
                                             "channel(100, factor=-1)",
                                             "channel(100, factor=0.5, rows=last)",
                                             "ms-poe",
                                             "boost(span=gold, factor=2)"};
      return ParseIntervention(texts[index]);
    }
    bool Changes(Side side) const {
      for (int i = 0; i < kChangesNothing; ++i) {
        if (session_->setting(side) == Setting(i)) return false;
      }
      return true;
    }
    static PromptRequest Request(int sample) {
      PromptRequest request;
      request.task = "list:lines=5";
      request.places = "1,3,5";
      request.sample = sample;
      return request;
    }
    int Below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }

    std::mt19937 random_;
    MainWindow window_{std::shared_ptr<Engine>(MakeLocalEngine())};
    Session* session_ = window_.session();
    int sample_ = 0;
    int nothing_ = 0;
    std::map<std::string, QVector<double>> outcomes_;
  };

 private Q_SLOTS:
  void EachSettingKeepsItsOutcome_data() {
    QTest::addColumn<QString>("dtype");
    QTest::addRow("float32") << "float32";
    QTest::addRow("bfloat16") << "bfloat16";
  }
  void EachSettingKeepsItsOutcome() {
    QFETCH(QString, dtype);
    bool given = false;
    int actions = qEnvironmentVariableIntValue("MIDSCOPE_WALK_ACTIONS", &given);
    if (!given) actions = 10;
    Walk walk(qPrintable(dtype));
    QVERIFY(walk.Rest());
    for (int i = 0; i < actions; ++i) {
      const QString done = walk.Step();
      QTest::qWait(1);
      QVERIFY2(walk.Rest(), qPrintable("no answer after " + done));
      const QString wrong = walk.Wrong();
      QVERIFY2(wrong.isEmpty(), qPrintable(QString("action %1, %2: %3").arg(i).arg(done, wrong)));
    }
    qInfo().noquote() << actions << "actions:" << walk.Summary();
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::OutcomeWalkTest)
#include "outcome_walk_test.moc"
