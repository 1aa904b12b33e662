// The carry of one bit, in C++.
namespace {
struct Full {};
}

extern "C" int carry(int a, int b, int before) {
    try {
        if (a + b + before == 3)
            throw Full();
        return a + b + before > 1;
    } catch (const Full &) {
        return 1;
    }
}
