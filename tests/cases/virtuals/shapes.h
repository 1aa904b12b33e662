#pragma once
#include <memory>
#include <vector>

extern unsigned long tally_area, tally_largest;

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};

struct Square : Shape {
  double side;
  explicit Square(double s) : side(s) {}
  double area() const override;
};

struct Circle : Shape {
  double radius;
  explicit Circle(double r) : radius(r) {}
  double area() const override;
};

/* A template and an inline function in two translation units: copies that the linker folds. */
template <typename T> __attribute__((noinline)) T largest(const std::vector<T> &values) {
  tally_largest++;
  T best = T();
  for (const T &value : values)
    if (best < value)
      best = value;
  return best;
}

__attribute__((noinline)) inline int shared_inline(int n) { return n % 3 == 0 ? n / 3 : n + 1; }

std::vector<std::unique_ptr<Shape>> make_shapes(int count);
double total_area(const std::vector<std::unique_ptr<Shape>> &shapes);
int use_shared(int n);
