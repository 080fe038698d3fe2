// SPDX-License-Identifier: GPL-3.0-or-later
#include "gui/base/appearance.h"

#include <QApplication>
#include <QObject>
#include <QPalette>
#include <optional>

#include "gui/base/desktop_scheme.h"

namespace midscope {
namespace {

struct AppearanceState {
  Appearance chosen = Appearance::kDesktop;
  std::optional<QPalette> first;  // Qt's own, before any was set
  std::optional<bool> desktop_dark;
  DesktopScheme* scheme = nullptr;  // asked once a desktop's appearance is wanted
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
  QApplication::setPalette(dark ? SchemePalette(*dark) : *state.first);
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

QColor ChangedColor() { return {201, 112, 0}; }

}  // namespace midscope
