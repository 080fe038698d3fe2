// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window that holds panels as docks: they tear off, form tabs, fill the area on a
// double click of their title, and are arranged by a layout (layouts.h).
#pragma once

#include <vector>

#include <QByteArray>
#include <QMainWindow>
#include <QString>
#include <QWidget>

#include "gui/layout/layouts.h"

class QDockWidget;
class QLabel;
class QToolButton;

namespace midscope {

class DockArea : public QMainWindow {
  Q_OBJECT

 public:
  explicit DockArea(QWidget* parent = nullptr);

  // `id`: names the dock in layouts and in saved states. `help`: what the "?" of its title shows.
  QDockWidget* Add(const QString& id, const QString& title, const QString& help, QWidget* panel);

  // Places all docks: those that the layout does not name are tabs behind its last part.
  void Arrange(const LayoutEntry& layout);
  // The layout that was arranged last; docks may have been moved since.
  const QString& layout_id() const { return layout_; }

  // Shows a dock and brings it to the front of its tabs.
  void Show(const QString& id);
  void ShowPanel(QWidget* panel);
  // One dock fills the area; the same again restores what was there.
  void ToggleWhole(QDockWidget* dock);
  bool IsWhole() const { return !before_whole_.isEmpty(); }
  const std::vector<QDockWidget*>& docks() const { return docks_; }
  QDockWidget* Find(const QString& id) const;

  // Less than an arrangement may need: where there is less room than that, the layout is arranged
  // for it, and what was there comes back with the room.
  QSize minimumSizeHint() const override;

  // Where everything is, for Restore. Of no use to another version of the window.
  QByteArray State() const;
  // Returns false, without an effect, where the state is not one of this window.
  bool Restore(const QByteArray& state);

 Q_SIGNALS:
  void HelpRequested(const QString& id);

 protected:
  void childEvent(QChildEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Sizes {
    QList<QDockWidget*> docks;
    QList<double> shares;  // of the whole area
    Qt::Orientation orientation = Qt::Horizontal;
  };
  QDockWidget* FirstOf(const Arrangement& part) const;
  QDockWidget* SpanningOf(const Arrangement& part, Qt::Orientation orientation) const;
  void Split(const Arrangement& part, const QSizeF& extent, std::vector<Sizes>* sizes);
  void ApplySizes(const std::vector<Sizes>& sizes);
  Q_INVOKABLE void ApplyLastSizes();
  void FitRoom();
  Q_INVOKABLE void ArrangeForRoom();

  std::vector<QDockWidget*> docks_;
  QString layout_;
  QByteArray before_whole_;   // empty: no dock fills the area
  QByteArray before_narrow_;  // empty: the room is as the arrangement needs it
  QSize needed_;              // of what is in before_narrow_
  std::vector<Sizes> wide_sizes_;
  // An arrangement's shares are applied again when the window gets its first size.
  std::vector<Sizes> sizes_;
  bool resized_ = false;
};

// The title of a dock: its name, and small buttons for help, tearing off and closing. A double
// click lets the panel fill the window's area of docks.

class DockTitle : public QWidget {
  Q_OBJECT

 public:
  // `help`: what the panel shows, as the tooltip; "": no help button.
  DockTitle(QDockWidget* dock, const QString& help);

 Q_SIGNALS:
  void WholeRequested();
  void HelpRequested();

 protected:
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  QToolButton* Button(const QString& text, const QString& name, const QString& tooltip);

  QDockWidget* dock_;
  QLabel* text_;
};

}  // namespace midscope
