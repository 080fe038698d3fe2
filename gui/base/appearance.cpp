// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/appearance.h"

#include <optional>

#include <QApplication>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QObject>
#include <QPalette>
#include <QWidget>

namespace midscope {

namespace {

struct AppearanceState {
  Appearance chosen = Appearance::kDesktop;
  std::optional<QPalette> first;  // Qt's palette before any other was set
  std::optional<bool> desktop_dark;
  DesktopScheme* scheme = nullptr;  // created when the desktop's appearance is first needed
};

AppearanceState& State() {
  static AppearanceState state;
  return state;
}

QPalette SchemePalette(bool dark) {
  const QColor window = dark ? QColor(0x2b, 0x2d, 0x30) : QColor(0xef, 0xf0, 0xf1);
  const QColor base = dark ? QColor(0x1e, 0x1f, 0x22) : QColor(Qt::white);
  const QColor text = dark ? QColor(0xe3, 0xe4, 0xe6) : QColor(0x1c, 0x1d, 0x1f);
  const QColor button = dark ? QColor(0x3a, 0x3c, 0x40) : QColor(0xf7, 0xf7, 0xf8);
  const QColor dimmed = dark ? QColor(0x8d, 0x90, 0x95) : QColor(0x7d, 0x80, 0x85);
  QPalette palette(button, window);
  palette.setColor(QPalette::WindowText, text);
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::AlternateBase, window);
  palette.setColor(QPalette::Text, text);
  palette.setColor(QPalette::ButtonText, text);
  palette.setColor(QPalette::BrightText, dark ? Qt::white : Qt::black);
  palette.setColor(QPalette::ToolTipBase, dark ? button : QColor(0xff, 0xff, 0xe6));
  palette.setColor(QPalette::ToolTipText, text);
  palette.setColor(QPalette::PlaceholderText, dimmed);
  palette.setColor(QPalette::Highlight, QColor(0x30, 0x76, 0xc8));
  palette.setColor(QPalette::HighlightedText, Qt::white);
  palette.setColor(QPalette::Link, dark ? QColor(0x6c, 0xa8, 0xf0) : QColor(0x1d, 0x5f, 0xb4));
  for (const QPalette::ColorRole role :
       {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, dimmed);
  }
  return palette;
}

void Apply() {
  AppearanceState& state = State();
  if (!state.first) state.first = QApplication::palette();
  std::optional<bool> dark = state.desktop_dark;
  if (state.chosen != Appearance::kDesktop) dark = state.chosen == Appearance::kDark;
  QPalette palette = dark ? SchemePalette(*dark) : *state.first;
  QApplication::setPalette(palette);
  // Fusion draws the frames of fields darker than the window's colour, invisible on a dark sheet.
  if (dark.value_or(false)) palette.setColor(QPalette::Window, QColor(0x80, 0x83, 0x88));
  for (const char* field : {"QLineEdit", "QAbstractSpinBox", "QComboBox", "QCheckBox"})
    QApplication::setPalette(palette, field);
  // Widgets with a separate style sheet keep the former palette until the sheet is set again.
  for (QWidget* widget : QApplication::allWidgets()) {
    const QString sheet = widget->styleSheet();
    if (sheet.isEmpty()) continue;
    widget->setStyleSheet(QString());
    widget->setStyleSheet(sheet);
  }
}

}  // namespace

QString AppearanceName(Appearance appearance) {
  switch (appearance) {
    case Appearance::kLight:
      return QStringLiteral("light");
    case Appearance::kDark:
      return QStringLiteral("dark");
    case Appearance::kDesktop:
      break;
  }
  return QStringLiteral("desktop");
}

Appearance AppearanceOf(const QString& name) {
  for (const Appearance appearance : {Appearance::kLight, Appearance::kDark}) {
    if (AppearanceName(appearance) == name) return appearance;
  }
  return Appearance::kDesktop;
}

void SetAppearance(Appearance appearance) {
  AppearanceState& state = State();
  state.chosen = appearance;
  if (appearance == Appearance::kDesktop && !state.scheme) {
    state.scheme = new DesktopScheme(qApp);
    QObject::connect(state.scheme, &QObject::destroyed, [] { State().scheme = nullptr; });
    QObject::connect(state.scheme, &DesktopScheme::Answered, state.scheme,
                     [](bool known, bool dark) {
                       State().desktop_dark = known ? std::optional<bool>(dark) : std::nullopt;
                       if (State().chosen == Appearance::kDesktop) Apply();
                     });
    state.scheme->Ask();
  }
  Apply();
}

Appearance CurrentAppearance() { return State().chosen; }

QString PressedStyle() {
  return QStringLiteral(
      "QToolButton:checked { background: palette(highlight); color: palette(highlighted-text); "
      "border: 1px solid palette(highlight); padding: 3px; }");
}

QColor ChangedColor() { return {201, 112, 0}; }

namespace {

constexpr char kPortal[] = "org.freedesktop.portal.Desktop";
constexpr char kPortalPath[] = "/org/freedesktop/portal/desktop";
constexpr char kPortalSettings[] = "org.freedesktop.portal.Settings";
constexpr char kSpace[] = "org.freedesktop.appearance";
constexpr char kSchemeKey[] = "color-scheme";
constexpr uint kPrefersDark = 1;
constexpr uint kPrefersLight = 2;

}  // namespace

void DesktopScheme::Ask() {
  QDBusConnection bus = QDBusConnection::sessionBus();
  if (!bus.isConnected()) return;
  bus.connect(QLatin1String(kPortal), QLatin1String(kPortalPath), QLatin1String(kPortalSettings),
              QStringLiteral("SettingChanged"), this,
              SLOT(OnChanged(QString, QString, QDBusVariant)));
  QDBusMessage call =
      QDBusMessage::createMethodCall(QLatin1String(kPortal), QLatin1String(kPortalPath),
                                     QLatin1String(kPortalSettings), QStringLiteral("Read"));
  call << QString::fromLatin1(kSpace) << QString::fromLatin1(kSchemeKey);
  // Asynchronous, so that a desktop that answers slowly does not delay the window.
  auto* watcher = new QDBusPendingCallWatcher(bus.asyncCall(call), this);
  connect(watcher, &QDBusPendingCallWatcher::finished, this, [this](QDBusPendingCallWatcher* done) {
    const QDBusPendingReply<QDBusVariant> reply = *done;
    if (!reply.isError()) Answer(reply.value().variant());
    done->deleteLater();
  });
}

void DesktopScheme::OnChanged(const QString& space, const QString& key, const QDBusVariant& value) {
  if (space == QLatin1String(kSpace) && key == QLatin1String(kSchemeKey)) Answer(value.variant());
}

// Portals wrap the number in one or two variants.
void DesktopScheme::Answer(const QVariant& value) {
  QVariant inner = value;
  if (inner.canConvert<QDBusVariant>()) inner = inner.value<QDBusVariant>().variant();
  const uint scheme = inner.toUInt();
  Q_EMIT Answered(scheme == kPrefersDark || scheme == kPrefersLight, scheme == kPrefersDark);
}

}  // namespace midscope
