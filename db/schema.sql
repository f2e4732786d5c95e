-- The tuning database, version 10. Times are in milliseconds, sizes in bytes, clocks in MHz, dates in UTC as ISO 8601,
-- to the millisecond: 2026-11-21T12:38:50.123Z.
-- A row is written once and not changed, but for: run.state and what belongs to a run's end; best.is_current; measurements,
-- while their run lasts; run.problem_id and measurement.gpu of a run whose GPU was lost, which the run that goes on with it
-- adopts (store_adopt_lost).

-- Who says so. All rows of a database are trusted: what an import brings without trust is kept in a file of its own
-- (docs/security.md). Rows of measurement and finalist have the origin of their run.
create table origin (
  id       integer primary key,
  kind     text    not null check (kind in ('measured', 'shipped', 'imported', 'unknown')),
                                                -- measured: by this user on this machine; shipped: it comes with Halotune;
                                                -- unknown: by a Halotune of version 4 or older, which did not keep it
  name     text    not null,                    -- measured: user@host; shipped, imported: the file's name
  signer   text    not null default '',         -- who signed the document, by the name that the user gave to the key
  signer_key text  not null default '',         -- that Ed25519 public key, in hexadecimal digits; '' without a signature
  document text    not null default '',         -- identity of the document that rows were imported from
  date     text    not null,                    -- of its first row here, by this machine's clock
  unique (kind, name, signer, document)
) strict;

-- A GPU, or the host's emulation of one.
create table device (
  id               integer primary key,
  uuid             text    not null unique,     -- as nvidia-smi prints it; "emulation-sm_90" for the emulation
  name             text    not null,            -- "NVIDIA H200"
  capability       integer not null,            -- compute capability times ten: 90 for sm_90
  sm_count         integer not null,            -- streaming multiprocessors
  clock_khz        integer not null,            -- the highest clock of an SM
  memory_clock_khz integer not null,
  bus_bits         integer not null,            -- width of the memory bus
  l2_bytes         integer not null,
  memory_bytes     integer not null,
  max_threads      integer not null,            -- of a block
  max_threads_sm   integer not null,            -- of a multiprocessor
  max_registers    integer not null,            -- of a thread
  registers_sm     integer not null,            -- of a multiprocessor
  max_shared_bytes integer not null,            -- of a block
  warp_size        integer not null,            -- threads
  is_emulation     integer not null check (is_emulation in (0, 1)), -- 1: its times rank nothing
  origin_id        integer not null references origin (id)
) strict;

-- A stencil, by what it means. The values of its coefficients are no part of that: they belong to a text.
create table stencil (
  id        integer primary key,
  hash      text    not null,                   -- identity of its meaning: 64 hexadecimal digits (base/identity/identity.h)
  name      text    not null,
  origin_id integer not null references origin (id),
  unique (hash, name)                           -- two names may mean the same
) strict;
create index stencil_by_name on stencil (name);

-- A stencil's file, with the values of coefficients. Runs and bests name the text that they were tuned with. What lookups by
-- name use is the text of the newest best.
create table stencil_text (
  id         integer primary key,
  stencil_id integer not null references stencil (id),
  hash       text    not null,                  -- identity of the text
  text       text    not null,                  -- the YAML file
  origin_id  integer not null references origin (id),
  unique (stencil_id, hash)
) strict;

-- A kernel template.
create table template (
  id   integer primary key,
  hash text not null unique,                    -- identity of what both files mean (stencil/template/template.h)
  common_hash text not null,                    -- what it takes from common.yml and common.cuh; part of hash
  name text not null,
  yaml text not null,
  cuda text not null,
  origin_id integer not null references origin (id)
) strict;

-- What is tuned: a stencil on a grid, in a mode, on a device, with launches of so many time steps.
create table problem (
  id         integer primary key,
  device_id  integer not null references device (id),
  stencil_id integer not null references stencil (id),
  dtype      text    not null check (dtype in ('f32', 'f64')),
  nx         integer not null,                  -- points; 1 along axes that the stencil does not have
  ny         integer not null,
  nz         integer not null,
  launch     text    not null check (launch in ('stream', 'graph')),
  cache      text    not null check (cache in ('steady', 'cold')),
  is_reproducible integer not null default 0 check (is_reproducible in (0, 1)),  -- 1: among variants that give the same bits
  origin_id  integer not null references origin (id),
  steps      integer not null default 1 check (steps >= 1),  -- time steps that a launch makes
  unique (stencil_id, device_id, dtype, nx, ny, nz, launch, cache, is_reproducible, steps)
) strict;

-- One source: a template and a configuration for a stencil. Its grid matters only where the source has literal extents.
create table variant (
  id          integer primary key,
  source_hash text    not null,                 -- identity of the generated source. 32 digits in rows of version 4 and
                                                -- older whose source was not kept: no identity, only a name
  stencil_id  integer not null references stencil (id),
  template_id integer not null references template (id),
  parameters  text    not null,                 -- JSON, in the template's order: {"block_x":32,"storage":"planes"}
  origin_id   integer not null references origin (id),
  unique (source_hash, template_id, stencil_id, parameters)
) strict;

-- One run of `halotune tune` for one problem.
create table run (
  id           integer primary key,
  problem_id   integer not null references problem (id),
  text_id      integer not null references stencil_text (id),
  state        text    not null check (state in ('running', 'complete', 'partial')),
                                                -- running: it is, or it was killed; partial: ended early, and says why
  reason       text    not null default '',     -- why it ended early
  started      text    not null,
  ended        text,
  command      text    not null,                -- the command line
  host         text    not null,
  version      text    not null,                -- of Halotune
  driver       text    not null,                -- "580.159.04"; "" for the emulation
  cuda         integer not null,                -- the driver's CUDA: 13000 is 13.0; 0 for the emulation
  nvrtc        text    not null,                -- "13.0"; the C++ compiler for the emulation
  seed         integer not null,
  strategy     text    not null,
  budget_s     real    not null,
  space        integer not null,                -- variants that the rules keep, over all templates
  bytes        integer not null,                -- compulsory traffic of one application: each input read, each output written once
  empty_ms     real,                            -- one launch of an empty kernel in this mode
  copy_ms      real,                            -- moving the same bytes with the tuned copy, beside the finalists
  memcpy_ms    real,                            -- the same with cuMemcpyDtoDAsync
  warnings     text    not null default '',     -- a line each: slowdowns; other processes on the GPU
  outcomes     text,                            -- variants that the run tried, counted by outcome when it ended, as JSON:
                                                -- {"compile_failed":3,"measured":310}. An export may keep the run without
                                                -- its measurements. NULL: the run did not end, or is of version 3 or older
  origin_id    integer not null references origin (id),
  objective    text    check (objective in ('energy', 'edp')),
                                                -- what its finals rank by; edp: energy times time; NULL: time
  power_limit_w real,                           -- at which the GPU lowers its clocks; NULL: not known
  idle_w       real                             -- power of the GPU in its finals while nothing ran; NULL: not measured
) strict;
-- All of its key, so that a merge finds each of many runs of one problem at once.
create index run_by_problem on run (problem_id, started, seed, host, command);

-- What came of one variant in the search phase of a run.
create table measurement (
  id              integer primary key,
  run_id          integer not null references run (id),
  variant_id      integer not null references variant (id),
  number          integer not null,             -- order within the run, from 1
  at_s            real    not null,             -- since the run's start
  outcome         text    not null,             -- db/store/outcome.h
  reason          text    not null default '',  -- why it failed or was pruned
  sample_count    integer not null default 0,
  median_ms       real,                         -- of one application; with minimum and interval NULL unless it has a time
  minimum_ms      real,
  low_ms          real,                         -- 95 % interval of the median
  high_ms         real,
  samples         blob,                         -- all of them: 32-bit floats, little-endian, in order
  rms_error       real,                         -- against the reference in double precision
  max_error       real,
  max_error_units real,                         -- in units of the expected rounding
  registers       integer,                      -- of a thread
  shared_bytes    integer,                      -- of a block, static and dynamic
  spill_bytes     integer,                      -- of a thread, stores and loads
  occupancy       real,                         -- 0 to 1
  blocks_per_sm   integer,
  threads         integer,                      -- of a block
  blocks          integer,                      -- of a launch
  compile_ms      real,
  sm_mhz_before   integer,                      -- clocks and so on: NULL where they could not be read
  sm_mhz_after    integer,
  memory_mhz      integer,
  temperature_c   integer,
  power_w         real,
  throttle        integer,                      -- NVML's bits of reasons for lower clocks
  attempts        integer not null default 1,   -- repeated for throttling or drifting anchors
  is_marked       integer not null default 0 check (is_marked in (0, 1)),  -- 1: it still throttled or drifted at the last attempt
  gpu             text,                         -- UUID of another GPU of the model that measured it, NULL for the problem's; times of a team are divided by its factor
  why             text,                         -- why the search proposed it, as `tune --why` says; NULL: not known
  unique (run_id, variant_id)
) strict;
create index measurement_by_variant on measurement (variant_id);
-- What is wrong (db/store/refuted.h): few rows, of which every lookup has to know.
create index measurement_wrong on measurement (variant_id) where outcome in ('wrong', 'out_of_bounds');

-- A variant in the interleaved rounds at the end of a run. These times alone decide.
create table finalist (
  run_id       integer not null references run (id),
  variant_id   integer not null references variant (id),
  rank         integer not null,                -- 1 is the winner
  sample_count integer not null,                -- rounds
  median_ms    real    not null,
  minimum_ms   real    not null,
  low_ms       real    not null,
  high_ms      real    not null,
  ratio        real    not null,                -- to the winner in the same round: median
  ratio_low    real    not null,                -- and its 95 % interval
  ratio_high   real    not null,
  samples      blob    not null,                -- as in measurement
  is_default   integer not null check (is_default in (0, 1)),
  is_tie       integer not null check (is_tie in (0, 1)),  -- not told apart from the fastest
  energy_mj    real,                            -- of one application, by the GPU's counter: median of the rounds of energy,
                                                -- with what the GPU draws while nothing runs; NULL: not measured
  energy_low_mj real,                           -- the interval of that median: its whole range for fewer than 6 rounds
  energy_high_mj real,
  primary key (run_id, variant_id)
) strict;

-- The best that is known for a problem, complete: what lookup serves needs nothing else than this row, its variant, stencil and
-- template. Older ones stay as history.
create table best (
  id              integer primary key,
  problem_id      integer not null references problem (id),
  variant_id      integer not null references variant (id),
  text_id         integer not null references stencil_text (id), -- whose values of coefficients it was tuned with
  run_id          integer references run (id),  -- NULL for one that came from elsewhere without its run
  is_current      integer not null check (is_current in (0, 1)),
  date            text    not null,             -- when it was measured
  time_ms         real    not null,             -- of one application: median of the final rounds
  low_ms          real    not null,             -- 95 % interval
  high_ms         real    not null,
  sample_count    integer not null,
  default_ms      real,                         -- the default variant's, in the same rounds
  roof_ms         real,                         -- the faster of tuned copy and cuMemcpyDtoDAsync of the same bytes, same rounds
  roof_ratio      real,                         -- share of the roof: median of roof / time within a round
  roof_ratio_low  real,                         -- and its 95 % interval
  roof_ratio_high real,
  empty_ms        real,
  bytes           integer not null,             -- compulsory traffic of one application
  rms_error       real    not null,             -- these three: -1 in a replay of a recording without them
  max_error       real    not null,
  max_error_units real    not null,
  second_grid     text    not null default '',  -- the awkward grid on which it was verified as well: "509x251x499"
  registers       integer not null,             -- -1: not known, as above
  shared_bytes    integer not null,             -- static and dynamic; -1 likewise
  occupancy       real    not null,             -- 0: not known, in a replay of a recording without it
  launch          text    not null,             -- JSON: db/store/launch_text.h
  coefficients    text    not null,             -- JSON array: the values that literal and constant ones are built with
  steps           integer not null default 1,   -- time steps of one application, as of the problem
  driver          text    not null,
  nvrtc           text    not null,
  arch            text    not null,             -- of the cubin: "sm_90"
  source          text    not null,
  cubin           blob    not null,             -- empty where an export left it out: compile the source
  origin_id       integer not null references origin (id),
  objective       text    check (objective in ('energy', 'edp')),  -- what it was ranked by; NULL: time
  energy_mj       real                          -- of one application; NULL: not measured
) strict;
create unique index best_current on best (problem_id) where is_current;
create index best_by_problem on best (problem_id, variant_id, date); -- its key, as of run
create index best_by_text on best (text_id, date);
-- What lookup reads of every row when it opens, without source and cubin between them. The flag is
-- a column too: else SQLite does not see that the index has all of it.
create index best_served on best (problem_id, variant_id, time_ms, low_ms, high_ms, bytes, date, driver, nvrtc,
  roof_ratio, is_current, text_id, occupancy) where is_current;

-- Coefficients with which times on other grids are predicted (library/predict/predict.h), and weights of static costs
-- (library/predict/static_cost.h), whose names begin with static_, as `halotune db fit` found them.
create table prediction (
  id          integer primary key,
  device_id   integer not null references device (id), -- holds for all devices of its model
  coefficient text    not null,                 -- its name
  value       real    not null,
  origin_id   integer not null references origin (id),
  unique (device_id, coefficient)
) strict;
