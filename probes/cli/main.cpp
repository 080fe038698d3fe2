// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "probes/cli/program.h"

int main(int argc, char** argv) {
  return midscope::cli::RunProgram(std::vector<std::string>(argv + 1, argv + argc));
}
