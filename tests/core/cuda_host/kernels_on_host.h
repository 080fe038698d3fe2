// SPDX-License-Identifier: MIT
// Controls for the simulated GPU of tests without a GPU.
#pragma once

namespace midscope::test {

// If true, graphs are rejected after their work was recorded or has thrown; no kernel has run then.
inline thread_local bool refuse_graphs = false;
inline thread_local int refused_graphs = 0;
inline thread_local int thrown_recordings = 0;  // refused graphs whose recording threw
// Number of copies to a device within recordings: on a GPU, a copy of memory that is not pinned
// cannot be recorded.
inline thread_local int recorded_copies = 0;

}  // namespace midscope::test
