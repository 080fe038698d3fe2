// SPDX-License-Identifier: GPL-3.0-or-later
// The shown request, as commands and as Python: the shown prompt under A, B and the kept settings C
// to F, and the same over samples.
#pragma once

#include <QString>

namespace midscope {

class Session;
class TriedSettings;

// Lines for a shell: `midscope probe` for every setting (a.h5, b.h5, c.h5, ...), and `midscope
// sweep` over them (sweep.h5). Both throw Error (usage) where no prompt of a model is shown.
QString SessionCommands(const Session& session, const TriedSettings& tried);

// Python that runs these commands where their files are missing, and reads the arrays of every
// setting with h5py: arrays["A"]["last_query_attention"].
QString SessionPython(const Session& session, const TriedSettings& tried);

}  // namespace midscope
