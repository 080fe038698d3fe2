// SPDX-License-Identifier: MIT
#include "probes/cli/terminal_width.h"

#include <sys/ioctl.h>
#include <unistd.h>

namespace midscope::cli {

std::optional<size_t> TerminalWidth() {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? std::optional<size_t>(size.ws_col) : std::nullopt;
}

}  // namespace midscope::cli
