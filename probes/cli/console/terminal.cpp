// SPDX-License-Identifier: MIT
#include "probes/cli/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/base/error.h"
#include "core/base/text.h"

namespace midscope::cli {

size_t TerminalWidth() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  size_t width = 0;
  return columns && ReadWhole(columns, width) && width > 0 ? width : kPipeWidth;
}

void LineReader::Fill() {
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
  if (count > 0) {
    buffer_.append(bytes.data(), static_cast<size_t>(count));
  } else if (count == 0) {
    at_end_ = true;
  } else if (errno != EINTR && errno != EAGAIN) {
    throw Failure("standard input", std::string("reading fails: ") + std::strerror(errno));
  }
}

std::optional<std::string> LineReader::Next() {
  const size_t end = buffer_.find('\n');
  if (end == std::string::npos && (!at_end_ || buffer_.empty())) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end == std::string::npos ? end : end + 1);
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

void LineReader::Invite() {
  if (invitation_.empty()) return;
  std::fprintf(stderr, "\r%s", invitation_.c_str());
  std::fflush(stderr);
}

void LineReader::Hide() {
  if (!invitation_.empty()) std::fputs("\r\033[K", stderr);
}

}  // namespace midscope::cli
