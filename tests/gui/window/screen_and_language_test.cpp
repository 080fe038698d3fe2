// SPDX-License-Identifier: MIT
// The first screen on a screen of double density (CTest sets QT_SCALE_FACTOR=2), and in languages
// that write numbers or lines in another way: nothing is cut off or overlaps, and numbers are read
// and written with a point.
#include <QAbstractButton>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QPushButton>
#include <QRegularExpression>
#include <QSlider>
#include <QTest>
#include <memory>
#include <vector>

#include "core/intervention/intervention.h"
#include "gui/layout/dock_area.h"
#include "gui/plots/tokens/token_text.h"
#include "gui/session/setting_history.h"
#include "gui/widgets/elided_label.h"
#include "gui/widgets/flow_layout.h"
#include "tests/core/support/tiny_models.h"
#include "tests/gui/support/fake_engine.h"
#include "tests/gui/support/real_window.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {

class ScreenAndLanguageTest : public QObject, protected RealWindow {
  Q_OBJECT

 private:
  static constexpr int kLongest = 90000;  // milliseconds, on a loaded machine

  // A tiny model has the letters of the text as tokens.
  void OpenTiny() {
    Make({1280, 800});
    SetOwnText();
    Open(QString::fromStdString(test::TinyModelPath("llama")));
  }
  void Open(const QString& model) {
    window_->docks()->Arrange(LayoutList().front());
    window_->OpenModel(model);
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    QCOMPARE(Errors(), QString());
    QTRY_COMPARE(window_->size(), QSize(1280, 800));
  }
  static bool Seen(const QWidget* widget) {
    return widget->isVisible() && !widget->visibleRegion().isEmpty();
  }
  static QString NameOf(const QWidget* widget) {
    return QLatin1String(widget->metaObject()->className()) + QLatin1Char(' ') +
           widget->objectName();
  }
  QRect PlaceOf(const QWidget* widget) const {
    return {widget->mapTo(window_.get(), QPoint(0, 0)), widget->size()};
  }
  // Controls that take clicks or keys, without the parts of others.
  std::vector<const QWidget*> Controls() const {
    std::vector<const QWidget*> controls;
    for (const QWidget* widget : window_->findChildren<QWidget*>()) {
      const bool part = qobject_cast<const QAbstractSpinBox*>(widget->parentWidget()) ||
                        qobject_cast<const QComboBox*>(widget->parentWidget());
      const bool control =
          qobject_cast<const QAbstractButton*>(widget) ||
          qobject_cast<const QAbstractSpinBox*>(widget) || qobject_cast<const QComboBox*>(widget) ||
          qobject_cast<const QLineEdit*>(widget) || qobject_cast<const QSlider*>(widget);
      if (control && !part && Seen(widget)) controls.push_back(widget);
    }
    return controls;
  }
  // Controls that are outside of the window, cut off by a parent, too narrow for its text, or above
  // another control.
  QString Faults() const {
    QStringList faults;
    const std::vector<const QWidget*> controls = Controls();
    for (size_t i = 0; i < controls.size(); ++i) {
      const QRect place = PlaceOf(controls[i]);
      if (!window_->rect().contains(place)) faults << NameOf(controls[i]) + " is outside";
      if (controls[i]->visibleRegion().boundingRect().size() != controls[i]->size())
        faults << NameOf(controls[i]) + " is cut off";
      for (size_t j = i + 1; j < controls.size(); ++j) {
        if (place.intersects(PlaceOf(controls[j])))
          faults << NameOf(controls[i]) + " and " + NameOf(controls[j]) + " overlap";
      }
      const auto* button = qobject_cast<const QAbstractButton*>(controls[i]);
      if (button && button->width() < button->fontMetrics().horizontalAdvance(button->text()))
        faults << NameOf(button) + " cuts " + button->text();
    }
    for (const QLabel* label : window_->findChildren<QLabel*>()) {
      if (!Seen(label) || label->wordWrap() || label->textFormat() == Qt::RichText) continue;
      if (!Qt::mightBeRichText(label->text()) &&
          label->fontMetrics().horizontalAdvance(label->text()) > label->width())
        faults << NameOf(label) + " cuts " + label->text();
    }
    return faults.join('\n');
  }

 private Q_SLOTS:
  void init() {  // NOLINT(readability-identifier-naming): Qt's name
    QApplication::setLayoutDirection(Qt::LeftToRight);
    QLocale::setDefault(QLocale::c());
  }
  void cleanup() { window_.reset(); }  // NOLINT(readability-identifier-naming): as above

  void NothingIsCutOffAtDoubleDensity() {
    QCOMPARE(qApp->devicePixelRatio(), 2.0);
    Make({1280, 800});
    Open(QStringLiteral("embedded"));
    QVERIFY(Controls().size() > 25);
    // Layouts follow their texts with the next events.
    QTRY_VERIFY2(Faults().isEmpty(), qPrintable(Faults()));
    QCOMPARE(window_->grab().size(), QSize(2560, 1600));
  }

  void FromRightToLeftNothingIsCutOff() {
    QApplication::setLayoutDirection(Qt::RightToLeft);
    OpenTiny();
    QTRY_VERIFY2(Faults().isEmpty(), qPrintable(Faults()));
    QVERIFY(PlaceOf(Find<QWidget>("top_model")).left() > window_->width() / 2);
  }

  // Tokens are in the order of positions, with their spaces where they are in the text.
  void ControlsBeginAtTheSideOfTheLayout() {
    QApplication::setLayoutDirection(Qt::RightToLeft);
    QWidget row;
    auto* first = new QPushButton(QStringLiteral("first"), &row);
    auto* second = new QPushButton(QStringLiteral("second"), &row);
    row.setLayout(MakeControlFlow({first, second}));
    row.resize(400, 60);
    row.show();
    QVERIFY(first->x() > second->x());
    QVERIFY(first->geometry().right() > 350);
    // A text that begins with a number is not reordered.
    ElidedLabel label;
    label.SetText(QStringLiteral("142 tokens: too few"));
    label.resize(400, 30);
    const QImage shown = label.grab().toImage();
    label.SetText(QChar(0x200e) + label.text());  // states the direction
    QVERIFY(shown == label.grab().toImage());
  }

  void TokensLookTheSameFromRightToLeft() {
    FakeEngine engine(std::make_shared<FakeControl>());
    engine.Open({}, {});
    const Record prompt = engine.SetPrompt({}, {}).front();
    const auto picture = [&prompt](Qt::LayoutDirection direction) {
      QApplication::setLayoutDirection(direction);
      TokenText text;
      text.resize(400, 300);
      text.SetPrompt(&prompt);
      return text.grab().toImage();
    };
    const QImage left = picture(Qt::LeftToRight);
    QVERIFY(left.size() == QSize(800, 600));
    QVERIFY(left == picture(Qt::RightToLeft));
  }

  void NumbersHaveAPoint_data() {
    QTest::addColumn<QString>("language");
    QTest::addColumn<int>("direction");
    QTest::newRow("German") << "de_DE" << static_cast<int>(Qt::LeftToRight);
    QTest::newRow("Arabic") << "ar_EG" << static_cast<int>(Qt::RightToLeft);
  }

  // The language of the desktop has no effect on numbers.
  void NumbersHaveAPoint() {
    QFETCH(QString, language);
    QFETCH(int, direction);
    QLocale::setDefault(QLocale(language));
    QApplication::setLayoutDirection(static_cast<Qt::LayoutDirection>(direction));
    OpenTiny();
    window_->SetSetting(Side::kB, QStringLiteral("channel(10, factor=1.5)"));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    auto* box = Find<QAbstractSpinBox>("term_channel_factor");
    QVERIFY(box);
    QVERIFY2(box->text() == "1.5", qPrintable(box->text()));
    // By the field, and back by the slider.
    box->setFocus();
    box->selectAll();
    QTest::keyClicks(box, "-0.25");
    QTest::keyClick(box, Qt::Key_Return);
    QTRY_COMPARE(window_->history()->current().b.All<ChannelScaling>().at(0).factor, -0.25);
    auto* slider = Find<QSlider>("term_channel_factor_slider");
    const int middle = slider->value();
    slider->setValue(slider->maximum());
    const double most = window_->history()->current().b.All<ChannelScaling>().at(0).factor;
    QTRY_COMPARE(box->text(), QString::number(most));
    slider->setValue(middle);
    QTRY_COMPARE(window_->history()->current().b.All<ChannelScaling>().at(0).factor, -0.25);
    QVERIFY2(box->text() == "-0.25", qPrintable(box->text()));
    QTRY_VERIFY_WITH_TIMEOUT(Settled(), kLongest);
    static const QRegularExpression number(QStringLiteral("[0-9]\\.[0-9]{2}</b> nats"));
    QTRY_VERIFY2(Find<QLabel>("answer_difference")->text().contains(number),
                 qPrintable(Find<QLabel>("answer_difference")->text()));
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::ScreenAndLanguageTest)
#include "screen_and_language_test.moc"
