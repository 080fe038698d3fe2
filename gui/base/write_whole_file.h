// SPDX-License-Identifier: GPL-3.0-or-later
// A file that is written whole or not at all.
#pragma once

#include <QString>
#include <string>

namespace midscope {

// What was there stays until all of `text` is on the disk. Throws Error (failure) that says which
// `thing` ("session") could not be written there.
void WriteWholeFile(const std::string& thing, const QString& path, const std::string& text);

}  // namespace midscope
