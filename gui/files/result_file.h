// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the records on the screen to a file.
#pragma once

#include <QString>

namespace midscope {

class Session;

// Writes all records of the requested settings as an HDF5 file, each with the setting, prompt and
// model that made it. Returns a sentence that names records left out because they are of a previous
// setting; "" for none. Throws Error.
QString SaveResults(const Session& session, const QString& path);

}  // namespace midscope
