// SPDX-License-Identifier: MIT
// A value whose type only one source file knows: that of a position scheme or an edit which nothing
// else needs to look into. It can be copied and compared like any other value.
#pragma once

#include <memory>
#include <utility>

namespace midscope {

class OwnValue {
 public:
  // T must be copyable and have operator==.
  template <typename T>
  static OwnValue Of(T value) {
    OwnValue own;
    own.held_ = std::make_shared<const HeldValue<T>>(std::move(value));
    return own;
  }

  // Null where the value is of another type.
  template <typename T>
  const T* As() const {
    const auto* held = dynamic_cast<const HeldValue<T>*>(held_.get());
    return held ? &held->value : nullptr;
  }

  // Values of different types are different.
  bool operator==(const OwnValue& other) const {
    if (held_ == other.held_) return true;
    return held_ && other.held_ && held_->Equals(*other.held_);
  }

 private:
  struct Held {
    Held() = default;
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    virtual ~Held() = default;
    virtual bool Equals(const Held& other) const = 0;
  };

  template <typename T>
  struct HeldValue final : Held {
    explicit HeldValue(T held) : value(std::move(held)) {}
    bool Equals(const Held& other) const override {
      const auto* same = dynamic_cast<const HeldValue*>(&other);
      return same && same->value == value;
    }
    const T value;
  };

  std::shared_ptr<const Held> held_;
};

}  // namespace midscope
