// SPDX-License-Identifier: MIT
#include "data/tasks/invented_facts.h"

#include <array>
#include <cctype>
#include <numeric>
#include <string_view>
#include <utility>

#include "data/tasks/word_lists.h"

namespace midscope {
namespace {

// Syllables of invented names. All names have eight letters, so that none can be part of another.
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

// The texts that fill a passage's template; the last word of `answer` is a unique name.
struct Facts {
  std::string subject;
  std::string answer;
  std::string other;
  std::string thing;
  std::string detail;
  std::string year;
};

using OtherFacts = std::array<const char*, 8>;

struct Kind {
  bool person_answers;
  InventedPassage (*passage)(const Facts& facts);
  std::string (*question)(const Facts& facts);
  // Templates of other facts about the subject, with placeholders {subject}, {answer} and {year};
  // none answers the question.
  const OtherFacts* other_facts;
  // Title of a passage about one of these facts, and the text after the fact.
  std::string (*other_title)(const Facts& asked);
  const char* other_ending;
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

constexpr OtherFacts kCompanyFacts = {
    "From {year} on the company {subject} was led by {answer}.",
    "In {year} the company {subject} was sold to {answer}.",
    "The seat of the company {subject} was built in {year} by {answer}.",
    "In {year} the company {subject} was sued by {answer} over a late delivery.",
    "The first catalogue of the company {subject} was drawn by {answer} in {year}.",
    "In {year} {answer} became the first chief engineer of the company {subject}.",
    "A history of the company {subject} was written by {answer} and printed in {year}.",
    "In {year} the workers of the company {subject} chose {answer} to speak for them."};

constexpr OtherFacts kTownFacts = {
    "In {year} a canal was dug from the town of {subject} to the river {answer}.",
    "Until {year} the town of {subject} took its salt from ships on the river {answer}.",
    "In {year} people from the town of {subject} settled on the river {answer}.",
    "The stone of the church of {subject} was broken on the river {answer} in {year}.",
    "In {year} a railway from {subject} to the river {answer} was planned.",
    "Fishers of the town of {subject} have had rights on the river {answer} since {year}.",
    "In {year} the mayor of {subject} bought a mill on the river {answer}.",
    "A song of {year} tells of a child of {subject} who was lost on the river {answer}."};

constexpr OtherFacts kNovelFacts = {
    "In {year} {subject} was translated by {answer}.",
    "A stage version of {subject} by {answer} was shown in {year}.",
    "In {year} {answer} drew the pictures for a new edition of {subject}.",
    "The longest review of {subject} was written by {answer} in {year}.",
    "In {year} {subject} was read aloud on the radio by {answer}.",
    "The rights to {subject} were bought in {year} by {answer}.",
    "In {year} {answer} edited the letters of readers of {subject}.",
    "The film of {subject} that was planned in {year} was to be directed by {answer}."};

std::string CompanyName(const Facts& f) { return f.subject + " Works"; }
std::string TownName(const Facts& f) { return f.subject; }
std::string NovelName(const Facts& f) {
  return "the " + f.detail + " " + f.thing + " of " + f.subject;
}

constexpr std::array<Kind, 3> kKinds = {
    Kind{true, Company, [](const Facts& f) { return "who founded the company " + CompanyName(f); },
         &kCompanyFacts, CompanyName,
         "The papers of that time lie in a small archive. Some of them were lost in a fire, and "
         "what "
         "is left is shown to visitors twice a year. Two students have copied the most important "
         "pages, and a list of them can be had at the gate."},
    Kind{false, Town,
         [](const Facts& f) { return "on which river does the town of " + f.subject + " lie"; },
         &kTownFacts, TownName,
         "The papers of that time lie in the town hall. Some of them were lost in a fire, and what "
         "is left is shown to visitors twice a year. Two students have copied the most important "
         "pages, and a list of them can be had at the door."},
    Kind{true, Novel, [](const Facts& f) { return "who wrote the novel " + NovelName(f); },
         &kNovelFacts, NovelName,
         "The letters about it lie in a small library. Some of them were lost in a fire, and what "
         "is left is shown to visitors twice a year. Two students have copied the most important "
         "pages, and a list of them can be had at the desk."},
};

std::string Filled(std::string text, std::string_view field, const std::string& value) {
  text.replace(text.find(field), field.size(), value);
  return text;
}

std::string Capitalised(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// Returns a passage with other fact `number` about the question's subject; `own` contains the
// answer and year of that fact.
InventedPassage OtherFactOf(const Kind& kind, const Facts& asked, const Facts& own, size_t number) {
  const std::string name = kind.other_title(asked);
  std::string text = (*kind.other_facts)[number % kind.other_facts->size()];
  text = Filled(Filled(Filled(std::move(text), "{subject}", name), "{year}", own.year), "{answer}",
                own.answer);
  return {Capitalised(name), Capitalised(text) + " " + kind.other_ending};
}

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

InventedFacts InventFacts(int64_t passages, SplitMix64& random, OtherPassages others) {
  constexpr size_t kNamesEach = 3;
  constexpr uint64_t kFirstYear = 1820;
  constexpr uint64_t kYears = 180;
  static_assert(kNamesEach * kMostInventedPassages <= kNames);
  const Kind& kind = kKinds[random.Below(kKinds.size())];
  const std::vector<std::string> names =
      InventNames(kNamesEach * static_cast<size_t>(passages), random);
  InventedFacts made;
  Facts asked;
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
      asked = facts;
    }
    const bool same = others == OtherPassages::kSameSubject && i > 0;
    made.passages.push_back(same ? OtherFactOf(kind, asked, facts, i / kNamesEach - 1)
                                 : kind.passage(facts));
    made.passages.back().answer = facts.answer;
  }
  return made;
}

}  // namespace midscope
