// SPDX-License-Identifier: MIT
// midscope-reader FILE: reads one results file for Midscope's other programs. They start it and
// send requests through a socket, which is its standard input.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "data/store/reader/reader_service.h"

int main(int argc, char** argv) {
  struct stat input {};
  if (argc != 2 || fstat(STDIN_FILENO, &input) != 0 || !S_ISSOCK(input.st_mode)) {
    std::fprintf(stderr, "midscope-reader: Midscope's other programs start it\n");
    return 2;
  }
  midscope::LimitReader(argv[1]);
  // Skips the exit handlers of HDF5, which could crash if the heap is damaged.
  _exit(midscope::ServeReader(STDIN_FILENO, argv[1]));
}
