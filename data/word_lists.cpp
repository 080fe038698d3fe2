// SPDX-License-Identifier: MIT
#include "data/word_lists.h"

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

}  // namespace midscope
