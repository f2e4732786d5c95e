/* gpu_list.h: GPUs of NVIDIA from capability 7.5 on, one row each. gpus.h says what the columns are.
 *
 * A row is here only if its source states all of it, or if it was read from such a GPU. The first row of a capability
 * stands for that capability where only the architecture is known. */
#ifndef GPU_ARCHITECTURE_GPU_LIST_H
#define GPU_ARCHITECTURE_GPU_LIST_H

/* Public documents. */
#define NVIDIA_PAGE(product) "https://www.nvidia.com/en-us/data-center/" product "/"
#define WIKIPEDIA(page) "https://en.wikipedia.org/wiki/" page
#define TURING_PAPER                                                                                         \
  "https://images.nvidia.com/aem-dam/en-zz/Solutions/design-visualization/technologies/turing-architecture/" \
  "NVIDIA-Turing-Architecture-Whitepaper.pdf"
#define A100_PAPER \
  "https://images.nvidia.com/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf"
#define GA102_PAPER "https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf"
#define ADA_PAPER "https://images.nvidia.com/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf"
#define HOPPER_PAPER "https://developer.nvidia.com/blog/nvidia-hopper-architecture-in-depth/"
#define BLACKWELL_PAPER \
  "https://images.nvidia.com/aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf"
#define ALL_GPUS WIKIPEDIA("List_of_Nvidia_graphics_processing_units")
#define RTX_20 WIKIPEDIA("GeForce_RTX_20_series")
#define GTX_16 WIKIPEDIA("GeForce_GTX_16_series")
#define RTX_30 WIKIPEDIA("GeForce_RTX_30_series")
#define RTX_40 WIKIPEDIA("GeForce_RTX_40_series")
#define RTX_50 WIKIPEDIA("GeForce_RTX_50_series")
#define ORIN_BRIEF \
  "https://www.nvidia.com/content/dam/en-zz/Solutions/gtcf21/jetson-orin/nvidia-jetson-agx-orin-technical-brief.pdf"

/* clang-format off */
#define GPU_LIST(X)                                                                                                \
  /* name                                    short name           sm   SMs   GB/s   GB  L2 KiB  source */           \
  X("Tesla T4",                              "T4",                75,   40,   320,  16,   4096, TURING_PAPER)       \
  X("Quadro RTX 8000",                       "RTX 8000",          75,   72,   672,  48,   6144, TURING_PAPER)       \
  X("Quadro RTX 6000",                       "RTX 6000",          75,   72,   672,  24,   6144, TURING_PAPER)       \
  X("Quadro RTX 5000",                       "RTX 5000",          75,   48,   448,  16,   4096, ALL_GPUS)           \
  X("Quadro RTX 4000",                       "RTX 4000",          75,   36,   416,   8,   4096, ALL_GPUS)           \
  X("NVIDIA TITAN RTX",                      "TITAN RTX",         75,   72,   672,  24,   6144, RTX_20)             \
  X("NVIDIA GeForce RTX 2080 Ti",            "RTX 2080 Ti",       75,   68,   616,  11,   5632, TURING_PAPER)       \
  X("NVIDIA GeForce RTX 2080 SUPER",         "RTX 2080 SUPER",    75,   48,   496,   8,   4096, RTX_20)             \
  X("NVIDIA GeForce RTX 2080",               "RTX 2080",          75,   46,   448,   8,   4096, TURING_PAPER)       \
  X("NVIDIA GeForce RTX 2070 SUPER",         "RTX 2070 SUPER",    75,   40,   448,   8,   4096, RTX_20)             \
  X("NVIDIA GeForce RTX 2070",               "RTX 2070",          75,   36,   448,   8,   4096, TURING_PAPER)       \
  X("NVIDIA GeForce RTX 2060 SUPER",         "RTX 2060 SUPER",    75,   34,   448,   8,   4096, RTX_20)             \
  X("NVIDIA GeForce RTX 2060",               "RTX 2060",          75,   30,   336,   6,   3072, RTX_20)             \
  X("NVIDIA GeForce GTX 1660 Ti",            "GTX 1660 Ti",       75,   24,   288,   6,   1536, GTX_16)             \
  X("NVIDIA GeForce GTX 1660 SUPER",         "GTX 1660 SUPER",    75,   22,   336,   6,   1536, GTX_16)             \
  X("NVIDIA GeForce GTX 1660",               "GTX 1660",          75,   22,   192,   6,   1536, GTX_16)             \
  X("NVIDIA GeForce GTX 1650",               "GTX 1650",          75,   14,   128,   4,   1024, GTX_16)             \
  X("NVIDIA A100-SXM4-80GB",                 "A100",              80,  108,  2039,  80,  40960, NVIDIA_PAGE("a100")) \
  X("NVIDIA A100 80GB PCIe",                 "A100 80GB PCIe",    80,  108,  1935,  80,  40960, NVIDIA_PAGE("a100")) \
  X("NVIDIA A100-SXM4-40GB",                 "A100 40GB SXM4",    80,  108,  1555,  40,  40960, A100_PAPER)         \
  X("NVIDIA A100-PCIE-40GB",                 "A100 40GB PCIE",    80,  108,  1555,  40,  40960, A100_PAPER)         \
  X("NVIDIA A30",                            "A30",               80,   56,   933,  24,  24576, ALL_GPUS)           \
  X("NVIDIA A40",                            "A40",               86,   84,   696,  48,   6144, ALL_GPUS)           \
  X("NVIDIA A10G",                           "A10G",              86,   80,   600,  24,   6144, ALL_GPUS)           \
  X("NVIDIA A10",                            "A10",               86,   72,   600,  24,   6144, ALL_GPUS)           \
  X("NVIDIA RTX A6000",                      "RTX A6000",         86,   84,   768,  48,   6144, GA102_PAPER)        \
  X("NVIDIA RTX A5500",                      "RTX A5500",         86,   80,   768,  24,   6144, ALL_GPUS)           \
  X("NVIDIA RTX A5000",                      "RTX A5000",         86,   64,   768,  24,   6144, ALL_GPUS)           \
  X("NVIDIA RTX A4500",                      "RTX A4500",         86,   56,   640,  20,   6144, ALL_GPUS)           \
  X("NVIDIA RTX A4000",                      "RTX A4000",         86,   48,   448,  16,   4096, ALL_GPUS)           \
  X("NVIDIA GeForce RTX 3090 Ti",            "RTX 3090 Ti",       86,   84,  1008,  24,   6144, RTX_30)             \
  X("NVIDIA GeForce RTX 3090",               "RTX 3090",          86,   82,   936,  24,   6144, GA102_PAPER)        \
  X("NVIDIA GeForce RTX 3080 Ti",            "RTX 3080 Ti",       86,   80,   912,  12,   6144, RTX_30)             \
  X("NVIDIA GeForce RTX 3080",               "RTX 3080",          86,   68,   760,  10,   5120, GA102_PAPER)        \
  X("NVIDIA GeForce RTX 3070 Ti",            "RTX 3070 Ti",       86,   48,   608,   8,   4096, RTX_30)             \
  X("NVIDIA GeForce RTX 3070",               "RTX 3070",          86,   46,   448,   8,   4096, GA102_PAPER)        \
  X("NVIDIA GeForce RTX 3060 Ti",            "RTX 3060 Ti",       86,   38,   448,   8,   4096, RTX_30)             \
  X("Orin",                                  "Jetson AGX Orin",   87,   16,   205,  64,   4096, ORIN_BRIEF)         \
  X("NVIDIA L40S",                           "L40S",              89,  142,   864,  48,  98304, NVIDIA_PAGE("l40s")) \
  X("NVIDIA L40",                            "L40",               89,  142,   864,  48,  98304, NVIDIA_PAGE("l40")) \
  X("NVIDIA L4",                             "L4",                89,   58,   300,  24,  49152, NVIDIA_PAGE("l4"))  \
  X("NVIDIA RTX 6000 Ada Generation",        "RTX 6000 Ada",      89,  142,   960,  48,  98304, ALL_GPUS)           \
  X("NVIDIA RTX 5000 Ada Generation",        "RTX 5000 Ada",      89,  100,   576,  32,  73728, ALL_GPUS)           \
  X("NVIDIA RTX 4500 Ada Generation",        "RTX 4500 Ada",      89,   60,   432,  24,  49152, ALL_GPUS)           \
  X("NVIDIA GeForce RTX 4090",               "RTX 4090",          89,  128,  1008,  24,  73728, ADA_PAPER)          \
  X("NVIDIA GeForce RTX 4080 SUPER",         "RTX 4080 SUPER",    89,   80,   736,  16,  65536, RTX_40)             \
  X("NVIDIA GeForce RTX 4080",               "RTX 4080",          89,   76,   717,  16,  65536, ADA_PAPER)          \
  X("NVIDIA GeForce RTX 4070 Ti SUPER",      "RTX 4070 Ti SUPER", 89,   66,   672,  16,  49152, RTX_40)             \
  X("NVIDIA GeForce RTX 4070 Ti",            "RTX 4070 Ti",       89,   60,   504,  12,  49152, RTX_40)             \
  X("NVIDIA GeForce RTX 4070 SUPER",         "RTX 4070 SUPER",    89,   56,   504,  12,  49152, RTX_40)             \
  X("NVIDIA GeForce RTX 4070",               "RTX 4070",          89,   46,   504,  12,  36864, RTX_40)             \
  X("NVIDIA GeForce RTX 4060 Ti",            "RTX 4060 Ti",       89,   34,   288,   8,  32768, RTX_40)             \
  X("NVIDIA GeForce RTX 4060",               "RTX 4060",          89,   24,   272,   8,  24576, RTX_40)             \
  X("NVIDIA H100 80GB HBM3",                 "H100",              90,  132,  3352,  80,  51200, HOPPER_PAPER)       \
  X("NVIDIA H100 PCIe",                      "H100 PCIe",         90,  114,  2039,  80,  51200, HOPPER_PAPER)       \
  X("NVIDIA H200",                           "H200",              90,  132,  4814, 141,  61440, NVIDIA_PAGE("h200")) \
  X("NVIDIA GH200 480GB",                    "GH200",             90,  132,  4000,  96,  61440, NVIDIA_PAGE("grace-hopper-superchip")) \
  X("NVIDIA B200",                           "B200",             100,  148,  8000, 180, 129536, NVIDIA_PAGE("dgx-b200")) \
  X("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000", 120, 188, 1792, 96, 131072, ALL_GPUS)      \
  X("NVIDIA GeForce RTX 5090",               "RTX 5090",         120,  170,  1792,  32,  98304, BLACKWELL_PAPER)    \
  X("NVIDIA GeForce RTX 5080",               "RTX 5080",         120,   84,   960,  16,  65536, BLACKWELL_PAPER)    \
  X("NVIDIA GeForce RTX 5070 Ti",            "RTX 5070 Ti",      120,   70,   896,  16,  49152, RTX_50)             \
  X("NVIDIA GeForce RTX 5070",               "RTX 5070",         120,   48,   672,  12,  49152, BLACKWELL_PAPER)    \
  X("NVIDIA GeForce RTX 5060 Ti",            "RTX 5060 Ti",      120,   36,   448,  16,  32768, RTX_50)             \
  X("NVIDIA GB10",                           "GB10",             121,   48,   273, 128,  24576, "https://docs.nvidia.com/dgx/dgx-spark/hardware.html")
/* clang-format on */

#endif
