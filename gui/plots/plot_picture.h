// SPDX-License-Identifier: GPL-3.0-or-later
// A plot as a picture for print, laid out for its width on paper, not for the screen: text of 8
// points (7 in captions and between panels), 300 dots per inch, light colours, full titles and axis
// labels, the caption below, and no marks of the pointer or of a selection. Tick labels that would
// overlap are left out.
#pragma once

#include <QIODevice>
#include <QImage>
#include <QSize>
#include <QSizeF>

namespace midscope {

class Plot;

// Widths of one and two columns of a page, in millimetres.
inline constexpr int kOneColumn = 85;
inline constexpr int kTwoColumns = 174;
inline constexpr int kDotsPerInch = 300;

// While it exists, the plot is in the state of a picture; afterwards it is as before.
class PlotPicture {
 public:
  PlotPicture(Plot& plot, int millimetres);
  ~PlotPicture();
  PlotPicture(const PlotPicture&) = delete;
  PlotPicture& operator=(const PlotPicture&) = delete;

  // The size of the layout, in pixels of the screen.
  QSize size() const { return size_; }
  // The size on paper. The height follows from the plot: at least half of it is the plotting area.
  QSizeF millimetres() const;

  // Draws into a device that has the resolution of the screen, scaled by `scale`. Returns whether
  // the device could be painted.
  bool Paint(QPaintDevice* device, double scale = 1) const;
  QImage Image(int dots_per_inch = kDotsPerInch) const;
  bool WritePng(QIODevice* file) const;
  bool WriteSvg(QIODevice* file) const;
  bool WritePdf(QIODevice* file) const;

 private:
  Plot& plot_;
  double pixels_per_millimetre_;
  QSize size_;
};

}  // namespace midscope
