/* 02_heat3d.cu: the heat equation in three dimensions, explicit in time. It tunes itself on first use and advances with
 * the winner, whose launches may make several time steps. A plain hand-written kernel is timed for comparison.
 *
 *   nvcc 02_heat3d.cu -I/usr/local/include -L/usr/local/lib -lhalotune -o heat3d
 *   ./heat3d [N [STEPS]]
 *
 * `halotune` must be on PATH, or named by $HALOTUNE_PROGRAM. */
#include <halotune.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

static void cuda(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

static void halotune(halotune_status status) {
  if (status == HALOTUNE_OK) return;
  std::fprintf(stderr, "%s: %s\n", halotune_strstatus(status), halotune_error(nullptr));
  std::exit(1);
}

/* One thread for each point. */
__global__ void plain_step(const float *u, float *v, int n, float k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
  const long row = n, plane = (long)n * n, at = x + row * y + plane * z;
  v[at] = (1 - 6 * k) * u[at] + k * u[at - 1] + k * u[at + 1] + k * u[at - row] + k * u[at + row] + k * u[at - plane] + k * u[at + plane];
}

/* Get the configuration for this grid on this GPU. If nobody has measured one yet, tune now. */
static halotune_config look_up(halotune_ctx **ctx, int n) {
  halotune_problem problem;
  halotune_config config;
  std::memset(&problem, 0, sizeof problem);
  problem.stencil = "star7";
  problem.dtype = HALOTUNE_F32;
  problem.steps = HALOTUNE_STEPS_ANY; /* a launch may advance several time steps */
  for (long long &points : problem.grid) points = n;
  halotune(halotune_open(nullptr, 0, ctx));
  halotune_status status = halotune_lookup(*ctx, &problem, &config);
  if (status == HALOTUNE_OK && config.match == HALOTUNE_MATCH_EXACT) return config;

  std::printf("first use on this GPU: tuning for 20 s\n");
  std::fflush(stdout);
  status = halotune_tune(*ctx, &problem, nullptr, nullptr, nullptr); /* the ctx then answers with the result */
  if (status != HALOTUNE_OK) std::fprintf(stderr, "not tuned, going on with what is known: %s\n", halotune_error(*ctx));
  halotune(halotune_lookup(*ctx, &problem, &config));
  return config;
}

/* A hot cube inside a cold one. */
static std::vector<float> start_field(int n) {
  std::vector<float> u((size_t)n * n * n, 0.0f);
  for (int z = n / 4; z < 3 * n / 4; z++) {
    for (int y = n / 4; y < 3 * n / 4; y++) {
      for (int x = n / 4; x < 3 * n / 4; x++) u[(size_t)x + (size_t)n * (y + (size_t)n * z)] = 1.0f;
    }
  }
  return u;
}

/* Advance from the start with either kernel, twice, and time the second run. The result is in `u`.
 *   advance  advances fields[0] by so many steps; fields[1] is free. The result is in fields[0] afterwards */
template <typename Advance>
static float run(std::vector<float> &u, int steps, float *a, float *b, cudaStream_t stream, Advance advance) {
  const size_t bytes = u.size() * sizeof(float);
  void *fields[2];
  cudaEvent_t start, stop;
  float time_ms = 0;
  cuda(cudaEventCreate(&start));
  cuda(cudaEventCreate(&stop));
  for (int pass = 0; pass < 2; pass++) {
    fields[0] = a;
    fields[1] = b;
    cuda(cudaMemcpy(a, u.data(), bytes, cudaMemcpyHostToDevice));
    cuda(cudaMemcpy(b, u.data(), bytes, cudaMemcpyHostToDevice)); /* the boundary, which no step writes */
    cuda(cudaEventRecord(start, stream));
    advance(fields, steps);
    cuda(cudaEventRecord(stop, stream));
    cuda(cudaStreamSynchronize(stream));
  }
  cuda(cudaMemcpy(u.data(), fields[0], bytes, cudaMemcpyDeviceToHost));
  cuda(cudaEventElapsedTime(&time_ms, start, stop));
  cuda(cudaEventDestroy(start));
  cuda(cudaEventDestroy(stop));
  return time_ms / steps;
}

int main(int argc, char **argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 512, steps = argc > 2 ? std::atoi(argv[2]) : 200;
  const float k = 0.1f;
  const double coefficients[7] = {1 - 6 * (double)k, k, k, k, k, k, k};
  if (n < 8 || steps < 1) return 2;
  std::vector<float> plain = start_field(n), tuned = plain;
  float *a, *b;
  cudaStream_t stream;
  cuda(cudaStreamCreate(&stream)); /* also makes the context current */
  cuda(cudaMalloc(&a, plain.size() * sizeof(float)));
  cuda(cudaMalloc(&b, plain.size() * sizeof(float)));

  halotune_ctx *ctx;
  halotune_kernel *kernel;
  halotune_config config = look_up(&ctx, n);
  halotune(halotune_kernel_create(ctx, &config, coefficients, nullptr, &kernel));
  std::printf("%s: %d step%s a launch, %s %s\n", halotune_match_name(config.match), config.steps, config.steps == 1 ? "" : "s",
              config.template_name, config.parameters);

  const dim3 block(32, 8), grid((n + 31) / 32, (n + 7) / 8, n);
  const float plain_ms = run(plain, steps, a, b, stream, [&](void **fields, int count) {
    for (int i = 0; i < count; i++) {
      plain_step<<<grid, block, 0, stream>>>((const float *)fields[0], (float *)fields[1], n, k);
      cuda(cudaGetLastError());
      std::swap(fields[0], fields[1]);
    }
  });
  const float tuned_ms = run(tuned, steps, a, b, stream,
                             [&](void **fields, int count) { halotune(halotune_run(kernel, stream, fields, count)); });
  double worst = 0;
  for (size_t i = 0; i < plain.size(); i++) {
    const double difference = std::fabs((double)plain[i] - tuned[i]);
    worst = std::isnan(difference) ? INFINITY : std::fmax(worst, difference);  // fmax alone would pass over NaN
  }
  const double gigapoints = std::pow(n - 2.0, 3) * 1e-9;
  std::printf("plain  %8.4f ms a step, %6.0f GStencil/s\ntuned  %8.4f ms a step, %6.0f GStencil/s: %.2f times as fast\n", plain_ms,
              gigapoints / plain_ms * 1e3, tuned_ms, gigapoints / tuned_ms * 1e3, plain_ms / tuned_ms);
  std::printf("largest difference after %d steps: %.1e\n", steps, worst);

  halotune_kernel_free(kernel);
  halotune_close(ctx);
  cuda(cudaFree(a));
  cuda(cudaFree(b));
  return worst < 1e-4 ? 0 : 1;
}
