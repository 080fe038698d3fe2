// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/plot_picture.h"

#include <QBuffer>
#include <QFontInfo>
#include <QPageSize>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSvgGenerator>
#include <cmath>

#include "gui/plots/plot.h"

namespace midscope {
namespace {

constexpr double kTextPoints = 8;
constexpr double kMillimetresPerInch = 25.4;
constexpr double kPointsPerInch = 72;
constexpr double kMillimetresPerMetre = 1000;

// QSvgGenerator computes the size on paper from the resolution of the screen, which also scales
// text; replaces only the size.
QByteArray WithSize(QByteArray svg, const QSizeF& millimetres) {
  static const QRegularExpression attributes(QStringLiteral("width=\"[^\"]*\" height=\"[^\"]*\""));
  const QString head = QString::fromUtf8(svg.left(svg.indexOf("viewBox")));
  const QRegularExpressionMatch match = attributes.match(head);
  if (!match.hasMatch()) return svg;
  const QString size = QStringLiteral("width=\"%1mm\" height=\"%2mm\"")
                           .arg(millimetres.width(), 0, 'f', 2)
                           .arg(millimetres.height(), 0, 'f', 2);
  return svg.replace(match.captured(0).toUtf8(), size.toUtf8());
}

// Replaces the creation time by a fixed text of the same length, so that all offsets stay valid.
// Equal plots then give equal PDF files, as for PNG and SVG.
void FixPdfDate(QByteArray& pdf) {
  const QByteArray key("/CreationDate (");
  const qsizetype begin = pdf.indexOf(key) + key.size();
  const qsizetype end = pdf.indexOf(')', begin);
  if (begin < key.size() || end < 0) return;
  const QByteArray fixed = QByteArray("D:19700101000000Z)").leftJustified(end + 1 - begin, ' ');
  pdf.replace(begin, end + 1 - begin, fixed.left(end + 1 - begin));
}

}  // namespace

PlotPicture::PlotPicture(Plot& plot, int millimetres)
    : plot_(plot),
      pixels_per_millimetre_(QFontInfo(plot.font()).pixelSize() * kPointsPerInch /
                             (kTextPoints * kMillimetresPerInch)) {
  plot_.BeginPicture();
  const int width = static_cast<int>(std::lround(millimetres * pixels_per_millimetre_));
  pixels_per_millimetre_ = width / static_cast<double>(millimetres);
  size_ = {width, plot_.FitPicture(width)};
}

PlotPicture::~PlotPicture() { plot_.EndPicture(); }

QSizeF PlotPicture::millimetres() const { return QSizeF(size_) / pixels_per_millimetre_; }

bool PlotPicture::Paint(QPaintDevice* device, double scale) const {
  QCPPainter painter;
  if (!painter.begin(device)) return false;
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  painter.setMode(QCPPainter::pmNonCosmetic);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(scale, scale);
  painter.fillRect(QRect(QPoint(0, 0), size_), Qt::white);
  plot_.toPainter(&painter, size_.width(), size_.height());
  return painter.end();
}

QImage PlotPicture::Image(int dots_per_inch) const {
  const double scale = dots_per_inch / kMillimetresPerInch / pixels_per_millimetre_;
  QImage image((QSizeF(size_) * scale).toSize(), QImage::Format_RGB32);
  image.fill(Qt::white);
  Paint(&image, scale);
  // Set last, because an image with a resolution would scale its text.
  const int dots = qRound(dots_per_inch * kMillimetresPerMetre / kMillimetresPerInch);
  image.setDotsPerMeterX(dots);
  image.setDotsPerMeterY(dots);
  return image;
}

bool PlotPicture::WritePng(QIODevice* file) const { return Image().save(file, "PNG"); }

bool PlotPicture::WriteSvg(QIODevice* file) const {
  QBuffer drawn;
  QSvgGenerator generator;
  generator.setOutputDevice(&drawn);
  generator.setSize(size_);
  generator.setViewBox(QRect(QPoint(0, 0), size_));
  generator.setResolution(plot_.logicalDpiX());
  generator.setTitle(plot_.title());
  generator.setDescription(plot_.caption().isEmpty() ? QStringLiteral("Midscope")
                                                     : plot_.caption());
  if (!Paint(&generator)) return false;
  const QByteArray svg = WithSize(drawn.data(), millimetres());
  return file->write(svg) == svg.size();
}

bool PlotPicture::WritePdf(QIODevice* file) const {
  QBuffer drawn;
  drawn.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&drawn);
    writer.setCreator(QStringLiteral("Midscope"));
    writer.setTitle(plot_.title());
    writer.setResolution(plot_.logicalDpiX());
    writer.setPageSize(
        QPageSize(millimetres(), QPageSize::Millimeter, QString(), QPageSize::ExactMatch));
    writer.setPageMargins(QMarginsF());
    const double scale = plot_.logicalDpiX() / kMillimetresPerInch / pixels_per_millimetre_;
    if (!Paint(&writer, scale)) return false;
  }
  QByteArray pdf = drawn.data();
  FixPdfDate(pdf);
  return file->write(pdf) == pdf.size();
}

}  // namespace midscope
