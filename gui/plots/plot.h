// SPDX-License-Identifier: GPL-3.0-or-later
// What all plots share: a title, a legend row, colours of the palette, a tooltip, and the mouse:
// drag pans, wheel zooms (with Shift: x alone, with Alt: y alone), Ctrl+drag zooms into a box (Esc
// gives up), double click shows everything.
#pragma once

#include "gui/plots/custom_plot.h"

#include <QString>

namespace midscope {

class Plot : public QCustomPlot {
  Q_OBJECT

 public:
  // file_stem: the name of exported files, without its ending.
  Plot(const QString& title, const QString& file_stem, QWidget* parent = nullptr);

  // In full, also where the picture shows only what fits.
  const QString& title() const { return full_title_; }
  void SetTitle(const QString& title);
  const QString& file_stem() const { return file_stem_; }

  // Colours for export; the widget's own palette is used until then.
  void UsePalette(const QPalette& palette);

  // What the plot says from now on when it is shown nothing; empty: its own words.
  void SetReason(const QString& reason) { reason_ = reason; }

  // "B, not of what is asked: pi(1.5)": hatches the picture and says so in it; empty: it is of
  // what is asked.
  void SetOlderNote(const QString& note);
  // Model and prompt that the numbers are of, drawn below the plot in files alone.
  void SetCaption(const QString& caption) { caption_ = caption; }
  const QString& caption() const { return caption_; }
  // Puts the caption below the plot, for a file; and takes it away.
  void ShowCaption(bool shown);

  // Shows all data.
  virtual void ResetView() = 0;
  // What the tooltip says at a place of the widget; empty for none.
  virtual QString TooltipAt(const QPointF& position) const = 0;

  static QString MouseHelp();

 protected:
  // A legend in a row of its own below the title, so that it never covers data; names go on in
  // further rows where they do not fit, or beyond so many in one (0: any number).
  void UseLegendRow(int most_in_a_row = 0);
  // Zero-width (dimmed) message in the middle of an empty plot.
  void SetEmptyMessage(const QString& message);
  virtual void RestyleData() {}

  void draw(QCPPainter* painter) override;

  void changeEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

  virtual void HoverAt(const QPointF& position) { Q_UNUSED(position); }
  virtual void HoverEnds() {}
  // A press and release at the same place.
  virtual void ClickAt(const QPointF& position) { Q_UNUSED(position); }

 private:
  void FitText();
  void FitLegend(int width);

  QCPTextElement* title_;
  QString full_title_;
  QString reason_;
  int most_in_a_row_ = -1;  // of the legend; -1: it has no row
  QCPItemText* empty_message_ = nullptr;
  QString empty_text_;  // in one line
  QString file_stem_;
  QString caption_;
  QCPTextElement* caption_text_ = nullptr;  // null: not drawn
  QCPItemRect* older_hatch_ = nullptr;
  QCPItemText* older_text_ = nullptr;
  QString older_note_;  // in one line
  QPointF press_position_;
};

}  // namespace midscope
