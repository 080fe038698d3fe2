// SPDX-License-Identifier: MIT
#include "data/tasks/word_lists.h"

namespace midscope {

const std::vector<std::string>& FirstNames() {
  static const std::vector<std::string> names = {
      "Adam",    "Alice",  "Amy",     "Andrew", "Anna",   "Ben",   "Brian",   "Carol",
      "Charles", "Chris",  "Clara",   "Daniel", "David",  "Diana", "Edward",  "Elena",
      "Emily",   "Emma",   "Eric",    "Frank",  "George", "Grace", "Hannah",  "Harry",
      "Helen",   "Henry",  "Ian",     "Jack",   "James",  "Jane",  "Jason",   "John",
      "Julia",   "Karen",  "Kate",    "Kevin",  "Laura",  "Leo",   "Linda",   "Lisa",
      "Lucy",    "Maria",  "Mark",    "Martin", "Mary",   "Max",   "Michael", "Nina",
      "Oliver",  "Paul",   "Peter",   "Rachel", "Robert", "Rose",  "Samuel",  "Sarah",
      "Simon",   "Sophie", "Stephen", "Susan",  "Thomas", "Tom",   "Victor",  "William"};
  return names;
}

const std::vector<std::string>& ThingsToBuy() {
  static const std::vector<std::string> things = {
      "apple",  "bag",     "ball",   "banana", "basket", "bed",    "bell",   "belt",   "bike",
      "boat",   "book",    "bottle", "bowl",   "box",    "bread",  "brush",  "butter", "cake",
      "camera", "candle",  "car",    "carpet", "chair",  "cheese", "clock",  "coat",   "coffee",
      "cup",    "curtain", "desk",   "dress",  "drum",   "fish",   "flower", "fork",   "glass",
      "glove",  "guitar",  "hammer", "hat",    "honey",  "jacket", "kite",   "knife",  "ladder",
      "lamp",   "lemon",   "lock",   "map",    "milk",   "mirror", "oil",    "orange", "paint",
      "paper",  "pen",     "pencil", "phone",  "piano",  "pillow", "plate",  "pot",    "radio",
      "rice",   "ring",    "rope",   "rug",    "salt",   "shirt",  "shoes",  "shovel", "soap",
      "sofa",   "spoon",   "sugar",  "table",  "tea",    "tent",   "ticket", "towel",  "toy",
      "train",  "tree",    "truck",  "vase",   "violin", "watch",  "wheel",  "wine",   "wool"};
  return things;
}

const std::vector<std::string>& PlainAdjectives() {
  static const std::vector<std::string> adjectives = {
      "able",   "amber",   "ancient", "bitter", "blue",   "bold",    "brave",  "brief",  "bright",
      "broad",  "calm",    "careful", "cheap",  "clean",  "clear",   "clever", "cold",   "common",
      "cool",   "curious", "damp",    "dark",   "deep",   "distant", "dry",    "dusty",  "eager",
      "early",  "easy",    "empty",   "exact",  "fair",   "faint",   "famous", "fancy",  "fast",
      "fierce", "final",   "firm",    "flat",   "fresh",  "gentle",  "giant",  "glad",   "golden",
      "grand",  "gray",    "great",   "green",  "grim",   "happy",   "hard",   "heavy",  "hidden",
      "hollow", "honest",  "huge",    "humble", "icy",    "idle",    "kind",   "large",  "late",
      "lazy",   "light",   "little",  "lively", "lonely", "long",    "loud",   "low",    "lucky",
      "mild",   "modern",  "narrow",  "neat",   "new",    "noble",   "odd",    "old",    "open",
      "orange", "pale",    "patient", "plain",  "polite", "proud",   "purple", "quick",  "quiet",
      "rapid",  "rare",    "red",     "rich",   "rough",  "round",   "rural",  "safe",   "sharp",
      "short",  "shy",     "silent",  "silver", "simple", "slow",    "small",  "smooth", "soft",
      "solid",  "sour",    "square",  "steep",  "stiff",  "strange", "strong", "sturdy", "sunny",
      "sweet",  "swift",   "tall",    "tame",   "tender", "thick",   "thin",   "tidy",   "tiny",
      "tired",  "tough",   "true",    "vast",   "warm",   "weak",    "wet",    "white",  "wide",
      "wild",   "wise",    "wooden",  "yellow", "young"};
  return adjectives;
}

const std::vector<std::string>& PlainNouns() {
  static const std::vector<std::string> nouns = {
      "acorn",   "anchor",   "apple",   "arrow",   "badge",  "barn",     "basin",   "beacon",
      "beard",   "bench",    "berry",   "blanket", "boat",   "bottle",   "branch",  "bread",
      "brick",   "bridge",   "broom",   "brush",   "bucket", "button",   "cabin",   "cactus",
      "camel",   "candle",   "canoe",   "carpet",  "castle", "cave",     "chair",   "chalk",
      "cherry",  "circle",   "cliff",   "clock",   "cloud",  "coat",     "coin",    "comet",
      "copper",  "corner",   "cotton",  "cradle",  "creek",  "cricket",  "crown",   "curtain",
      "desert",  "dragon",   "drawer",  "drum",    "eagle",  "engine",   "falcon",  "feather",
      "fence",   "ferry",    "field",   "flute",   "forest", "fountain", "garden",  "gate",
      "glacier", "glove",    "grape",   "guitar",  "hammer", "harbor",   "helmet",  "hill",
      "honey",   "hotel",    "island",  "ivory",   "jacket", "jungle",   "kettle",  "kite",
      "ladder",  "lake",     "lamp",    "lantern", "leaf",   "lemon",    "letter",  "lion",
      "lizard",  "magnet",   "maple",   "marble",  "market", "meadow",   "melon",   "mirror",
      "mitten",  "mountain", "needle",  "nest",    "oak",    "oasis",    "ocean",   "olive",
      "onion",   "orchard",  "otter",   "paddle",  "palace", "paper",    "parrot",  "pebble",
      "pencil",  "pepper",   "piano",   "pigeon",  "pillow", "planet",   "plum",    "pocket",
      "pond",    "prairie",  "pumpkin", "puzzle",  "quilt",  "rabbit",   "raven",   "ribbon",
      "river",   "robin",    "rocket",  "saddle",  "sailor", "salmon",   "sandal",  "scarf",
      "school",  "shadow",   "shelf",   "ship",    "shovel", "spider",   "spoon",   "statue",
      "stone",   "street",   "sugar",   "table",   "tailor", "temple",   "thunder", "ticket",
      "tiger",   "tower",    "trail",   "train",   "tunnel", "turtle",   "valley",  "vessel",
      "village", "violin",   "wagon",   "walnut",  "water",  "whale",    "wheel",   "willow",
      "window",  "winter",   "wizard",  "yarn",    "zebra"};
  return nouns;
}

}  // namespace midscope
