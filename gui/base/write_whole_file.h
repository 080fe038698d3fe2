// SPDX-License-Identifier: GPL-3.0-or-later
// Atomic writing of a file.
#pragma once

#include <QString>
#include <string>

namespace midscope {

// The old file remains until all of `text` is on the disk. Throws Error (failure) that names
// `thing` ("session") and the path.
void WriteWholeFile(const std::string& thing, const QString& path, const std::string& text);

}  // namespace midscope
