// halotune.hpp: halotune.h for C++17. Header only. Objects own what they hold, and end it.
//
//   halotune::context context;
//   halotune::config config = context.lookup(halotune::problem("star7", {512, 512, 512}).any_steps());
//   halotune::kernel kernel(context, config);
//   kernel.run(stream, fields, 1000);
//
// Each function exists twice. One throws halotune::error. The other has the prefix try_, returns the halotune_status
// and throws nothing. If the library was called, halotune_error tells the detail; a list with a wrong number of elements
// is HALOTUNE_ARGUMENT without one. halotune.h says what each call does, which threads may use what,
// and what each member of a struct means. Works with g++, clang++ and nvcc.
#ifndef HALOTUNE_HPP
#define HALOTUNE_HPP

#include <halotune.h>

#include <array>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace halotune {

// A call failed. what() is the library's text.
class error : public std::runtime_error {
public:
  explicit error(halotune_status status) : std::runtime_error(text_of(status)), status_(status) {}
  error(halotune_status status, const std::string &text) : std::runtime_error(text), status_(status) {}
  halotune_status status() const noexcept { return status_; }

private:
  halotune_status status_;
  static std::string text_of(halotune_status status) {
    const std::string detail = halotune_error(nullptr);
    return detail.empty() ? halotune_strstatus(status) : detail;
  }
};

// Throw the error of a status that is not HALOTUNE_OK.
inline void check(halotune_status status) {
  if (status != HALOTUNE_OK) throw error(status);
}

// A view of elements that lie one behind the other in memory that it does not own, like std::span of C++20. It is made
// from a std::vector, a std::array, an array, or a pointer and a number.
template <typename T> class span {
public:
  constexpr span() noexcept = default;
  constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <typename Container,
            typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<Container &>().data()), T *>>>
  constexpr span(Container &container) noexcept : data_(container.data()), size_(container.size()) {}
  template <typename Container, typename = void,
            typename = std::enable_if_t<std::is_convertible_v<decltype(std::declval<const Container &>().data()), T *>>>
  constexpr span(const Container &container) noexcept : data_(container.data()), size_(container.size()) {}
  template <std::size_t N> constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size_; }

private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

// The element type of a field: dtype_of<float> is HALOTUNE_F32.
template <typename T> inline constexpr halotune_dtype dtype_of = [] {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "a field holds float or double");
  return std::is_same_v<T, float> ? HALOTUNE_F32 : HALOTUNE_F64;
}();

// A text for the C functions. They read up to the first byte 0. A text with such a byte in it would be cut there, so it
// counts as empty: no function accepts an empty text.
inline const char *c_text(const std::string &text) noexcept {
  return text.find('\0') == std::string::npos ? text.c_str() : "";
}

// A problem to find a kernel for. It owns its names.
class problem {
public:
  problem(std::string stencil, std::array<long long, 3> grid, halotune_dtype dtype = HALOTUNE_F32)
      : stencil_(std::move(stencil)), grid_(grid), dtype_(dtype) {}
  problem &device(std::string name) { return device_ = std::move(name), *this; } // default: that of the current context
  problem &launch(halotune_launch_mode mode) { return launch_ = mode, *this; }
  problem &cache(halotune_cache_mode mode) { return cache_ = mode, *this; }
  problem &reproducible(bool wanted = true) { return reproducible_ = wanted, *this; }
  problem &steps(int most) { return steps_ = most, *this; }
  problem &any_steps() { return steps(HALOTUNE_STEPS_ANY); }

  // The C struct. It points to this object's names.
  halotune_problem c_struct() const noexcept {
    halotune_problem out{};
    out.stencil = c_text(stencil_);
    out.device = device_.empty() ? nullptr : c_text(device_);
    for (std::size_t axis = 0; axis < grid_.size(); axis++) out.grid[axis] = grid_[axis];
    out.dtype = dtype_;
    out.launch = launch_;
    out.cache = cache_;
    out.reproducible = reproducible_;
    out.steps = steps_;
    return out;
  }

private:
  std::string stencil_, device_;
  std::array<long long, 3> grid_;
  halotune_dtype dtype_;
  halotune_launch_mode launch_ = HALOTUNE_LAUNCH_ANY;
  halotune_cache_mode cache_ = HALOTUNE_CACHE_ANY;
  bool reproducible_ = false;
  int steps_ = 1;
};

using config = halotune_config;
using layout = halotune_layout;
using facts = halotune_kernel_facts;
using stencil_facts = halotune_stencil_facts;
using tune_options = halotune_tune_options;

// Get a parameter of a configuration by its name, such as "block_x".
inline halotune_status try_parameter(const config &from, const std::string &name, halotune_parameter &out) noexcept {
  return halotune_config_parameter(&from, c_text(name), &out);
}
inline halotune_parameter parameter(const config &from, const std::string &name) {
  halotune_parameter out{};
  check(try_parameter(from, name, out));
  return out;
}

// The contents of tuning databases. Configurations are valid as long as their context.
class context {
public:
  context() { check(halotune_open(nullptr, 0, &ctx_)); }
  explicit context(const std::vector<std::string> &paths) { check(open(paths, &ctx_)); }
  explicit context(std::nullptr_t) noexcept {} // empty, until try_open fills it
  context(context &&other) noexcept : ctx_(std::exchange(other.ctx_, nullptr)) {}
  context &operator=(context &&other) noexcept { return std::swap(ctx_, other.ctx_), *this; }
  context(const context &) = delete;
  context &operator=(const context &) = delete;
  ~context() { halotune_close(ctx_); }
  halotune_ctx *get() const noexcept { return ctx_; }

  // Open databases without exceptions. `out` is replaced on success.
  static halotune_status try_open(context &out) noexcept {
    halotune_ctx *ctx = nullptr;
    const halotune_status status = halotune_open(nullptr, 0, &ctx);
    return fill(out, ctx, status);
  }
  static halotune_status try_open(const std::vector<std::string> &paths, context &out) {
    halotune_ctx *ctx = nullptr;
    const halotune_status status = open(paths, &ctx);
    return fill(out, ctx, status);
  }

  halotune_status try_add_stencil(const std::string &text) noexcept { return halotune_stencil_add(ctx_, c_text(text)); }
  void add_stencil(const std::string &text) { check(try_add_stencil(text)); }

  halotune_status try_stencil(const std::string &name, stencil_facts &out) const noexcept {
    return halotune_stencil_info(ctx_, c_text(name), &out);
  }
  stencil_facts stencil(const std::string &name) const {
    stencil_facts out{};
    check(try_stencil(name, out));
    return out;
  }

  halotune_status try_lookup(const problem &asked, config &out) const noexcept {
    const halotune_problem c = asked.c_struct();
    return halotune_lookup(ctx_, &c, &out);
  }
  config lookup(const problem &asked) const {
    config out{};
    check(try_lookup(asked, out));
    return out;
  }

  // Tune a problem now, and let this context answer with the result. If `progress` throws, tuning is cancelled. Then
  // tune throws that exception, and try_tune returns HALOTUNE_CANCELLED.
  halotune_status try_tune(const problem &asked, const tune_options *options = nullptr,
                           halotune_tune_progress *progress = nullptr, void *user = nullptr) noexcept {
    std::exception_ptr thrown;
    return tune_caught(asked, options, progress, user, thrown);
  }
  config tune(const problem &asked, const tune_options *options = nullptr, halotune_tune_progress *progress = nullptr,
              void *user = nullptr) {
    std::exception_ptr thrown;
    const halotune_status status = tune_caught(asked, options, progress, user, thrown);
    if (thrown) std::rethrow_exception(thrown);
    check(status);
    return lookup(asked);
  }

private:
  halotune_ctx *ctx_ = nullptr;
  // A caller's function, and what it threw. No exception may pass through the C code that calls it.
  struct caught_progress {
    halotune_tune_progress *call;
    void *user;
    std::exception_ptr thrown;
  };
  static int call_progress(void *user, double elapsed_s, const char *line) noexcept {
    caught_progress &progress = *static_cast<caught_progress *>(user);
    try {
      return progress.call(progress.user, elapsed_s, line);
    } catch (...) {
      progress.thrown = std::current_exception();
      return 1;
    }
  }
  halotune_status tune_caught(const problem &asked, const tune_options *options, halotune_tune_progress *progress, void *user,
                              std::exception_ptr &thrown) noexcept {
    const halotune_problem c = asked.c_struct();
    caught_progress caught{progress, user, nullptr};
    const halotune_status status = halotune_tune(ctx_, &c, options, progress ? call_progress : nullptr, &caught);
    thrown = caught.thrown;
    return status;
  }
  static halotune_status fill(context &out, halotune_ctx *ctx, halotune_status status) noexcept {
    if (status != HALOTUNE_OK) return status;
    halotune_close(out.ctx_);
    out.ctx_ = ctx;
    return status;
  }
  // An empty list is refused: NULL would stand for the usual databases.
  static halotune_status open(const std::vector<std::string> &paths, halotune_ctx **out) {
    std::vector<const char *> names(1);
    names.clear();
    for (const std::string &path : paths) names.push_back(c_text(path));
    return halotune_open(names.data(), static_cast<int>(names.size()), out);
  }
};

// A kernel in the CUDA context that is current when it is made. Its launches must have finished when it ends.
class kernel {
public:
  kernel() noexcept = default; // empty, until try_create or an assignment fills it
  // coefficients: one value for each coefficient, in the order of the stencil's file; none: the stencil's defaults.
  kernel(const context &from, const config &chosen, span<const double> coefficients = {}, const layout *box = nullptr) {
    int count = 0;
    if (coefficients.size()) {
      check(coefficient_count(from, chosen, count));
      check_count("coefficients", count, coefficients.size());
    }
    check(try_create(from, chosen, coefficients, box, *this));
  }
  kernel(kernel &&other) noexcept : kernel_(std::exchange(other.kernel_, nullptr)) {}
  kernel &operator=(kernel &&other) noexcept { return std::swap(kernel_, other.kernel_), *this; }
  kernel(const kernel &) = delete;
  kernel &operator=(const kernel &) = delete;
  ~kernel() { halotune_kernel_free(kernel_); }
  halotune_kernel *get() const noexcept { return kernel_; }
  explicit operator bool() const noexcept { return kernel_ != nullptr; }

  static halotune_status try_create(const context &from, const config &chosen, span<const double> coefficients,
                                    const layout *box, kernel &out) noexcept {
    kernel made;
    const double *values = coefficients.size() ? coefficients.data() : nullptr;
    int count = 0;
    halotune_status status = values ? coefficient_count(from, chosen, count) : HALOTUNE_OK;
    if (status != HALOTUNE_OK) return status;
    if (values && !is_count(count, coefficients.size())) return HALOTUNE_ARGUMENT;
    status = halotune_kernel_create(from.get(), &chosen, values, box, &made.kernel_);
    if (status == HALOTUNE_OK) out = std::move(made);
    return status;
  }

  // Make a kernel for each of at most MOST_BOXES boxes of one grid. All advance equally many time steps a launch.
  static constexpr std::size_t MOST_BOXES = 64;
  static halotune_status try_create_boxes(const context &from, const config &chosen, span<const double> coefficients,
                                          span<const layout> boxes, span<kernel> out) noexcept {
    const double *values = coefficients.size() ? coefficients.data() : nullptr;
    int count = 0;
    halotune_status status = values ? coefficient_count(from, chosen, count) : HALOTUNE_OK;
    if (status != HALOTUNE_OK) return status;
    if ((values && !is_count(count, coefficients.size())) || boxes.size() != out.size()) return HALOTUNE_ARGUMENT;
    halotune_kernel *made[MOST_BOXES] = {};
    if (boxes.size() > MOST_BOXES) return HALOTUNE_ARGUMENT;
    status = halotune_kernel_create_boxes(from.get(), &chosen, values, boxes.data(), static_cast<int>(boxes.size()), made);
    for (std::size_t i = 0; i < out.size() && status == HALOTUNE_OK; i++) {
      out.data()[i] = kernel();
      out.data()[i].kernel_ = made[i];
    }
    return status;
  }
  static std::vector<kernel> create_boxes(const context &from, const config &chosen, span<const layout> boxes,
                                          span<const double> coefficients = {}) {
    if (boxes.size() > MOST_BOXES)
      throw error(HALOTUNE_ARGUMENT, "halotune::kernel: " + std::to_string(boxes.size()) + " boxes, and a call takes at most " +
                                         std::to_string(MOST_BOXES));
    std::vector<kernel> made(boxes.size());
    int count = 0;
    if (coefficients.size()) {
      check(coefficient_count(from, chosen, count));
      check_count("coefficients", count, coefficients.size());
    }
    check(try_create_boxes(from, chosen, coefficients, boxes, made));
    return made;
  }

  facts info() const noexcept {
    facts out{};
    halotune_kernel_info(kernel_, &out);
    return out;
  }

  // Describe an input, or input_count plus the number of an output: masks and inputs along some axes differ from the others.
  halotune_status try_field(int number, halotune_field &out) const noexcept {
    return halotune_kernel_field(kernel_, number, &out);
  }
  halotune_field field(int number) const {
    halotune_field out{};
    check_is_made();
    check(try_field(number, out));
    return out;
  }

  // Launch once. The lists have facts.input_count and facts.output_count device pointers; another number is
  // HALOTUNE_ARGUMENT.
  halotune_status try_launch(CUstream_st *stream, span<const void *const> inputs, span<void *const> outputs) const noexcept {
    const facts known = info();
    if (!kernel_ || !is_count(known.input_count, inputs.size()) || !is_count(known.output_count, outputs.size())) return HALOTUNE_ARGUMENT;
    return halotune_kernel_launch(kernel_, stream, inputs.data(), outputs.data());
  }
  void launch(CUstream_st *stream, span<const void *const> inputs, span<void *const> outputs) const {
    const facts known = info();
    check_is_made();
    check_count("inputs", known.input_count, inputs.size());
    check_count("outputs", known.output_count, outputs.size());
    check(try_launch(stream, inputs, outputs));
  }

  // Advance by any number of steps. `fields` has the inputs, then the buffers for outputs, and is sorted anew.
  halotune_status try_run(CUstream_st *stream, span<void *> fields, long long steps) const noexcept {
    const facts known = info();
    if (!kernel_ || !is_count(known.input_count + known.output_count, fields.size())) return HALOTUNE_ARGUMENT;
    return halotune_run(kernel_, stream, fields.data(), steps);
  }
  void run(CUstream_st *stream, span<void *> fields, long long steps) const {
    const facts known = info();
    check_is_made();
    check_count("fields", known.input_count + known.output_count, fields.size());
    check(try_run(stream, fields, steps));
  }

  // Copy a box of a field to a dense array in the GPU's memory, or back.
  halotune_status try_pack(CUstream_st *stream, int field, const halotune_box &what, const void *from, void *to) const noexcept {
    return halotune_pack(kernel_, stream, field, &what, from, to);
  }
  halotune_status try_unpack(CUstream_st *stream, int field, const halotune_box &what, const void *from, void *to) const noexcept {
    return halotune_unpack(kernel_, stream, field, &what, from, to);
  }
  void pack(CUstream_st *stream, int field, const halotune_box &what, const void *from, void *to) const {
    check_is_made();
    check(try_pack(stream, field, what, from, to));
  }
  void unpack(CUstream_st *stream, int field, const halotune_box &what, const void *from, void *to) const {
    check_is_made();
    check(try_unpack(stream, field, what, from, to));
  }

private:
  halotune_kernel *kernel_ = nullptr;
  void check_is_made() const {
    if (!kernel_) throw error(HALOTUNE_ARGUMENT, "halotune::kernel: it is empty");
  }
  static bool is_count(int expected, std::size_t given) noexcept { return static_cast<std::size_t>(expected) == given; }
  static void check_count(const char *what, int expected, std::size_t given) {
    if (is_count(expected, given)) return;
    throw error(HALOTUNE_ARGUMENT, "halotune::kernel: " + std::to_string(given) + ' ' + what + ", and the kernel takes " +
                                       std::to_string(expected));
  }
  static halotune_status coefficient_count(const context &from, const config &chosen, int &count) noexcept {
    stencil_facts known{};
    const halotune_status status = halotune_stencil_info(from.get(), chosen.stencil_hash, &known);
    count = known.coefficient_count;
    return status;
  }
};

} // namespace halotune

#endif
