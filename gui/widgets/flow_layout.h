// SPDX-License-Identifier: GPL-3.0-or-later
// Lays out small widgets in a row that wraps into further rows.
#pragma once

#include <QLayout>
#include <QList>
#include <QSplitter>
#include <QVBoxLayout>
#include <initializer_list>

class QHBoxLayout;
class QLayout;
class QScrollArea;
class QWidget;

namespace midscope {

class FlowLayout : public QLayout {
  Q_OBJECT

 public:
  FlowLayout() = default;
  ~FlowLayout() override;

  // Adds a label and a widget as one item.
  void AddLabelled(const QString& label, QWidget* box);

  void addItem(QLayoutItem* item) override { items_.append(item); }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int index) const override { return items_.value(index); }
  QLayoutItem* takeAt(int index) override;
  Qt::Orientations expandingDirections() const override { return {}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return Place({0, 0, width, 0}, false); }
  QSize minimumSize() const override;
  QSize sizeHint() const override;
  void setGeometry(const QRect& rect) override;

 private:
  // Computes the layout in `rect` and applies it if `move` is true. Returns the height.
  int Place(const QRect& rect, bool move) const;

  QList<QLayoutItem*> items_;
};

// Two parts beside each other or, if the splitter is too narrow for its height, above each other.
class SideSplitter : public QSplitter {
 public:
  // `least_ratio`: the smallest width per height at which the parts are beside each other.
  explicit SideSplitter(QWidget* parent, double least_ratio = 1)
      : QSplitter(parent), least_ratio_(least_ratio) {}

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  double least_ratio_;
};

// The layout of result panels: a view above a row of controls.

QHBoxLayout* MakeControlRow(std::initializer_list<QWidget*> controls = {});
// A layout for controls that may need more than one row.
FlowLayout* MakeControlFlow(std::initializer_list<QWidget*> controls = {});
// Sets the object name and, if it is not "", the tooltip of a new widget, and returns the widget.
template <typename Widget>
Widget* Named(Widget* widget, const QString& name, const QString& tooltip = {}) {
  widget->setObjectName(name);
  if (!tooltip.isEmpty()) widget->setToolTip(tooltip);
  return widget;
}
template <typename Layout>
Layout* WithoutMargins(Layout* layout) {
  layout->setContentsMargins(0, 0, 0, 0);
  return layout;
}
// A frameless area that scrolls the widget, as wide as the area.
QScrollArea* MakeScrollArea(QWidget* content, QWidget* parent);
// Makes the panel's column, without margins, in which `view` takes the available space; controls
// are added below it.
QVBoxLayout* LayOutPanel(QWidget* panel, QWidget* view);

}  // namespace midscope
