// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/plot_picture.h"

#include <QBuffer>
#include <QFontInfo>
#include <QPageSize>
#include <QPdfWriter>
#include <QPointer>
#include <QRegularExpression>
#include <QSvgGenerator>
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "gui/plots/plot.h"
#include "gui/plots/plot_files.h"
#include "gui/plots/plot_labels.h"
#include "gui/plots/plot_style.h"

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

// Plot: the state of a picture for print (gui/plots/plot_picture.h).

namespace {

constexpr double kUsualArea = 0.45;     // height of the plotting area by the width of the picture
constexpr qsizetype kLongestName = 40;  // of a line in the legend; tables have the same limit
constexpr int kLetters = 26;
constexpr int kPasses = 3;  // text and layout depend on each other

// Returns "a" to "z", "a1" to "z1", ... as in tables; capital letters are settings of the window.
QString LetterOf(qsizetype index) {
  QString letter(QLatin1Char(static_cast<char>('a' + index % kLetters)));
  if (index >= kLetters) letter += QString::number(index / kLetters);
  return letter;
}

}  // namespace

struct Plot::PictureState {
  struct AxisState {
    QPointer<QCPAxis> axis;
    QString label;    // as on the screen
    QString in_full;  // in the picture
    QCPRange range;
    double rotation;  // of the tick labels
  };
  struct NameState {
    QPointer<QCPAbstractPlottable> line;
    QString name;
  };
  bool own_palette = false;
  QPalette palette;
  std::vector<QPointer<QCPLayerable>> hidden;
  std::vector<QPointer<QCPColorScale>> scales;  // not on the screen: a plot beside it has the same
  std::vector<AxisState> axes;
  std::vector<NameState> names;
  QString key;  // what letters in the legend mean; "": there are none
  std::unique_ptr<ThinLabels> thin;
};

Plot::~Plot() = default;

void Plot::HideInPictures(QCPLayerable* mark) { screen_marks_.emplace_back(mark); }

bool Plot::HasErrorBars() {
  for (int i = 0; i < plottableCount(); ++i) {
    if (qobject_cast<QCPErrorBars*>(plottable(i))) return true;
  }
  return false;
}

void Plot::BeginPicture() {
  auto state = std::make_shared<PictureState>();
  state->own_palette = testAttribute(Qt::WA_SetPalette);
  state->palette = palette();
  UsePalette(LightPalette());
  if (selectionRect()->isActive()) selectionRect()->cancel();
  for (const QPointer<QCPLayerable>& mark : screen_marks_) {
    if (!mark || !mark->visible()) continue;
    mark->setVisible(false);
    state->hidden.push_back(mark);
  }
  for (QCPColorScale* scale : findChildren<QCPColorScale*>()) {
    if (scale->layout()) continue;
    scale->setVisible(true);
    plotLayout()->addElement(1, 1, scale);
    state->scales.emplace_back(scale);
  }
  const auto keep = [&state, this](QCPAxis* axis) {
    const QString full = PictureLabel(*axis);
    state->axes.push_back({axis, axis->label(), full, axis->range(), axis->tickLabelRotation()});
  };
  for (const QCPAxisRect* rect : axisRects()) {
    for (QCPAxis* axis : rect->axes()) keep(axis);
  }
  for (int i = 0; i < plotLayout()->elementCount(); ++i) {
    if (auto* scale = qobject_cast<QCPColorScale*>(plotLayout()->elementAt(i))) keep(scale->axis());
  }
  picture_ = std::move(state);
  ShortenNames();
  ShowCaption(true);
}

// If a name of the legend is too long, all names become letters, and the caption has the key.
void Plot::ShortenNames() {
  if (!legend || most_in_a_row_ < 0) return;  // no legend is drawn
  std::vector<PictureState::NameState> names;
  bool any_long = false;
  for (int i = 0; i < legend->itemCount(); ++i) {
    auto* item = qobject_cast<QCPPlottableLegendItem*>(legend->item(i));
    if (!item) continue;
    names.push_back({item->plottable(), item->plottable()->name()});
    any_long = any_long || names.back().name.size() > kLongestName;
  }
  if (!any_long) return;
  QStringList key;
  for (size_t i = 0; i < names.size(); ++i) {
    const QString letter = LetterOf(static_cast<qsizetype>(i));
    names[i].line->setName(letter);
    key << QStringLiteral("%1: %2").arg(letter, names[i].name);
  }
  picture_->names = std::move(names);
  picture_->key = key.join(QStringLiteral("; "));
}

QString Plot::PictureCaption() {
  QStringList parts;
  if (!caption_.isEmpty()) parts << caption_;
  if (picture_ && !picture_->key.isEmpty()) parts << picture_->key;
  if (HasErrorBars() && !caption_.contains(QStringLiteral("95 %"))) parts << tr("bars: 95 % CI");
  return parts.join(QStringLiteral("; "));
}

// The height of the plotting area, including the space between panels.
int Plot::AreaHeight() const {
  QRect area;
  for (const QCPAxisRect* rect : axisRects()) area = area.united(rect->rect());
  return area.height();
}

int Plot::PictureArea(int width) { return static_cast<int>(std::lround(width * kUsualArea)); }

// Breaks labels at the ends of their axes.
void Plot::FitLabels() {
  for (const PictureState::AxisState& state : picture_->axes) {
    if (!state.axis || state.in_full.isEmpty()) continue;
    const QSize area = state.axis->axisRect()->size();
    const int length = state.axis->orientation() == Qt::Horizontal ? area.width() : area.height();
    state.axis->setLabel(
        Wrapped(state.in_full, QFontMetrics(state.axis->labelFont()), std::max(length, 1)));
  }
}

void Plot::SettlePicture() {
  for (int pass = 0; pass < kPasses; ++pass) {
    Q_EMIT beforeReplot();
    updateLayout();
    FitLabels();
  }
  updateLayout();
}

int Plot::FitPicture(int width) {
  const QRect screen = viewport();
  const int least = PictureArea(width);
  int height = 2 * least;
  for (int pass = 0; pass < kPasses; ++pass) {
    setViewport(QRect(0, 0, width, height));
    SettlePicture();
    if (pass == 0) ArrangePicture();
    const int others = height - AreaHeight();
    height = others + std::max(least, others);  // at least half of the picture is the area
  }
  picture_->thin = std::make_unique<ThinLabels>(*this);
  setViewport(screen);
  return height;
}

void Plot::EndPicture() {
  const std::shared_ptr<PictureState> state = std::exchange(picture_, nullptr);
  state->thin.reset();
  ShowCaption(false);
  for (const PictureState::NameState& name : state->names) {
    if (name.line) name.line->setName(name.name);
  }
  for (const PictureState::AxisState& axis : state->axes) {
    if (!axis.axis) continue;
    axis.axis->setLabel(axis.label);
    axis.axis->setTickLabelRotation(axis.rotation);
    axis.axis->setRange(axis.range);
  }
  for (const QPointer<QCPLayerable>& mark : state->hidden) {
    if (mark) mark->setVisible(true);
  }
  for (const QPointer<QCPColorScale>& scale : state->scales) {
    if (!scale) continue;
    scale->setVisible(false);
    plotLayout()->take(scale);
    plotLayout()->simplify();
  }
  UsePalette(state->palette);
  if (!state->own_palette) setPalette(QPalette());
  QueueReplot();
}

}  // namespace midscope
