/* analysis_test.c: the analysis, compared with numbers worked out by hand. */
#include "tests/unit/unit.h"

#include "tests/unit/stencils.h"

/* Every stencil of kernels/. */
static const struct {
  const char *name;
  enum shape shape;
  int radius[3], taps, flops, unique, instructions, bytes_f32;
  bool linear, iterates;
} shipped[] = {
    {"copy", SHAPE_POINTWISE, {0, 0, 0}, 1, 0, 0, 0, 8, true, false},
    {"triad", SHAPE_POINTWISE, {0, 0, 0}, 2, 2, 2, 1, 12, true, false},
    {"advect1d", SHAPE_PENCIL, {1, 0, 0}, 2, 5, 3, 2, 8, true, true},
    {"heat2d", SHAPE_STAR, {1, 1, 0}, 5, 10, 9, 7, 8, true, true},
    {"diffusion2d", SHAPE_STAR, {1, 1, 0}, 6, 22, 16, 12, 12, false, true},
    {"box2d9", SHAPE_BOX, {1, 1, 0}, 9, 17, 17, 9, 8, true, true},
    {"star2d9", SHAPE_STAR, {2, 2, 0}, 9, 17, 17, 9, 8, true, true},
    {"derivative_x", SHAPE_PENCIL, {4, 0, 0}, 8, 11, 11, 8, 8, true, false},
    {"derivative_y", SHAPE_PENCIL, {0, 4, 0}, 8, 11, 11, 8, 8, true, false},
    {"derivative_z", SHAPE_PENCIL, {0, 0, 4}, 8, 11, 11, 8, 8, true, false},
    {"star7", SHAPE_STAR, {1, 1, 1}, 7, 13, 13, 7, 8, true, true},
    {"star13", SHAPE_STAR, {2, 2, 2}, 13, 25, 25, 13, 8, true, true},
    {"star25", SHAPE_STAR, {4, 4, 4}, 25, 49, 49, 25, 8, true, true},
    {"box27", SHAPE_BOX, {1, 1, 1}, 27, 53, 53, 29, 8, true, true},
    {"wave25", SHAPE_STAR, {4, 4, 4}, 27, 56, 47, 31, 16, false, true},
    {"gradient", SHAPE_STAR, {2, 2, 2}, 12, 15, 15, 12, 16, true, false},
    {"scan_x", SHAPE_PENCIL, {0, 0, 0}, 1, 1, 1, 1, 8, true, false},
    {"scan_y", SHAPE_PENCIL, {0, 0, 0}, 1, 1, 1, 1, 8, true, false},
    {"scan_z", SHAPE_PENCIL, {0, 0, 0}, 1, 1, 1, 1, 8, true, false},
};

TEST(shipped_stencils_have_their_figures) {
  for (size_t i = 0; i < COUNT(shipped); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    CHECK_OK(stencil_of_kernels(shipped[i].name, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    CHECK_TEXT(shipped[i].name, stencil->name, "row %zu", i);
    CHECK_EQ(shipped[i].shape, analysis->shape, "%s", shipped[i].name);
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      CHECK_EQ(shipped[i].radius[axis], analysis->radius[axis], "%s", shipped[i].name);
    }
    CHECK_EQ(shipped[i].taps, analysis->tap_count, "%s", shipped[i].name);
    CHECK_EQ(shipped[i].flops, analysis->flops_per_point, "%s", shipped[i].name);
    CHECK_EQ(shipped[i].unique, analysis->unique_flops_per_point, "%s", shipped[i].name);
    CHECK_EQ(shipped[i].instructions, analysis->instructions_per_point, "%s", shipped[i].name);
    CHECK_EQ(shipped[i].bytes_f32, analysis->bytes_per_point[DTYPE_F32], "%s", shipped[i].name);
    CHECK_EQ(2 * shipped[i].bytes_f32, analysis->bytes_per_point[DTYPE_F64], "%s", shipped[i].name);
    int read_f32 = shipped[i].bytes_f32 - 4 * stencil->output_count;
    CHECK_EQ(read_f32, analysis->read_bytes_per_point[DTYPE_F32], "%s", shipped[i].name);
    CHECK_EQ(2 * read_f32, analysis->read_bytes_per_point[DTYPE_F64], "%s", shipped[i].name);
    int unknown_f32 = shipped[i].iterates ? 4 * stencil->output_count : 0;
    CHECK_EQ(unknown_f32, analysis->unknown_bytes_per_point[DTYPE_F32], "%s", shipped[i].name);
    CHECK_EQ(shipped[i].iterates ? shipped[i].bytes_f32 - 2 * unknown_f32 : 0,
             analysis->known_bytes_per_point[DTYPE_F32], "%s", shipped[i].name);
    CHECK_EQ(2 * unknown_f32, analysis->unknown_bytes_per_point[DTYPE_F64], "%s", shipped[i].name);
    CHECK_EQ(shipped[i].linear, analysis->is_linear, "%s", shipped[i].name);
    CHECK_EQ(shipped[i].iterates, analysis->can_iterate, "%s", shipped[i].name);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

static const struct {
  int dims;
  const char *update;
  enum shape shape;
  int low[3], high[3], taps, offsets;
} reaches[] = {
    {1, "v = u[0]", SHAPE_POINTWISE, {0, 0, 0}, {0, 0, 0}, 1, 1},
    {1, "v = u[-2] + u[-2]", SHAPE_PENCIL, {2, 0, 0}, {0, 0, 0}, 1, 1},
    {2, "v = u[0,3]", SHAPE_PENCIL, {0, 0, 0}, {0, 3, 0}, 1, 1},
    {3, "v = u[0,0,-1] + w[0,0,5]", SHAPE_PENCIL, {0, 0, 1}, {0, 0, 5}, 2, 2},
    {2, "v = u[1,0] + w[0,-1]", SHAPE_STAR, {0, 1, 0}, {1, 0, 0}, 2, 2},
    {2, "v = u[0,0] + u[1,0] + u[0,1] + u[1,1]", SHAPE_BOX, {0, 0, 0}, {1, 1, 0}, 4, 4},
    {2, "v = u[0,0] + w[1,0] + u[0,1] + w[1,1] + w[0,0]", SHAPE_BOX, {0, 0, 0}, {1, 1, 0}, 5, 4},
    {2, "v = u[1,1]", SHAPE_GENERAL, {0, 0, 0}, {1, 1, 0}, 1, 1},
    {3, "v = u[16,0,0] - u[0,-16,0]", SHAPE_STAR, {0, 16, 0}, {16, 0, 0}, 2, 2},
};

TEST(reach_and_shape_follow_from_the_taps) {
  for (size_t i = 0; i < COUNT(reaches); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    CHECK_OK(stencil_of_update(reaches[i].dims, reaches[i].update, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    CHECK_EQ(reaches[i].shape, analysis->shape, "row %zu", i);
    int largest = 0;
    for (int axis = 0; axis < MAX_DIMS; axis++) {
      CHECK_EQ(reaches[i].low[axis], analysis->radius_low[axis], "row %zu axis %d", i, axis);
      CHECK_EQ(reaches[i].high[axis], analysis->radius_high[axis], "row %zu axis %d", i, axis);
      int larger = reaches[i].low[axis] > reaches[i].high[axis] ? reaches[i].low[axis] : reaches[i].high[axis];
      CHECK_EQ(larger, analysis->radius[axis], "row %zu axis %d", i, axis);
      if (larger > largest) largest = larger;
    }
    CHECK_EQ(largest, analysis->max_radius, "row %zu", i);
    CHECK_EQ(reaches[i].taps, analysis->tap_count, "row %zu", i);
    CHECK_EQ(reaches[i].offsets, analysis->offset_count, "row %zu", i);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

static const struct {
  const char *update;
  int flops, unique, instructions;
} counts[] = {
    {"v = u[0]", 0, 0, 0},
    {"v = -u[0]", 0, 0, 0},
    {"v = u[0] + u[1]", 1, 1, 1},
    {"v = 2*3*u[0]", 1, 1, 1},         /* operations on numbers cost nothing */
    {"v = a*b*u[0]", 2, 1, 1},         /* operations on coefficients have the same value at every point */
    {"v = a*u[0] + u[1]", 2, 2, 1},    /* one fma */
    {"v = a*u[0] - b*u[1]", 3, 3, 2},  /* only one of the two products can be fused */
    {"v = u[1] + -(a*u[0])", 2, 2, 1}, /* a sign does not prevent fusing */
    {"v = fma(a, u[0], u[1])", 2, 2, 1},
    {"v = sqrt(u[0]) + exp(u[1])*sin(u[0])", 5, 5, 4}, /* a function counts as one */
    {"v = fmin(u[0], u[1]) + fmax(u[0], u[1])", 3, 3, 3},
    {"v = fmin(u[0], u[1]) + fmin(u[1], u[0])", 3, 2, 2},
    {"v = fmax(u[0], u[1]) + fmax(u[1], u[0])", 3, 2, 2},
    {"v = fma(u[0], u[1], a) + fma(u[1], u[0], a)", 5, 5, 3}, /* the arguments of an fma are not exchanged */
    /* no fma, because the product is not computed at every point */
    {"v = a*b + u[0]", 2, 1, 1},
    {"v = u[0]/u[1]", 1, 1, 1},
    {"v = (u[0] + u[1])*(u[1] + u[0])", 3, 2, 2},       /* the same sum twice */
    {"t = a*u[0]\nv = (t + u[1])*(t + u[2])", 4, 4, 4}, /* a product with two users is not fused */
    {"t = u[0] + u[1]\nv = t*t", 2, 2, 2},
    {"v = u[0] < a ? u[1] : u[2]", 2, 2, 2}, /* a comparison and a choice */
    {"v = (u[0] == u[1] && u[1] > 0) + (u[1] == u[0])", 4, 3, 3},
    {"v = pow(u[0], 7)", 4, 4, 4},  /* multiplications */
    {"v = pow(u[0], -4)", 3, 3, 3}, /* and a division */
    {"v = pow(u[0], a)", 1, 1, 1},
};

TEST(operations_are_counted) {
  for (size_t i = 0; i < COUNT(counts); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    CHECK_OK(stencil_of_update(1, counts[i].update, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    CHECK_EQ(counts[i].flops, analysis->flops_per_point, "row %zu \"%s\"", i, counts[i].update);
    CHECK_EQ(counts[i].unique, analysis->unique_flops_per_point, "row %zu \"%s\"", i, counts[i].update);
    CHECK_EQ(counts[i].instructions, analysis->instructions_per_point, "row %zu \"%s\"", i, counts[i].update);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

/* Weights as "tap:text=value" in order; NULL if the stencil is not linear. a = 0.5, b = 0.25, c = 3, d = -2. */
static const struct {
  const char *update, *weights;
} linear[] = {
    {"v = u[0]", "0:1=1 "},
    {"v = -u[0]", "0:-1=-1 "},
    {"v = a*u[-1] + b*u[1]", "-1:a=0.5 1:b=0.25 "},
    {"v = a*(u[1] - u[-1])", "-1:-a=-0.5 1:a=0.5 "},
    {"v = u[0] + u[0]", "0:2=2 "},
    {"v = u[0] - a*u[0]", "0:1 - a=0.5 "},
    {"v = (u[0] - 2*u[1])/c", "0:1/c=0.333333333333333 1:-(1/c*2)=-0.666666666666667 "},
    {"t = a*u[0]\nv = t*b - t", "0:(-1 + b)*a=-0.375 "},
    {"v = fma(a, u[0], u[1]*b)", "0:a=0.5 1:b=0.25 "},
    {"v = fma(u[0], a, u[1])", "0:a=0.5 1:1=1 "},
    {"v = u[0] - u[0] + u[1]", "0:0=0 1:1=1 "},
    {"v = u[0] + 0", "0:1=1 "},
    {"v = u[0] + a", NULL},
    {"v = a*(u[0]*-1)", "0:-a=-0.5 "},
    {"v = -(u[0]*a)", "0:-a=-0.5 "},
    {"v = -1*u[0]*a", "0:-a=-0.5 "},
    {"v = u[0]*u[1]", NULL},
    {"v = a/u[0]", NULL},
    {"v = u[0]/u[1]", NULL},
    {"v = u[0]/w[0]", NULL},
    {"v = u[0]/(a*w[0])", NULL},
    {"v = fabs(u[0])", NULL},
    {"v = fma(u[0], u[1], u[0])", NULL},
    {"v = (a > 0)*u[0]", "0:a > 0=1 "},
    {"v = a > 0 ? u[0] : u[1]", NULL},
    {"v = u[0] < u[1]", NULL},
    {"v = pow(u[0], 1)", NULL},
    {"v = pow(a, 2)*u[0]", "0:pow(a, 2)=0.25 "},
};

TEST(weights_are_found_where_the_stencil_is_linear) {
  for (size_t i = 0; i < COUNT(linear); i++) {
    struct stencil *stencil;
    struct analysis *analysis;
    struct text text = {0};
    CHECK_OK(stencil_of_update(1, linear[i].update, &stencil));
    CHECK_OK(analysis_make(stencil, &analysis));
    CHECK_EQ(linear[i].weights != NULL, analysis->is_linear, "row %zu \"%s\"", i, linear[i].update);
    for (int k = 0; k < analysis->weight_count; k++) {
      const struct weight *weight = &analysis->weights[k];
      text_printf(&text, "%d:%s=%.15g ", weight->tap.offset[0], weight->text, weight->value);
    }
    CHECK_TEXT(linear[i].weights ? linear[i].weights : "", text_string(&text), "row %zu \"%s\"", i, linear[i].update);
    text_free(&text);
    analysis_free(analysis);
    stencil_free(stencil);
  }
}

TEST(weights_belong_to_their_outputs) {
  struct stencil *stencil;
  struct analysis *analysis;
  CHECK_OK(stencil_of_update(1, "t = 3*u[1]\nv2 = t - w[0]\nv = t + u[0]", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  struct text text = {0};
  for (int k = 0; k < analysis->weight_count; k++) {
    const struct weight *weight = &analysis->weights[k];
    text_printf(&text, "%s<-%s[%d]:%s ", stencil->outputs[weight->output], stencil->inputs[weight->tap.input],
                weight->tap.offset[0], weight->text);
  }
  CHECK_TEXT("v2<-u[1]:3 v2<-w[0]:-1 v<-u[0]:1 v<-u[1]:3 ", text_string(&text), "two outputs");
  text_free(&text);
  analysis_free(analysis);
  stencil_free(stencil);
}

/* Two texts, and whether they mean the same. */
static const struct {
  const char *one, *other;
  bool same;
} twins[] = {
    {"v = a*u[0] + b*u[1]", "v=a * u[0]\n  + b*u[1]   # a comment", true},
    {"v = a*u[0] + b*u[1]", "v = u[1]*b + u[0]*a", true},
    {"v = a*u[0] + b*u[1] + u[2]", "v = u[2] + (u[1]*b + u[0]*a)", true},
    {"v = a*b*u[0]", "v = u[0]*(b*a)", true},
    {"v = u[0] - u[1] + u[2]", "v = u[2] + u[0] - u[1]", true},
    {"t = a*u[0]\nv = t + u[1]", "other = a*u[0]\nv = other + u[1]", true},
    {"t = a*u[0]\nv = t*t + u[1]", "s = u[0]*a\nv = u[1] + s*s", true},
    {"t = a*u[0]\nv = t*t + u[1]", "v = (a*u[0])*(a*u[0]) + u[1]", false}, /* here both products are opened into one */
    {"v = u[0]; v2 = u[1]", "v2 = u[1]\nv = u[0]", true},
    {"v = a*u[0] + b*u[1]", "v = a*u[1] + b*u[0]", false},
    {"v = u[0] - u[1]", "v = u[1] - u[0]", false},
    {"v = u[0] - (u[1] + u[2])", "v = u[0] - u[1] + u[2]", false},
    {"v = u[0] - (u[1] + u[2])", "v = u[0] + u[1] + u[2]", false},
    {"v = u[0] - (u[1] - u[2])", "v = u[0] - u[1] - u[2]", false},
    {"v = u[0] - (u[1] + u[2])", "v = u[0] - (u[2] + u[1])", true},
    {"v = u[0]/u[1]", "v = u[1]/u[0]", false},
    {"v = u[0] + u[1]", "v = u[0] + u[-1]", false},
    {"v = 2*u[0]", "v = 2.5*u[0]", false},
    {"v = 2*u[0]", "v = 2.0*u[0]", true},
    {"v = fmin(u[0], u[1])", "v = fmax(u[0], u[1])", false},
    {"v = a*u[0]", "v = b*u[0]", false},
    {"v = -u[0]", "v = u[0]", false},
    {"v = u[0] + u[0]", "v = u[0]", false},
};

TEST(the_hash_sees_the_meaning_only) {
  for (size_t i = 0; i < COUNT(twins); i++) {
    struct stencil *stencils[2];
    struct analysis *analyses[2];
    CHECK_OK(stencil_of_update(1, twins[i].one, &stencils[0]));
    CHECK_OK(stencil_of_update(1, twins[i].other, &stencils[1]));
    for (int k = 0; k < 2; k++) CHECK_OK(analysis_make(stencils[k], &analyses[k]));
    bool same = identity_compare(analyses[0]->hash, analyses[1]->hash) == 0;
    CHECK_EQ(twins[i].same, same, "row %zu: %s and %s", i, twins[i].one, twins[i].other);
    for (int k = 0; k < 2; k++) analysis_free(analyses[k]), stencil_free(stencils[k]);
  }
}

/* Lines of a file, and whether adding or replacing one line changes the hash. */
static const struct {
  const char *lines, *one, *other;
  bool same;
} files[] = {
    {"kind: scan\ndims: 3\ngrids: [[4, 4, 4]]\n", "axis: x\n", "axis: y\n", false},
    {"kind: scan\ndims: 3\ngrids: [[4, 4, 4]]\n", "axis: y\n", "axis: z\n", false},
    {"kind: scan\naxis: x\n", "dims: 2\ngrids: [[4, 4]]\n", "dims: 3\ngrids: [[4, 4, 4]]\n", false},
    {"kind: scan\naxis: x\ndims: 1\n", "grids: [[4]]\n", "grids: [[5]]\n", true},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: skip\n", "boundary: clamp\n", false},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: skip\n", "boundary: [skip]\n", true},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: periodic\n", "boundary: periodic_endpoint\n", false},
    {"dims: 2\ngrids: [[4, 4]]\nupdate: v = u[0,0]\n", "boundary: [zero, clamp]\n", "boundary: [clamp, zero]\n", false},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: skip\n", "boundary: {x: [skip, skip]}\n", true},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: zero\n", "boundary: {x: 0, u: {x: 0.0}}\n", true},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: zero\n", "boundary: 0.5\n", false},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: 0.25\n", "boundary: 0.5\n", false},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: zero\n", "boundary: {x: [zero, mirror]}\n", false},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: mirror\n", "boundary: {x: mirror, u: {x: odd_mirror}}\n",
     false},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: skip\n", "boundary: skip\nmargins: {v: {x: 0}}\n", true},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: skip\n", "boundary: skip\nmargins: {v: {x: 1}}\n", false},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "boundary: zero\n", "boundary: zero\nmargins: {v: {x: [0, 0]}}\n",
     true},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\nboundary: zero\n", "", "iterate: {v: u}\n", false},
    {"dims: 1\ngrids: [[4]]\nupdate: v = u[0]\nboundary: zero\n", "", "tolerance: 9\nabout: a\nsource: b\n", true},
    {"dims: 1\ngrids: [[4]]\nupdate: v = c*u[0]\nboundary: zero\n", "coefficients: {c: 1}\n", "coefficients: {c: 2}\n",
     true},
    {"boundary: zero\n", "dims: 1\ngrids: [[4]]\nupdate: v = u[0]\n", "dims: 2\ngrids: [[4, 4]]\nupdate: v = u[0,0]\n",
     false},
};

static struct identity hash_of_file(const char *lines, const char *more) {
  struct text text = {0};
  struct stencil *stencil;
  struct analysis *analysis;
  text_printf(&text, "name: test\ninputs: [u]\noutputs: [v]\ndtypes: [f32]\n%s%s", lines, more);
  CHECK_OK(stencil_parse(&(struct source){"test.yaml", text_string(&text), text.length}, &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  struct identity hash = analysis->hash;
  analysis_free(analysis);
  stencil_free(stencil);
  text_free(&text);
  return hash;
}

TEST(the_hash_sees_what_stands_beside_the_update) {
  for (size_t i = 0; i < COUNT(files); i++) {
    struct identity one = hash_of_file(files[i].lines, files[i].one),
                    other = hash_of_file(files[i].lines, files[i].other);
    CHECK_EQ(files[i].same, identity_compare(one, other) == 0, "row %zu", i);
  }
}

/* With two inputs and two outputs, it matters which becomes which, but not the order of the entries. */
TEST(the_hash_sees_what_the_next_step_reads) {
  static const char lines[] = "name: test\ndims: 1\ngrids: [[4]]\nboundary: zero\ndtypes: [f32]\ninputs: [u, w]\n"
                              "outputs: [v, v2]\nupdate: v = u[0]; v2 = w[0]\n";
  static const struct {
    const char *one, *other;
    bool same;
  } rows[] = {
      {"iterate: {v: u, v2: w}\n", "iterate: {v2: w, v: u}\n", true},
      {"iterate: {v: u, v2: w}\n", "iterate: {v: w, v2: u}\n", false},
      {"iterate: {v: u, v2: w}\n", "iterate: {v: u}\n", false},
      {"iterate: {v: u, u: w}\n", "iterate: {v: u, v2: w}\n", false},
  };
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct identity hashes[2];
    for (int k = 0; k < 2; k++) {
      struct text text = {0};
      struct stencil *stencil;
      struct analysis *analysis;
      text_printf(&text, "%s%s", lines, k == 0 ? rows[i].one : rows[i].other);
      CHECK_OK(stencil_parse(&(struct source){"test.yaml", text_string(&text), text.length}, &stencil));
      CHECK_OK(analysis_make(stencil, &analysis));
      hashes[k] = analysis->hash;
      analysis_free(analysis);
      stencil_free(stencil);
      text_free(&text);
    }
    CHECK_EQ(rows[i].same, identity_compare(hashes[0], hashes[1]) == 0, "row %zu", i);
  }
}

/* Written out, the weight after 28 lines has a million terms, and after 60 lines it fits into no memory. */
TEST(weights_that_share_factors_are_cut) {
  enum { LINES = 60 };
  struct stencil *stencil;
  struct analysis *analysis;
  struct text update = {0};
  double want = 1;
  text_printf(&update, "t0 = u[0]");
  for (int i = 1; i <= LINES; i++) {
    text_printf(&update, "\nt%d = a*t%d + t%d", i, i - 1, i - 1);
    want *= 1.5;
  }
  text_printf(&update, "\nv = t%d", LINES);
  CHECK_OK(stencil_of_update(1, text_string(&update), &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_EQ(1, analysis->weight_count, "weights");
  const char *text = analysis->weights[0].text;
  CHECK_NEAR(want, analysis->weights[0].value, want * 1e-12, "the value is all of it");
  CHECK(strlen(text) < 250 && strcmp(text + strlen(text) - 3, "...") == 0, "%s", text);
  analysis_free(analysis);
  stencil_free(stencil);
  text_free(&update);
}

/* The factor of each tap is a chain of products. It is not followed to its first operand for each tap. */
TEST(weights_that_are_long_chains_are_cut_at_once) {
  enum { LINES = 4000 };
  struct stencil *stencil;
  struct analysis *analysis;
  struct text update = {0};
  text_printf(&update, "t0 = u[0] + 2*u[1]");
  for (int i = 1; i <= LINES; i++) text_printf(&update, "\nt%d = a*t%d", i, i - 1);
  text_printf(&update, "\nv = t%d", LINES);
  CHECK_OK(stencil_of_update(1, text_string(&update), &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_EQ(2, analysis->weight_count, "weights");
  for (int i = 0; i < 2; i++) CHECK_TEXT("...", analysis->weights[i].text, "weight %d", i);
  analysis_free(analysis);
  stencil_free(stencil);
  text_free(&update);
}

TEST(intensity_is_flops_over_bytes) {
  struct stencil *stencil;
  struct analysis *analysis;
  CHECK_OK(stencil_of_kernels("star7", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_NEAR(1.625, analysis_intensity(analysis, DTYPE_F32), 0, "star7");
  CHECK_NEAR(3.25, analysis_read_intensity(analysis, DTYPE_F32), 0, "star7");
  CHECK_NEAR(0.8125, analysis_intensity(analysis, DTYPE_F64), 0, "star7");
  analysis_free(analysis);
  stencil_free(stencil);
}

TEST(lines_alone_have_no_read_intensity) {
  static const char text[] = "name: outer\ndims: 2\ninputs: [a, b]\noutputs: [v]\nalong: {a: x, b: y}\nboundary: skip\n"
                             "update: v = 2*a[0]*b[0] + 1\ndtypes: [f32]\ngrids: [[9, 8]]\n";
  struct stencil *stencil;
  struct analysis *analysis;
  CHECK_OK(stencil_parse(&(struct source){"outer.yaml", text, sizeof text - 1}, &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  CHECK_NEAR(0.75, analysis_intensity(analysis, DTYPE_F32), 0, "of what is written");
  CHECK(isnan(analysis_read_intensity(analysis, DTYPE_F32)), "nothing is read at each point");
  analysis_free(analysis);
  stencil_free(stencil);
}

TEST(skipped_points_are_left_out_of_the_computed_box) {
  struct stencil *stencil;
  struct analysis *analysis;
  long low[MAX_DIMS], high[MAX_DIMS];
  CHECK_OK(stencil_of_update(2, "v = u[-1,0] + u[0,3]", &stencil));
  CHECK_OK(analysis_make(stencil, &analysis));
  analysis_computed(analysis, stencil, &(struct grid){{10, 8, 1}}, low, high);
  static const long want_low[] = {1, 0, 0}, want_high[] = {10, 5, 1};
  for (int axis = 0; axis < MAX_DIMS; axis++) {
    CHECK_EQ(want_low[axis], low[axis], "axis %d", axis);
    CHECK_EQ(want_high[axis], high[axis], "axis %d", axis);
  }
  analysis_free(analysis);
  stencil_free(stencil);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shipped_stencils_have_their_figures),
      cmocka_unit_test(reach_and_shape_follow_from_the_taps),
      cmocka_unit_test(operations_are_counted),
      cmocka_unit_test(weights_are_found_where_the_stencil_is_linear),
      cmocka_unit_test(weights_belong_to_their_outputs),
      cmocka_unit_test(the_hash_sees_the_meaning_only),
      cmocka_unit_test(the_hash_sees_what_stands_beside_the_update),
      cmocka_unit_test(the_hash_sees_what_the_next_step_reads),
      cmocka_unit_test(weights_that_share_factors_are_cut),
      cmocka_unit_test(weights_that_are_long_chains_are_cut_at_once),
      cmocka_unit_test(intensity_is_flops_over_bytes),
      cmocka_unit_test(lines_alone_have_no_read_intensity),
      cmocka_unit_test(skipped_points_are_left_out_of_the_computed_box),
  };
  return cmocka_run_group_tests_name("analysis", tests, NULL, NULL);
}
