// Virtual calls, templates and inline functions across files.
#include "shapes.h"
#include <cstdio>

unsigned long tally_area, tally_largest;

int main() {
  auto shapes = make_shapes(300);
  std::vector<int> numbers;
  std::vector<double> areas;
  for (int i = 0; i < 100; i++)
    numbers.push_back(shared_inline(i * 37 % 101));
  for (auto &shape : shapes)
    areas.push_back(shape->area());
  std::printf("%.3f %d %.3f %d\n", total_area(shapes), largest(numbers), largest(areas), use_shared(9));
  std::fprintf(stderr, "tally _ZNK6Square4areaEv %lu\ntally _ZNK6Circle4areaEv %lu\ntally _Z13shared_inlinei %d\n", tally_area, 600 - tally_area, 100 + 10);
  return 0;
}
