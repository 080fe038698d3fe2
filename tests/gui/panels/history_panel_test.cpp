// SPDX-License-Identifier: MIT
// The settings that were tried: their outcomes, restoring one, and those kept as C to F.
#include <QPushButton>
#include <QTableWidget>
#include <QTest>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/file_menu.h"
#include "gui/files/session_file.h"
#include "gui/panels/outcome/outcome_panel.h"
#include "gui/panels/settings/history_panel.h"
#include "gui/plots/outcome_plot.h"
#include "gui/session/setting_history.h"
#include "gui/session/setting_marks.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class HistoryPanelTest : public QObject {
  Q_OBJECT

 private:
  struct Rig : WindowRig<> {
    QTableWidget* table = Find<QTableWidget>("history_table");

    bool Open() {
      Show();
      return OpenModel();
    }
    bool Try(const char* setting) {
      window.history()->Change({{}, ParseIntervention(setting)}, false);
      return Settle();
    }
    QStringList Settings() {
      window.actions_list()->Do("panel history");
      QTest::qWait(20);
      QStringList settings;
      for (int row = 0; row < table->rowCount(); ++row) settings << table->item(row, 1)->text();
      return settings;
    }
    QStringList LineNames() {
      QStringList names;
      for (const auto& line : window.panel<OutcomePanel>()->plot()->lines()) names << line.name;
      return names;
    }
  };

 private Q_SLOTS:
  void SettingsAreListedWithTheirOutcome() {
    Rig rig;
    QVERIFY(rig.Open() && rig.Try("pi(1.5)") && rig.Try("pi(2)"));
    QCOMPARE(rig.Settings(), (QStringList{"pi(2)", "pi(1.5)", "none"}));
    double sum = 0;
    const std::vector<OutcomeSeries> series =
        SeriesOf(*rig.session->record(Side::kA, "outcome"), Measure::kNll);
    for (const double value : series.front().values) sum += value;
    const double mean = sum / static_cast<double>(series.front().values.size());
    QCOMPARE(rig.table->item(2, 2)->text(), QString::number(mean, 'f', 2));
    // Columns of means that were not made do not take the settings' room.
    QVERIFY(rig.table->isColumnHidden(4) && rig.table->isColumnHidden(5));
  }

  void AClickGoesBackWithoutARun() {
    Rig rig;
    QVERIFY(rig.Open() && rig.Try("pi(1.5)") && rig.Try("pi(2)"));
    QCOMPARE(rig.Settings().at(1), QString("pi(1.5)"));
    rig.table->setCurrentCell(1, 1);
    rig.Find<QPushButton>("history_to_b")->click();
    QCOMPARE(PrintIntervention(rig.window.history()->current().b), std::string("pi(1.5)"));
    QVERIFY(rig.Settle());
    rig.window.history()->stack()->undo();
    QCOMPARE(PrintIntervention(rig.window.history()->current().b), std::string("pi(2)"));
  }

  void KeptOnesAreDrawnBesideAAndB() {
    Rig rig;
    QVERIFY(rig.Open() && rig.Try("pi(1.5)"));
    QVERIFY(rig.Settings().contains("pi(1.5)"));
    rig.table->item(0, 0)->setCheckState(Qt::Checked);
    QCOMPARE(rig.window.tried()->Kept().size(), size_t{1});
    // It equals B now, so it is drawn once.
    QVERIFY(!rig.LineNames().contains("C, this sample"));
    QVERIFY(rig.Try("pi(2)"));
    QVERIFY2(rig.LineNames().contains("C, this sample"), qPrintable(rig.LineNames().join(", ")));
    const auto& lines = rig.window.panel<OutcomePanel>()->plot()->lines();
    const auto kept = std::find_if(lines.begin(), lines.end(), [](const OutcomePlot::Line& line) {
      return line.name == "C, this sample";
    });
    QCOMPARE(kept->series.setting, QString("pi(1.5)"));
    // With another task, kept settings remain, but their numbers are not for these prompts.
    rig.window.actions_list()->Do("task list:lines=12");
    QVERIFY(rig.Settle());
    QVERIFY(!rig.LineNames().contains("C, this sample"));
    QVERIFY(rig.Settings().contains("pi(1.5)"));
  }

  void ASessionKeepsThem() {
    Rig rig;
    QVERIFY(rig.Open() && rig.Try("pi(1.5)") && rig.Try("pi(2)"));
    rig.window.tried()->KeepAs(0, "pi(1.5)");
    rig.window.tried()->KeepAs(2, "pi(3)");
    const std::string text = SessionText(rig.window.files()->session());
    const SavedSession saved = ParseSession(text, "test.midscope");
    QCOMPARE(saved.kept, (std::vector<std::string>{"pi(1.5)", "", "pi(3)"}));
    Rig other;
    QVERIFY(other.Open());
    other.window.tried()->KeepAs(1, "pi(4)");
    other.window.files()->Apply(saved);
    QVERIFY(other.Settle());
    QCOMPARE(other.window.tried()->KeptTexts(), saved.kept);
    for (const char* bad : {"3", "[1]", "[\"pi(\"]", "[\"\",\"\",\"\",\"\",\"pi(2)\"]"}) {
      nlohmann::json broken = nlohmann::json::parse(text);
      broken["kept_settings"] = nlohmann::json::parse(bad);
      QVERIFY_EXCEPTION_THROWN(ParseSession(broken.dump(), "test.midscope"), Error);
    }
  }

  void FourAreKeptAtMost() {
    Rig rig;
    QVERIFY(rig.Open());
    for (const char* setting : {"pi(1.1)", "pi(1.2)", "pi(1.3)", "pi(1.4)", "pi(1.5)"})
      QVERIFY(rig.Try(setting));
    for (const char* setting : {"pi(1.1)", "pi(1.2)", "pi(1.3)", "pi(1.4)"})
      QVERIFY(rig.window.tried()->Keep(setting, true));
    QVERIFY(!rig.window.tried()->Keep("pi(1.5)", true));
    QVERIFY(rig.window.tried()->Keep("pi(1.2)", false));
    QVERIFY(rig.window.tried()->Keep("pi(1.5)", true));
    QCOMPARE(QString::fromStdString(rig.window.tried()->Kept()[1]->text), QString("pi(1.5)"));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::HistoryPanelTest)
#include "history_panel_test.moc"
