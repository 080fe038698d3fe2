// SPDX-License-Identifier: GPL-3.0-or-later
// The shown request as shell commands and as Python: the shown prompt under A, B and the kept
// settings C to F, and a sweep of these settings over samples.
#pragma once

#include <QString>

namespace midscope {

class Session;
class TriedSettings;

// Shell commands: `midscope probe` for every setting (a.h5, b.h5, c.h5, ...), and `midscope sweep`
// over all (sweep.h5). Both functions throw Error (usage) if no prompt of a model is shown.
QString SessionCommands(const Session& session, const TriedSettings& tried);

// Python that runs these commands if their files are missing, and reads the arrays of every setting
// with h5py: arrays["A"]["last_query_attention"].
QString SessionPython(const Session& session, const TriedSettings& tried);

}  // namespace midscope
