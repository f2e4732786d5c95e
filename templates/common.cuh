// common: device code that several templates share. Generation inserts it between the prelude and a template that includes it. N is the
// number of elements of a vector: a thread reads, computes and writes N neighbours in x at once.
#ifndef HALOTUNE_COMMON
#define HALOTUNE_COMMON

// An array has at least one element.
__device__ constexpr int at_least_one(int count) { return count > 1 ? count : 1; }

__device__ constexpr int divide_up(int count, int by) { return (count + by - 1)/by; }
__device__ constexpr int round_up(int count, int grain) { return divide_up(count, grain)*grain; }

// Taps of any point in the box. The boundary rules give the taps beyond the grid.
struct PointTaps {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    if (IMAGES) return read_image(f, input, g, x + dx, y + dy, z + dz);
    return read_point(f, input, g, x + dx, y + dy, z + dz);
  }
};

// Taps of a point that is one lane of the vector at x. All its taps lie in the grid. They are read from aligned vectors. Offsets and lane
// are constants after unrolling. So each vector is loaded once, however many taps fall into it.
template <int N> struct VectorTaps {
  const Fields &f;
  const Geometry &g;
  index_t x, y, z;
  int lane;
  __device__ __forceinline__ real operator()(int input, int dx, int dy, int dz) const {
    const int position = lane + dx + 16*N;  // never negative: no radius is above 16
    real values[N];
    read_vector(f, input, g, x + (position/N - 16)*N, y + dy, z + dz, values);
    return values[position%N];
  }
};

// Update the lanes of a vector. `taps` is an accessor with a member `lane`.
template <class Taps, int N>
__device__ __forceinline__ void update_vector(const Taps &taps, const Coefficients &coefficients, real (&results)[OUTPUTS][N]) {
#pragma unroll
  for (int lane = 0; lane < N; lane++) {
    real point[OUTPUTS];
    Taps one = taps;
    one.lane = lane;
    update(one, coefficients, point);
#pragma unroll
    for (int o = 0; o < OUTPUTS; o++) results[o][lane] = point[o];
  }
}

// Load rows of vectors from shared memory to registers. In shared memory the rows begin `row` elements apart.
template <int N, int ROWS, int WIDTH>
__device__ __forceinline__ void load_window(const real *shared, int row, real (&window)[ROWS][WIDTH]) {
#pragma unroll
  for (int j = 0; j < ROWS; j++) {
#pragma unroll
    for (int x = 0; x < WIDTH; x += N) {
      real values[N];
      load_vector(shared + j*row + x, values);
#pragma unroll
      for (int lane = 0; lane < N; lane++) window[j][x + lane] = values[lane];
    }
  }
}

// Write the lanes of a vector that lie in the box. The vector's row is a row of the box.
template <int N>
__device__ __forceinline__ void write_results(const Fields &f, const Geometry &g, index_t x, index_t y, index_t z,
                                              const real (&results)[OUTPUTS][N]) {
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_in_box(f, o, g, x, y, z, results[o]);
}

// Compute one point if it lies in the box.
template <class Taps>
__device__ __forceinline__ void compute_point(const Taps &taps, const Coefficients &coefficients, const Fields &f, const Geometry &g,
                                              index_t x, index_t y, index_t z) {
  real results[OUTPUTS];
  if (!in_box(g, x, y, z)) return;
  update(taps, coefficients, results);
#pragma unroll
  for (int o = 0; o < OUTPUTS; o++) write_point(f, o, g, x, y, z, results[o]);
}

// Whether all taps of a vector lie in the grid.
template <int N> __device__ __forceinline__ bool taps_inside(const Geometry &g, index_t x, index_t y, index_t z) {
  return x >= LOW_X && x + N + HIGH_X <= g.nx && y >= LOW_Y && y + HIGH_Y < g.ny && z >= LOW_Z && z + HIGH_Z < g.nz;
}

// Whether a march over a tile of WIDTH*HEIGHT points at x and y needs no boundary rules. It then reads no points outside the grid, except
// in whole vectors beside the grid in x. The values of these points are not used.
template <int N, int WIDTH, int HEIGHT, class March>
__device__ __forceinline__ bool is_interior(const March &march, index_t x, index_t y) {
  const Geometry &g = march.g;
  constexpr int before = round_up(LOW_X, N), after = round_up(HIGH_X, N);
  const bool inside_x = x >= before && x + WIDTH + after <= g.nx;
  const bool no_images_x = g.x0 >= LOW_X && g.x1 + HIGH_X <= g.nx && g.nx % N == 0;
  return (inside_x || no_images_x) && y >= LOW_Y && y + HEIGHT <= g.y1 && y + HEIGHT + HIGH_Y <= g.ny && march.z_first >= LOW_Z &&
         march.z_last + HIGH_Z <= g.nz;
}

// The value that taps read at a point, by the boundary rules. It is 0 if no tap of the box reads the point.
__device__ __forceinline__ real read_needed(const Fields &f, int input, const Geometry &g, index_t x, index_t y, index_t z) {
  const bool is_needed = x >= g.x0 - LOW_X && x < g.x1 + HIGH_X && y >= g.y0 - LOW_Y && y < g.y1 + HIGH_Y && z >= g.z0 - LOW_Z &&
                         z < g.z1 + HIGH_Z;
  if (!is_needed) return real(0);
  if (IMAGES) return read_image(f, input, g, x, y, z);
  return read_point(f, input, g, x, y, z);
}

// The place of a block along y and z, counted in blocks.
struct BandedBlock {
  index_t y, z;
};

// The place of this block if the grid is cut into bands of BAND_ROWS rows. Blocks compute all planes of a band before the next band. blockIdx.y
// counts the blocks of a band along y, blockIdx.z those along z, band after band. The YAML file of the template sets such a grid.
template <int BAND_ROWS, int BLOCK_ROWS, int BLOCK_PLANES> __device__ __forceinline__ BandedBlock banded_block(const Geometry &g) {
  const unsigned blocks = unsigned(g.z1 - g.z0 - 1)/BLOCK_PLANES + 1, band = blockIdx.z/blocks;
  return {index_t(band*(BAND_ROWS/BLOCK_ROWS) + blockIdx.y), index_t(blockIdx.z - band*blocks)};
}

// The place of this block if all rows are one band.
__device__ __forceinline__ BandedBlock plain_block() { return {index_t(blockIdx.y), index_t(blockIdx.z)}; }

// Sum one vector of each thread in a column of the block. `before` receives the sum over the threads before this one, `all` the sum over
// all threads of the column. All threads of the block call this. `totals` has room for a vector of each thread.
template <int BLOCK_WIDTH, int BLOCK_HEIGHT, int N>
__device__ __forceinline__ void sum_column(real *totals, const real (&own)[N], real (&before)[N], real (&all)[N]) {
  const int column = threadIdx.x*N, row = BLOCK_WIDTH*N;
  store_vector(totals + threadIdx.y*row + column, own);
  __syncthreads();
#pragma unroll
  for (int lane = 0; lane < N; lane++) before[lane] = all[lane] = 0;
#pragma unroll
  for (int t = 0; t < BLOCK_HEIGHT; t++) {
    real total[N];
    load_vector(totals + t*row + column, total);
#pragma unroll
    for (int lane = 0; lane < N; lane++) {
      if (t < int(threadIdx.y)) before[lane] += total[lane];
      all[lane] += total[lane];
    }
  }
}

// Sum the values of LANE_COUNT neighbouring lanes of a warp. Returns the sum of the lanes before this one; `all` receives the sum of all.
// All lanes of the warp call this.
template <int LANE_COUNT> __device__ __forceinline__ real sum_lanes(real own, real &all) {
  const unsigned everyone = 0xffffffffu;
  const int lane = threadIdx.x%LANE_COUNT;
  real sum = own;
#pragma unroll
  for (int distance = 1; distance < LANE_COUNT; distance *= 2) {
    const real other = __shfl_up_sync(everyone, sum, distance, LANE_COUNT);
    if (lane >= distance) sum += other;
  }
  all = __shfl_sync(everyone, sum, LANE_COUNT - 1, LANE_COUNT);
  const real before = __shfl_up_sync(everyone, sum, 1, LANE_COUNT);
  return lane > 0 ? before : real(0);
}

// The first plane of a share. The planes of the box are divided evenly among the blocks along z, about SLICING planes each.
template <int SLICING> __device__ __forceinline__ index_t share_begin(const Geometry &g, unsigned share) {
  const index_t planes = g.z1 - g.z0, shares = (planes - 1)/SLICING + 1;
  return g.z0 + index_t((long long)planes*share/shares);
}

// Taps for finish(), the second part of an update: one lane of vectors that the thread has loaded.
template <int N> struct FinishTaps {
  const real (&inputs)[INPUTS][N];
  int lane;
  __device__ __forceinline__ real operator()(int input) const { return inputs[input][lane]; }
};

// A row in shared memory. Each lane of a warp accesses N neighbours of the row, in pieces of up to 16 bytes. If a lane has several pieces,
// the pieces are permuted (XOR), so that the lanes avoid bank conflicts. lane_place gives the place of a column.
template <int N> __device__ __forceinline__ int lane_place(int column) {
  constexpr int piece = N*int(sizeof(real)) < 16 ? N : 16/int(sizeof(real)), pieces = N/piece;
  const int number = column/piece;
  return (number ^ (number/8%pieces))*piece + column%piece;
}
template <int N> __device__ __forceinline__ void load_lane(const real *row, int lane, real (&values)[N]) {
  constexpr int piece = N*int(sizeof(real)) < 16 ? N : 16/int(sizeof(real));
#pragma unroll
  for (int i = 0; i < N; i += piece) {
    real some[piece];
    load_vector(row + lane_place<N>(lane*N + i), some);
#pragma unroll
    for (int k = 0; k < piece; k++) values[i + k] = some[k];
  }
}
template <int N> __device__ __forceinline__ void store_lane(real *row, int lane, const real (&values)[N]) {
  constexpr int piece = N*int(sizeof(real)) < 16 ? N : 16/int(sizeof(real));
#pragma unroll
  for (int i = 0; i < N; i += piece) {
    real some[piece];
#pragma unroll
    for (int k = 0; k < piece; k++) some[k] = values[i + k];
    store_vector(row + lane_place<N>(lane*N + i), some);
  }
}

// The lane's N points of a row, and the points beside them that taps reach. Shuffles fetch these from the lanes beside it. LANES lanes
// share a row. The points before the first lane and behind the last one are not valid.
template <int LANES, int N>
__device__ __forceinline__ void find_near(const real (&row)[N], real (&near)[LOW_X + N + HIGH_X]) {
  const unsigned everyone = 0xffffffffu;
#pragma unroll
  for (int i = 0; i < N; i++) near[LOW_X + i] = row[i];
#pragma unroll
  for (int i = 0; i < LOW_X; i++) near[i] = __shfl_up_sync(everyone, row[N - LOW_X + i], 1, LANES);
#pragma unroll
  for (int i = 0; i < HIGH_X; i++) near[LOW_X + N + i] = __shfl_down_sync(everyone, row[i], 1, LANES);
}

// Write the values of a vector at x_first <= x < x_last.
template <int N>
__device__ __forceinline__ void write_between(const Fields &f, int output, const Geometry &g, index_t x, index_t y, index_t z, index_t x_first,
                                              index_t x_last, const real (&values)[N]) {
#pragma unroll
  for (int i = 0; i < N; i++) {
    if (x + i >= x_first && x + i < x_last) write_point(f, output, g, x + i, y, z, values[i]);
  }
}

#ifdef FORMS

// The largest delay of an output: how many planes after its own plane it is finished.
__device__ constexpr int longest_delay() {
  int longest = 0;
  for (int o = 0; o < OUTPUTS; o++) longest = delay(o) > longest ? delay(o) : longest;
  return longest;
}

#endif

#endif
