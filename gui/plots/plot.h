// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of all plots: title, legend row, palette, tooltip and mouse: drag pans, wheel zooms
// (with Shift: x only, with Alt: y only), Ctrl+drag zooms into a box (Esc cancels), double click
// shows all data; arrows pan, + and - zoom, Home shows all data. A plot with the focus has a frame.
// An axis that the user has moved keeps its range until then (FitView).
#pragma once

#include "gui/plots/custom_plot.h"

#include <QString>
#include <map>

namespace midscope {

class Plot : public QCustomPlot {
  Q_OBJECT

 public:
  // file_stem: the name of exported files, without its ending.
  Plot(const QString& title, const QString& file_stem, QWidget* parent = nullptr);

  // The full title, also where the plot shows an elided one.
  const QString& title() const { return full_title_; }
  void SetTitle(const QString& title);
  const QString& file_stem() const { return file_stem_; }
  void SetFileStem(const QString& stem) { file_stem_ = stem; }

  // Sets colours for export; without this call the widget's palette is used.
  void UsePalette(const QPalette& palette);

  // Replots before the next painting: at once at most, and only when the plot is seen, if its
  // window is (a hidden one in a shown window waits for its next showing).
  void QueueReplot();
  // While a slider is dragged: lines without antialiasing, of one pixel, and no dots. A plot that
  // was drawn so is drawn again at the end.
  void SetDragging(bool dragging);

  // The message of the plot while it is empty; "": its own default.
  void SetReason(const QString& reason) { reason_ = reason; }

  // "B, not of what is asked: pi(1.5)": hatches the plot and shows the note; empty: the plot shows
  // the requested setting.
  void SetOlderNote(const QString& note);
  // Model and prompt of the numbers, drawn below the plot in files only.
  void SetCaption(const QString& caption) { caption_ = caption; }
  const QString& caption() const { return caption_; }
  // Shows or hides the caption below the plot, for a file.
  void ShowCaption(bool shown);

  // The size of a picture in a file, where `size` is requested: pictures of a text grow with it.
  virtual QSize FileSize(const QSize& size) { return size; }
  // Data drawn beside lines and maps, as CSV with a header; "" for none.
  virtual QString Table() const { return {}; }

  // Shows all data.
  virtual void ResetView() = 0;
  // Shows all data along the axes whose ranges the user has not chosen.
  void FitView();
  // Forgets which ranges the user has chosen: for other data than before.
  void ReleaseView() { held_ = {}; }
  void ReleaseAlongY() { held_.setFlag(Qt::Vertical, false); }
  // The axes whose ranges the user has chosen.
  Qt::Orientations held() const { return held_; }
  // Shows this part of the x axis as if the user had chosen it, or all data along it; emits
  // nothing.
  void ShowAlongX(const QCPRange& range);
  void ShowAllAlongX();
  // Shows this part of the y axis as if the user had chosen it.
  void ShowAlongY(const QCPRange& range);
  // The tooltip's text at a position of the widget; empty for none.
  virtual QString TooltipAt(const QPointF& position) const = 0;

  static QString MouseHelp();

 Q_SIGNALS:
  // Emitted when the user has chosen the part of the x axis that is shown.
  void ViewedAlongX(double lower, double upper);
  // Emitted when the user has chosen to view all data.
  void ViewedAll();
  // Emitted for Esc, unless it cancels a zoom.
  void ReleaseRequested();

 protected:
  // A legend in a row below the title, so that it never covers data; it wraps into further rows
  // where names do not fit, or beyond `most_in_a_row` names (0: any number).
  void UseLegendRow(int most_in_a_row = 0);
  // A dimmed message in the middle of an empty plot, which does not widen it.
  void SetEmptyMessage(const QString& message);
  // The layer of marks that follow the pointer: ReplotMarks draws it without the data.
  void PutOnMarksLayer(QCPLayerable* mark);
  void ReplotMarks();
  virtual void RestyleData() {}
  bool dragging() const { return dragging_; }
  // The pen of a data line, as it is drawn now.
  QPen LinePen(const QColor& color, double width, Qt::PenStyle style = Qt::SolidLine) const;

  void draw(QCPPainter* painter) override;

  void changeEvent(QEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

  virtual void HoverAt(const QPointF& position) { Q_UNUSED(position); }
  virtual void HoverEnds() {}
  // Called for a press and release at the same position.
  virtual void ClickAt(const QPointF& position) { Q_UNUSED(position); }
  // The keys that are held at ClickAt.
  Qt::KeyboardModifiers click_modifiers() const { return click_modifiers_; }
  // Shift+drag selects along x where a plot enables it: Brush is called while the pointer moves.
  void UseBrush() { brushes_ = true; }
  virtual void Brush(const QPointF& from, const QPointF& to) {
    Q_UNUSED(from);
    Q_UNUSED(to);
  }

 private:
  // Notes which ranges differ from those before.
  void NoteView(const QCPRange& x, const QCPRange& y);
  bool SteerByKey(const QKeyEvent& event);
  void ShowAll();
  void FitText();
  void DrawDenseLinesSolid();
  // Where the y axis is short it has fewer numbers, and its label is elided; the tooltip has the
  // whole.
  void FitYAxis();
  void ColourMessage();
  QString LabelTip(const QPointF& position) const;
  void FitLegend(int width);

  QCPTextElement* title_;
  QString full_title_;
  QString reason_;
  int most_in_a_row_ = -1;  // of the legend; -1: no legend row
  QCPItemText* empty_message_ = nullptr;
  QString empty_text_;  // in one line
  QString file_stem_;
  QString caption_;
  QCPTextElement* caption_text_ = nullptr;  // null: not drawn
  QCPItemRect* older_hatch_ = nullptr;
  QCPItemText* older_text_ = nullptr;
  QString older_note_;  // in one line
  QPointF press_position_;
  Qt::KeyboardModifiers click_modifiers_;
  Qt::Orientations held_;
  // Lines that are drawn solid now, by their graphs.
  struct DensePen {
    QPen own;
    QPen drawn;
  };
  std::map<const QCPGraph*, DensePen> dense_;
  bool brushes_ = false;
  bool brushing_ = false;
  bool dragging_ = false;
  bool drawn_fast_ = false;    // the picture on the screen was drawn while dragging
  bool replot_waits_ = false;  // for the plot to be shown
};

}  // namespace midscope
