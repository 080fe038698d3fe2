// SPDX-License-Identifier: GPL-3.0-or-later
// Light or dark: the desktop's appearance, or the user's choice.
#pragma once

#include <QColor>
#include <QDBusVariant>
#include <QObject>
#include <QString>

namespace midscope {

enum class Appearance { kDesktop, kLight, kDark };

// "desktop", "light", "dark"; of any other text: the desktop's.
QString AppearanceName(Appearance appearance);
Appearance AppearanceOf(const QString& name);

// Sets the palette of the whole program. kDesktop: dark or light as the desktop's portal reports
// (org.freedesktop.appearance color-scheme), followed while the program runs; where no portal
// answers, the palette that Qt has chosen.
void SetAppearance(Appearance appearance);
Appearance CurrentAppearance();

// The colour of changed text and buttons, on light and on dark.
QColor ChangedColor();

// Queries the desktop's portal for its appearance, and follows its changes. Qt 6.4 has no
// colorScheme.

class DesktopScheme : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  // Answered is emitted when the portal has answered, and again whenever the desktop changes. No
  // answer where there is no portal.
  void Ask();

 Q_SIGNALS:
  // `known`: whether the desktop prefers one of the two.
  void Answered(bool known, bool dark);

 private Q_SLOTS:
  void OnChanged(const QString& space, const QString& key, const QDBusVariant& value);

 private:
  void Answer(const QVariant& value);
};

}  // namespace midscope
