// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace midscope {

// The setting's text with the names of files of ratios without their folders: for labels.
QString WithoutFolders(const QString& setting);

}  // namespace midscope
