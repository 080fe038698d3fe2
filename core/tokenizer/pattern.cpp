// SPDX-License-Identifier: MIT
#include "core/tokenizer/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

struct CodeDeleter {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct MatchDeleter {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

std::string PcreMessage(int error) {
  std::array<PCRE2_UCHAR, 160> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

size_t CharacterLength(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

struct Pattern::Code {
  std::unique_ptr<pcre2_code, CodeDeleter> compiled;

  Code(const std::string& expression, uint32_t options, std::string_view written) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    compiled.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                                 PCRE2_UTF | options, &error, &offset, nullptr));
    if (!compiled) {
      throw Failure("pattern " + Quote(written),
                    fmt::format("not a regular expression that is supported ({} at byte {})",
                                PcreMessage(error), offset));
    }
    // Without the just-in-time compiler, matching is slower but gives the same results.
    pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);
  }
};

Pattern::Pattern(std::unique_ptr<const Code> code) : code_(std::move(code)) {}
Pattern::Pattern(const std::string& expression)
    : code_(std::make_unique<const Code>(ToPcre2(expression), PCRE2_UCP | PCRE2_MULTILINE,
                                         expression)) {}
Pattern::~Pattern() = default;
Pattern::Pattern(Pattern&&) noexcept = default;
Pattern& Pattern::operator=(Pattern&&) noexcept = default;

Pattern Pattern::Literal(std::string_view text) {
  return Pattern(std::make_unique<const Code>(std::string(text), PCRE2_LITERAL, text));
}

struct Pattern::Matcher::State {
  const pcre2_code* code;
  std::unique_ptr<pcre2_match_data, MatchDeleter> match;
};

Pattern::Matcher::Matcher(const Pattern& pattern) : state_(std::make_unique<State>()) {
  state_->code = pattern.code_->compiled.get();
  state_->match.reset(pcre2_match_data_create_from_pattern(state_->code, nullptr));
  if (!state_->match) throw std::bad_alloc();
}
Pattern::Matcher::~Matcher() = default;
Pattern::Matcher::Matcher(Matcher&&) noexcept = default;
Pattern::Matcher& Pattern::Matcher::operator=(Matcher&&) noexcept = default;

void Pattern::Matcher::FindAll(std::string_view subject, std::vector<Cut>* cuts) {
  cuts->clear();
  size_t done = 0;    // end of the last match
  size_t search = 0;  // after an empty match, the search continues one character further
  while (search <= subject.size()) {
    const int found =
        pcre2_match(state_->code, reinterpret_cast<PCRE2_SPTR>(subject.data()), subject.size(),
                    search, PCRE2_NO_UTF_CHECK, state_->match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) {
      throw Failure("text", fmt::format("cannot be cut into words at byte {} ({})", search,
                                        PcreMessage(found)));
    }
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(state_->match.get());
    if (range[0] > done) cuts->push_back({done, range[0], false});
    cuts->push_back({range[0], range[1], true});
    done = search = range[1];
    if (range[0] == range[1])
      search += search < subject.size() ? CharacterLength(subject[search]) : 1;
  }
  if (done < subject.size()) cuts->push_back({done, subject.size(), false});
}

}  // namespace midscope
