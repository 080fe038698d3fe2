// SPDX-License-Identifier: MIT
#include "data/store/reader_process.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "data/store/file_limits.h"
#include "data/store/reader_message.h"
#include "data/store/reader_program.h"
#include "data/store/record_message.h"

namespace midscope {
namespace {

// The process limits its own computing (reader_service.h); this timeout is for one that waits for a
// disk.
constexpr int kLongestWaitMs = 120'000;
constexpr uint64_t kLongestErrorText = 1 << 16;

class RunApart : public RunSource {
 public:
  explicit RunApart(const std::string& path) : path_(path), child_(path) {
    contents_ = DecodeContents(path_, Ask({}, MessageKind::kContents));
    const FileLimits limits(FileTrust::kForeign,
                            PartBytes(LocationOf(path_), contents_.parts) +
                                static_cast<int64_t>(std::filesystem::file_size(path_)));
    text_budget_ = limits.MostTextBytes();
  }

  RunContents Contents() override { return contents_; }

  Record Frame(size_t record) override {
    const ReaderRequest request{ReaderRequest::Kind::kFrame, static_cast<int64_t>(record), "", {}};
    return DecodeFrame(path_, Ask(request, MessageKind::kFrame));
  }

  ArrayData Values(size_t record, const Array& array, const IndexBox& box) override {
    const ReaderRequest request{ReaderRequest::Kind::kValues, static_cast<int64_t>(record),
                                array.name, box};
    int64_t count = 1;
    for (const int64_t size : box.sizes) count *= size;
    return std::visit(
        [&](const auto& kind) -> ArrayData {
          using T = typename std::decay_t<decltype(kind)>::value_type;
          if constexpr (std::is_same_v<T, std::string>) {
            return AskTexts(request, count);
          } else {
            return AskNumbers<T>(request, count);
          }
        },
        array.data);
  }

 private:
  [[noreturn]] void ThrowEnded() {
    if (child_.running()) ending_ = child_.End();
    throw Failure(path_, "is damaged: the process that reads it " + ending_,
                  "Copy it again, or run again");
  }

  void Send(const ReaderRequest& request) {
    if (!child_.running()) ThrowEnded();
    if (!SendMessage(child_.socket(), MessageKind::kAsk, EncodeRequest(request))) ThrowEnded();
  }

  void Receive(void* bytes, size_t size) {
    if (!ReceiveBytes(child_.socket(), bytes, size, kLongestWaitMs)) ThrowEnded();
  }

  // Reads a header of this kind; throws an error that was sent instead.
  uint64_t ReceiveHead(MessageKind kind) {
    MessageHead head;
    Receive(&head, sizeof(head));
    if (head.magic == MessageHead::kMagic && head.kind == MessageKind::kFailure &&
        head.bytes <= kLongestErrorText) {
      std::string text(head.bytes, '\0');
      Receive(text.data(), text.size());
      const size_t colon = text.find(": ");
      if (colon == std::string::npos) throw Failure(path_, text);
      throw Failure(text.substr(0, colon), text.substr(colon + 2));
    }
    if (head.magic != MessageHead::kMagic || head.kind != kind ||
        head.bytes > static_cast<uint64_t>(kLargestPiece)) {
      ThrowEnded();
    }
    return head.bytes;
  }

  std::vector<uint8_t> Ask(const ReaderRequest& request, MessageKind kind) {
    Send(request);
    std::vector<uint8_t> bytes(ReceiveHead(kind));
    Receive(bytes.data(), bytes.size());
    return bytes;
  }

  template <typename T>
  std::vector<T> AskNumbers(const ReaderRequest& request, int64_t count) {
    std::vector<T> values(static_cast<size_t>(count));  // allocated before the request is sent
    Send(request);
    const uint64_t wanted = values.size() * sizeof(T);
    for (uint64_t done = 0; done < wanted;) {
      const uint64_t bytes = ReceiveHead(MessageKind::kValues);
      if (bytes == 0 || bytes > wanted - done) ThrowEnded();
      Receive(reinterpret_cast<char*>(values.data()) + done, bytes);
      done += bytes;
    }
    return values;
  }

  std::vector<std::string> AskTexts(const ReaderRequest& request, int64_t count) {
    Send(request);
    std::vector<std::string> texts;
    uint64_t left =
        static_cast<uint64_t>(text_budget_) + static_cast<uint64_t>(count) * sizeof(uint32_t);
    while (static_cast<int64_t>(texts.size()) < count) {
      const uint64_t bytes = ReceiveHead(MessageKind::kValues);
      if (bytes == 0 || bytes > left) ThrowEnded();
      left -= bytes;
      std::vector<uint8_t> piece(bytes);
      Receive(piece.data(), piece.size());
      if (!TakeTexts(piece, texts)) ThrowEnded();
    }
    if (static_cast<int64_t>(texts.size()) != count) ThrowEnded();
    return texts;
  }

  std::string path_;
  ReaderChild child_;
  std::string ending_;
  RunContents contents_;
  int64_t text_budget_ = 0;
};

}  // namespace

std::unique_ptr<RunSource> OpenRunApart(const std::string& path) {
  return std::make_unique<RunApart>(path);
}

}  // namespace midscope
