// SPDX-License-Identifier: MIT
// Runs that failed, were cancelled or are not done: numbers on the screen keep the name of the
// setting that made them, in legends, exported pictures and saved files.
#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "core/terms/intervention_text.h"
#include "data/store/record_reader.h"
#include "gui/base/record_access.h"
#include "gui/files/result_file.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/settings/settings_panel.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/record_name.h"
#include "gui/session/session.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/text_line.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

constexpr char kFirst[] = "channel(100, factor=-1, layers=1-3)";
constexpr char kRefused[] = "channel(120, factor=0, layers=1-3)";
constexpr char kOther[] = "pi(3)";

QString Printed(const char* setting) {
  return QString::fromStdString(PrintIntervention(ParseIntervention(setting)));
}

class OlderRecordsTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    QTemporaryDir folder;

    // Full runs wait for nothing; A is none and B is the first setting.
    bool Start() {
      Show();
      if (!OpenModel()) return false;
      Ask(kFirst);
      return Settle();
    }
    void Ask(const char* b) { window.history()->Change({{}, ParseIntervention(b)}, false); }
    QString Legend(Side side) {
      session->FlushChanges();
      return window.panel<AttentionPanel>()->plot()->graph_of(side)->name();
    }
    QStringList OutcomeNames() {
      session->FlushChanges();
      QStringList names;
      for (const OutcomePlot::Line& line : window.panel<OutcomePanel>()->plot()->lines())
        names << line.name;
      return names;
    }
    bool Idle() {
      return SpyUntil(stopped, [this] { return !session->has_pending_request(); });
    }
    // The records that File > Save results writes.
    std::vector<Record> Saved() {
      const QString path = folder.filePath("saved.h5");
      SaveResults(*session, path);
      return ReadRecords(path.toStdString()).records;
    }
    QByteArray Exported(const char* stem) {
      const std::vector<Plot*> plots = window.plots();
      const auto plot = std::find_if(plots.begin(), plots.end(), [stem](const Plot* one) {
        return one->file_stem() == QLatin1String(stem);
      });
      if (plot == plots.end()) return {};
      QFile svg(folder.filePath(QLatin1String(stem)) + ".svg");
      window.ExportPlot(**plot, svg.fileName(), true);
      return svg.open(QIODevice::ReadOnly) ? svg.readAll() : QByteArray();
    }
    // Holds all runs, requests B, and waits until one of them is under way.
    bool AskAndHold(const char* b) {
      const size_t begun = control->what_ifs().size();
      control->HoldWhatIfs(true);
      control->HoldCaptureRuns(true);
      Ask(b);
      return control->WaitForWhatIfsBegun(begun + 1);
    }
    void LetGo() {
      control->HoldWhatIfs(false);
      control->HoldCaptureRuns(false);
    }
  };

  // The setting that a record's planted numbers come from; "" where they say nothing of it.
  static QString SettingByNumbers(const Record& record) {
    for (const char* setting : {"none", kFirst, kOther}) {
      const double strength = FakeEngine::Strength(ParseIntervention(setting));
      double planted = std::nan("");
      double found = planted;
      if (record.FindArray("last_query_attention")) {
        const int64_t place = IntegerAttribute(record, "place", 6);
        planted = double{FakeEngine::Attention(1, 1, 10 * (place - 1), place, strength)};
        found = ValueAt(record, "last_query_attention", {1, 1, 10 * (place - 1)});
      } else if (record.FindArray("position_awareness_score")) {
        planted = double{FakeEngine::Score(2, 3, strength)};
        found = ValueAt(record, "position_awareness_score", {2, 3});
      } else if (record.name.starts_with("outcome")) {
        planted = FakeEngine::AnswerNll(1, strength);
        found = ValueAt(record, "answer_nll", {0, 0});
      }
      if (planted == found) return Printed(setting);
    }
    return {};
  }

  // Every record has the setting with which its numbers were made.
  static void CheckNames(const std::vector<Record>& records) {
    int checked = 0;
    for (const Record& record : records) {
      const QString setting = SettingByNumbers(record);
      if (setting.isEmpty()) continue;
      ++checked;
      QCOMPARE(TextAttribute(record, "intervention"), setting);
      if (record.FindAxis("setting")) QCOMPARE(AxisLabels(record, "setting")[0], setting);
    }
    QVERIFY(checked >= 3);  // attention, scores and outcome of A
  }

  static bool Holds(const std::vector<Record>& records, const QString& setting) {
    return std::any_of(records.begin(), records.end(), [&setting](const Record& record) {
      return TextAttribute(record, "intervention") == setting;
    });
  }

  // B's numbers are of the first setting, the other setting is requested.
  static void CheckOlder(Rig& rig, const char* asked) {
    QVERIFY2(rig.Legend(Side::kB).contains(QStringLiteral("channel(100")),
             qPrintable(rig.Legend(Side::kB)));
    QVERIFY2(rig.Legend(Side::kB).contains(QStringLiteral("older setting")),
             qPrintable(rig.Legend(Side::kB)));
    QVERIFY(!rig.Legend(Side::kB).contains(Printed(asked)));
    QVERIFY(!rig.Legend(Side::kA).contains(QStringLiteral("older setting")));
    const QStringList outcome = rig.OutcomeNames().filter(QStringLiteral("channel(100"));
    QCOMPARE(outcome.size(), 1);
    QVERIFY2(outcome.first().contains(QStringLiteral("older setting")),
             qPrintable(outcome.first()));
    const std::vector<Record> saved = rig.Saved();
    CheckNames(saved);
    QVERIFY(!Holds(saved, Printed(asked)));
    for (const char* stem : {"attention", "outcome"}) {
      const QByteArray svg = rig.Exported(stem);
      QVERIFY2(svg.contains("channel(100") && svg.contains("older setting"), stem);
      QVERIFY(!svg.contains(Printed(asked).toUtf8()));
      // The caption: the picture's prompt and model, also where it is shown alone.
      const QString caption =
          PromptRequestCaption(rig.session->provenance(), rig.session->prompt());
      QVERIFY(!caption.isEmpty());
      QVERIFY2(svg.contains(caption.toHtmlEscaped().toUtf8()), qPrintable(caption));
    }
  }

  static void CheckAsked(Rig& rig, const char* setting) {
    QVERIFY2(rig.Legend(Side::kB).contains(Printed(setting).left(20)),
             qPrintable(rig.Legend(Side::kB)));
    QVERIFY(!rig.Legend(Side::kB).contains(QStringLiteral("older setting")));
    const std::vector<Record> saved = rig.Saved();
    CheckNames(saved);
    QVERIFY(Holds(saved, Printed(setting)));
    QVERIFY(Holds(saved, QStringLiteral("none")));
  }

 private Q_SLOTS:
  void AFailedRun() {
    Rig rig;
    QVERIFY(rig.Start());
    CheckAsked(rig, kFirst);
    rig.control->RefuseChannel(120);
    QSignalSpy failed(rig.session, &Session::Failed);
    rig.Ask(kRefused);
    QVERIFY(rig.Idle());
    QVERIFY(!failed.isEmpty());
    CheckOlder(rig, kRefused);
    // One step back, the numbers are of the requested setting again.
    rig.window.history()->stack()->undo();
    CheckAsked(rig, kFirst);
    QVERIFY(rig.Settle());
    CheckAsked(rig, kFirst);
  }

  void ACancelledRun() {
    Rig rig;
    QVERIFY(rig.Start());
    QVERIFY(rig.AskAndHold(kOther));
    rig.session->Cancel();
    QVERIFY(rig.Idle());
    rig.LetGo();
    QVERIFY(!rig.session->settled(Side::kB));
    CheckOlder(rig, kOther);
    rig.Ask(kFirst);
    QVERIFY(rig.Settle());
    CheckAsked(rig, kFirst);
  }

  void APendingRun() {
    Rig rig;
    QVERIFY(rig.Start());
    QVERIFY(rig.AskAndHold(kOther));
    CheckOlder(rig, kOther);
    rig.LetGo();
    QVERIFY(rig.Settle());
    CheckAsked(rig, kOther);
  }

  void APendingFullRunAfterItsWhatIf() {
    Rig rig;
    QVERIFY(rig.Start());
    rig.control->HoldCaptureRuns(true);
    QSignalSpy timed(rig.session, &Session::WhatIfTimed);
    rig.Ask(kOther);
    QVERIFY(SpyUntil(timed, [&] { return !timed.isEmpty(); }));
    // Attention is the new setting's, the map is not yet.
    QVERIFY(!rig.Legend(Side::kB).contains(QStringLiteral("older setting")));
    rig.window.panel<HeadMapPanel>()->SetMode(Compare::kB);
    CheckNames(rig.Saved());
    QVERIFY(Holds(rig.Saved(), Printed(kOther)));
    QVERIFY(!Holds(rig.Saved(), Printed(kFirst)));
    const QByteArray map = rig.Exported("head_map");
    QVERIFY(map.contains("channel(100") && map.contains("older setting"));
    rig.control->HoldCaptureRuns(false);
    QVERIFY(rig.Settle());
    QVERIFY(rig.Exported("head_map").contains("pi("));
    QVERIFY(!rig.Exported("head_map").contains("older setting"));
  }

  void SwapAndPinWhileARunIsPending() {
    Rig rig;
    QVERIFY(rig.Start());
    QVERIFY(rig.AskAndHold(kOther));
    rig.Find<QPushButton>("swap")->click();
    QVERIFY2(rig.Legend(Side::kB).contains(QStringLiteral("none")) &&
                 !rig.Legend(Side::kB).contains(QStringLiteral("older setting")),
             qPrintable(rig.Legend(Side::kB)));
    QVERIFY2(rig.Legend(Side::kA).contains(QStringLiteral("older setting")),
             qPrintable(rig.Legend(Side::kA)));
    CheckNames({rig.Saved()});
    rig.window.history()->stack()->undo();
    rig.Find<QPushButton>("pin")->click();
    QVERIFY(!rig.Legend(Side::kA).contains(Printed(kOther)));
    rig.LetGo();
    QVERIFY(rig.Settle());
    QVERIFY(rig.Legend(Side::kA).contains(QStringLiteral("pi(")));
    CheckNames(rig.Saved());
  }

  void APromptThatFailsOrIsCancelledLeavesTheOldOneWhole() {
    Rig rig;
    QVERIFY(rig.Start());
    PromptRequest bad;
    bad.task = "bad";
    rig.session->SetPrompt(bad);
    QVERIFY(rig.Idle());
    CheckAsked(rig, kFirst);
    // The engine finishes although it was cancelled: prompt and numbers are still of one kind.
    rig.control->HoldPrompts(true);
    rig.control->IgnoreCancel(true);
    PromptRequest next;
    next.sample = 3;
    rig.session->SetPrompt(next);
    rig.session->Cancel();
    rig.control->HoldPrompts(false);
    QVERIFY(rig.Idle());
    rig.control->IgnoreCancel(false);
    rig.Ask(kOther);
    QVERIFY(rig.Idle());
    const std::vector<Record> saved = rig.Saved();
    QVERIFY(!saved.empty());
    for (const Record& record : saved) {
      QCOMPARE(TextAttribute(record, "subject_hash"), TextAttribute(saved[0], "subject_hash"));
    }
  }

  void ALineIsInForceWhenItIsComplete() {
    Rig rig;
    QVERIFY(rig.Start());
    QLineEdit* line = rig.window.settings()->text(true)->edit();
    line->setFocus();
    line->selectAll();
    const size_t begun = rig.control->what_ifs().size();
    // Its beginning is a setting, too. Nothing runs while it is typed.
    QTest::keyClicks(line, QStringLiteral("pi(3.0)"));
    QCOMPARE(rig.session->setting(Side::kB), ParseIntervention(kFirst));
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(rig.session->setting(Side::kB), ParseIntervention(kOther));
    QVERIFY(rig.Settle());
    QCOMPARE(rig.control->what_ifs().size(), begun + 1);
    CheckNames(rig.Saved());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::OlderRecordsTest)
#include "older_records_test.moc"
