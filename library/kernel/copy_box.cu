// copy_box: copies a box of a field to a dense array (pack_N) or back (unpack_N), for elements of N bytes. A thread copies
// a point. kernel_pack.c loads and launches it.

struct Box {
  long long first, stride_x, stride_y, stride_z;  // of the field, in elements
  unsigned nx, ny, count;                         // points in x and y, and in all
};

__device__ __forceinline__ long long element_of(const Box &box, unsigned point) {
  const unsigned row = point/box.nx, z = row/box.ny;
  return box.first + (point - row*box.nx)*box.stride_x + (row - z*box.ny)*box.stride_y + z*box.stride_z;
}

template <typename T> __device__ __forceinline__ void pack(const T *field, T *dense, const Box &box) {
  const unsigned point = blockIdx.x*blockDim.x + threadIdx.x;
  if (point < box.count) dense[point] = field[element_of(box, point)];
}

template <typename T> __device__ __forceinline__ void unpack(const T *dense, T *field, const Box &box) {
  const unsigned point = blockIdx.x*blockDim.x + threadIdx.x;
  if (point < box.count) field[element_of(box, point)] = dense[point];
}

#define KERNELS(type, pack_name, unpack_name) \
  extern "C" __global__ void pack_name(const type *from, type *to, const Box box) { pack(from, to, box); } \
  extern "C" __global__ void unpack_name(const type *from, type *to, const Box box) { unpack(from, to, box); }
KERNELS(unsigned char, pack_1, unpack_1)
KERNELS(unsigned, pack_4, unpack_4)
KERNELS(unsigned long long, pack_8, unpack_8)
