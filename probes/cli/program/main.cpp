// SPDX-License-Identifier: MIT
// The program `midscope`: loads the library that contains the commands, and runs it. When started
// to read damaged files in a separate process (data/store/reader), it runs without that library, so
// that it starts in milliseconds.
#include <dlfcn.h>

#include <cstdio>
#include <string>

#include "core/base/end_process.h"
#include "core/compute/process_start.h"
#include "data/store/reader/reader_process.h"
#include "data/store/reader/reader_service.h"

namespace {

// Library with the commands, found by the program's run path: in the build folder and beside the
// installed programs.
constexpr const char* kCommands = "libmidscope_cli.so";
constexpr const char* kTensors = "libmidscope_core.so";
constexpr int kExitFailure = 1;

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && argv[1] == std::string(midscope::kReaderArgument)) {
    return midscope::ReaderMain(argv[2]);
  }
  midscope::PrepareProcess(argv);
  // Loaded with global symbols, as if linked: libraries such as plug-ins of MPI use these symbols.
  void* commands = dlopen(kCommands, RTLD_LAZY | RTLD_GLOBAL);
  if (!commands) {
    // With LD_BIND_NOW, all symbols are looked up at once, also symbols of the library that is
    // otherwise loaded when a model is opened (probes/model/tensor_library.h).
    dlopen(kTensors, RTLD_LAZY | RTLD_GLOBAL);
    commands = dlopen(kCommands, RTLD_LAZY | RTLD_GLOBAL);
  }
  auto* run =
      commands ? reinterpret_cast<int (*)(int, char**)>(dlsym(commands, "MidscopeMain")) : nullptr;
  if (!run) {
    std::fprintf(stderr, "midscope: %s. Install the program with its libraries\n", dlerror());
    return kExitFailure;
  }
  return midscope::EndProcess(run(argc, argv));
}
