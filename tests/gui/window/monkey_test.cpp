// SPDX-License-Identifier: MIT
// Random input to the complete window with a planted engine never crashes or blocks it.
// tests/bench/window_monkey.cpp does the same for minutes with the real engine.
#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include "tests/gui/support/monkey.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/window_rig.h"

namespace midscope {

class MonkeyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {  // NOLINT(readability-identifier-naming): Qt calls it by this name
    QVERIFY(folder_.isValid());
    QDir::setCurrent(folder_.path());  // files that dialogs save are written there
  }

  void WindowSurvivesRandomInput_data() {
    QTest::addColumn<unsigned>("seed");
    for (const unsigned seed : {1u, 2u, 3u}) QTest::addRow("%u", seed) << seed;
  }
  void WindowSurvivesRandomInput() {
    QFETCH(unsigned, seed);
    WindowRig<> rig;
    rig.Show();
    QVERIFY(rig.OpenModel());
    Monkey monkey(&rig.window, seed);
    constexpr int kSteps = 400;
    for (int i = 0; i < kSteps; ++i) monkey.Step();
    int inputs = 0;
    for (const auto& [kind, count] : monkey.inputs()) inputs += count;
    QVERIFY(inputs > kSteps / 2);
    // The window still responds.
    QTRY_VERIFY(rig.window.isVisible());
    rig.window.OpenModel(QStringLiteral("embedded"));
    QVERIFY(rig.Settle());
  }

 private:
  QTemporaryDir folder_;
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::MonkeyTest)
#include "monkey_test.moc"
