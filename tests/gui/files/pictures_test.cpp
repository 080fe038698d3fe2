// SPDX-License-Identifier: MIT
// Edge cases of pictures: maps of one row or column, lines of one point, the desktop's language.
#include <QFile>
#include <QImage>
#include <QLocale>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <numeric>
#include <vector>

#include "gui/plots/attention_plot.h"
#include "gui/plots/lines_plot.h"
#include "gui/plots/maps/head_map_plot.h"
#include "gui/plots/panels_plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_picture.h"
#include "gui/plots/plot_style.h"
#include "gui/plots/record_plot.h"
#include "gui/plots/tokens/token_grid_plot.h"
#include "tests/gui/support/run_tests.h"

namespace midscope {
namespace {

constexpr int kShapes[][2] = {{1, 1}, {1, 3}, {3, 1}, {2, 3}};  // rows, columns

Record RecordOf(int rows, int columns) {
  Record record;
  record.name = "numbers";
  record.axes = {{"row", rows, "", {}, {}}, {"column", columns, "", {}, {}}};
  std::vector<double> values(static_cast<size_t>(rows * columns));
  std::iota(values.begin(), values.end(), 1.0);
  record.arrays = {{"values", {"row", "column"}, values, "", ""}};
  return record;
}

// Returns "" if every cell is painted, at its centre and a tenth of its width from each edge.
QString Unpainted(Plot& plot, int rows, int columns, const QCPAxisRect* rect) {
  plot.UsePalette(LightPalette());
  plot.resize(600, 400);
  plot.replot();
  const QImage image = plot.grab().toImage();
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      for (const double from_middle : {-0.4, 0.1, 0.4}) {
        const QPoint at(qRound(rect->axis(QCPAxis::atBottom)->coordToPixel(column + from_middle)),
                        qRound(rect->axis(QCPAxis::atLeft)->coordToPixel(row + from_middle)));
        if (image.pixelColor(at).saturation() < 20)
          return QStringLiteral("cell %1, %2: %3")
              .arg(row)
              .arg(column)
              .arg(image.pixelColor(at).name());
      }
    }
  }
  return {};
}

QByteArray Bytes(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

}  // namespace

class PicturesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void MapsOfOneRowOrColumnArePainted() {
    for (const auto& [rows, columns] : kShapes) {
      const Record record = RecordOf(rows, columns);
      RecordPlot record_plot;
      record_plot.Show(&record, "values", {}, RecordForm::kHeatMap);
      QCOMPARE(Unpainted(record_plot, rows, columns, record_plot.axisRect()), QString());

      PanelsPlot panels;
      QVector<QVector<double>> numbers;
      for (int row = 0; row < rows; ++row) numbers.append(QVector<double>(columns, row + 1));
      panels.ShowMaps(
          {{QStringLiteral("first"), numbers, {0, 0}}},
          {QStringLiteral("setting"), QStringLiteral("place"), QStringLiteral("s"), {}, {}});
      QCOMPARE(Unpainted(panels, rows, columns, panels.axisRect()), QString());

      HeadMapPlot heads;
      HeadMap map;
      map.table = {std::vector<double>(static_cast<size_t>(rows * columns), 0.5), rows, columns};
      heads.Show(map);
      QCOMPARE(Unpainted(heads, rows, columns, heads.axisRect()), QString());

      TokenGridPlot tokens(QStringLiteral("layer"), QStringLiteral("tokens"));
      TokenGridPlot::Grid grid;
      for (int column = 0; column < columns; ++column) grid.columns << QStringLiteral("t");
      for (int cell = 0; cell < rows * columns; ++cell)
        grid.cells.append(TokenGridPlot::Cell{QString(), 0.5});
      tokens.Show(grid);
      QCOMPARE(Unpainted(tokens, rows, columns, tokens.axisRect()), QString());
    }
  }

  void TheNumbersOfSuchAMapHaveTheirCoordinates() {
    const Record record = RecordOf(1, 1);
    RecordPlot plot;
    plot.Show(&record, "values", {}, RecordForm::kHeatMap);
    QVERIFY2(PlotCsv(plot).contains("\n0,0,1\n"), qPrintable(PlotCsv(plot)));
    PanelsPlot panels;
    const PanelsPlot::Axes axes = {QStringLiteral("place"),
                                   QStringLiteral("setting"),
                                   QStringLiteral("s"),
                                   {},
                                   {QStringLiteral("none")}};
    panels.ShowMaps({{QString(), {QVector<double>{5, 6}}, {0, 0}}}, axes);
    QVERIFY2(PlotCsv(panels).contains("\nnone,1,6\n"), qPrintable(PlotCsv(panels)));
  }

  void ALineOfOnePointHasADot() {
    const Record record = RecordOf(2, 1);
    RecordPlot plot;
    plot.Show(&record, "values", {}, RecordForm::kLines);
    QVERIFY(!plot.graph(0)->scatterStyle().isNone());
    LinesPlot lines;
    lines.Show(&record, {"values"});
    QVERIFY(!lines.graph(1)->scatterStyle().isNone());
    const Record longer = RecordOf(2, 2);
    lines.Show(&longer, {"values"});
    QVERIFY(lines.graph(1)->scatterStyle().isNone());
  }

  // Pictures are equal byte by byte, with a logarithmic and a linear axis.
  void PicturesDoNotDependOnTheLanguage() {
    QTemporaryDir folder;
    QVector<double> row;
    for (int i = 0; i < 40; ++i) row.append(std::pow(10.0, -7.0 * i / 40));
    const QLocale before;
    std::vector<QByteArray> pictures;
    for (const char* name : {"C", "en_US", "de_DE", "ar_EG", "fa_IR"}) {
      QLocale::setDefault(QLocale(QString::fromLatin1(name)));
      AttentionPlot logarithmic;
      logarithmic.SetLogarithmic(true);
      logarithmic.SetRows(row, {});
      AttentionPlot linear;
      linear.SetRows(row, {});
      QByteArray both;
      for (AttentionPlot* plot : {&logarithmic, &linear}) {
        const QString path = folder.filePath(QStringLiteral("plot.svg"));
        WritePlot(*plot, path, QStringLiteral("svg"), kTwoColumns);
        both += Bytes(path);
      }
      pictures.push_back(both);
    }
    QLocale::setDefault(before);
    for (const QByteArray& picture : pictures) QVERIFY(picture == pictures.front());
    QVERIFY(!pictures.front().contains("1E-07"));
  }

  void APdfHasNoTimeOfItsOwn() {
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("plot.pdf"));
    const Record record = RecordOf(2, 3);
    RecordPlot plot;
    plot.Show(&record, "values", {}, RecordForm::kHeatMap);
    WritePlot(plot, path, QStringLiteral("pdf"), kTwoColumns);
    const QByteArray bytes = Bytes(path);
    QVERIFY(bytes.contains("/CreationDate (D:19700101000000Z)"));
    QCOMPARE(bytes.count("Date"), 1);
  }
};

}  // namespace midscope

MIDSCOPE_GUI_TEST(midscope::PicturesTest)
#include "pictures_test.moc"
