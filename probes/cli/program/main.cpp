// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "core/base/mapped_file_guard.h"
#include "core/compute/process_start.h"
#include "probes/cli/program/program.h"

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  midscope::GuardMappedFiles();
  return midscope::cli::RunProgram(std::vector<std::string>(argv + 1, argv + argc));
}
