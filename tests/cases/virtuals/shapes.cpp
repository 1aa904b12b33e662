#include "shapes.h"

double Square::area() const {
  tally_area++;
  return side * side;
}

double Circle::area() const { return 3.14159 * radius * radius; }

std::vector<std::unique_ptr<Shape>> make_shapes(int count) {
  std::vector<std::unique_ptr<Shape>> shapes;
  for (int i = 0; i < count; i++) {
    if (i % 3)
      shapes.push_back(std::make_unique<Square>(i));
    else
      shapes.push_back(std::make_unique<Circle>(i));
  }
  return shapes;
}

double total_area(const std::vector<std::unique_ptr<Shape>> &shapes) {
  double sum = 0;
  for (auto &shape : shapes)
    sum += shape->area();
  return sum;
}

int use_shared(int n) {
  int sum = 0;
  for (int i = 0; i < 10; i++)
    sum += shared_inline(n + i);
  std::vector<int> numbers(static_cast<size_t>(n), n);
  return sum + largest(numbers);
}
