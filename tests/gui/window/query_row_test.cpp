// SPDX-License-Identifier: MIT
// The attention of another token than the last one. Contract: the row of a token equals the last
// query's attention in the prompt that ends with that token; every panel with attention shows it
// and says so; another place or prompt shows the last query again.
#include <QPushButton>
#include <QTest>
#include <cmath>

#include "core/terms/intervention_text.h"
#include "gui/actions/action_registry.h"
#include "gui/base/record_access.h"
#include "gui/panels/attention/attention_panel.h"
#include "gui/panels/attention/attention_places.h"
#include "gui/panels/attention/text_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/panels/prompt/prompt_panel.h"
#include "gui/plots/attention_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/widgets/selection.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class QueryRowTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static constexpr int kLongest = 90000;  // milliseconds, on a loaded machine
  static constexpr char kText[] = "Alice bought a pen. Bob bought a lamp. Carol bought a";

  static PromptRequest Own(const QString& text) {
    PromptRequest own;
    own.task.clear();
    own.text = text.toStdString();
    own.gold_begin = 0;
    own.gold_end = 18;
    return own;
  }
  bool Run(const PromptRequest& request) {
    session_->SetPrompt(request);
    return QTest::qWaitFor([this] { return Settled(); }, kLongest);
  }
  bool Arrives(Side side) {
    return QTest::qWaitFor(
        [this, side] {
          const Record* shown = session_->attention(side);
          return !session_->has_pending_request() && shown &&
                 shown->attributes.contains(kQueryRow) && session_->IsRequested(side, *shown);
        },
        kLongest);
  }
  double LargestDifference(const Record& rows, const Record& last) {
    double largest = 0;
    for (int64_t layer = 0; layer < AxisSize(last, "layer"); ++layer) {
      for (int64_t head = 0; head < AxisSize(last, "head"); ++head) {
        const QVector<double> row = AttentionRow(&rows, {layer, head});
        const QVector<double> alone = AttentionRow(&last, {layer, head});
        for (qsizetype key = 0; key < row.size(); ++key) {
          const double expected = key < alone.size() ? alone[key] : 0;
          largest = std::max(largest, std::abs(row[key] - expected));
        }
      }
    }
    return largest;
  }

 private Q_SLOTS:
  void ATokenIsClickedAndBecomesTheQuery() {
    Make();
    session_->Open({"embedded"}, Own(kText));
    QVERIFY2(QTest::qWaitFor([this] { return Settled(); }, kLongest), qPrintable(Errors()));
    session_->FlushChanges();
    auto* text = window_->panel<TextPanel>()->text();
    auto* button = Find<QPushButton>("text_query");
    QVERIFY(!button->isEnabled());
    const auto token = static_cast<int64_t>(text->prompt().tokens.indexOf(" lamp"));
    QVERIFY(token > 0);
    text->ShowToken(token);
    QTest::mouseClick(text->viewport(), Qt::LeftButton, {}, text->RectOf(token).center());
    QVERIFY2(button->isEnabled() && button->text().contains("lamp"), qPrintable(button->text()));
    const int width = button->width();
    button->click();
    QVERIFY2(Arrives(Side::kA), qPrintable(Errors()));
    session_->FlushChanges();
    QCOMPARE(button->width(), width);
    const Record rows = *session_->attention(Side::kA);
    const QString title = window_->panel<AttentionPanel>()->plot()->title();
    QVERIFY2(title.contains(QString("token %1").arg(token)), qPrintable(title));
    auto* map = window_->panel<HeadMapPanel>();
    map->ChooseQuantity("gold");
    const QString of_map = map->plot()->title();
    QVERIFY2(of_map.contains("from token") && of_map.contains("lamp"), qPrintable(of_map));
    // B, too, and again after a change of its setting.
    session_->SetSettings({}, ParseIntervention("pi(1.5)"), false);
    QVERIFY2(Arrives(Side::kB), qPrintable(Errors()));
    QVERIFY(LargestDifference(*session_->attention(Side::kB), rows) > 1e-3);
    session_->SetSettings({}, {}, false);
    QVERIFY(QTest::qWaitFor([this] { return !session_->has_pending_request(); }, kLongest));
    button->click();  // back to the last token
    QVERIFY(!session_->query_row());
    QVERIFY(!session_->attention(Side::kA)->attributes.contains(kQueryRow));
    // The prompt that ends there.
    const QString until = QString(kText).left(QString(kText).indexOf(" lamp") + 5);
    QVERIFY(Run(Own(until)));
    const double largest = LargestDifference(rows, *session_->attention(Side::kA));
    QVERIFY2(largest < 1e-5, qPrintable(QString::number(largest)));
  }

  void AnotherPlaceShowsTheLastQuery() {
    PromptRequest request;
    request.task = "list:lines=6";
    request.places = "1,6";
    session_->SetPrompt(request);
    QVERIFY(QTest::qWaitFor([this] { return Settled(); }, kLongest));
    window_->actions_list()->Do("query 7");
    QVERIFY2(Arrives(Side::kA), qPrintable(Errors()));
    session_->SetPlace(session_->place() == 0 ? 1 : 0);
    QVERIFY(!session_->query_row());
    QVERIFY(QTest::qWaitFor([this] { return Settled(); }, kLongest));
    QVERIFY(session_->attention(Side::kA));
    // The last token is the usual view.
    const int64_t last = AxisSize(*session_->prompt(), "token") - 1;
    window_->actions_list()->Do(QString("query %1").arg(last));
    QVERIFY(!session_->query_row());
  }

  void GeneratedTextBecomesPartOfThePrompt() {
    QVERIFY(Run(Own("The capital of France is")));
    session_->Generate(4);
    QVERIFY(QTest::qWaitFor([this] { return !session_->generates(); }, kLongest));
    window_->actions_list()->Do("append-generated");
    QVERIFY2(QTest::qWaitFor([this] { return Settled(); }, kLongest), qPrintable(Errors()));
    const QString text = TextAttribute(*session_->prompt(), "text");
    QVERIFY2(text.startsWith("The capital of France is Paris"), qPrintable(text));
    const int64_t tokens = AxisSize(*session_->prompt(), "token");
    session_->SetQueryRow(tokens - 2);
    QVERIFY2(Arrives(Side::kA), qPrintable(Errors()));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::QueryRowTest)
#include "query_row_test.moc"
