// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "core/base/error.h"
#include "probes/cli/program/command.h"
#include "probes/engine/engine.h"
#include "probes/serve/protocol_page.h"
#include "probes/serve/server.h"

namespace midscope::cli {
namespace {

void RunServe(const CommandInput& input) {
  if (input.options.Flag("protocol")) {
    input.out << ProtocolPage();
    return;
  }
  if (!input.options.Flag("stdio")) {
    throw UsageError("serve", "it needs --stdio, the one way in which it serves",
                     "midscope serve --stdio, started by a client");
  }
  // The protocol uses a copy of standard output; whatever a library prints goes to standard error.
  const int output = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw Failure("standard output", "it is closed", "Start serve with standard output");
  }
  ServeClient(STDIN_FILENO, output, MakeLocalEngine());
}

}  // namespace

Command ServeCommand() {
  Command command;
  command.name = "serve";
  command.summary = "the engine as a process, for the Python package and other clients";
  command.description =
      "Answers requests on standard input and output until the input ends: frames with one\n"
      "MessagePack map each (probes/engine/PROTOCOL.md). Clients start it themselves, here or on\n"
      "another machine: ssh HOST midscope serve --stdio.";
  command.options = {FlagParameter("stdio", "serve one client on standard input and output"),
                     FlagParameter("protocol", "print the page about the protocol")};
  command.options = WithBrief(std::move(command.options), {"stdio", "protocol"});
  command.examples = "  midscope serve --stdio";
  command.run = RunServe;
  return command;
}

}  // namespace midscope::cli
