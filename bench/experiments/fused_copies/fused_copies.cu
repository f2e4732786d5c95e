// fused_copies: who should copy the input's planes when a launch makes several time steps? The program checks each version of advance.cuh
// on the whole grid against a plain kernel, and leaves out those that are wrong. It times all others in interleaved rounds, beside the copy of
// as many bytes. A kernel that hangs ends itself, and the program. `make bench-experiments EXPERIMENTS=fused_copies`
// builds and runs it.
#include "advance.cuh"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <vector>

constexpr size_t GRID_POINTS = size_t(GRID_X)*GRID_Y*GRID_Z, GRID_BYTES = GRID_POINTS*4;
constexpr double BOX_POINTS = double(GRID_X - 2)*(GRID_Y - 2)*(GRID_Z - 2), TOLERANCE = 1e-5;
constexpr int ROUNDS = 11, LAUNCHES = 4;

// How the planes are cut: the number of parts, and the length of the last in percent of the others.
struct Parts {
  int count, last;
};
constexpr Parts PARTS[] = {{5, 20}, {8, 33}, {9, 20}};
constexpr int PARTS_COUNT = sizeof PARTS/sizeof *PARTS;

struct Row {
  Copies copies;
  int warps, tile_x, tile_y, tiles_x, tiles_y, ring, align, pitch, registers, threads, shared_bytes;
  const void *kernel;
};
template <class V> Row row_of() {
  return {V::COPIES, V::WARPS, V::TILE_X, V::TILE_Y, V::TILES_X, V::TILES_Y, V::RING, V::ALIGN, V::PITCH, V::REGISTERS,
          V::THREADS, V::SHARED_BYTES, reinterpret_cast<const void *>(advance<V>)};
}

// Computing warps, rows of a strip, lanes of a row, ring, elements at whose multiples the engine's boxes begin, registers.
const Row rows[] = {
    row_of<Version<BY_THREADS, 8, 4, 16, 2>>(), row_of<Version<BY_THREADS, 8, 4, 16, 3>>(), row_of<Version<BY_THREADS, 8, 4, 16, 4>>(),
    row_of<Version<BY_THREADS, 8, 4, 32, 3>>(), row_of<Version<BY_THREADS, 12, 3, 16, 3>>(), row_of<Version<BY_ENGINE, 8, 4, 16, 2>>(),
    row_of<Version<BY_ENGINE, 8, 4, 16, 3>>(), row_of<Version<BY_ENGINE, 8, 4, 16, 4>>(), row_of<Version<BY_ENGINE, 8, 4, 16, 5>>(),
    row_of<Version<BY_ENGINE, 8, 4, 16, 6>>(), row_of<Version<BY_ENGINE, 8, 4, 16, 7>>(), row_of<Version<BY_ENGINE, 8, 4, 16, 4, 8>>(),
    row_of<Version<BY_ENGINE, 8, 4, 16, 3, 32>>(), row_of<Version<BY_ENGINE, 8, 4, 32, 3>>(),
    row_of<Version<BY_ENGINE, 12, 3, 16, 3>>(), row_of<Version<BY_PRODUCER, 7, 4, 16, 3>>(), row_of<Version<BY_PRODUCER, 11, 3, 16, 3>>(),
    row_of<Version<BY_PRODUCER, 8, 4, 16, 2, 4, 240>>(), row_of<Version<BY_PRODUCER, 8, 4, 16, 3, 4, 240>>(), row_of<Version<BY_PRODUCER, 8, 4, 16, 4, 4, 240>>(),
    row_of<Version<BY_PRODUCER, 8, 4, 16, 6, 4, 240>>(), row_of<Version<BY_PRODUCER, 8, 4, 16, 4, 8, 240>>(), row_of<Version<BY_PRODUCER, 12, 3, 16, 3, 4, 160>>(),
};
constexpr int ROWS_COUNT = sizeof rows/sizeof *rows;

#define CHECK(call) check(call, #call)
static void check(cudaError_t error, const char *call) {
  if (error == cudaSuccess) return;
  printf("%s: %s\n", call, cudaGetErrorString(error));
  exit(1);
}

__device__ bool is_outside(int x, int y, int z) { return x < 1 || x >= GRID_X - 1 || y < 1 || y >= GRID_Y - 1 || z < 1 || z >= GRID_Z - 1; }

__global__ void fill(float *to) {
  const size_t i = (size_t(blockIdx.z)*GRID_Y + blockIdx.y)*GRID_X + threadIdx.x;
  to[i] = 0.25f + float((unsigned(i*2654435761u) ^ unsigned(i >> 7)*40503u) >> 8)/16777216;
}

// One step, as one would write it first. Points outside the box keep their values.
__global__ void plain_step(const float *in, float *out, Weights w) {
  const size_t plane = size_t(GRID_X)*GRID_Y, i = blockIdx.z*plane + blockIdx.y*GRID_X + threadIdx.x;
  out[i] = is_outside(threadIdx.x, blockIdx.y, blockIdx.z)
               ? in[i]
               : w.own*in[i] + w.x_low*in[i - 1] + w.x_high*in[i + 1] + w.y_low*in[i - GRID_X] + w.y_high*in[i + GRID_X] +
                     w.z_low*in[i - plane] + w.z_high*in[i + plane];
}

// Count the wrong points: those of the box that are not near the reference, and those outside it that somebody wrote.
__global__ void compare(const float *out, const float *reference, unsigned long long *wrong) {
  const size_t i = (size_t(blockIdx.z)*GRID_Y + blockIdx.y)*GRID_X + threadIdx.x;
  const bool is_right = is_outside(threadIdx.x, blockIdx.y, blockIdx.z) ? __float_as_uint(out[i]) == 0xffffffffu
                                                                        : fabs(double(out[i]) - reference[i]) <= TOLERANCE*fabs(reference[i]);
  if (!is_right) atomicAdd(wrong, 1);
}

struct Gpu {
  float *in, *out, *reference;
  unsigned long long *wrong;
  Weights weights;
  TensorMap maps[ROWS_COUNT];
  cudaEvent_t begin, end;
};

static void encode_map(const Row &row, float *in, TensorMap *out) {
  typedef decltype(&cuTensorMapEncodeTiled) Encode;
  const Encode encode = reinterpret_cast<Encode>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuTensorMapEncodeTiled"));
  const cuuint64_t extents[] = {GRID_X, GRID_Y, GRID_Z}, strides[] = {GRID_X*4, cuuint64_t(GRID_X)*GRID_Y*4};
  const cuuint32_t box[] = {cuuint32_t(row.pitch), cuuint32_t(row.tile_y), 1}, steps[] = {1, 1, 1};
  CUtensorMap map;
  const CUresult result = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 3, in, extents, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                 CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) printf("cuTensorMapEncodeTiled: error %d\n", int(result)), exit(1);
  memcpy(out, &map, sizeof map);
}

static void launch(Gpu *gpu, int number, Parts parts) {
  const Row &row = rows[number];
  void *arguments[] = {&gpu->in, &gpu->out, &gpu->weights, &parts.count, &parts.last, &gpu->maps[number]};
  CHECK(cudaLaunchKernel(row.kernel, dim3(row.tiles_x, row.tiles_y, parts.count), dim3(row.threads), arguments, row.shared_bytes, 0));
}

static const char *name_of(const Row &row) {
  static const char *const who[] = {"threads", "engine", "producer"};
  static char name[80];
  snprintf(name, sizeof name, "%-8s %2d warps %3dx%-2d ring %d boxes at %3d B%s", who[row.copies], row.warps, row.tile_x,
           row.tile_y, row.ring, row.align*4, row.registers ? " setmaxnreg" : "");
  return name;
}

static bool is_right(Gpu *gpu, int number) {
  unsigned long long all_wrong = 0;
  CHECK(cudaFuncSetAttribute(rows[number].kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, rows[number].shared_bytes));
  for (const Parts &parts : PARTS) {
    unsigned long long wrong = 0;
    CHECK(cudaMemset(gpu->out, 0xff, GRID_BYTES));
    CHECK(cudaMemset(gpu->wrong, 0, sizeof wrong));
    launch(gpu, number, parts);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) printf("failed: %s\n", name_of(rows[number]));
    CHECK(error);
    compare<<<dim3(1, GRID_Y, GRID_Z), GRID_X>>>(gpu->out, gpu->reference, gpu->wrong);
    CHECK(cudaMemcpy(&wrong, gpu->wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    all_wrong += wrong;
  }
  if (all_wrong > 0) printf("%s: %llu points are wrong\n", name_of(rows[number]), all_wrong);
  return all_wrong == 0;
}

// The time of a launch, or of a copy of the grid with number -1.
static float time_ms(Gpu *gpu, int number, Parts parts) {
  float ms;
  CHECK(cudaEventRecord(gpu->begin));
  for (int i = 0; i < LAUNCHES; i++) {
    if (number < 0) CHECK(cudaMemcpyAsync(gpu->out, gpu->in, GRID_BYTES, cudaMemcpyDeviceToDevice));
    else launch(gpu, number, parts);
  }
  CHECK(cudaEventRecord(gpu->end));
  CHECK(cudaEventSynchronize(gpu->end));
  CHECK(cudaEventElapsedTime(&ms, gpu->begin, gpu->end));
  return ms/LAUNCHES;
}

static double median_of(std::vector<float> &times) {
  std::sort(times.begin(), times.end());
  return times[times.size()/2];
}

static void print_row(int number, std::vector<float> (&times)[PARTS_COUNT], double copy) {
  int best = 0;
  for (int k = 0; k < PARTS_COUNT; k++) {
    if (median_of(times[k]) < median_of(times[best])) best = k;
  }
  const Row &row = rows[number];
  const double ms = median_of(times[best]);
  cudaFuncAttributes facts;
  CHECK(cudaFuncGetAttributes(&facts, row.kernel));
  printf("%s | %d | %d | %zu | %.0f | %d, %d %% | %.4f | %.4f to %.4f | %.0f | %.3f\n", name_of(row), row.tiles_x*row.tiles_y,
         row.registers ? row.registers : facts.numRegs, facts.localSizeBytes, row.shared_bytes/1024.0, PARTS[best].count, PARTS[best].last, ms,
         times[best].front(), times[best].back(), BOX_POINTS*STEPS/ms/1e6, ms/copy);
}

int main() {
  static Gpu gpu;
  static bool is_timed[ROWS_COUNT];
  static std::vector<float> times[ROWS_COUNT][PARTS_COUNT], copies;
  gpu.weights = {0.31f, 0.09f, 0.11f, 0.13f, 0.15f, 0.07f, 0.14f};
  CHECK(cudaMalloc(&gpu.in, GRID_BYTES));
  CHECK(cudaMalloc(&gpu.out, GRID_BYTES));
  CHECK(cudaMalloc(&gpu.reference, GRID_BYTES));
  CHECK(cudaMalloc(&gpu.wrong, sizeof *gpu.wrong));
  CHECK(cudaEventCreate(&gpu.begin));
  CHECK(cudaEventCreate(&gpu.end));
  const dim3 all(1, GRID_Y, GRID_Z);
  fill<<<all, GRID_X>>>(gpu.in);
  plain_step<<<all, GRID_X>>>(gpu.in, gpu.out, gpu.weights);
  for (int step = 1; step < STEPS; step++) {
    plain_step<<<all, GRID_X>>>(step%2 ? gpu.out : gpu.reference, step%2 ? gpu.reference : gpu.out, gpu.weights);
  }
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < ROWS_COUNT; i++) {
    encode_map(rows[i], gpu.in, &gpu.maps[i]);
    is_timed[i] = is_right(&gpu, i);
  }
  for (int round = 0; round < ROUNDS; round++) {
    copies.push_back(time_ms(&gpu, -1, PARTS[0]));
    for (int i = 0; i < ROWS_COUNT; i++) {
      for (int k = 0; k < PARTS_COUNT && is_timed[i]; k++) times[i][k].push_back(time_ms(&gpu, i, PARTS[k]));
    }
  }
  const double copy = median_of(copies);
  printf("copy: %.4f ms, %.0f GB/s\n", copy, 2*GRID_BYTES/copy/1e6);
  printf("version | tiles | registers | local B | shared KiB | parts, last | ms | from, to | GStencil/s | over the copy\n");
  for (int i = 0; i < ROWS_COUNT; i++) {
    if (is_timed[i]) print_row(i, times[i], copy);
  }
  return 0;
}
