// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/plots/plot.h"

#include "gui/plots/plot_files.h"
#include "gui/plots/plot_labels.h"
#include "gui/plots/plot_style.h"

namespace midscope {
namespace {

constexpr qsizetype kDense = 2;  // points per pixel above which the dashes of a line are invisible
constexpr double kSmallPrint = 0.88;  // 7 points in pictures whose text has 8

}  // namespace

Plot::Plot(const QString& title, const QString& file_stem, QWidget* parent)
    : QCustomPlot(parent), full_title_(title), file_stem_(file_stem) {
  // Axes format numbers with the widget's locale, and QCustomPlot prints powers of ten correctly
  // only for the C locale.
  setLocale(QLocale::c());
  setStatusTip(MouseHint());
  setAccessibleName(title);
  OfferPlotsInWords();
  QFont title_font = font();
  title_font.setBold(true);
  plotLayout()->insertRow(0);
  title_ = new QCPTextElement(this, title, title_font);
  title_->setMargins(QMargins(4, 4, 4, 2));
  plotLayout()->addElement(0, 0, title_);
  // Without this flag, Qt joins the segments, which takes seconds for a thick zigzag line of
  // thousands of points.
  setPlottingHint(QCP::phFastPolylines, true);
  connect(this, &QCustomPlot::beforeReplot, this, &Plot::FitText);
  connect(this, &QCustomPlot::beforeReplot, this, &Plot::DrawDenseLinesSolid);
  connect(this, &QCustomPlot::afterLayout, this, &Plot::FitYAxis);
  connect(this, &QCustomPlot::beforeReplot, this, [this] {
    if (in_picture()) return;
    thin_ = std::make_unique<ThinLabels>(*this);
    updateLayout();  // labels are left out by the sizes of the last layout
    thinned_for_ = axisRectCount() > 0 ? axisRect()->size() : QSize();
  });
  connect(this, &QCustomPlot::afterReplot, this, [this] {
    drawn_fast_ = dragging_;
    thin_.reset();
    // Once more, because labels that were left out change the sizes; not twice, because the sizes
    // may alternate.
    const bool other = !in_picture() && axisRectCount() > 0 && axisRect()->size() != thinned_for_;
    repeats_ = other && !repeats_;
    if (repeats_) QueueReplot();
    NoteNewWords(this);
  });
  setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  selectionRect()->setPen(QPen(GoldColor(), 1, Qt::DashLine));
  // By default, QCustomPlot does not propagate right clicks to the dock, whose menu serves all its
  // plots.
  setAttribute(Qt::WA_NoMousePropagation, false);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(240, 130);
  for (QCPAxis* axis : {xAxis, yAxis}) {
    axis->setLabelFont(font());
    axis->setTickLabelFont(font());
  }
  ApplyPalette(this, palette());
}

void Plot::SetTitle(const QString& title) {
  if (title == full_title_) return;
  full_title_ = title;
  setAccessibleName(title);
  QueueReplot();
}

void Plot::QueueReplot() {
  if (in_picture()) return;
  replot_waits_ = !isVisible() && window()->isVisible();
  if (!replot_waits_) replot(rpQueuedReplot);
}

void Plot::showEvent(QShowEvent* event) {
  QCustomPlot::showEvent(event);
  if (replot_waits_) QueueReplot();
}

void Plot::SetDragging(bool dragging) {
  if (dragging == dragging_) return;
  dragging_ = dragging;
  setNotAntialiasedElements(dragging ? QCP::aePlottables | QCP::aeScatters
                                     : QCP::AntialiasedElements(QCP::aeNone));
  RestyleData();
  if (!dragging && drawn_fast_) QueueReplot();
}

QPen Plot::LinePen(const QColor& color, double width, Qt::PenStyle style) const {
  return {color, dragging_ ? 1 : width, style};
}

// If a line has more points than pixels, its dashes are invisible, and drawing them takes Qt
// seconds.
void Plot::DrawDenseLinesSolid() {
  for (int i = 0; axisRectCount() > 0 && i < graphCount(); ++i) {
    QCPGraph* line = graph(i);
    const auto known = dense_.find(line);
    if (known != dense_.end()) {
      if (line->pen() == known->second.drawn) line->setPen(known->second.own);
      dense_.erase(known);
    }
    const QPen pen = line->pen();
    const bool dashed = pen.style() != Qt::SolidLine && pen.style() != Qt::NoPen;
    if (!dashed || !line->visible()) continue;
    const QCPRange shown = line->keyAxis()->range();
    const auto points = line->data()->findEnd(shown.upper) - line->data()->findBegin(shown.lower);
    if (points < kDense * axisRect()->width()) continue;
    QPen solid = pen;
    solid.setStyle(Qt::SolidLine);
    QColor paler = pen.color();
    paler.setAlpha(paler.alpha() * 2 / 3);
    solid.setColor(paler);
    line->setPen(solid);
    dense_[line] = {pen, solid};
  }
}

// On the screen, text is fitted before each replot; a picture has no such event.
void Plot::draw(QCPPainter* painter) {
  if (in_picture()) {
    SettlePicture();
  } else {
    FitText();
    thin_ = std::make_unique<ThinLabels>(*this);
    updateLayout();
  }
  QCustomPlot::draw(painter);
  thin_.reset();
}

void Plot::PutOnMarksLayer(QCPLayerable* mark) {
  const QString name = QStringLiteral("marks");
  if (!layer(name)) {
    addLayer(name, layer(QStringLiteral("main")), QCustomPlot::limAbove);
    layer(name)->setMode(QCPLayer::lmBuffered);
  }
  mark->setLayer(name);
  HideInPictures(mark);
}

void Plot::ReplotMarks() {
  if (isVisible()) {
    layer(QStringLiteral("marks"))->replot();
  } else {
    QueueReplot();
  }
}

void Plot::UsePalette(const QPalette& chosen) {
  setPalette(chosen);
  ApplyPalette(this, chosen);
  ColourMessage();
  RestyleData();
}

void Plot::UseLegendRow(int most_in_a_row) {
  most_in_a_row_ = most_in_a_row;
  plotLayout()->insertRow(1);
  plotLayout()->addElement(1, 0, legend);
  legend->setFillOrder(QCPLegend::foColumnsFirst);
  legend->setMargins(QMargins(4, 0, 4, 0));
  legend->setFont(font());
  legend->setIconSize(22, 10);
  // An empty legend has a maximum width of 0, which would also limit the axes in its column.
  // Margins are added to the maximum, and a value above QWIDGETSIZE_MAX would not be a valid
  // maximum.
  legend->setMaximumSize(QWIDGETSIZE_MAX / 2, QWIDGETSIZE_MAX);
  plotLayout()->setRowStretchFactor(1, 0.001);
  legend->setVisible(true);
  ApplyPalette(this, palette());
}

void Plot::UseCurveLabels() {
  curve_labels_ = std::make_unique<CurveLabels>(this, 1);
  connect(this, &QCustomPlot::afterLayout, this, [this] { curve_labels_->Place(); });
}

void Plot::SetEmptyMessage(const QString& message) {
  if (!empty_message_) {
    empty_message_ = new QCPItemText(this);
    // In the middle of the plot, where hidden axes and colour scales leave it the whole width.
    empty_message_->position->setType(QCPItemPosition::ptViewportRatio);
    empty_message_->position->setCoords(0.5, 0.5);
    empty_message_->setClipToAxisRect(false);
    empty_message_->setTextAlignment(Qt::AlignCenter);
  }
  ColourMessage();
  empty_message_->setFont(font());
  empty_text_ = message.isEmpty() || reason_.isEmpty() ? message : reason_;
  empty_message_->setVisible(!message.isEmpty());
  // Hides ticks if there are no numbers.
  for (QCPAxis* axis : {xAxis, yAxis}) {
    if (axis) axis->setVisible(message.isEmpty());
  }
}

void Plot::ColourMessage() {
  if (!empty_message_) return;
  QColor color = palette().color(QPalette::Text);
  color.setAlpha(170);
  empty_message_->setColor(color);
}

void Plot::SetOlderNote(const QString& note) {
  if (note == older_note_) return;
  older_note_ = note;
  if (!older_hatch_) {
    older_hatch_ = new QCPItemRect(this);
    for (QCPItemPosition* corner : {older_hatch_->topLeft, older_hatch_->bottomRight}) {
      corner->setType(QCPItemPosition::ptAxisRectRatio);
    }
    older_hatch_->topLeft->setCoords(0, 0);
    older_hatch_->bottomRight->setCoords(1, 1);
    older_hatch_->setPen(Qt::NoPen);
    older_hatch_->setBrush(QBrush(QColor(128, 128, 128, 190), Qt::BDiagPattern));
    older_text_ = new QCPItemText(this);
    older_text_->position->setType(QCPItemPosition::ptAxisRectRatio);
    older_text_->position->setCoords(0.5, 0.02);
    older_text_->setPositionAlignment(Qt::AlignHCenter | Qt::AlignTop);
    older_text_->setTextAlignment(Qt::AlignCenter);
    older_text_->setPadding(QMargins(5, 2, 5, 2));
    older_text_->setFont(font());
  }
  older_hatch_->setVisible(!note.isEmpty());
  older_text_->setVisible(!note.isEmpty());
  older_text_->setColor(palette().color(QPalette::Text));
  older_text_->setBrush(palette().color(QPalette::Base));
  older_text_->setPen(palette().color(QPalette::Text));
  QueueReplot();
}

void Plot::ShowCaption(bool shown) {
  if (shown == (caption_text_ != nullptr) || (shown && PictureCaption().isEmpty())) return;
  if (!shown) {
    plotLayout()->remove(caption_text_);
    if (curve_labels_) curve_labels_->ShowLegend(true);  // its row must not be removed
    plotLayout()->simplify();
    caption_text_ = nullptr;
    return;
  }
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * kSmallPrint);
  caption_text_ = new QCPTextElement(this, PictureCaption(), small);
  caption_text_->setTextFlags(Qt::AlignLeft | Qt::AlignVCenter);
  caption_text_->setMargins(QMargins(4, 2, 4, 4));
  plotLayout()->addElement(plotLayout()->rowCount(), 0, caption_text_);
  ApplyPalette(this, palette());
}

void Plot::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) {
    ApplyPalette(this, palette());
    ColourMessage();
    RestyleData();
    QueueReplot();
  }
}

void Plot::FitView() {
  const QCPRange x = xAxis->range();
  const QCPRange y = yAxis->range();
  ResetView();
  if (held_ & Qt::Horizontal) xAxis->setRange(x);
  if (held_ & Qt::Vertical) yAxis->setRange(y);
}

void Plot::ShowAlongX(const QCPRange& range) {
  if ((held_ & Qt::Horizontal) && range == xAxis->range()) return;
  held_ |= Qt::Horizontal;
  xAxis->setRange(range);
  QueueReplot();
}

void Plot::ShowAllAlongX() {
  if (!(held_ & Qt::Horizontal)) return;
  held_.setFlag(Qt::Horizontal, false);
  FitView();
  QueueReplot();
}

void Plot::ShowAlongY(const QCPRange& range) {
  held_ |= Qt::Vertical;
  yAxis->setRange(range);
  QueueReplot();
}

}  // namespace midscope
