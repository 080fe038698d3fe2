// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/layout/dock_area.h"

#include <algorithm>
#include <utility>

#include <QAction>
#include <QApplication>
#include <QChildEvent>
#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollArea>
#include <QStyle>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QVBoxLayout>

#include "gui/widgets/flow_layout.h"

namespace midscope {

namespace {

constexpr int kShortTitle = 60;   // pixels
constexpr int kStateVersion = 2;  // version of saved states; states of another version are rejected
// The smallest size in which every layout can be arranged.
constexpr QSize kLeastRoom(780, 270);

}  // namespace

DockArea::DockArea(QWidget* parent) : QMainWindow(parent, Qt::Widget) {
  setObjectName(QStringLiteral("dock_area"));
  // GroupedDragging is off, because dragging a tab inside a floating group crashes Qt 6.4
  // (QMainWindowLayout::tabMoved looks for the group in the window and finds none). AnimatedDocks
  // is off, because restoring a state while a dock is still moving crashes too
  // (QMainWindow::restoreState).
  setDockOptions(AllowNestedDocks | AllowTabbedDocks);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  setDocumentMode(true);
  setContextMenuPolicy(Qt::NoContextMenu);
}

QDockWidget* DockArea::Add(const QString& id, const QString& title, const QString& help,
                           QWidget* panel, QWidget* head, QWidget* options) {
  auto* dock = Named(new QDockWidget(title, this), id);
  // The panel has another background colour than the window.
  dock->setBackgroundRole(QPalette::Base);
  dock->setAutoFillBackground(true);
  auto* holder = new QWidget(dock);
  auto* column = WithoutMargins(new QVBoxLayout(holder));
  column->addWidget(panel);
  dock->setWidget(holder);
  // Qt moves a dock that is behind other tabs out of the window instead of hiding it. A panel that
  // is not visible must be hidden, so that it is not drawn (Panel::DrawsAtOnce).
  connect(dock, &QDockWidget::visibilityChanged, panel, [panel](bool seen) {
    if (panel->isHidden() == seen) panel->setVisible(seen);
  });
  auto* bar = new DockTitle(dock, help, head, options);
  dock->setTitleBarWidget(bar);
  // Queued until the click has ended, because until then Qt may treat the dock as being dragged.
  connect(
      bar, &DockTitle::WholeRequested, this, [this, dock] { ToggleWhole(dock); },
      Qt::QueuedConnection);
  connect(bar, &DockTitle::HelpRequested, this, [this, id] { Q_EMIT HelpRequested(id); });
  addDockWidget(Qt::LeftDockWidgetArea, dock);
  docks_.push_back(dock);
  return dock;
}

QDockWidget* DockArea::Find(const QString& id) const {
  const auto found = std::find_if(docks_.begin(), docks_.end(), [&id](const QDockWidget* dock) {
    return dock->objectName() == id;
  });
  return found == docks_.end() ? nullptr : *found;
}

QDockWidget* DockArea::DockOf(const QWidget* widget) const {
  const auto found = std::find_if(docks_.begin(), docks_.end(), [widget](const QDockWidget* dock) {
    return widget && dock->isAncestorOf(widget);
  });
  return found == docks_.end() ? nullptr : *found;
}

QDockWidget* DockArea::FirstOf(const Arrangement& part) const {
  for (const QString& id : PanelsOf(part)) {
    if (QDockWidget* dock = Find(id)) return dock;
  }
  return nullptr;
}

// A dock with the same extent as the part along `orientation`; nullptr if docks share that extent.
QDockWidget* DockArea::SpanningOf(const Arrangement& part, Qt::Orientation orientation) const {
  if (part.kind == Arrangement::Kind::kTabs) return FirstOf(part);
  const auto along =
      orientation == Qt::Horizontal ? Arrangement::Kind::kRow : Arrangement::Kind::kColumn;
  if (part.kind == along) return nullptr;
  for (const Arrangement& inner : part.parts) {
    if (QDockWidget* dock = SpanningOf(inner, orientation)) return dock;
  }
  return nullptr;
}

// Splits the first docks of the parts before the parts themselves, so that a column within a row is
// a column. `extent`: of the part, as shares of the whole area's width and height.
void DockArea::Split(const Arrangement& part, const QSizeF& extent, std::vector<Sizes>* sizes) {
  QDockWidget* first = FirstOf(part);
  if (!first) return;
  if (part.kind == Arrangement::Kind::kTabs) {
    QDockWidget* before = first;
    for (const QString& id : part.panels) {
      QDockWidget* dock = Find(id);
      if (!dock || dock == first) continue;
      tabifyDockWidget(before, dock);
      before = dock;
    }
    return;
  }
  Sizes own;
  const bool row = part.kind == Arrangement::Kind::kRow;
  own.orientation = row ? Qt::Horizontal : Qt::Vertical;
  double all = 0;
  QDockWidget* before = nullptr;
  for (const Arrangement& inner : part.parts) {
    QDockWidget* dock = FirstOf(inner);
    if (!dock) continue;
    if (before) splitDockWidget(before, dock, own.orientation);
    before = dock;
    all += inner.share;
  }
  std::vector<QSizeF> extents;
  for (const Arrangement& inner : part.parts) {
    const double share = FirstOf(inner) ? inner.share / all : 0;
    extents.emplace_back(extent.width() * (row ? share : 1), extent.height() * (row ? 1 : share));
    QDockWidget* spanning = SpanningOf(inner, own.orientation);
    if (!spanning) continue;
    own.docks << spanning;
    own.shares << (row ? extents.back().width() : extents.back().height());
  }
  sizes->push_back(own);
  for (size_t i = 0; i < part.parts.size(); ++i) Split(part.parts[i], extents[i], sizes);
}

void DockArea::Arrange(const LayoutEntry& layout) {
  before_whole_.clear();
  before_narrow_.clear();
  layout_ = layout.id;
  Q_EMIT LayoutChanged(layout_);
  Arrangement all = ArrangementFor(layout, window()->size());
  const QStringList named = PanelsOf(all);
  Arrangement* last = &all;
  while (!last->parts.empty()) last = &last->parts.back();
  for (QDockWidget* dock : docks_) {
    if (!named.contains(dock->objectName())) last->panels << dock->objectName();
  }
  for (QDockWidget* dock : docks_) removeDockWidget(dock);
  QDockWidget* first = FirstOf(all);
  if (!first) return;
  for (QDockWidget* dock : docks_) dock->setFloating(false);
  addDockWidget(Qt::LeftDockWidgetArea, first);
  sizes_.clear();
  Split(all, QSizeF(1, 1), &sizes_);
  for (QDockWidget* dock : docks_) dock->setVisible(named.contains(dock->objectName()));
  ApplySizes(sizes_);
  // Applies the sizes again after everything resized in this turn of the event loop has been laid
  // out.
  QMetaObject::invokeMethod(this, "ApplyLastSizes", Qt::QueuedConnection);
  // Raises the first dock of each group of tabs, from the last group to the first.
  std::vector<const Arrangement*> waiting = {&all};
  while (!waiting.empty()) {
    const Arrangement* part = waiting.back();
    waiting.pop_back();
    for (const Arrangement& inner : part->parts) waiting.push_back(&inner);
    if (part->kind == Arrangement::Kind::kTabs) {
      if (QDockWidget* front = FirstOf(*part)) front->raise();
    }
  }
}

void DockArea::SwitchTo(const LayoutEntry& layout) {
  if (layout.id == layout_) return;
  left_[layout_] = State();
  const auto left = left_.find(layout.id);
  if (left == left_.end()) return Arrange(layout);
  layout_ = layout.id;
  Restore(left->second);
  Q_EMIT LayoutChanged(layout_);
}

void DockArea::ApplySizes(const std::vector<Sizes>& sizes) {
  for (const Sizes& each : sizes) {
    const int room = each.orientation == Qt::Horizontal ? width() : height();
    QList<int> pixels;
    for (const double share : each.shares) pixels << std::max(qRound(room * share), 1);
    resizeDocks(each.docks, pixels, each.orientation);
  }
}

void DockArea::ApplyLastSizes() { ApplySizes(sizes_); }

// Applies again the shares that were set before the window had its size.
void DockArea::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  FitRoom();
  if (resized_ || sizes_.empty() || !isVisible()) return;
  resized_ = true;
  ApplySizes(sizes_);
}

QSize DockArea::minimumSizeHint() const {
  return QMainWindow::minimumSizeHint().boundedTo(kLeastRoom);
}

void DockArea::FitRoom() {
  if (!isVisible() || layout_.isEmpty() || IsWhole()) return;
  const QSize needed = QMainWindow::minimumSizeHint();
  const bool narrow = width() < needed.width() || height() < needed.height();
  const bool wide = width() >= needed_.width() && height() >= needed_.height();
  if (before_narrow_.isEmpty() ? narrow : wide)
    QMetaObject::invokeMethod(this, "ArrangeForRoom", Qt::QueuedConnection);
}

void DockArea::ArrangeForRoom() {
  const QSize needed = QMainWindow::minimumSizeHint();
  const bool narrow = width() < needed.width() || height() < needed.height();
  if (before_narrow_.isEmpty()) {
    if (!narrow) return;
    const QByteArray before = saveState(kStateVersion);
    const std::vector<Sizes> sizes = sizes_;
    Arrange(*FindLayout(layout_));
    before_narrow_ = before;
    needed_ = needed;
    wide_sizes_ = sizes;
  } else if (width() >= needed_.width() && height() >= needed_.height()) {
    restoreState(std::exchange(before_narrow_, QByteArray()), kStateVersion);
    // The saved state was taken when the area was already too small.
    sizes_ = wide_sizes_;
    ApplySizes(sizes_);
  }
}

// Tab titles are never elided; if they need more space than there is, the tab bar scrolls.
void DockArea::childEvent(QChildEvent* event) {
  QMainWindow::childEvent(event);
  if (!event->polished()) return;
  if (auto* tabs = qobject_cast<QTabBar*>(event->child())) {
    tabs->setElideMode(Qt::ElideNone);
    tabs->setUsesScrollButtons(true);
  }
}

void DockArea::Show(const QString& id) {
  QDockWidget* dock = Find(id);
  if (!dock) return;
  if (IsWhole()) ToggleWhole(nullptr);
  dock->show();
  dock->raise();
}

void DockArea::ShowPanel(QWidget* panel) {
  if (const QDockWidget* dock = DockOf(panel)) Show(dock->objectName());
}

void DockArea::FocusNext(bool backwards) {
  std::vector<QDockWidget*> seen;
  for (QDockWidget* dock : docks_) {
    if (dock->isVisible() && !dock->visibleRegion().isEmpty()) seen.push_back(dock);
  }
  if (seen.empty()) return;
  std::sort(seen.begin(), seen.end(), [](const QDockWidget* a, const QDockWidget* b) {
    return std::pair(a->x(), a->y()) < std::pair(b->x(), b->y());
  });
  const auto now = std::find(seen.begin(), seen.end(), DockOf(QApplication::focusWidget()));
  const auto count = static_cast<std::ptrdiff_t>(seen.size());
  std::ptrdiff_t next = backwards ? count - 1 : 0;
  if (now != seen.end()) next = (now - seen.begin() + (backwards ? count - 1 : 1)) % count;
  QDockWidget* dock = seen[static_cast<size_t>(next)];
  for (QWidget* widget : dock->widget()->findChildren<QWidget*>()) {
    if (!widget->isVisible() || !widget->isEnabled() || !(widget->focusPolicy() & Qt::TabFocus))
      continue;
    widget->setFocus(Qt::TabFocusReason);
    return;
  }
}

void DockArea::Popup(const QString& id, const QPoint& position) {
  QDockWidget* dock = Find(id);
  if (!dock) return;
  if (dock->isFloating() && dock->isVisible()) {
    dock->close();
    return;
  }
  const bool opens = dock->isHidden();
  if (opens) {
    dock->setFloating(true);
    dock->move(position);
  }
  Show(id);
  if (!dock->isFloating()) return;
  dock->activateWindow();
  // A scroll area's own hint is smaller than its content, whose height depends on the width.
  const auto* scroll = dock->findChild<QScrollArea*>();
  if (!opens || !scroll) return;
  const QWidget* content = scroll->widget();
  const int frames = 2 * dock->style()->pixelMetric(QStyle::PM_DockWidgetFrameWidth);
  const int width = std::max(dock->width(), content->sizeHint().width() + frames);
  const int height =
      std::max(content->sizeHint().height(), content->heightForWidth(width - frames));
  dock->resize(width, height + frames + dock->titleBarWidget()->sizeHint().height());
}

void DockArea::ToggleWhole(QDockWidget* dock) {
  if (IsWhole()) {
    const QByteArray before = before_whole_;
    before_whole_.clear();
    restoreState(before, kStateVersion);
    return;
  }
  if (!dock || dock->isFloating()) return;
  before_whole_ = saveState(kStateVersion);
  for (QDockWidget* other : docks_) {
    if (other != dock && !other->isFloating()) other->hide();
  }
}

QByteArray DockArea::State() const { return IsWhole() ? before_whole_ : saveState(kStateVersion); }

bool DockArea::Restore(const QByteArray& state) {
  before_narrow_.clear();
  before_whole_.clear();
  sizes_.clear();  // the state contains sizes
  return restoreState(state, kStateVersion);
}

DockTitle::DockTitle(QDockWidget* dock, const QString& help, QWidget* head, QWidget* options)
    : QWidget(dock), dock_(dock) {
  auto* text = new QLabel(dock->windowTitle(), this);
  QFont font = text->font();
  font.setBold(true);
  text->setFont(font);
  text->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  // A short title is never cut, and a long one does not set the dock's minimum width.
  text->setMinimumWidth(std::min(text->sizeHint().width(), kShortTitle));
  setToolTip(help);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(6, 2, 2, 2);
  row->setSpacing(4);
  row->addWidget(text, 1);
  if (head) row->addWidget(head);
  more_ = Named(new QToolButton(this), "dock_menu", tr("Help, options and place of this panel"));
  more_->setText(QStringLiteral("⋯"));
  more_->setAccessibleName(tr("Menu of the panel %1").arg(dock->windowTitle()));
  more_->setAutoRaise(true);
  more_->setFocusPolicy(Qt::TabFocus);
  more_->setPopupMode(QToolButton::InstantPopup);
  more_->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
  more_->setMenu(MakeMenu(options));
  QSizePolicy policy = more_->sizePolicy();
  policy.setRetainSizeWhenHidden(true);
  more_->setSizePolicy(policy);
  more_->hide();
  row->addWidget(more_);
  dock->installEventFilter(this);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    const bool inside = now && dock_->isAncestorOf(now);
    more_->setVisible(inside || dock_->underMouse());
  });
}

// The menu's button is in sight while the pointer or the keyboard focus is in the panel. Esc closes
// a panel that is a window of its own.
bool DockTitle::eventFilter(QObject* watched, QEvent* event) {
  const bool key = event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
  if (key && dock_->isFloating() && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    event->accept();
    if (event->type() == QEvent::KeyPress) dock_->close();
    return true;
  }
  const bool enters = event->type() == QEvent::Enter;
  if (enters || (event->type() == QEvent::Leave && !more_->menu()->isVisible())) {
    QWidget* focus = QApplication::focusWidget();
    more_->setVisible(enters || (focus && dock_->isAncestorOf(focus)));
  }
  return QWidget::eventFilter(watched, event);
}

QMenu* DockTitle::MakeMenu(QWidget* options) {
  auto* menu = new QMenu(this);
  const auto add = [menu](const char* id, const QString& title) {
    QAction* action = menu->addAction(title);
    action->setObjectName(QString::fromLatin1(id));
    return action;
  };
  connect(add("dock_help", tr("&What is this?")), &QAction::triggered, this,
          &DockTitle::HelpRequested);
  if (options) {
    QAction* shown = add("dock_options", tr("&More options"));
    shown->setCheckable(true);
    shown->setChecked(!options->isHidden());
    connect(shown, &QAction::toggled, options, &QWidget::setVisible);
  }
  menu->addSeparator();
  connect(add("dock_whole", tr("&Fill the window, or go back")), &QAction::triggered, this,
          &DockTitle::WholeRequested);
  connect(add("dock_float", tr("&Own window, or back")), &QAction::triggered, dock_,
          [this] { dock_->setFloating(!dock_->isFloating()); });
  connect(add("dock_close", tr("&Close")), &QAction::triggered, dock_, &QDockWidget::close);
  return menu;
}

void DockTitle::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mouseDoubleClickEvent(event);
  Q_EMIT WholeRequested();
}

}  // namespace midscope
