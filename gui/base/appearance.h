// SPDX-License-Identifier: GPL-3.0-or-later
// Light or dark: as the desktop says, or as the user chose.
#pragma once

#include <QColor>
#include <QString>

namespace midscope {

enum class Appearance { kDesktop, kLight, kDark };

// "desktop", "light", "dark"; of any other text: the desktop's.
QString AppearanceName(Appearance appearance);
Appearance AppearanceOf(const QString& name);

// Sets the palette of the whole program. kDesktop: dark or light as the desktop's portal says
// (org.freedesktop.appearance color-scheme), followed while the program runs; where no portal
// answers, the palette that Qt has chosen.
void SetAppearance(Appearance appearance);
Appearance CurrentAppearance();

// What has been changed and is not as it was: text and buttons, on light and on dark.
QColor ChangedColor();

}  // namespace midscope
