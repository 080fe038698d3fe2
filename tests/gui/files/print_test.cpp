// SPDX-License-Identifier: MIT
// Every kind of plot as a picture of one column and of two: no two texts meet or leave the picture,
// nothing is elided, and half of the picture is the plotting area.
#include <QAccessible>
#include <QBuffer>
#include <QFile>
#include <QImage>
#include <QSet>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <utility>
#include <vector>

#include "gui/plots/attention_plot.h"
#include "gui/plots/outcome_plot.h"
#include "gui/plots/plot_labels.h"
#include "gui/plots/plot_picture.h"
#include "tests/gui/support/plot_kinds.h"
#include "tests/gui/support/run_tests.h"
#include "tests/gui/support/text_recorder.h"

namespace midscope {
namespace {

constexpr char kCaption[] =
    "SmolLM2-135M-Q4_1.gguf, float32; list:lines=20, seed 1, sample 0, place 10, 142 tokens; A: "
    "none; B: channel(100, factor=-1, layers=8-25, rows=answer)";

std::vector<DrawnText> TextsOf(const PlotPicture& picture, int dots_per_inch) {
  TextRecorder recorder(picture.size(), dots_per_inch);
  picture.Paint(&recorder);
  return recorder.texts();
}

// Describes the first fault; "" if there is none.
QString Fault(const std::vector<DrawnText>& texts, const QSize& size) {
  const QRectF inside = QRectF(QPointF(0, 0), size).adjusted(-1, -1, 1, 1);
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!inside.contains(texts[i].outline.boundingRect()))
      return QStringLiteral("“%1” leaves the picture").arg(texts[i].text);
    for (size_t j = 0; j < i; ++j) {
      const QRectF shared = texts[i].outline.intersected(texts[j].outline).boundingRect();
      if (shared.width() > 1 && shared.height() > 1)
        return QStringLiteral("“%1” meets “%2”").arg(texts[i].text, texts[j].text);
    }
  }
  return {};
}

QByteArray Written(const PlotPicture& picture, bool (PlotPicture::*write)(QIODevice*) const) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  (picture.*write)(&buffer);
  return buffer.data();
}

}  // namespace

class PrintTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void NoTwoLabelsMeet_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<int>("millimetres");
    for (size_t i = 0; i < Kinds().size(); ++i) {
      for (const int millimetres : {kOneColumn, kTwoColumns}) {
        QTest::addRow("%s, %d mm", Kinds()[i].name, millimetres)
            << static_cast<int>(i) << millimetres;
      }
    }
  }

  void NoTwoLabelsMeet() {
    QFETCH(const int, kind);
    QFETCH(const int, millimetres);
    const MadePlot plot = Kinds()[static_cast<size_t>(kind)].make();
    plot->SetCaption(QString::fromLatin1(kCaption));
    const PlotPicture picture(*plot, millimetres);
    const std::vector<DrawnText> texts = TextsOf(picture, plot->logicalDpiX());
    QVERIFY(texts.size() > 4);
    const QString fault = Fault(texts, picture.size());
    if (qEnvironmentVariableIsSet("MIDSCOPE_PICTURES")) {
      picture.Image().save(
          QStringLiteral("%1/%2.png")
              .arg(qEnvironmentVariable("MIDSCOPE_PICTURES"), QTest::currentDataTag()));
    }
    QVERIFY2(fault.isEmpty(), qPrintable(fault));
    QRect area;
    for (const QCPAxisRect* rect : plot->axisRects()) area = area.united(rect->rect());
    QVERIFY2(2 * area.height() >= picture.size().height() - 8,
             qPrintable(QString::number(area.height())));
    QCOMPARE(qRound(picture.millimetres().width()), millimetres);
  }

  // The sizes of plots in a window of 910 x 512 pixels, a screen of 1366 x 768 at 150 %.
  void NoTwoLabelsMeetOnASmallScreen_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<QSize>("size");
    const QStringList in_files_only = {"maps", "one map", "rows", "text"};
    for (size_t i = 0; i < Kinds().size(); ++i) {
      if (in_files_only.contains(Kinds()[i].name)) continue;
      for (const QSize& size : {QSize(240, 180), QSize(300, 190), QSize(620, 240)}) {
        QTest::addRow("%s, %d x %d", Kinds()[i].name, size.width(), size.height())
            << static_cast<int>(i) << size;
      }
    }
  }

  void NoTwoLabelsMeetOnASmallScreen() {
    QFETCH(const int, kind);
    QFETCH(const QSize, size);
    const MadePlot plot = Kinds()[static_cast<size_t>(kind)].make();
    plot->resize(size);
    for (int pass = 0; pass < 3; ++pass) plot->replot();
    TextRecorder recorder(size, plot->logicalDpiX());
    QCPPainter painter(&recorder);
    plot->toPainter(&painter, size.width(), size.height());
    painter.end();
    if (qEnvironmentVariableIsSet("MIDSCOPE_PICTURES")) {
      plot->toPixmap().save(
          QStringLiteral("%1/%2.png")
              .arg(qEnvironmentVariable("MIDSCOPE_PICTURES"), QTest::currentDataTag()));
    }
    const QString fault = Fault(recorder.texts(), size);
    QVERIFY2(fault.isEmpty(), qPrintable(fault));
    for (const QCPAxisRect* rect : plot->axisRects()) QVERIFY(rect->height() > 20);
  }

  // A screen reader gets the numbers in words.
  void PlotsAreDescribedInWords() {
    const auto words_of = [](Plot* plot) {
      return QAccessible::queryAccessibleInterface(plot)->text(QAccessible::Description);
    };
    for (const PlotKind& kind : Kinds()) {
      const MadePlot plot = kind.make();
      plot->resize(600, 400);
      plot->replot();
      const QString words = words_of(plot.get());
      QVERIFY2(words.startsWith(plot->title()), kind.name);
      QVERIFY2(plot->plottableCount() == 0 || words.contains(" values from "), qPrintable(words));
    }
    AttentionPlot plot;
    plot.resize(600, 400);
    plot.SetNames("A: none", "B");
    plot.SetRows({0.1, 0.25, 0.3, 0.4}, {});
    plot.SetMarkedKey(1);
    plot.replot();
    const QString words = words_of(&plot);
    QVERIFY2(words.contains("A: none: 4 values from 0.1 to 0.4, the largest at 3"),
             qPrintable(words));
    QVERIFY2(words.contains("A 0.25"), qPrintable(words));
    plot.SetRows({0.5, 0.5}, {});
    QVERIFY2(words_of(&plot).contains("2 values from 0.5 to 0.5"), qPrintable(words_of(&plot)));
  }

  void TheFilesHaveTheirSizeOnPaperAndTextAsText() {
    const MadePlot plot = Outcome(2, 5, false);
    const PlotPicture picture(*plot, kOneColumn);
    const QByteArray svg = Written(picture, &PlotPicture::WriteSvg);
    QVERIFY2(svg.contains("width=\"85.0"), svg.left(600));
    QVERIFY2(svg.contains("A, mean of 20</text>"), svg);
    const QByteArray pdf = Written(picture, &PlotPicture::WritePdf);
    QVERIFY(pdf.contains("/ToUnicode"));
    const qsizetype box = pdf.indexOf("/MediaBox [0 0 ");
    const double points = pdf.mid(box + 15, 12).split(' ').value(0).toDouble();
    QVERIFY2(std::abs(points - 85 * 72 / 25.4) < 1, pdf.mid(box, 60));
    const QImage png = QImage::fromData(Written(picture, &PlotPicture::WritePng));
    QCOMPARE(qRound(png.dotsPerMeterX() * 0.0254), 300);
    QVERIFY(std::abs(png.width() - 85 / 25.4 * 300) < 3);
  }

  void NothingIsElidedAndIntervalsAreNamed() {
    const MadePlot bars = Bars(24);
    QString all;
    for (const DrawnText& text : TextsOf(PlotPicture(*bars, kOneColumn), bars->logicalDpiX()))
      all += text.text + ' ';
    QVERIFY2(!all.contains(QChar(0x2026)), qPrintable(all));
    QVERIFY2(all.contains("places and samples)"), qPrintable(all));
    QCOMPARE(Lines(3, true, false)->title(), QString("mean of values"));  // not the array's name
    const MadePlot means = Outcome(2, 5, false);
    all.clear();
    for (const DrawnText& text : TextsOf(PlotPicture(*means, kOneColumn), means->logicalDpiX()))
      all += text.text + ' ';
    QVERIFY2(all.contains("95 % CI"), qPrintable(all));
  }

  // Long settings are letters, whose key is in the caption.
  void LongSettingsHaveAKeyInTheCaption() {
    const MadePlot plot = Outcome(3, 20, true);
    QString all;
    for (const DrawnText& text : TextsOf(PlotPicture(*plot, kOneColumn), plot->logicalDpiX()))
      all += text.text;
    all.remove(' ');
    for (int i = 0; i < 3; ++i) {
      const QString key = QString(QChar('a' + i)) + ":" + LongSetting(i);
      QVERIFY2(all.contains(QString(key).remove(' ')), qPrintable(all));
    }
    QCOMPARE(plot->graph(0)->name(), LongSetting(0));  // as before
  }

  // The pointer, selections and the dark colours of the screen are not in the picture, and are
  // still on the screen afterwards.
  void MarksOfTheScreenAreLeftOut() {
    AttentionPlot plot;
    QPalette dark;
    dark.setColor(QPalette::Base, Qt::black);
    dark.setColor(QPalette::Text, Qt::white);
    plot.UsePalette(dark);
    plot.SetRows({0.1, 0.2, 0.3, 0.4}, {});
    const QImage without = PlotPicture(plot, kOneColumn).Image();
    plot.SetMarkedKey(2);
    plot.SetRange({"", 1, 3});
    QVERIFY(PlotPicture(plot, kOneColumn).Image() == without);
    QCOMPARE(without.pixelColor(2, 2), QColor(Qt::white));
    QCOMPARE(plot.palette().color(QPalette::Base), QColor(Qt::black));
    QVERIFY(!plot.in_picture());
  }

  // The picture of a plot does not depend on the size of the plot on the screen.
  void ThePictureDoesNotDependOnTheScreen() {
    const MadePlot plot = Outcome(2, 20, false);
    plot->resize(300, 200);
    plot->replot();
    const QImage small = PlotPicture(*plot, kOneColumn).Image();
    plot->resize(1200, 800);
    plot->replot();
    QVERIFY(PlotPicture(*plot, kOneColumn).Image() == small);
  }

  // An axis of less than a decade has correct and different ticks.
  void ANarrowLogarithmicAxisHasCorrectTicks() {
    for (const auto& [low, high] :
         {std::pair(0.11, 0.13), std::pair(1.2, 7.0), std::pair(2.0, 9.9), std::pair(1e-6, 1.0)}) {
      AttentionPlot plot;
      plot.SetLogarithmic(true);
      plot.SetRows({low, high}, {});
      plot.resize(600, 400);
      plot.ShowAlongY(QCPRange(low, high));
      plot.replot();
      const QVector<double> ticks = plot.yAxis->tickVector();
      const QVector<QString> labels = plot.yAxis->tickVectorLabels();
      QSet<QString> seen;
      int inside = 0;
      for (qsizetype i = 0; i < ticks.size(); ++i) {
        if (ticks[i] < low || ticks[i] > high) continue;
        ++inside;
        QVERIFY2(std::abs(labels[i].toDouble() / ticks[i] - 1) < 1e-3,
                 qPrintable(labels[i] + " at " + QString::number(ticks[i])));
        QVERIFY2(!seen.contains(labels[i]), qPrintable(labels[i]));
        seen.insert(labels[i]);
      }
      QVERIFY2(inside >= 2, qPrintable(QString::number(low)));
    }
  }

  // Lines that end at one value have labels below each other; five lines have a legend.
  void FewLinesAreNamedAtTheirEnds() {
    OutcomePlot plot;
    plot.resize(600, 360);
    std::vector<OutcomePlot::Line> lines = OutcomeOf(4, 5, false);
    for (OutcomePlot::Line& line : lines) line.series.values = {1, 2, 3, 2, 1};
    plot.Show(lines, Measure::kNll);
    plot.replot();
    const std::vector<const QCPItemText*> labels = plot.curve_labels()->shown();
    QCOMPARE(labels.size(), size_t{4});
    QVERIFY(!plot.legend->visible());
    for (size_t i = 0; i < labels.size(); ++i) {
      QCOMPARE(labels[i]->text(), lines[i].name);
      const QRectF box(labels[i]->topLeft->pixelPosition(),
                       labels[i]->bottomRight->pixelPosition());
      QVERIFY2(QRectF(plot.viewport()).contains(box),
               qPrintable(QStringLiteral("%1 to %2, %3 to %4")
                              .arg(box.left())
                              .arg(box.right())
                              .arg(box.top())
                              .arg(box.bottom())));
      QVERIFY(box.left() > plot.axisRect()->right());
      for (size_t j = 0; j < i; ++j) {
        const QRectF other(labels[j]->topLeft->pixelPosition(),
                           labels[j]->bottomRight->pixelPosition());
        const QRectF shared = box.intersected(other);
        QVERIFY(shared.height() < 1 || shared.width() < 1);
      }
    }
    plot.Show(OutcomeOf(5, 5, false), Measure::kNll);
    plot.replot();
    QVERIFY(plot.curve_labels()->shown().empty());
    QVERIFY(plot.legend->visible() && plot.legend->layout());
    plot.Show(OutcomeOf(2, 5, false), Measure::kNll);
    plot.replot();
    QCOMPARE(plot.curve_labels()->shown().size(), size_t{2});
  }

  void APromptOfOneTokenHasAMark() {
    AttentionPlot plot;
    plot.SetRows({1}, {});
    QVERIFY(!plot.graph_of(Side::kA)->scatterStyle().isNone());
    plot.SetRows({0.5, 0.5}, {});
    QVERIFY(plot.graph_of(Side::kA)->scatterStyle().isNone());
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PrintTest)
#include "print_test.moc"
