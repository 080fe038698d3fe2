// SPDX-License-Identifier: GPL-3.0-or-later
// The light or dark appearance of the window: that of the desktop, or the user's choice.
#pragma once

#include <QColor>
#include <QDBusVariant>
#include <QObject>
#include <QString>

namespace midscope {

enum class Appearance { kDesktop, kLight, kDark };

// AppearanceName returns "desktop", "light" or "dark". AppearanceOf returns kDesktop for any other
// text.
QString AppearanceName(Appearance appearance);
Appearance AppearanceOf(const QString& name);

// Sets the palette of the whole program. kDesktop selects dark or light as the desktop's portal
// reports (org.freedesktop.appearance color-scheme) and follows it while the program runs; if no
// portal answers, it selects the palette that Qt chose at the start.
void SetAppearance(Appearance appearance);
Appearance CurrentAppearance();

// The style sheet of a row of buttons of which one is pressed, distinguishable in light and dark.
QString PressedStyle();

// The colour of changed text and buttons; the same on light and dark backgrounds.
QColor ChangedColor();

// Queries the desktop's portal for its appearance and follows its changes. Needed because Qt 6.4
// has no QStyleHints::colorScheme.

class DesktopScheme : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Queries the portal. Answered is emitted when it answers, and again whenever the desktop
  // changes; never if there is no portal.
  void Ask();

 Q_SIGNALS:
  // `known`: whether the desktop has a preference; if so, `dark` is that preference.
  void Answered(bool known, bool dark);

 private Q_SLOTS:
  void OnChanged(const QString& space, const QString& key, const QDBusVariant& value);

 private:
  void Answer(const QVariant& value);
};

}  // namespace midscope
