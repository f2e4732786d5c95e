// 05_heat3d.cpp: the heat equation in three dimensions with halotune.hpp, on memory of the CUDA driver.
//
//   c++ -std=c++17 05_heat3d.cpp $(pkg-config --cflags --libs halotune) -I/usr/local/cuda/include -lcuda -o heat3d
//   ./heat3d [N [STEPS]]
//
// It looks up the best configuration, launches it once, advances it by further steps, and compares with the CPU.
#include <cuda.h>

#include <halotune.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

static void cuda(CUresult result) {
  if (result != CUDA_SUCCESS) throw std::runtime_error("the CUDA driver reported error " + std::to_string(result));
}

// A field of floats in the GPU's memory.
class field {
public:
  explicit field(const std::vector<float> &values) : bytes_(values.size() * sizeof(float)) {
    cuda(cuMemAlloc(&pointer_, bytes_));
    cuda(cuMemcpyHtoD(pointer_, values.data(), bytes_));
  }
  field(const field &) = delete;
  field &operator=(const field &) = delete;
  ~field() { cuMemFree(pointer_); }
  void *pointer() const { return reinterpret_cast<void *>(pointer_); }

private:
  CUdeviceptr pointer_ = 0;
  std::size_t bytes_;
};

// Advance on the CPU: the edges keep their values.
static std::vector<float> reference(std::vector<float> u, int n, int steps, float k) {
  const std::size_t row = static_cast<std::size_t>(n), plane = row * row;
  std::vector<float> v = u;
  for (int step = 0; step < steps; step++) {
    for (std::size_t z = 1; z + 1 < row; z++) {
      for (std::size_t y = 1; y + 1 < row; y++) {
        for (std::size_t x = 1; x + 1 < row; x++) {
          const std::size_t at = x + row * y + plane * z;
          v[at] = (1 - 6 * k) * u[at] +
                  k * (u[at - 1] + u[at + 1] + u[at - row] + u[at + row] + u[at - plane] + u[at + plane]);
        }
      }
    }
    std::swap(u, v);
  }
  return u;
}

static int run(int n, int steps) {
  const float k = 0.1F;
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> u(size * size * size);
  for (std::size_t i = 0; i < u.size(); i++) u[i] = static_cast<float>(i % 97) / 97;

  CUdevice device = 0;
  CUcontext primary = nullptr;
  cuda(cuInit(0));
  cuda(cuDeviceGet(&device, 0));
  cuda(cuDevicePrimaryCtxRetain(&primary, device));
  cuda(cuCtxSetCurrent(primary));
  const field a(u), b(u); // both have the edges, which no step writes

  const halotune::context context;
  const halotune::config config = context.lookup(halotune::problem("star7", {n, n, n}).any_steps());
  const std::vector<double> weights{1 - 6 * k, k, k, k, k, k, k};
  const halotune::kernel kernel(context, config, weights);
  std::printf("%s: %s, %d step(s) a launch\n", halotune_match_name(config.match), config.template_name, config.steps);

  std::vector<void *> fields{a.pointer(), b.pointer()};
  const int first = config.steps <= steps ? config.steps : 0; // one launch makes config.steps steps
  if (first > 0) {
    const void *const inputs[] = {fields[0]};
    void *const outputs[] = {fields[1]};
    kernel.launch(nullptr, inputs, outputs);
    std::swap(fields[0], fields[1]);
  }
  kernel.run(nullptr, fields, steps - first); // afterwards fields[0] has the state
  std::vector<float> result(u.size());
  cuda(cuCtxSynchronize());
  cuda(cuMemcpyDtoH(result.data(), reinterpret_cast<CUdeviceptr>(fields[0]), result.size() * sizeof(float)));

  const std::vector<float> expected = reference(u, n, steps, k);
  float worst = 0;
  for (std::size_t i = 0; i < u.size(); i++) worst = std::max(worst, std::fabs(result[i] - expected[i]));
  std::printf("largest difference to the CPU after %d steps: %.1e\n", steps, static_cast<double>(worst));
  return worst < 1e-5F ? 0 : 1;
}

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? std::atoi(argv[1]) : 128, argc > 2 ? std::atoi(argv[2]) : 20);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
