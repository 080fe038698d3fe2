// SPDX-License-Identifier: MIT
// Controls of the simulated GPU for tests without one.
#pragma once

namespace midscope::test {

// Graphs are refused when their work is through, or has thrown: no kernel has run then.
inline thread_local bool refuse_graphs = false;
inline thread_local int refused_graphs = 0;
inline thread_local int thrown_recordings = 0;  // of these
// Number of copies to a device within these: on a GPU a copy of memory that is not pinned cannot be
// recorded.
inline thread_local int recorded_copies = 0;

}  // namespace midscope::test
