// Parses, resolves and rewrites addresses with ada, a C++20 library that is not ours; ends by an exception out of the depths.
#include "ada.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

const char *const bases[] = {
    "https://example.org/a/b/c?d=e#f", "http://user:pass@host.example:8080/", "file:///srv/x/../y",
    "https://xn--nxasmq6b.example/", "ftp://192.0.2.7/pub", "http://[2001:db8::1]:99/p;q",
    "mailto:someone@example.org", "data:text/plain,hello%20world",
};
const char *const references[] = {
    "../g?x=1&y=2", "//other.example/h", "#top", "?q=%C3%BC", "/abs/../p/./q", "https://\xE4\xBE\x8B.example/\xC3\xA9",
    "http://0x7f.1/", "h t t p", "http://a b/", "", "javascript:void(0)", "http://999.999.999.999/",
};

uint64_t digest(uint64_t seed, std::string_view text) {
  for (unsigned char byte : text)
    seed = (seed ^ byte) * 0x100000001b3u;
  return seed;
}

uint64_t visit(const char *base, const char *reference, uint64_t seed) {
  auto parsed = ada::parse<ada::url_aggregator>(base);
  if (!parsed)
    return seed + 1;
  auto resolved = ada::parse<ada::url_aggregator>(reference, &*parsed);
  if (!resolved)
    throw std::invalid_argument(reference);
  resolved->set_port(std::to_string(seed % 70000));
  resolved->set_search("k=" + std::to_string(seed % 977));
  auto parameters = ada::url_search_params(resolved->get_search());
  parameters.append("z", "\xC3\xBC");
  parameters.sort();
  return digest(digest(seed, resolved->get_href()), parameters.to_string());
}

} // namespace

int main(int argc, char **argv) {
  const long rounds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 100;
  uint64_t seed = 14695981039346656037u;
  long refused = 0;
  for (long round = 0; round < rounds; round++) {
    for (const char *base : bases) {
      for (const char *reference : references) {
        try {
          seed = visit(base, reference, seed);
        } catch (const std::invalid_argument &error) {
          seed = digest(seed, error.what());
          refused++;
        }
      }
    }
  }
  std::printf("%016llx refused %ld\n", static_cast<unsigned long long>(seed), refused);
  return 0;
}
