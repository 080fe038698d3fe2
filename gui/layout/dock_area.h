// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the window that contains the panels as docks. Docks can be floated, form tabs, fill
// the area on a double click of their title, and are arranged by a mode (layouts.h).
#pragma once

#include <map>
#include <vector>

#include <QByteArray>
#include <QMainWindow>
#include <QString>
#include <QWidget>

#include "gui/layout/layouts.h"

class QDockWidget;
class QMenu;
class QToolButton;

namespace midscope {

class DockArea : public QMainWindow {
  Q_OBJECT

 public:
  explicit DockArea(QWidget* parent = nullptr);

  // `id`: names the dock in layouts and saved states. `help`: description of the panel. `head`: the
  // panel's main control, shown in the title; null: none. `options`: further controls, shown and
  // hidden by an entry of the title's menu; null: none.
  QDockWidget* Add(const QString& id, const QString& title, const QString& help, QWidget* panel,
                   QWidget* head = nullptr, QWidget* options = nullptr);

  // Places the docks that the layout names and hides the others, which Show places as tabs behind
  // its last part.
  void Arrange(const LayoutEntry& layout);
  // Arranges another layout, or restores how the user left it.
  void SwitchTo(const LayoutEntry& layout);
  // The last arranged layout; docks may have been moved since.
  const QString& layout_id() const { return layout_; }

  // Shows a dock and brings it to the front of its tabs.
  void Show(const QString& id);
  void ShowPanel(QWidget* panel);
  // Shows a dock as a window at this position on the screen, closes it if it is one already, or
  // raises it where it is docked.
  void Popup(const QString& id, const QPoint& position);
  // Gives the focus to the next visible dock, in reading order, or to the previous one.
  void FocusNext(bool backwards);
  // Makes the dock fill the area; a second call restores the previous arrangement.
  void ToggleWhole(QDockWidget* dock);
  bool IsWhole() const { return !before_whole_.isEmpty(); }
  const std::vector<QDockWidget*>& docks() const { return docks_; }
  QDockWidget* Find(const QString& id) const;
  // The dock that contains the widget; nullptr if none does, or the widget is null.
  QDockWidget* DockOf(const QWidget* widget) const;

  // May be smaller than an arrangement needs. If the area is smaller than that, the layout is
  // arranged for the smaller size, and the previous arrangement is restored when the area is large
  // enough.
  QSize minimumSizeHint() const override;

  // The arrangement of all docks, for Restore. Not usable by another version of the window.
  QByteArray State() const;
  // Returns false and has no effect if the state is not of this version of the window.
  bool Restore(const QByteArray& state);

 Q_SIGNALS:
  void HelpRequested(const QString& id);
  void LayoutChanged(const QString& id);

 protected:
  void childEvent(QChildEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  struct Sizes {
    QList<QDockWidget*> docks;
    QList<double> shares;  // share of the whole area per dock
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
  std::map<QString, QByteArray> left_;  // states of layouts that were left, by id
  QByteArray before_whole_;             // the state before; empty: no dock fills the area
  QByteArray before_narrow_;            // the state before; empty: the area is large enough
  QSize needed_;                        // the size that before_narrow_ needs
  std::vector<Sizes> wide_sizes_;
  // The shares of an arrangement, applied again when the window gets its first size.
  std::vector<Sizes> sizes_;
  bool resized_ = false;
};

// The title bar of a dock: its name, the panel's main control, and a menu for help, options,
// floating and closing. A double click makes the panel fill the dock area.

class DockTitle : public QWidget {
  Q_OBJECT

 public:
  // `help`: description of the panel, as a tooltip. `head` and `options`: see DockArea::Add.
  DockTitle(QDockWidget* dock, const QString& help, QWidget* head, QWidget* options);

 Q_SIGNALS:
  void WholeRequested();
  void HelpRequested();

 protected:
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QMenu* MakeMenu(QWidget* options);

  QDockWidget* dock_;
  QToolButton* more_;
};

}  // namespace midscope
