// SPDX-License-Identifier: GPL-3.0-or-later
// What is on the screen as a file.
#pragma once

#include <QString>

namespace midscope {

class Session;

// All records on the screen as an HDF5 file. Throws Error.
void SaveResults(const Session& session, const QString& path);

}  // namespace midscope
