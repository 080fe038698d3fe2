// SPDX-License-Identifier: MIT
#include "probes/cli/console/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/text.h"

#ifdef MIDSCOPE_LIBEDIT
#include <histedit.h>
#endif

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

#ifdef MIDSCOPE_LIBEDIT

namespace {

constexpr int kHistoryLines = 1000;

// Returns the path of the command history of `whatif`; "" if its folder cannot be made.
std::string HistoryFile() {
  namespace fs = std::filesystem;
  fs::path folder = Environment("XDG_STATE_HOME");
  if (folder.empty()) folder = HomeFolder() / ".local" / "state";
  folder /= "midscope";
  std::error_code failed;
  fs::create_directories(folder, failed);
  return failed ? "" : (folder / "whatif_history").string();
}

// Uses the native interface of libedit, because its emulation of readline's callbacks leaves the
// terminal in line mode.
class TerminalLines : public LineSource {
 public:
  explicit TerminalLines(std::string invitation)
      : invitation_(std::move(invitation)), history_file_(HistoryFile()) {
    editor_ = el_init("midscope", stdin, stderr, stderr);  // results go to standard output
    history_ = history_init();
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistoryLines);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!history_file_.empty()) history(history_, &event, H_LOAD, history_file_.c_str());
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, &TerminalLines::Prompt);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_HIST, history, history_);
    el_set(editor_, EL_SIGNAL, 0);  // the program handles Ctrl-C
    el_set(editor_, EL_UNBUFFERED,
           1);  // calls read available input without waiting for a line
  }
  ~TerminalLines() override {
    el_set(editor_, EL_UNBUFFERED, 0);  // restores the terminal's mode
    HistEvent event;
    if (!history_file_.empty()) history(history_, &event, H_SAVE, history_file_.c_str());
    history_end(history_);
    el_end(editor_);
  }

  int descriptor() const override { return STDIN_FILENO; }
  void Fill() override {
    int count = 0;
    const char* typed = el_gets(editor_, &count);
    constexpr char kEndOfText = 4;
    // If the user types Ctrl-D on an empty line, el_gets returns nothing or the character itself.
    if (!typed || count <= 0 || (count == 1 && typed[0] == kEndOfText)) {
      at_end_ = true;
      return;
    }
    std::string line(typed, static_cast<size_t>(count));
    if (!line.ends_with('\n')) return;  // incomplete line
    line.pop_back();
    HistEvent event;
    if (!line.empty()) history(history_, &event, H_ENTER, line.c_str());
    lines_.push_back(std::move(line));
    // Prepares the editor for the next line.
    el_set(editor_, EL_UNBUFFERED, 0);
    el_set(editor_, EL_UNBUFFERED, 1);
  }
  std::optional<std::string> Next() override {
    if (lines_.empty()) return std::nullopt;
    std::string line = std::move(lines_.front());
    lines_.pop_front();
    return line;
  }
  bool at_end() const override { return at_end_; }
  void Invite() override {
    Hide();
    el_set(editor_, EL_REFRESH);
  }
  void Hide() override {
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
  }

 private:
  static char* Prompt(EditLine* editor) {
    void* self = nullptr;
    el_get(editor, EL_CLIENTDATA, &self);
    return static_cast<TerminalLines*>(self)->invitation_.data();
  }

  std::string invitation_;
  std::string history_file_;
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
  std::deque<std::string> lines_;
  bool at_end_ = false;
};

}  // namespace

std::unique_ptr<LineSource> MakeTerminalLines(const std::string& invitation) {
  return std::make_unique<TerminalLines>(invitation);
}

#else

std::unique_ptr<LineSource> MakeTerminalLines(const std::string& /*invitation*/) { return nullptr; }

#endif

}  // namespace midscope::cli
