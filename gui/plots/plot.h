// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of all plots: title, legend row, palette, tooltip, mouse and keys. A drag pans, the
// wheel zooms (with Shift: x only, with Alt: y only), Ctrl+drag zooms into a box (Esc cancels), a
// double click shows all data; the arrow keys pan, + and - zoom, Home shows all data. A plot with
// the focus has a frame. An axis that the user has moved keeps its range when data change, until
// all data are shown again (FitView).
#pragma once

#include "gui/plots/custom_plot.h"

#include <QPointer>
#include <QString>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace midscope {

class CurveLabels;
class ThinLabels;

class Plot : public QCustomPlot {
  Q_OBJECT

 public:
  // `file_stem`: the name of exported files without extension.
  Plot(const QString& title, const QString& file_stem, QWidget* parent = nullptr);
  ~Plot() override;

  // The full title, even if the displayed one is elided.
  const QString& title() const { return full_title_; }
  void SetTitle(const QString& title);
  const QString& file_stem() const { return file_stem_; }
  void SetFileStem(const QString& stem) { file_stem_ = stem; }

  // Sets the colours for export; by default the widget's palette is used.
  void UsePalette(const QPalette& palette);

  // Schedules a replot before the next paint event; several calls cause one replot. If the plot is
  // hidden while its window is visible, the replot waits until the plot is shown.
  void QueueReplot();
  // While a slider is dragged, lines are drawn one pixel wide, without antialiasing and without
  // dots. If the plot was drawn like that, the end of the drag redraws it.
  void SetDragging(bool dragging);

  // The message shown while the plot is empty; "": the default message.
  void SetReason(const QString& reason) { reason_ = reason; }

  // Hatches the plot and shows a note such as "B, older setting: pi(1.5)"; "": the plot
  // shows the requested setting.
  void SetOlderNote(const QString& note);
  // Sets the model and prompt of the numbers, which are drawn below the plot in exported files
  // only.
  void SetCaption(const QString& caption) { caption_ = caption; }
  const QString& caption() const { return caption_; }
  bool HasErrorBars();
  // The labels at the ends of lines; null: the plot has a legend only.
  const CurveLabels* curve_labels() const { return curve_labels_.get(); }

  // Called by PlotPicture, in this order. FitPicture lays the plot out for a picture of that width
  // and returns the height of the picture, both in pixels.
  void BeginPicture();
  int FitPicture(int width);
  void EndPicture();
  bool in_picture() const { return picture_ != nullptr; }
  // Data that are not lines or maps, as CSV with a header; "" if there are none.
  virtual QString Table() const { return {}; }

  // Shows all data.
  virtual void ResetView() = 0;
  // Shows all data along the axes whose ranges the user has not changed.
  void FitView();
  // Discards the ranges that the user has chosen; call it when other data are shown.
  void ReleaseView() { held_ = {}; }
  void ReleaseAlongY() { held_.setFlag(Qt::Vertical, false); }
  // The axes whose ranges the user has changed.
  Qt::Orientations held() const { return held_; }
  // ShowAlongX shows this part of the x axis as if the user had chosen it; ShowAllAlongX shows all
  // data along it. Neither emits a signal.
  void ShowAlongX(const QCPRange& range);
  void ShowAllAlongX();
  // Shows this part of the y axis as if the user had chosen it.
  void ShowAlongY(const QCPRange& range);
  // The text of the tooltip at a position in the widget; "": no tooltip.
  virtual QString TooltipAt(const QPointF& position) const = 0;
  // The position of the chosen token, head or place in the widget; nullopt: there is none.
  virtual std::optional<QPointF> CurrentPoint() const { return std::nullopt; }

  static QString MouseHint();
  static QString MouseHelp();

 Q_SIGNALS:
  // Emitted when the user has chosen which part of the x axis is shown.
  void ViewedAlongX(double lower, double upper);
  // Emitted when the user has chosen to show all data.
  void ViewedAll();
  // Emitted when Esc is pressed, unless it cancels a zoom.
  void ReleaseRequested();

 protected:
  // Puts the legend in a row below the title, so that it never covers data. It wraps into further
  // rows if names do not fit or exceed `most_in_a_row` (0: no limit).
  void UseLegendRow(int most_in_a_row = 0);
  // Names the lines of the legend at their right ends where that is possible (CurveLabels). Call
  // after UseLegendRow.
  void UseCurveLabels();
  // Shows a dimmed message in the middle of an empty plot, without widening the plot.
  void SetEmptyMessage(const QString& message);
  // Moves the item to a layer for marks that follow the pointer; ReplotMarks redraws that layer
  // without the data.
  void PutOnMarksLayer(QCPLayerable* mark);
  void ReplotMarks();
  // Leaves a mark out of pictures, because it shows where the pointer or the selection is.
  void HideInPictures(QCPLayerable* mark);
  // The smallest height of the plotting area in a picture of that width, in pixels.
  virtual int PictureArea(int width);
  // Adapts the data to the size of the picture's axes; ranges and rotations of tick labels are
  // restored after the picture.
  virtual void ArrangePicture() {}
  virtual void RestyleData() {}
  bool dragging() const { return dragging_; }
  // The pen of a data line in the current state (see SetDragging).
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
  // Called when the mouse button was pressed and released at one position.
  virtual void ClickAt(const QPointF& position) { Q_UNUSED(position); }
  // The modifier keys held during ClickAt.
  Qt::KeyboardModifiers click_modifiers() const { return click_modifiers_; }
  // Enables Shift+drag to select a range along x: Brush is called while the pointer moves.
  void UseBrush() { brushes_ = true; }
  virtual void Brush(const QPointF& from, const QPointF& to) {
    Q_UNUSED(from);
    Q_UNUSED(to);
  }

 private:
  // Records which ranges the user has changed, compared with the previous ranges.
  void NoteView(const QCPRange& x, const QCPRange& y);
  bool SteerByKey(const QKeyEvent& event);
  void ShowAll();
  void FitText();
  void DrawDenseLinesSolid();
  // Adapts the y axis to its height: a short axis has fewer numbers and an elided label, and the
  // tooltip shows the full label.
  void FitYAxis();
  void ColourMessage();
  QString LabelTip(const QPointF& position) const;
  void FitLegend(int width);
  // Takes the legend away while it would leave too little of a low plot.
  void ShowLegendIfHigh();
  struct PictureState;
  void ShowCaption(bool shown);
  QString PictureCaption();
  void ShortenNames();
  int AreaHeight() const;
  void FitLabels();
  void SettlePicture();

  QCPTextElement* title_;
  QString full_title_;
  QString reason_;
  int most_in_a_row_ = -1;  // in the legend; -1: no legend row
  QCPItemText* empty_message_ = nullptr;
  QString empty_text_;  // without line breaks
  QString file_stem_;
  QString caption_;
  QCPTextElement* caption_text_ = nullptr;  // null: not drawn
  QCPItemRect* older_hatch_ = nullptr;
  QCPItemText* older_text_ = nullptr;
  QString older_note_;  // without line breaks
  QPointF press_position_;
  Qt::KeyboardModifiers click_modifiers_;
  Qt::Orientations held_;
  // Pens of dashed or dotted graphs that are currently drawn solid because their points are dense.
  struct DensePen {
    QPen own;
    QPen drawn;
  };
  std::map<const QCPGraph*, DensePen> dense_;
  std::unique_ptr<CurveLabels> curve_labels_;
  std::unique_ptr<ThinLabels> thin_;  // during a replot
  QSize thinned_for_;                 // size of the axes for which labels were left out
  bool repeats_ = false;              // whether this replot repeats one for other sizes
  std::vector<QPointer<QCPLayerable>> screen_marks_;
  std::shared_ptr<PictureState> picture_;  // null: the plot is drawn on the screen
  bool brushes_ = false;
  bool brushing_ = false;
  bool dragging_ = false;
  bool drawn_fast_ = false;    // whether the displayed picture was drawn during a drag
  bool replot_waits_ = false;  // until the plot is shown
};

}  // namespace midscope
