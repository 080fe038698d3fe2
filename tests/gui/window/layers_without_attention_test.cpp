// SPDX-License-Identifier: MIT
// A model some of whose layers have no attention, on the real engine. Contract: their cells have no
// number of attention; choosing the gold's share in them measures it, and the text shows the
// weights of such a head.
#include <QComboBox>
#include <QTest>
#include <cmath>

#include "core/base/record_names.h"
#include "gui/base/record_access.h"
#include "gui/panels/attention/text_panel.h"
#include "gui/panels/head_map/head_map_panel.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/widgets/selection.h"
#include "tests/core/support/tiny_models.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class LayersWithoutAttentionTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static constexpr int kLongest = 90000;  // milliseconds, on a loaded machine

 private Q_SLOTS:
  void TheGoldsShareIsMeasuredWhenItIsChosen() {
    Make();
    SetOwnText();
    window_->OpenModel(QString::fromStdString(test::TinyModelPath("qwen3-5")));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    auto* panel = window_->panel<HeadMapPanel>();
    panel->SetMode(Compare::kA);
    const auto cell = [&](int64_t layer) { return panel->plot()->CellValue({layer, 2}); };
    QCOMPARE(panel->quantity_id(), std::string(HeadMapPanel::kScoreId));
    QVERIFY(std::isnan(cell(0)) && !std::isnan(cell(1)));
    auto* quantity = Find<QComboBox>("map_quantity");
    quantity->setCurrentIndex(quantity->findText(QStringLiteral("effective gold share")));
    QCOMPARE(panel->quantity_id(), std::string(HeadMapPanel::kEffectiveGoldId));
    QTRY_VERIFY_WITH_TIMEOUT(session_->record(Side::kA, kEffectiveAttention) && Settled(),
                             kLongest);
    const Record& measured = *session_->record(Side::kA, kEffectiveAttention);
    QCOMPARE(panel->quantity_id(), std::string(HeadMapPanel::kEffectiveGoldId));
    QCOMPARE(cell(0), ValueAt(measured, kEffectiveGoldShare, {0, 2}));
    QCOMPARE(cell(2), ValueAt(measured, kEffectiveGoldShare, {1, 2}));
    QVERIFY(cell(0) > 0 && std::isnan(cell(1)));
    // The last layer has attention, and a row without numbers.
    QCOMPARE(panel->plot()->layers(), int64_t{4});
    QVERIFY(panel->plot()->group_lines().empty());
    // The text shows the row of the chosen head, none of a head of attention.
    auto* text = window_->panel<TextPanel>();
    text->ChooseSource("effective_attention/effective_attention");
    window_->selection()->Choose({2, 1});
    QTRY_COMPARE(text->text()->values().value(3),
                 ValueAt(measured, kEffectiveAttention, {1, 1, 3}));
    window_->selection()->Choose({1, 1});
    QTRY_VERIFY(text->text()->values().isEmpty());
    QVERIFY2(Errors().isEmpty(), qPrintable(Errors()));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::LayersWithoutAttentionTest)
#include "layers_without_attention_test.moc"
