// SPDX-License-Identifier: GPL-3.0-or-later
// Replaces a file atomically.
#pragma once

#include <QString>
#include <string>

namespace midscope {

// The old file is replaced only after all of `text` is on the disk. Throws Error (failure) with
// `thing` (such as "session") and the path in its message.
void WriteWholeFile(const std::string& thing, const QString& path, const std::string& text);

}  // namespace midscope
