// SPDX-License-Identifier: MIT
#include "core/pre_tokenizer.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "core/error.h"
#include "core/utf8.h"

namespace midscope {
namespace {

// White space as Unicode has it. PCRE2's own \s also holds U+180E, which lost the property in
// Unicode 6.3.
#define WHITE                                                   \
  R"(\x{09}-\x{0d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a})" \
  R"(\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})"

// GPT-2's pattern (openai/gpt-2 src/encoder.py), what `ByteLevel` of Hugging Face tokenizers uses.
constexpr const char* kByteLevel =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^)" WHITE R"(\p{L}\p{N}]+|[)" WHITE
    R"(]+(?![^)" WHITE R"(])|[)" WHITE R"(]+)";
constexpr const char* kDigit = R"(\p{N})";
// Llama 3's pattern (meta-llama/llama3 llama/tokenizer.py).
constexpr const char* kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^)" WHITE
    R"(\p{L}\p{N}]+[\r\n]*|[)" WHITE R"(]*[\r\n]+|[)" WHITE R"(]+(?![^)" WHITE R"(])|[)" WHITE
    R"(]+)";
#undef WHITE

struct Scheme {
  std::string_view name;
  // One after the other: each cuts the pieces that the one before left, at every match's beginning
  // and end.
  std::array<const char*, 2> patterns;
  bool ignores_merges;
};

constexpr std::array<Scheme, 6> kSchemes = {{{"smollm", {kDigit, kByteLevel}, false},
                                             {"default", {kByteLevel, nullptr}, false},
                                             {"gpt-2", {kByteLevel, nullptr}, false},
                                             {"gpt2", {kByteLevel, nullptr}, false},
                                             {"llama-bpe", {kLlama3, nullptr}, true},
                                             {"llama3", {kLlama3, nullptr}, true}}};

const Scheme& FindScheme(const std::string& name) {
  std::string known;
  for (const Scheme& scheme : kSchemes) {
    if (scheme.name == name) return scheme;
    known += (known.empty() ? "" : ", ") + std::string(scheme.name);
  }
  throw Failure("pre-tokenizer " + Quote(name),
                "not supported yet, and any other would give other token ids",
                "Supported: " + known);
}

struct CodeDeleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct MatchDeleter {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Code = std::unique_ptr<pcre2_code, CodeDeleter>;
using Match = std::unique_ptr<pcre2_match_data, MatchDeleter>;

std::string PcreMessage(int error) {
  std::array<PCRE2_UCHAR, 160> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

Code Compile(const char* pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED,
                          PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
  if (!code)
    throw std::logic_error("pattern: " + PcreMessage(error) + " at " + std::to_string(offset));
  // Where there is no just-in-time compiler, matching is slower and the same.
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  return code;
}

}  // namespace

struct PreTokenizer::Patterns {
  const Scheme& scheme;
  std::vector<Code> codes;
};

namespace {

using Piece = std::function<void(size_t begin, size_t end)>;

// Cuts text[begin, end) at the matches of codes[level], then each piece by the next level. The
// pattern sees the piece alone, so that its look-ahead ends where the piece does.
void SplitFrom(const std::vector<Code>& codes, const std::vector<Match>& matches, size_t level,
               std::string_view text, size_t begin, size_t end, const Piece& piece) {
  if (begin == end) return;
  if (level == codes.size()) {
    piece(begin, end);
    return;
  }
  const auto next = [&](size_t from, size_t to) {
    SplitFrom(codes, matches, level + 1, text, from, to, piece);
  };
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data() + begin);
  pcre2_match_data* match = matches[level].get();
  size_t done = 0;
  while (begin + done < end) {
    const int found = pcre2_match(codes[level].get(), subject, end - begin, done,
                                  PCRE2_NO_UTF_CHECK, match, nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      throw Failure("text", "can't be cut into words at byte " + std::to_string(begin + done) +
                                " (" + PcreMessage(found) + ")");
    }
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(match);
    const size_t from = range[0];
    const size_t to = range[1];
    next(begin + done, begin + from);
    next(begin + from, begin + to);
    done = to;
  }
  next(begin + done, end);
}

}  // namespace

PreTokenizer::PreTokenizer(const std::string& name) {
  const Scheme& scheme = FindScheme(name);
  std::vector<Code> codes;
  for (const char* pattern : scheme.patterns) {
    if (pattern != nullptr) codes.push_back(Compile(pattern));
  }
  patterns_ = std::unique_ptr<const Patterns>(new Patterns{scheme, std::move(codes)});
}

PreTokenizer::~PreTokenizer() = default;
PreTokenizer::PreTokenizer(PreTokenizer&&) noexcept = default;
PreTokenizer& PreTokenizer::operator=(PreTokenizer&&) noexcept = default;

void PreTokenizer::Split(std::string_view text, const Piece& piece) const {
  std::vector<Match> matches;
  for (const Code& code : patterns_->codes) {
    matches.emplace_back(pcre2_match_data_create_from_pattern(code.get(), nullptr));
    if (!matches.back()) throw std::bad_alloc();
  }
  SplitFrom(patterns_->codes, matches, 0, text, 0, text.size(), piece);
}

bool PreTokenizer::ignores_merges() const { return patterns_->scheme.ignores_merges; }

}  // namespace midscope
