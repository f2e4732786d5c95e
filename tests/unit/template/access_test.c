/* access_test.c: static access figures, compared with numbers worked out by hand. loads_per_point is a rule of thumb
 * that ranks variants; the emulation counts loads exactly. */
#include "stencil/template/access.h"

#include "gpu/architecture/arch.h"
#include "stencil/template/template_read.h"
#include "tests/unit/stencils.h"
#include "tests/unit/template/templates.h"

TEST(bank_conflicts_are_counted) {
  static const struct {
    long block[3];
    double stride[3];
    int elements, element_bytes;
    double passes; /* over the fewest possible */
  } rows[] = {
      {{32, 1, 1}, {1, 0, 0}, 1, 4, 1},   /* neighbours are in neighbouring banks */
      {{32, 1, 1}, {2, 0, 0}, 1, 4, 2},   /* 32 words in 16 banks */
      {{32, 1, 1}, {3, 0, 0}, 1, 4, 1},   /* odd strides reach every bank */
      {{32, 1, 1}, {32, 0, 0}, 1, 4, 32}, /* a column of a tile of 32 */
      {{32, 1, 1}, {33, 0, 0}, 1, 4, 1},  /* the same with padding */
      {{32, 1, 1}, {0, 0, 0}, 1, 4, 1},   /* one word for all threads is a broadcast */
      /* rows of 18: words 0 to 15 and 18 to 33; words 32 and 33 share banks with 0 and 1 */
      {{16, 2, 1}, {1, 18, 0}, 1, 4, 2},
      {{16, 2, 1}, {1, 16, 0}, 1, 4, 1},
      {{16, 2, 1}, {1, 48, 0}, 1, 4, 1},
      {{16, 2, 1}, {1, 32, 0}, 1, 4, 2},
      {{8, 4, 1}, {1, 10, 0}, 1, 4, 2}, /* words 30 to 37: words 32 to 37 share banks with 0 to 5 */
      {{8, 2, 2}, {1, 8, 64}, 1, 4, 2},
      {{32, 1, 1}, {1, 0, 0}, 1, 8, 1}, /* doubles: 16 threads use all banks */
      {{32, 1, 1}, {2, 0, 0}, 1, 8, 2},
      {{32, 1, 1}, {16, 0, 0}, 1, 8, 16},
      {{32, 1, 1}, {17, 0, 0}, 1, 8, 1},
      {{32, 1, 1}, {2, 0, 0}, 2, 4, 1}, /* two floats at once */
      {{32, 1, 1}, {4, 0, 0}, 4, 4, 1}, /* four at once: 8 threads use all banks */
      /* 32 bytes per thread, 16 at a time: every second group of four banks */
      {{32, 1, 1}, {2, 0, 0}, 2, 8, 1},
      {{32, 1, 1}, {4, 0, 0}, 4, 8, 2},
      {{8, 4, 1}, {4, 36, 0}, 4, 4, 1}, /* each quarter of the warp reads one row */
      {{4, 8, 1}, {4, 32, 0}, 4, 4, 2}, /* each quarter reads two rows, which are in the same banks */
      /* blocks without whole warps; the last warp has 6 threads */
      {{4, 8, 1}, {4, 48, 0}, 4, 4, 1},
      {{34, 3, 1}, {1, 34, 0}, 1, 4, 1},
      {{1, 1, 1}, {1, 1, 1}, 1, 4, 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    CHECK_NEAR(rows[i].passes,
               access_bank_conflicts(rows[i].block, rows[i].stride, rows[i].elements, rows[i].element_bytes), 1e-12,
               "row %zu", i);
  }
}

TEST(strides_that_make_no_sense_give_no_figure) {
  static const long block[3] = {32, 1, 1}, large[3] = {2048, 1, 1};
  static const double good[3] = {1, 0, 0}, negative[3] = {-1, 0, 0}, unknown[3] = {NAN, 0, 0}, huge[3] = {1e30, 0, 0};
  CHECK(isnan(access_bank_conflicts(block, negative, 1, 4)), "negative");
  CHECK(isnan(access_bank_conflicts(block, unknown, 1, 4)), "not a number");
  CHECK(isnan(access_bank_conflicts(block, huge, 1, 4)), "huge");
  CHECK(isnan(access_bank_conflicts(block, good, 0, 4)), "no elements");
  CHECK(isnan(access_bank_conflicts(block, good, 3, 4)), "three elements");
  CHECK(isnan(access_bank_conflicts(large, good, 1, 4)), "too many threads");
}

TEST(waves_fill_the_gpu) {
  static const long grid[3] = {16, 64, 8};
  CHECK_NEAR(8192.0 / (8 * 132), access_waves(grid, 8, 132), 1e-12, "8 blocks on each of 132");
  CHECK(isnan(access_waves(grid, 0, 132)), "a block that does not fit");
}

/* The plain variant of each template, which rows change. It sets all parameters, so no figure depends on a default. */
static const struct {
  const char *template, *set;
} plain[] = {
    {"direct",
     "block_x=128 block_y=1 block_z=1 vector=1 points_x=1 points_y=1 points_z=1 load_path=plain streaming=none"
     " coefficients=parameter extents=runtime min_blocks=0"},
    {"tile",
     "halo_load=edge tile_x=32 block_x=32 vector=1 tile_y=8 block_y=8 tile_z=1 block_z=1 padding=0 load_path=plain"
     " streaming=none coefficients=parameter extents=runtime min_blocks=0"},
    {"pencil", "segment=0 ends=shared pencils=4 block_x=64 block_y=4 padding=0 unroll=1 load_path=plain streaming=none"
               " coefficients=parameter extents=runtime min_blocks=0 overlap=0"},
    {"line",
     "vector=1 points=1 block_x=32 block_y=4 beside=shuffle load_path=plain streaming=none coefficients=parameter"
     " extents=runtime min_blocks=0 overlap=0"},
    {"patch", "vector=1 block_x=32 block_y=4 block_z=1 points_y=2 points_z=1 cluster_y=1 band=0 load_path=plain"
              " streaming=none coefficients=parameter extents=runtime min_blocks=0 overlap=0"},
    {"flat", "block_x=32 block_y=8 block_z=1 points_y=2 points_z=1 cluster_y=1 load_path=plain streaming=none"
             " coefficients=parameter extents=literal min_blocks=0"},
    {"zmarch",
     "storage=registers prefetch=none vector=1 block_x=32 block_y=8 points_y=1 unroll=1 cluster_y=1 band=0"
     " z_slicing=8 padding=0 load_path=plain streaming=none coefficients=parameter extents=runtime min_blocks=0"},
    {"scan",
     "method=march block_x=32 block_y=4 vector=1 points=4 padding=0 load_path=plain streaming=none extents=runtime"},
};

struct row {
  /* set: "name=value ...", where the row differs from the plain variant */
  const char *stencil, *template, *set;
  double loads_per_point, over_read, computing_share, bank_conflicts; /* -1: there is no figure */
};

/* error: the allowed relative error of the figure */
static void check_figure(double want, double got, double error, const char *what, const struct row *row) {
  if (want < 0) CHECK(isnan(got), "%s %s %s: %s", row->stencil, row->template, row->set, what);
  else CHECK_NEAR(want, got, error * want, "%s %s %s: %s", row->stencil, row->template, row->set, what);
}

/* A variant on a grid of an H200. */
struct subject {
  struct stencil *stencil;
  struct analysis *analysis;
  struct template *template;
  struct bindings bindings;
};

/*   number  of the stencil's grid
 *   size    points along each axis, in place of those of that grid; or NULL */
static void subject_begin(const char *name, const char *template_name, enum dtype dtype, int number, const long *size,
                          const char *set, struct subject *out) {
  char path[64];
  double facts[FACT_COUNT];
  snprintf(path, sizeof path, "templates/%s.yaml", template_name);
  CHECK_OK(stencil_of_kernels(name, &out->stencil));
  CHECK_OK(analysis_make(out->stencil, &out->analysis));
  CHECK_OK(template_read(path, &out->template));
  const struct configuration configuration = configuration_of(out->template, set);
  struct grid grid = out->stencil->grids[number];
  if (size) memcpy(grid.n, size, sizeof grid.n);
  struct domain domain = domain_dense(out->stencil, out->analysis, &grid);
  struct device_limits limits = arch_device_limits(arch_find(9, 0));
  limits.multiprocessors = 132;
  facts_fill(out->stencil, out->analysis, dtype, &domain, &limits, false, facts);
  facts[FACT_most_steps] = 64;
  CHECK_OK(bindings_make(out->template, facts, &out->bindings));
  bindings_configure(&out->bindings, &configuration);
  const struct rule *failed = bindings_failed_rule(&out->bindings);
  CHECK(!failed, "%s %s %s: %s", name, template_name, set, failed ? failed->otherwise : "");
}

static void subject_end(struct subject *subject) {
  bindings_free(&subject->bindings);
  template_free(subject->template);
  analysis_free(subject->analysis);
  stencil_free(subject->stencil);
}

/* The parameters of the plain variant, followed by those of the row. */
static void write_set(const struct row *row, char set[512]) {
  set[0] = '\0';
  for (size_t i = 0; i < COUNT(plain); i++) {
    if (strcmp(plain[i].template, row->template) == 0) snprintf(set, 512, "%s %s", plain[i].set, row->set);
  }
  CHECK(set[0], "%s has no plain variant", row->template);
}

/* grid: number of the stencil's grid */
static void check_row_on(const struct row *row, int grid) {
  struct subject subject;
  char set[512];
  write_set(row, set);
  subject_begin(row->stencil, row->template, DTYPE_F32, grid, NULL, set, &subject);
  struct access access = access_of(&subject.bindings);
  check_figure(row->loads_per_point, access.loads_per_point, 1.0 / 3, "loads a point", row);
  check_figure(row->over_read, access.over_read, 1e-12, "over-read", row);
  check_figure(row->computing_share, access.computing_share, 1e-12, "share that computes", row);
  check_figure(row->bank_conflicts, access.bank_conflicts, 1e-12, "bank conflicts", row);
  subject_end(&subject);
}

static void check_row(const struct row *row) { check_row_on(row, 0); }

TEST(direct_reads_every_tap) {
  static const struct row rows[] = {
      /* 7 taps. A block of 128 points in x has 2 neighbours at its ends, and all of its neighbours in y and z */
      {"star7", "direct", "", 7, 1 + 2.0 / 128 + 2 + 2, 1, -1},
      /* four points: the group itself, one to the left, one to the right, four each above, below, before and after */
      {"star7", "direct", "vector=4 block_x=32 block_y=8", 7.0 / 4, 1 + 8.0 / 128 + 2.0 / 8 + 2, 1, -1},
      /* two points with radius 4: two groups to the left and to the right, eight each above, below, before and after */
      {"star25", "direct", "vector=2 points_y=2 block_y=4", (5 + 16) / 2.0, 1 + 8.0 / 256 + 8.0 / 8 + 8, 1, -1},
      {"box27", "direct", "block_x=32 block_y=4 points_z=2", 27, (34.0 / 32) * (6.0 / 4) * (4.0 / 2), 1, -1},
      {"copy", "direct", "vector=4", 1.0 / 4, 1, 1, -1},
      /* T is read at 5 points, Ci at one, so only T has a halo */
      {"diffusion2d", "direct", "block_x=32 block_y=8", 6, 1 + (2.0 / 32 + 2.0 / 8) / 2, 1, -1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
}

TEST(a_tile_reads_its_halo) {
  static const struct row rows[] = {
      /* in an overlapping block of 16x16 threads 14x14 compute */
      {"heat2d", "tile", "halo_load=overlap tile_x=14 block_x=14 tile_y=14 block_y=14", 256.0 / 196, 256.0 / 196,
       196.0 / 256, 1},
      /* 32x8 points without corners: 64 above and below, 16 left and right */
      {"heat2d", "tile", "halo_load=edge", 336.0 / 256, 336.0 / 256, 1, 1},
      {"heat2d", "tile", "halo_load=flat", 340.0 / 256, 340.0 / 256, 1, 1},
      /* a 9-point box needs the corners */
      {"box2d9", "tile", "halo_load=edge", 340.0 / 256, 340.0 / 256, 1, 1},
      /* the threads of each edge read one tap beyond it */
      {"heat2d", "tile", "halo_load=mixed", 1 + 2.0 / 32 + 2.0 / 8, 336.0 / 256, 1, 1},
      /* at the edges of 32x8 points three of nine taps leave the tile, at its corners five */
      {"box2d9", "tile", "halo_load=mixed", 1 + (3 * (2 * 30 + 2 * 6) + 5 * 4) / 256.0, 340.0 / 256, 1, 1},
      /* a tile of one plane with radius 4 needs 8 more planes; at edges of 32 and 8 points 1 + 2 + 3 + 4 taps leave on
       * each side */
      {"star25", "tile", "halo_load=mixed", 1 + 20.0 / 32 + 20.0 / 8 + 8, 1 + 8.0 / 32 + 8.0 / 8 + 8, 1, 1},
      /* vectors of 4 over 32x8 points: 8x8 groups, 2x8 groups above and below, 16 single points left and right */
      {"heat2d", "tile", "halo_load=edge vector=4 block_x=8", (64 + 16 + 16) / 256.0, 336.0 / 256, 1, 1},
      /* flat: 10 groups in each of 10 rows */
      {"heat2d", "tile", "halo_load=flat vector=4 block_x=8", 100 / 256.0, 400.0 / 256, 1, 1},
      /* a warp has two rows of 18: words 32 and 33 share banks with 0 and 1; with padding the second row begins at 20,
       * 34 or 36, which is no worse */
      {"heat2d", "tile", "halo_load=edge tile_x=16 block_x=16 tile_y=16 block_y=16", 320.0 / 256, 320.0 / 256, 1, 2},
  };
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
}

TEST(a_pencil_reads_its_lines) {
  static const struct row rows[] = {
      {"derivative_x", "pencil", "pencils=4 block_x=64 block_y=4", 1, 1, 1, 1},
      {"derivative_x", "pencil", "pencils=4 block_x=64 block_y=4 ends=global", 72.0 / 64, 1, 1, 1},
      {"derivative_x", "pencil", "pencils=32 block_x=32 block_y=8", 1, 1, 1, 1},
      {"derivative_y", "pencil", "pencils=32 block_x=32 block_y=8", 1, 1, 1, 1},
      {"derivative_z", "pencil", "pencils=4 block_x=4 block_y=64", 1, 1, 1, 1},
      {"derivative_y", "pencil", "pencils=32 block_x=32 block_y=8 segment=32 ends=global", 40.0 / 32, 40.0 / 32, 1, 1},
      /* a warp has two lines of 16 threads, 72 apart: words 0 to 15, and 72 to 87 in banks 8 to 23; padded by 8: banks
       * 16 to 31 */
      {"derivative_x", "pencil", "pencils=8 block_x=16 block_y=8", 1, 1, 1, 2},
      {"derivative_x", "pencil", "pencils=8 block_x=16 block_y=8 padding=8", 1, 1, 1, 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
}

TEST(a_line_reads_its_window) {
  static const struct row rows[] = {
      /* 4 rows of vectors, and 4 on either side; a block has 16 times 4 rows */
      {"derivative_y", "line", "vector=4 points=4 block_x=16 block_y=16", 12 / 16.0, 72.0 / 64, 1, -1},
      {"derivative_z", "line", "points=1 block_x=64 block_y=2", 9, 10.0 / 2, 1, -1},
      /* a vector and its neighbours */
      {"derivative_x", "line", "vector=4 block_x=16 block_y=8 beside=load", 3 / 4.0, 72.0 / 64, 1, -1},
      /* In rows of 16 lanes the first and the last lane read 4 values each. In rows of 32 lanes, 4, 3, 2 and 1 lanes
       * have no other lane at the tap's distance. */
      {"derivative_x", "line", "vector=4 block_x=16 block_y=8", (16 + 8) / 64.0, 72.0 / 64, 1, -1},
      {"derivative_x", "line", "vector=1 block_x=32 block_y=8", (32 + 2 * 10) / 32.0, 40.0 / 32, 1, -1},
      /* vector=2: two taps are one lane away, two are two lanes away */
      {"derivative_x", "line", "vector=2 block_x=32 block_y=8", (32 + 2 * 6) / 64.0, 72.0 / 64, 1, -1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
}

TEST(a_patch_reads_what_its_points_share_once) {
  static const struct row rows[] = {
      /* two points in y: two to the left and to the right, one above, one below, two before and two after */
      {"star7", "patch", "", 12 / 2.0, 1 + 2.0 / 32 + 2.0 / 8 + 2, 1, -1},
      /* eight vectors: sixteen beside them, two above and below, four before and after; a block has 16 by 32 by 2 */
      {"star7", "patch", "vector=4 block_x=16 block_y=8 points_y=4 points_z=2", (8 + 16 + 4 + 8) / 32.0,
       1 + 2.0 / 16 + 2.0 / 32 + 2.0 / 2, 1, -1},
      /* T around two vectors, and Ci at the vectors */
      {"diffusion2d", "patch", "vector=2", (2 + 2 + 4 + 2) / 4.0, 1 + (2.0 / 32 + 2.0 / 8) / 2, 1, -1},
      /* two vectors by two planes, in a box of 3 by 4 by 4 */
      {"box27", "patch", "vector=2 points_z=2", 3 * 4 * 4 / 8.0, (34.0 / 32) * (10.0 / 8) * (4.0 / 2), 1, -1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
}

TEST(flat_reads_whole_vectors) {
  static const struct row rows[] = {
      /* two vectors of 4 in y: four beside them, one above, one below, two before and two after; a block has 32 by
       * 16 */
      {"star7", "flat", "", 12 / 8.0, 1 + 2.0 / 32 + 2.0 / 16 + 2, 1, -1},
      /* T around two vectors, and Ci at the vectors */
      {"diffusion2d", "flat", "", (2 + 2 + 4 + 2) / 8.0, 1 + (2.0 / 32 + 2.0 / 16) / 2, 1, -1},
      {"box27", "flat", "", 3 * 4 * 3 / 8.0, (34.0 / 32) * (18.0 / 16) * 3, 1, -1},
      /* a reach of 4 is one vector: four beside, eight above and below, sixteen before and after */
      {"star25", "flat", "block_x=64 block_y=4", (2 + 4 + 8 + 16) / 8.0, 1 + 2.0 / 64 + 8.0 / 8 + 8, 1, -1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
  /* Rows of 509: the points above a vector are in two vectors; so are those below, before and after it. */
  static const struct row odd = {"star7", "flat", "", (2 + 4 + 2 * (1 + 1 + 2 + 2)) / 8.0, 1 + 2.0 / 32 + 2.0 / 16 + 2,
                                 1,       -1};
  check_row_on(&odd, 2);
}

TEST(a_march_reads_planes_once) {
  static const struct row rows[] = {
      /* ten planes of the thread's own column for eight, as vectors; in each step one vector each left, right, above
       * and below */
      {"star7", "zmarch", "storage=direct vector=4", 10 / 32.0 + 1, 1 + 8.0 / 128 + 2.0 / 8 + 2.0 / 8, 1, -1},
      {"star7", "zmarch", "storage=direct vector=4 prefetch=registers", 10 / 32.0 + 1,
       1 + 8.0 / 128 + 2.0 / 8 + 2.0 / 8, 1, -1},
      /* ten planes of 32x8 for eight, each with 64 + 16 points around it: taps along the axes need no corners */
      {"star7", "zmarch", "storage=planes", 3360.0 / 2048, 3360.0 / 2048, 1, 1},
      /* ten planes of 32x8, and 64 + 16 points around eight of them */
      {"star7", "zmarch", "storage=registers", (2560 + 640) / 2048.0, 3200.0 / 2048, 1, 1},
      /* two rows of two: ten planes of four rows of three vectors for eight planes */
      {"box27", "zmarch", "storage=direct vector=2 points_y=2 block_y=4", 10 * 4 * 3 / (8 * 2 * 2.0),
       (68.0 / 64) * (10.0 / 8) * (10.0 / 8), 1, -1},
      /* u is read at 25 points, u_prev and vel2 at one; radius 4 needs 16 planes for 8, and 16 by 1 vectors around the
       * thread's own */
      {"wave25", "zmarch", "storage=direct vector=4", 2 / 4.0 + 16 / 32.0 + (2 + 8) / 4.0,
       1 + (8.0 / 128 + 8.0 / 8 + 8.0 / 8) / 3, 1, -1},
      /* a warp has two rows of 18 words; vectors are served by quarter warps, each in one row */
      {"star7", "zmarch", "storage=registers block_x=16", (1280 + 384) / 1024.0, (1280 + 384) / 1024.0, 1, 2},
      {"star7", "zmarch", "storage=registers block_x=16 vector=4", (1280 + 384) / 4096.0, 1 + 8.0 / 64 + 0.25 + 0.25, 1,
       1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
}

TEST(a_scan_reads_each_point_once) {
  static const struct row rows[] = {
      {"scan_z", "scan", "block_y=1 block_x=64", 1, 1, 1, -1}, /* no threads share a line */
      {"scan_z", "scan", "", 1, 1, 1, 1},
      {"scan_y", "scan", "vector=4", 1 / 4.0, 1, 1, 1}, /* sums are stored as vectors */
      {"scan_x", "scan", "method=shuffle vector=2", 1 / 2.0, 1, 1, -1},
      {"scan_x", "scan", "method=tile block_y=8 points=1", 1, 1, 1 / 8.0, 32}, /* a warp reads a column of 32 */
      {"scan_x", "scan", "method=tile block_y=8 points=1 padding=1", 1, 1, 1 / 8.0, 1},
  };
  for (size_t i = 0; i < COUNT(rows); i++) check_row(&rows[i]);
}

/* The estimate of the work of a variant on a grid of an H200. */
static double work_of(const char *name, const char *template_name, enum dtype dtype, const long size[MAX_DIMS],
                      const char *set) {
  struct subject subject;
  subject_begin(name, template_name, dtype, 0, size, set, &subject);
  const double work = access_work(&subject.bindings);
  CHECK(work > 0, "%s %s: %g", template_name, set, work);
  subject_end(&subject);
  return work;
}

/* Pairs of variants that an H200 has measured. Each pair differs in what the estimate must know. */
TEST(templates_estimate_which_variants_are_slow) {
  static const struct {
    const char *stencil, *template;
    enum dtype dtype;
    long size[MAX_DIMS];
    const char *common, *fast, *slow;
  } rows[] = {
      /* 1.85 and 2.36 ms: few warps; 1.85 and 2.67: a limit of 128 registers, so that spills are likely */
      {"box2d9",
       "pipeline_rows",
       DTYPE_F64,
       {16384, 16384, 1},
       "steps=7 store_bytes=16 extents=literal",
       "points=4 warps=8 ring=3 vector=2 min_blocks=1",
       "points=4 warps=4 ring=4 vector=2 min_blocks=1"},
      {"box2d9",
       "pipeline_rows",
       DTYPE_F64,
       {16384, 16384, 1},
       "steps=7 store_bytes=16 extents=literal",
       "points=4 warps=8 ring=3 vector=2 min_blocks=1",
       "points=2 warps=2 ring=4 vector=2 min_blocks=8"},
      /* 0.79 and 0.95 ms: coefficients that are not in the code */
      {"heat2d",
       "pipeline_rows",
       DTYPE_F32,
       {16384, 16384, 1},
       "steps=10 points=8 warps=8 ring=8 vector=4 store_bytes=32 min_blocks=1",
       "coefficients=literal",
       "coefficients=parameter"},
      /* 0.81 and 0.82 ms: one strip more */
      {"heat2d",
       "pipeline_rows",
       DTYPE_F32,
       {16384, 16384, 1},
       "steps=10 points=8 warps=8 ring=8 vector=4 coefficients=literal min_blocks=1",
       "store_bytes=16",
       "store_bytes=128"},
      /* 0.211 and 0.75 ms: fewer exchanges, and vectors; 0.0174 and 0.0201: more exchanges */
      {"star7",
       "resident",
       DTYPE_F32,
       {128, 128, 128},
       "steps=64",
       "depth=2 tile_y=16 tile_z=8 block_y=16 points_y=2 points_z=2 vector=4",
       "depth=1 tile_y=32 tile_z=8 block_y=4 points_y=4 points_z=4 vector=1"},
      {"star7",
       "resident",
       DTYPE_F32,
       {128, 128, 128},
       "steps=4 tile_y=8 tile_z=16 block_y=16 vector=4",
       "depth=2 points_y=2 points_z=2",
       "depth=1 points_y=2 points_z=4"},
      /* 0.078 and 0.269 ms: on a small grid exchanges are nearly all */
      {"star7",
       "resident",
       DTYPE_F32,
       {64, 64, 64},
       "steps=64",
       "depth=4 tile_y=8 tile_z=4 block_y=32 points_y=1 points_z=1 vector=4",
       "depth=1 tile_y=32 tile_z=4 block_y=8 points_y=1 points_z=4 vector=2"},
      /* 0.416 and 0.446 ms: more turns, but no two blocks write the same 32 bytes */
      {"star7",
       "pipeline_planes",
       DTYPE_F32,
       {512, 512, 512},
       "steps=4 points=4 rows=4 lanes_x=16 warps=8 ring=3 vector=4 outside=shared barrier=split min_blocks=0",
       "chunks=5 last_chunk=20 store_bytes=32",
       "chunks=7 last_chunk=33 store_bytes=16"},
      /* 0.0655 and 0.1075 ms: 160 blocks on 132 multiprocessors */
      {"star7",
       "pipeline_planes",
       DTYPE_F32,
       {256, 256, 256},
       "steps=4 points=4 rows=3 lanes_x=16 warps=12 ring=2 vector=4 store_bytes=32 outside=shared barrier=split min_blocks=0",
       "chunks=7 last_chunk=33",
       "chunks=8 last_chunk=33"},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    char fast[512], slow[512];
    snprintf(fast, sizeof fast, "%s %s", rows[i].common, rows[i].fast);
    snprintf(slow, sizeof slow, "%s %s", rows[i].common, rows[i].slow);
    const double least = work_of(rows[i].stencil, rows[i].template, rows[i].dtype, rows[i].size, fast);
    const double more = work_of(rows[i].stencil, rows[i].template, rows[i].dtype, rows[i].size, slow);
    CHECK(least < more, "%s %s: %g, %s: %g", rows[i].template, fast, least, slow, more);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bank_conflicts_are_counted),   cmocka_unit_test(strides_that_make_no_sense_give_no_figure),
      cmocka_unit_test(waves_fill_the_gpu),           cmocka_unit_test(direct_reads_every_tap),
      cmocka_unit_test(a_tile_reads_its_halo),        cmocka_unit_test(a_pencil_reads_its_lines),
      cmocka_unit_test(a_line_reads_its_window),      cmocka_unit_test(a_patch_reads_what_its_points_share_once),
      cmocka_unit_test(flat_reads_whole_vectors),     cmocka_unit_test(a_march_reads_planes_once),
      cmocka_unit_test(a_scan_reads_each_point_once), cmocka_unit_test(templates_estimate_which_variants_are_slow),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
