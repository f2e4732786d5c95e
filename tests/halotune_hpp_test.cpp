// halotune_hpp_test.cpp: ownership, errors and spans of halotune.hpp. $HALOTUNE_DB has a winner of star7 on 24x12x10
// for the GPU "NVIDIA H200", which the fake driver has. Prints what is wrong. Exit code 1 if something is.
#include <cuda.h>

#include <halotune.hpp>

#include <cstdio>
#include <cstring>

static int failed = 0;

static void expect(bool is_true, const char *what) {
  if (is_true) return;
  std::printf("wrong: %s\n", what);
  failed++;
}

// Whether a call throws an error of this status whose text has these words.
template <typename Call> static bool throws(halotune_status status, const char *words, Call call) {
  try {
    call();
  } catch (const halotune::error &error) {
    if (error.status() == status && std::strstr(error.what(), words)) return true;
    std::printf("status %d: %s\n", static_cast<int>(error.status()), error.what());
    return false;
  }
  std::printf("nothing was thrown\n");
  return false;
}

static_assert(halotune::dtype_of<float> == HALOTUNE_F32 && halotune::dtype_of<double> == HALOTUNE_F64, "element types");
static_assert(!std::is_copy_constructible_v<halotune::context> && std::is_nothrow_move_constructible_v<halotune::context>,
              "a context has one owner");
static_assert(!std::is_copy_constructible_v<halotune::kernel> && std::is_nothrow_move_constructible_v<halotune::kernel>,
              "a kernel has one owner");

static int sum(halotune::span<const int> numbers) {
  int total = 0;
  for (const int number : numbers) total += number;
  return total;
}

// The fields of a kernel on the driver's first GPU.
static void check_fields(const halotune::context &context, const halotune::config &config) {
  CUdevice device = 0;
  CUcontext primary = nullptr;
  const bool has_gpu = cuInit(0) == CUDA_SUCCESS && cuDeviceGet(&device, 0) == CUDA_SUCCESS &&
                       cuDevicePrimaryCtxRetain(&primary, device) == CUDA_SUCCESS && cuCtxSetCurrent(primary) == CUDA_SUCCESS;
  expect(has_gpu, "a GPU");
  if (!has_gpu) return;
  const halotune::kernel kernel(context, config);
  halotune_field field{};
  expect(kernel.field(0).elements == 24 * 12 * 10 && kernel.field(1).strides[1] == 24 && kernel.field(1).element_bytes == 4, "fields");
  expect(throws(HALOTUNE_ARGUMENT, "field", [&] { kernel.field(2); }), "no such field");
  expect(kernel.try_field(2, field) == HALOTUNE_ARGUMENT && field.elements == 0, "try_field throws nothing");
  const std::array<halotune::layout, 2> boxes{{{0, 0, {0, 0, 0}, {0, 0, 5}}, {0, 0, {0, 0, 5}, {0, 0, 0}}}};
  const std::vector<halotune::kernel> kernels = halotune::kernel::create_boxes(context, config, boxes);
  expect(kernels.size() == 2 && kernels[0] && kernels[1] && kernels[0].info().steps == kernels[1].info().steps, "boxes");
  const std::vector<halotune::layout> many(halotune::kernel::MOST_BOXES + 1);
  expect(throws(HALOTUNE_ARGUMENT, "65 boxes, and a call takes at most 64", [&] { halotune::kernel::create_boxes(context, config, many); }),
         "too many boxes");
  expect(throws(HALOTUNE_ARGUMENT, "no field 2", [&] { kernel.pack(nullptr, 2, {{0, 0, 0}, {1, 1, 1}}, &field, &field); }), "pack");
  expect(kernel.try_unpack(nullptr, 0, {{0, 0, 0}, {25, 1, 1}}, &field, &field) == HALOTUNE_ARGUMENT, "unpack");
}

// An exception of a progress function leaves the C code first.
static void check_progress(halotune::context &context) {
  struct enough {};
  halotune::tune_options options{};
  options.budget_s = 600;
  const halotune::problem asked("star7", {16, 16, 16});
  int calls = 0;
  const auto progress = [](void *user, double, const char *) -> int {
    ++*static_cast<int *>(user);
    throw enough();
  };
  bool is_caught = false;
  try {
    context.tune(asked, &options, progress, &calls);
  } catch (const enough &) {
    is_caught = true;
  }
  expect(is_caught && calls == 1, "tune throws what its progress function threw");
  expect(context.try_tune(asked, &options, progress, &calls) == HALOTUNE_CANCELLED && calls == 2, "try_tune throws nothing");
}

int main() {
  const std::array<int, 2> array{1, 2};
  const std::vector<int> vector{3, 4};
  const int plain[] = {5, 6};
  expect(sum(array) == 3 && sum(vector) == 7 && sum(plain) == 11 && sum({plain, 1}) == 5, "span");

  halotune::context context;
  const halotune::problem problem = halotune::problem("star7", {24, 12, 10}).device("h200");
  const halotune::config config = context.lookup(problem);
  expect(config.match == HALOTUNE_MATCH_EXACT && std::strcmp(config.template_name, "small") == 0, "lookup");
  expect(halotune::parameter(config, "block_x").number >= 32, "parameter");
  expect(context.stencil("star7").coefficient_count == 7, "stencil");
  expect(throws(HALOTUNE_NOT_FOUND, "star8", [&] { context.lookup(halotune::problem("star8", {8, 8, 8})); }), "no such stencil");
  expect(throws(HALOTUNE_NOT_FOUND, "", [&] { halotune::parameter(config, "no_such"); }), "no such parameter");
  const std::string cut("\0x", 2); // what is in front of it is no text
  expect(throws(HALOTUNE_NOT_FOUND, "", [&] { context.lookup(halotune::problem("star7" + cut, {24, 12, 10})); }), "a stencil");
  expect(throws(HALOTUNE_NOT_FOUND, "", [&] { context.lookup(halotune::problem("star7", {24, 12, 10}).device("h200" + cut)); }),
         "a device");
  expect(throws(HALOTUNE_NOT_FOUND, "", [&] { halotune::parameter(config, "block_x" + cut); }), "a parameter");
  expect(throws(HALOTUNE_PARSE, "add", [&] { context.add_stencil("name: ["); }), "no stencil");
  expect(throws(HALOTUNE_NOT_FOUND, "none.db", [] { halotune::context({"none.db"}); }), "no such file");
  expect(throws(HALOTUNE_ARGUMENT, "2 coefficients, and the kernel takes 7",
                [&] { halotune::kernel(context, config, std::vector<double>{1, 2}); }),
         "coefficients");

  halotune::config untouched{};
  untouched.steps = 77;
  expect(context.try_lookup(halotune::problem("star8", {8, 8, 8}), untouched) == HALOTUNE_NOT_FOUND && untouched.steps == 77,
         "try_lookup throws nothing and leaves its result alone");
  halotune::context moved = std::move(context);
  expect(!context.get() && moved.get(), "a moved context is empty");
  expect(moved.lookup(problem).match == HALOTUNE_MATCH_EXACT, "and answers at its new place");
  const halotune::kernel empty;
  void *fields[] = {nullptr, nullptr};
  expect(!empty && empty.info().input_count == 0 && empty.try_run(nullptr, fields, 1) == HALOTUNE_ARGUMENT, "an empty kernel");
  expect(throws(HALOTUNE_ARGUMENT, "it is empty", [&] { empty.run(nullptr, fields, 1); }), "an empty kernel says so");
  expect(throws(HALOTUNE_ARGUMENT, "it is empty", [&] { empty.field(0); }), "so does a field of it");
  check_fields(moved, config);
  check_progress(moved);
  halotune::context later(nullptr);
  expect(!later.get() && halotune::context::try_open(later) == HALOTUNE_OK && later.get(), "a context without exceptions");
  expect(halotune::context::try_open({"none.db"}, later) == HALOTUNE_NOT_FOUND && later.get(), "a failure leaves it alone");
  expect(throws(HALOTUNE_ARGUMENT, "", [] { halotune::context(std::vector<std::string>{}); }), "an empty list of databases");
  return failed ? 1 : 0;
}
