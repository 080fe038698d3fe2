// SPDX-License-Identifier: MIT
// The main function of the process that reads a results file with HDF5 for another process.
// Internal to data/ and to the program that is started as a reader.
#pragma once

#include <string>

namespace midscope {

// Answers requests about the file `path`, received from the socket that is this process' standard
// input, until the other side closes the socket; then ends the process. Limits the memory of the
// process (RLIMIT_AS) and its CPU time (a few seconds at first, more with every request; SIGPROF
// ends the process when the time is used up), and disables writing files and core dumps. Returns 2
// if standard input is not a socket.
int ReaderMain(const std::string& path);

}  // namespace midscope
