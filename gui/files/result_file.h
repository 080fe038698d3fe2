// SPDX-License-Identifier: GPL-3.0-or-later
// What is on the screen as a file.
#pragma once

#include <QString>

namespace midscope {

class Session;

// All records on the screen that are of what is asked as an HDF5 file, each with the setting,
// prompt and model that made it. A sentence on what is on the screen and not in the file, because
// it is of an older setting; "" where there is nothing such. Throws Error.
QString SaveResults(const Session& session, const QString& path);

}  // namespace midscope
