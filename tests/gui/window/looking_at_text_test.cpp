// SPDX-License-Identifier: MIT
// The text with coloured tokens: brushing and locking, one scale for A and B, raw tokens, and the
// time to recolour a long text.
#include <QCheckBox>
#include <QElapsedTimer>
#include <QTest>
#include <cmath>
#include <limits>

#include "core/base/record.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/plots/attention_plot.h"
#include "tests/gui/support/looking_rig.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class LookingAtTextTest : public QObject {
  Q_OBJECT

 private:
  using Rig = LookingRig;

 private Q_SLOTS:
  void TextIsBrushedAndItsTokensAreLocked() {
    Rig rig;
    QVERIFY(rig.OpenModel());
    rig.window.ShowPanel(rig.text_panel);
    QCoreApplication::processEvents();
    rig.text->ShowToken(3);
    QWidget* view = rig.text->viewport();
    QTest::mouseClick(view, Qt::LeftButton, {}, rig.text->RectOf(3).center());
    QCOMPARE(rig.selection->locked_token(), int64_t{3});
    QTest::mousePress(view, Qt::LeftButton, {}, rig.text->RectOf(2).center());
    QMouseEvent drag(QEvent::MouseMove, rig.text->RectOf(5).center(),
                     view->mapToGlobal(rig.text->RectOf(5).center()), Qt::LeftButton,
                     Qt::LeftButton, {});
    QApplication::sendEvent(view, &drag);
    QTest::mouseRelease(view, Qt::LeftButton, {}, rig.text->RectOf(5).center());
    QCOMPARE(rig.selection->range(), (TokenSpan{"", 2, 6}));
    QCOMPARE(rig.text->SelectedText(), QStringLiteral(" word2 word3 word4 word5"));
    QCOMPARE(rig.window.panel<AttentionPanel>()->plot()->range(), (TokenSpan{"", 2, 6}));
    QTest::keyClick(rig.text, Qt::Key_Escape);
    QCOMPARE(rig.selection->locked_token(), int64_t{-1});
    QVERIFY(rig.selection->range().empty());
  }

  void TheTextHasOneScaleForBoth() {
    Rig rig;
    QVERIFY(rig.OpenWithB(0));
    rig.selection->Choose({2, 1});
    rig.window.ShowPanel(rig.text_panel);
    QVERIFY(rig.text_panel->text_of_b()->isVisible());
    QCOMPARE(rig.text->scale(), rig.text_panel->text_of_b()->scale());
    const double strength = FakeEngine::Strength(Factor(0));
    double highest = 0;
    for (int64_t key = kSinkTokens; key < FakeEngine::kTokens; ++key) {
      highest = std::max({highest, double{FakeEngine::Attention(2, 1, key, 6, 0)},
                          double{FakeEngine::Attention(2, 1, key, 6, strength)}});
    }
    QCOMPARE(rig.text->scale().highest, highest);
    rig.Find<QCheckBox>("text_sink")->setChecked(true);
    QCOMPARE(rig.text->scale().highest, double{FakeEngine::Attention(2, 1, 0, 6, 0)});
    // A token without weight has the background's colour.
    const TokenScale scale{1, false, false, Qt::blue};
    QCOMPARE(scale.ColorOf(0, Qt::white), QColor(Qt::white));
    QCOMPARE(scale.ColorOf(1, Qt::white), QColor(Qt::blue));
    QVERIFY(!scale.ColorOf(std::nan(""), Qt::white).isValid());
    rig.window.panel<HeadMapPanel>()->SetMode(Compare::kDifference);
    QVERIFY(rig.text->scale().diverging);
    QVERIFY(!rig.text_panel->text_of_b()->isVisible());
    const QString tip = rig.text->TooltipFor(55);
    QVERIFY2(tip.contains("word55") && tip.contains("(55)") && tip.contains("B − A") &&
                 tip.contains("in the gold passage"),
             qPrintable(tip));
  }

  void RawTokensShowWhatTheTextDoesNot() {
    Record prompt;
    prompt.name = "prompt";
    prompt.axes = {{"token", 3, "", {}, {}}};
    prompt.arrays = {
        {"token_text", {"token"}, std::vector<std::string>{"<s>", "Hi", " you\n"}, "", ""},
        {"token_begin", {"token"}, std::vector<int64_t>{0, 0, 2}, "byte", ""}};
    prompt.attributes = {{"text", std::string("Hi you\n")}};
    TokenText text;
    text.resize(400, 200);
    text.SetPrompt(&prompt);
    QCOMPARE(text.LineOf(0), -1);  // it is not part of the text
    QCOMPARE(text.LineOf(1), 0);
    text.SetRaw(true);
    QCOMPARE(text.LineOf(0), 0);
    QVERIFY(text.RectOf(1).left() >= text.RectOf(0).right());
    QCOMPARE(text.TokenAt(text.RectOf(1).center()), int64_t{1});
  }

  // Times one recolouring of a long text, including painting.
  void ALongTextIsRecolouredAtOnce() {
    constexpr int kMany = 8000;
    Record prompt;
    prompt.name = "prompt";
    prompt.axes = {{"token", kMany, "", {}, {}}};
    std::vector<std::string> texts;
    texts.reserve(kMany);
    for (int i = 0; i < kMany; ++i) texts.push_back(i % 40 == 39 ? "\n" : " w" + std::to_string(i));
    prompt.arrays = {{"token_text", {"token"}, texts, "", ""}};
    TokenText text;
    text.resize(700, 500);
    text.SetPrompt(&prompt);
    text.show();
    QVERIFY(QTest::qWaitForWindowExposed(&text));
    QVector<double> values(kMany);
    QElapsedTimer timer;
    qint64 best = std::numeric_limits<qint64>::max();
    for (int turn = 0; turn < 7; ++turn) {
      for (int i = 0; i < kMany; ++i) values[i] = ((i * 37 + turn * 11) % 100) / 100.0;
      timer.start();
      text.SetValues(values, ScaleOf({values}, 4));
      text.viewport()->repaint();
      best = std::min(best, timer.nsecsElapsed());
    }
    qInfo("one recolouring of %d tokens: %.2f ms", kMany, static_cast<double>(best) / 1e6);
    QVERIFY(text.lines() > 200);
    QVERIFY2(best < 30'000'000, qPrintable(QString::number(best)));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::LookingAtTextTest)
#include "looking_at_text_test.moc"
