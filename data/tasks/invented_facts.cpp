// SPDX-License-Identifier: MIT
#include "data/tasks/invented_facts.h"

#include <array>
#include <numeric>
#include <utility>

#include "data/tasks/word_lists.h"

namespace midscope {
namespace {

// All names have eight letters, so that none can be part of another.
constexpr std::array<const char*, 24> kBegins = {
    "Bel", "Cor", "Dal", "Fen", "Gar", "Hol", "Jor", "Kel", "Lan", "Mor", "Nor", "Pel",
    "Ral", "Sel", "Tor", "Val", "Wen", "Yar", "Zel", "Bra", "Dru", "Gle", "Kir", "Ost"};
constexpr std::array<const char*, 8> kMiddles = {"am", "en", "is", "or", "ur", "ev", "il", "ad"};
constexpr std::array<const char*, 16> kEnds = {"dor", "wyn", "tha", "mar", "ric", "len",
                                               "ton", "vik", "sha", "bel", "gan", "rim",
                                               "dus", "nia", "por", "zan"};
constexpr size_t kNames = kBegins.size() * kMiddles.size() * kEnds.size();

std::string Name(size_t index) {
  return std::string(kBegins[index % kBegins.size()]) +
         kMiddles[index / kBegins.size() % kMiddles.size()] +
         kEnds[index / kBegins.size() / kMiddles.size()];
}

// The parts of a passage; the answer is `answer`, whose last word is a unique name.
struct Facts {
  std::string subject;
  std::string answer;
  std::string other;
  std::string thing;
  std::string detail;
  std::string year;
};

struct Kind {
  bool person_answers;
  InventedPassage (*passage)(const Facts& facts);
  std::string (*question)(const Facts& facts);
};

InventedPassage Company(const Facts& f) {
  return {f.subject + " Works",
          f.subject + " Works is a maker of " + f.detail + " " + f.thing +
              "s. The company was founded by " + f.answer + " in " + f.year +
              " and has its seat in the town of " + f.other +
              ". It began in a single rented room and moved to a building of its own within ten "
              "years. Most of its products are sold to schools and small shops. The works are "
              "open to visitors in summer, when former employees lead tours through the old "
              "halls."};
}

InventedPassage Town(const Facts& f) {
  return {f.subject,
          f.subject + " is a small town that was first mentioned in " + f.year +
              ". It lies on the river " + f.answer + ", half a day's walk from " + f.other +
              ". The town is known for its " + f.detail + " " + f.thing +
              ", which stands in the middle of the market square. A railway line was planned "
              "twice and never built. Every autumn the people of the town hold a fair, to which "
              "farmers from the whole valley bring their fruit."};
}

InventedPassage Novel(const Facts& f) {
  return {"The " + f.detail + " " + f.thing + " of " + f.subject,
          "The " + f.detail + " " + f.thing + " of " + f.subject + " is a novel by " + f.answer +
              " that appeared in " + f.year + ". It tells of a young teacher who returns to " +
              f.other +
              " after many years and finds the house of her childhood empty. Critics praised its "
              "plain language and its long descriptions of weather. The book was out of print "
              "for decades before a small press brought it back. A film was announced but has "
              "not been made."};
}

constexpr std::array<Kind, 3> kKinds = {
    Kind{true, Company,
         [](const Facts& f) { return "who founded the company " + f.subject + " Works"; }},
    Kind{false, Town,
         [](const Facts& f) { return "on which river does the town of " + f.subject + " lie"; }},
    Kind{true, Novel,
         [](const Facts& f) {
           return "who wrote the novel the " + f.detail + " " + f.thing + " of " + f.subject;
         }},
};

template <typename T>
const T& Pick(const std::vector<T>& from, SplitMix64& random) {
  return from[random.Below(from.size())];
}

}  // namespace

std::vector<std::string> InventNames(size_t count, SplitMix64& random) {
  std::vector<size_t> all(kNames);
  std::iota(all.begin(), all.end(), size_t{0});
  std::vector<std::string> names;
  for (const size_t index : random.Draw(std::move(all), count)) names.push_back(Name(index));
  return names;
}

InventedFacts InventFacts(int64_t passages, SplitMix64& random) {
  constexpr size_t kNamesEach = 3;
  constexpr uint64_t kFirstYear = 1820;
  constexpr uint64_t kYears = 180;
  static_assert(kNamesEach * kMostInventedPassages <= kNames);
  const Kind& kind = kKinds[random.Below(kKinds.size())];
  const std::vector<std::string> names =
      InventNames(kNamesEach * static_cast<size_t>(passages), random);
  InventedFacts made;
  for (size_t i = 0; i < names.size(); i += kNamesEach) {
    Facts facts;
    facts.subject = names[i];
    facts.other = names[i + 2];
    facts.answer = names[i + 1];
    if (kind.person_answers) facts.answer = Pick(FirstNames(), random) + " " + facts.answer;
    facts.thing = Pick(PlainNouns(), random);
    facts.detail = Pick(PlainAdjectives(), random);
    facts.year = std::to_string(kFirstYear + random.Below(kYears));
    if (i == 0) {
      made.question = kind.question(facts);
      made.answer = facts.answer;
    }
    made.passages.push_back(kind.passage(facts));
    made.passages.back().answer = facts.answer;
  }
  return made;
}

}  // namespace midscope
