// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/widgets/flow_layout.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QStyle>
#include <QWidget>

namespace midscope {

FlowLayout::~FlowLayout() {
  while (!items_.isEmpty()) delete items_.takeFirst();
}

void FlowLayout::AddLabelled(const QString& label, QWidget* box) {
  auto* pair = new QHBoxLayout;
  pair->addWidget(new QLabel(label));
  pair->addWidget(box);
  addChildLayout(pair);
  addItem(pair);
}

QLayoutItem* FlowLayout::takeAt(int index) {
  return index >= 0 && index < items_.size() ? items_.takeAt(index) : nullptr;
}

QSize FlowLayout::minimumSize() const {
  QSize size;
  for (const QLayoutItem* item : items_) {
    if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
  }
  const QMargins margins = contentsMargins();
  return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

QSize FlowLayout::sizeHint() const {
  int width = 0;
  for (const QLayoutItem* item : items_) {
    if (!item->isEmpty()) width += item->sizeHint().width() + spacing();
  }
  return {width, minimumSize().height()};
}

void FlowLayout::setGeometry(const QRect& rect) {
  QLayout::setGeometry(rect);
  Place(rect, true);
}

int FlowLayout::Place(const QRect& rect, bool move) const {
  const QRect inside = rect.marginsRemoved(contentsMargins());
  const int gap = std::max(spacing(), 0);
  const Qt::LayoutDirection direction =
      parentWidget() ? parentWidget()->layoutDirection() : Qt::LeftToRight;
  int y = inside.y();
  qsizetype begin = 0;
  while (begin < items_.size()) {
    // Puts as many items as fit into each row, at least one.
    int x = inside.x();
    int height = 0;
    qsizetype end = begin;
    for (; end < items_.size(); ++end) {
      if (items_[end]->isEmpty()) continue;
      const QSize size = items_[end]->sizeHint();
      if (x > inside.x() && x + size.width() > inside.x() + inside.width()) break;
      x += size.width() + gap;
      height = std::max(height, size.height());
    }
    x = inside.x();
    for (qsizetype i = begin; move && i < end; ++i) {
      if (items_[i]->isEmpty()) continue;
      const int width = std::min(items_[i]->sizeHint().width(), inside.width());
      items_[i]->setGeometry(QStyle::visualRect(direction, inside, QRect(x, y, width, height)));
      x += width + gap;
    }
    y += height + (end < items_.size() ? gap : 0);
    begin = end;
  }
  const QMargins margins = contentsMargins();
  return y - inside.y() + margins.top() + margins.bottom();
}

void SideSplitter::resizeEvent(QResizeEvent* event) {
  const bool beside = width() >= least_ratio_ * height();
  setOrientation(beside ? Qt::Horizontal : Qt::Vertical);
  QSplitter::resizeEvent(event);
}

namespace {

template <typename Layout>
Layout* MakeControls(std::initializer_list<QWidget*> controls) {
  auto* layout = new Layout;
  layout->setContentsMargins(8, 3, 8, 3);
  layout->setSpacing(7);
  for (QWidget* control : controls) layout->addWidget(control);
  return layout;
}

}  // namespace

QHBoxLayout* MakeControlRow(std::initializer_list<QWidget*> controls) {
  return MakeControls<QHBoxLayout>(controls);
}

FlowLayout* MakeControlFlow(std::initializer_list<QWidget*> controls) {
  return MakeControls<FlowLayout>(controls);
}

QScrollArea* MakeScrollArea(QWidget* content, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setWidget(content);
  return area;
}

QVBoxLayout* LayOutPanel(QWidget* panel, QWidget* view) {
  auto* column = WithoutMargins(new QVBoxLayout(panel));
  column->setSpacing(0);
  column->addWidget(view, 1);
  return column;
}

}  // namespace midscope
