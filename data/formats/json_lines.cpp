// SPDX-License-Identifier: MIT
#include "data/formats/json_lines.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <memory>
#include <set>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/file_access.h"
#include "core/base/json_depth.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

// Maximum ratio of unpacked to packed size of a gzip file whose unpacked size exceeds kAlwaysRead
// bytes. Text data sets have a ratio of about 10, malicious files (zip bombs) of 1000.
constexpr int64_t kLargestGrowth = 200;
constexpr int64_t kAlwaysRead = int64_t{1} << 30;

struct GzipCloser {
  void operator()(gzFile file) const { gzclose(file); }
};

// Reads the lines of a file, compressed by gzip or plain.
class LineReader {
 public:
  LineReader(const std::string& path, int64_t longest_line)
      : path_(path), longest_(static_cast<size_t>(longest_line)) {
    file_.reset(gzdopen(OpenForReading(path), "rb"));
    if (!file_) throw std::bad_alloc();
    std::error_code ignored;
    const auto size = static_cast<int64_t>(std::filesystem::file_size(path, ignored));
    most_bytes_ = std::max(kAlwaysRead, kLargestGrowth * std::max<int64_t>(size, 0));
  }

  int64_t number() const { return number_; }

  // Reads the next line without its end; returns false at the end of the file.
  bool Next(std::string& line) {
    line.clear();
    ++number_;
    while (true) {
      const size_t end = buffer_.find('\n', begin_);
      const size_t stop = end == std::string::npos ? buffer_.size() : end;
      line.append(buffer_, begin_, stop - begin_);
      if (line.size() > longest_) {
        throw Failure(fmt::format("{}, line {}", path_, number_),
                      fmt::format("it is longer than {} bytes", longest_),
                      "A JSONL file has one object per line");
      }
      if (end != std::string::npos) {
        begin_ = end + 1;
        return true;
      }
      if (!Refill()) return !line.empty();
    }
  }

 private:
  bool Refill() {
    constexpr size_t kBufferBytes = size_t{1} << 18;
    begin_ = 0;
    buffer_.resize(kBufferBytes);
    const int count = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(kBufferBytes));
    if (count < 0 && errno == EINTR) throw Cancelled();
    int error = Z_OK;
    gzerror(file_.get(), &error);
    if (count < 0 || (error != Z_OK && error != Z_STREAM_END)) {
      const bool compressed = gzdirect(file_.get()) == 0;
      throw Failure(path_, compressed ? "its gzip data are damaged or cut off" : "cannot be read",
                    compressed ? "Fetch the file again" : "");
    }
    buffer_.resize(static_cast<size_t>(count));
    bytes_ += count;
    if (bytes_ > most_bytes_) {
      throw Failure(path_, fmt::format("it unpacks to more than {} times its size", kLargestGrowth),
                    "Unpack it with gunzip first if that is expected");
    }
    return !buffer_.empty();
  }

  std::string path_;
  size_t longest_;
  int64_t most_bytes_ = 0;
  int64_t bytes_ = 0;  // number of bytes unpacked so far
  std::unique_ptr<std::remove_pointer_t<gzFile>, GzipCloser> file_;
  std::string buffer_;
  size_t begin_ = 0;
  int64_t number_ = 0;
};

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// Parses a line. Throws Error if it is not JSON, or if its object has a duplicate key (the JSON
// library would drop the first value).
nlohmann::json ParseLine(const std::string& line, const std::string& thing) {
  std::set<std::string> keys;
  std::string twice;
  const auto note_key = [&](int depth, nlohmann::json::parse_event_t event,
                            const nlohmann::json& key) {
    const bool is_key = event == nlohmann::json::parse_event_t::key && depth == 1;
    if (is_key && !keys.insert(key.get<std::string>()).second) twice = key.get<std::string>();
    return true;
  };
  nlohmann::json json = nlohmann::json::parse(line, note_key, false);
  if (json.is_discarded()) return ParseJson(line, thing);  // throws with position and reason
  if (!JsonNestsWithin(line)) {
    throw Failure(thing, fmt::format("it is nested in more than {} levels", kDeepestJson),
                  "Leave the inner levels out");
  }
  if (!twice.empty()) throw Failure(thing, "it has " + Quote(twice) + " twice", "Give it once");
  return json;
}

}  // namespace

void ForEachTextLine(
    const std::string& path,
    const std::function<void(const std::string& thing, const std::string& line)>& item,
    int64_t longest_line) {
  LineReader reader(path, longest_line);
  for (std::string line; reader.Next(line);) {
    if (reader.number() == 1 && line.starts_with(kByteOrderMark))
      line.erase(0, kByteOrderMark.size());
    if (IsBlank(line)) continue;
    if (line.ends_with('\r')) line.pop_back();
    const std::string thing = fmt::format("{}, line {}", path, reader.number());
    CheckUtf8(thing, line);
    item(thing, line);
  }
}

void ForEachJsonLine(const std::string& path,
                     const std::function<void(const JsonFields& fields)>& item,
                     int64_t longest_line) {
  bool any = false;
  const auto read = [&](const std::string& thing, const std::string& line) {
    if (!any && line.starts_with("[")) {
      throw Failure(path, "it is one JSON array",
                    "Give one object per line (JSONL): jq -c '.[]' FILE > NEW.jsonl");
    }
    if (!any && line.ends_with('{')) {
      throw Failure(path, "its first object has several lines",
                    "Give one object per line (JSONL): jq -c . FILE > NEW.jsonl");
    }
    const nlohmann::json json = ParseLine(line, thing);
    if (!json.is_object()) {
      throw Failure(thing, "it must be an object", "A JSONL file has one object per line");
    }
    item(JsonFields(json, thing, ""));
    any = true;
  };
  ForEachTextLine(path, read, longest_line);
  if (!any)
    throw Failure(path, "it must contain at least one line of JSON",
                  "Give a file with one object per line");
}

std::vector<std::string> TextList(const JsonFields& fields, const std::string& key) {
  std::vector<std::string> texts;
  for (const nlohmann::json& text : fields.Array(key)) {
    if (!text.is_string())
      fields.Fail("has a field " + Quote(key) + " that holds something but texts");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

int64_t Integer(const JsonFields& fields, const std::string& key, int64_t minimum, int64_t maximum,
                int64_t otherwise) {
  const nlohmann::json* found = fields.Find(key);
  if (found == nullptr) return otherwise;
  // Also accepts integers written as 3.0, as pandas does, up to 2^53, where double is exact.
  constexpr double kExact = 1LL << 53;
  const bool whole = found->is_number_float() && std::abs(found->get<double>()) <= kExact &&
                     std::floor(found->get<double>()) == found->get<double>();
  const bool fits = whole || (found->is_number_integer() &&
                              (!found->is_number_unsigned() ||
                               found->get<uint64_t>() <= static_cast<uint64_t>(INT64_MAX)));
  const int64_t value = fits ? found->get<int64_t>() : minimum - 1;
  if (value < minimum || value > maximum) {
    fields.Fail(fmt::format("has a field {} that must be an integer from {} to {}", Quote(key),
                            minimum, maximum));
  }
  return value;
}

}  // namespace midscope
