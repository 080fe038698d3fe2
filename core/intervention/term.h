// SPDX-License-Identifier: MIT
// A term of an intervention: a value together with its type. The value's C++ type may be visible in
// only one file of core/terms.
#pragma once

#include <memory>
#include <utility>

namespace midscope {

struct TermType;  // term_type.h

class Term {
 public:
  // T must be copyable and have operator==. Use TermOf (core/terms/terms.h) instead, which finds
  // the type. `type` must outlive the term.
  template <typename T>
  Term(const TermType& type, T value)
      : type_(&type), held_(std::make_shared<const HeldValue<T>>(std::move(value))) {}

  const TermType& type() const { return *type_; }

  // Returns null if the value is of another type.
  template <typename T>
  const T* As() const {
    const auto* held = dynamic_cast<const HeldValue<T>*>(held_.get());
    return held ? &held->value : nullptr;
  }

  bool operator==(const Term& other) const {
    return type_ == other.type_ && (held_ == other.held_ || held_->Equals(*other.held_));
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

  const TermType* type_;
  std::shared_ptr<const Held> held_;  // immutable; copies of a term share it
};

}  // namespace midscope
