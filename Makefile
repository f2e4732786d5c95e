# Halotune's build, for GNU Make. `make help` prints the targets and these variables:
#
#   V=1             show the commands
#   CC=clang        another compiler
#   DEBUG=1         compile with -O0 -g3 for a debugger, with objects in their own folder
#   SANITIZE=1      compile with AddressSanitizer and UndefinedBehaviorSanitizer; SANITIZE=thread with ThreadSanitizer
#   STATIC=1        link all libraries but glibc into the program, for machines that lack them
#   PREFIX=/usr     where `make install` puts the program; DESTDIR= goes in front of it, LIBDIR= is for libraries (PREFIX/lib)
#   CUDA_HOME=      the CUDA Toolkit, if it is neither in /usr/local/cuda nor on PATH
#   MPICC_OPENMPI=, MPICC_MPICH=  mpicc of Open MPI and of MPICH, if PATH does not tell
#   STEP=cli        with `make check`: run this step alone; CASE=NAME runs one of its cases
#   ROOMS="db gpu"  with `make unit`: only the unit tests of these folders

MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all
Q := $(if $(V),,@)

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DATA_DIR := $(PREFIX)/share/halotune
VERSION := $(shell sed -n 's/^.define HALOTUNE_VERSION "\(.*\)"/\1/p' include/halotune.h)

comma := ,

# --- tools and flags ---------------------------------------------------------------------------------------------------

ifeq ($(origin CC),default)
  CC := gcc
endif

# If the user names no folder, take the first one that has the headers. nvcc on PATH may be a link into the Toolkit.
USUAL_CUDA_HOME := /usr/local/cuda
ifeq ($(CUDA_HOME),)
  NVCC_HOME := $(patsubst %/bin/nvcc,%,$(shell readlink -f "$$(command -v nvcc)"))
  override CUDA_HOME := $(patsubst %/include/cuda.h,%,$(firstword \
    $(wildcard $(USUAL_CUDA_HOME)/include/cuda.h $(NVCC_HOME:%=%/include/cuda.h))))
endif
CUDA_HEADER := $(wildcard $(CUDA_HOME)/include/cuda.h)

CFLAGS ?= $(if $(DEBUG),-O0 -g3,-O3 -g)
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wvla $(if $(WERROR),-Werror)
HALOTUNE_CPPFLAGS := -D_GNU_SOURCE -I. -isystem $(CUDA_HOME)/include
# -fPIC with hidden symbols: the program, the library and the driver of tests share one object for each source.
HALOTUNE_CFLAGS := -std=gnu11 -pthread -ffp-contract=off -fPIC -fvisibility=hidden $(WARNINGS)
HALOTUNE_LDFLAGS := -pthread
ifdef SANITIZE
  SANITIZERS := $(if $(filter thread,$(SANITIZE)),thread,address,undefined)
  HALOTUNE_CFLAGS += -fsanitize=$(SANITIZERS) -fno-sanitize-recover=all -fno-omit-frame-pointer
  # clang's objects count how often each branch is taken, so that libFuzzer can use them. With COMPARISONS=1 they also
  # report the operands of comparisons. Then fuzzing finds more, but the tests take twice as long.
  ifneq ($(findstring clang,$(CC)),)
    HALOTUNE_CFLAGS += -fsanitize-coverage=inline-8bit-counters,pc-table$(if $(COMPARISONS),$(comma)trace-cmp)
  endif
  HALOTUNE_LDFLAGS += -fsanitize=$(SANITIZERS)
  # Tests ask for more memory than there is, to see what happens then.
  SANITIZER_OPTIONS := ASAN_OPTIONS=allocator_may_return_null=1 TSAN_OPTIONS=die_after_fork=0
endif
# The shared library links shared libraries in every case, because the code in Debian's static ones has fixed addresses.
SHARED_LIBRARIES := -lyaml -ljansson -lxxhash -lsodium -lsqlite3 -lm -ldl
ifdef STATIC
  LIBRARIES := -l:libyaml.a -l:libjansson.a -l:libxxhash.a -l:libsodium.a -l:libsqlite3.a -lm -ldl
  STATIC_GCC := -static-libgcc
else
  LIBRARIES := $(SHARED_LIBRARIES)
endif

COMPILE = $(CC) $(HALOTUNE_CPPFLAGS) $(CPPFLAGS) $(HALOTUNE_CFLAGS) $(CFLAGS)
LINK = $(CC) $(HALOTUNE_CFLAGS) $(CFLAGS) $(HALOTUNE_LDFLAGS) $(LDFLAGS) $(STATIC_GCC)

# --- files -------------------------------------------------------------------------------------------------------------

# Objects of different flags live in different folders, so that no change of flags needs `make clean`. -Werror changes no
# object. STATIC=1 only links in another way, so its results are in a folder beside the objects.
FLAGS_ID := $(shell printf '%s' '$(filter-out -Werror $(STATIC_GCC),$(COMPILE) $(LINK))' | cksum | cut -d' ' -f1)
OBJ := build/obj/$(notdir $(firstword $(CC)))$(if $(DEBUG),-debug)$(if $(SANITIZE),-sanitize)-$(FLAGS_ID)
OUT := $(OBJ)$(if $(STATIC),/static)

# The C files in these folders and their subfolders.
files_below = $(foreach folder,$(1),$(wildcard $(folder)/*.c $(folder)/*/*.c $(folder)/*/*/*.c))
# The program holds the files of tuner/emulate/runtime as text. The emulation compiles them when it first runs a kernel.
# tuner/fleet/mpi/plugin.c is the plug-in for MPI.
SOURCES := $(filter-out tuner/emulate/runtime/% tuner/fleet/mpi/plugin.c,$(call files_below,base stencil gpu db library reports tuner))
OBJECTS := $(SOURCES:%.c=$(OBJ)/%.o)
MAIN_OBJECT := $(OBJ)/tuner/cli/main.o

# libhalotune, which programs link. Shared and static, it has the symbols of the public header and no others. It has no
# workers (gpu/workers), because halotune_tune starts the program, which has them.
LIBRARY_SOURCES := $(call files_below,base stencil gpu/architecture gpu/compile gpu/driver db library)
LIBRARY_OBJECTS := $(LIBRARY_SOURCES:%.c=$(OBJ)/%.o)
# A program with the static library in it may lie anywhere, so it cannot find the data folder by its own place. The
# library in build/lib therefore holds the path of this checkout. A moved checkout has another path, and so another folder
# for these objects.
HERE := $(OBJ)/here-$(shell printf '%s' '$(CURDIR)' | cksum | cut -d' ' -f1)
HERE_OBJECTS := $(LIBRARY_OBJECTS:$(OBJ)/base/files/data_folders.o=$(HERE)/base/files/data_folders.o)
# Versions with one ABI have one soname: before 1.0 those with the same first two numbers, later those with the same first.
NUMBERS := $(subst ., ,$(VERSION))
ABI := $(firstword $(NUMBERS))$(if $(filter 0,$(firstword $(NUMBERS))),.$(word 2,$(NUMBERS)))
SONAME := libhalotune.so.$(ABI)
SHARED := $(OUT)/libhalotune.so.$(VERSION)
ROOMS ?= *
UNIT_TESTS := $(patsubst tests/unit/%.c,$(OUT)/tests/unit/%,$(wildcard $(ROOMS:%=tests/unit/%/*_test.c)))
# CASE names one test program: CASE=parse or CASE=parse_test.
# The sample of asan leaves these tests to `unit`: most of their time goes to g++ and to emulated kernels, or they repeat much with
# code that other tests run with sanitizers, too. They would be three fifths of the time of asan. The solvers take 15 times as long there.
UNSAMPLED_TESTS := emulate/emulation_build emulate/emulation_fault emulate/emulation_sm_90 emulate/stage_chain device/gpu_session device/gpu_parts \
  measure/backend_cuda count/access_rule search/search_strategy search/awkward_grids db/store_merge db/store_file db/refresh db/current_best \
  device/gpu_fields library/static_fit library/lookup_run library/lookup_box library/lookup_build library/fit library/alike template/assemble \
  template/inline_names $(patsubst tests/unit/%_test.c,%,$(wildcard tests/unit/solvers/*_test.c))
LEFT_TESTS = $(UNSAMPLED_TESTS:%=$(OUT)/tests/unit/%_test)
# LEFT=1 runs only these: in a whole check each unit test runs once.
TESTS_TO_RUN = $(if $(CASE),$(filter %/$(CASE:%_test=%)_test,$(UNIT_TESTS)),$(if $(LEFT),$(LEFT_TESTS),$(filter-out $(if $(IS_SAMPLE),$(LEFT_TESTS)),$(UNIT_TESTS))))

# The plug-in for MPI is built for each MPI whose compiler is found. Debian's names for them say which MPI they belong to.
# A plain mpicc is asked for the command that it runs.
MPICC_OPENMPI ?= $(shell command -v mpicc.openmpi || { mpicc -show | grep -v mpich; } >/dev/null 2>&1 && command -v mpicc)
MPICC_MPICH ?= $(shell command -v mpicc.mpich || { mpicc -show | grep mpich; } >/dev/null 2>&1 && command -v mpicc)
MPICC_openmpi := $(firstword $(MPICC_OPENMPI))
MPICC_mpich := $(firstword $(MPICC_MPICH))
MPI_KINDS := $(if $(MPICC_openmpi),openmpi) $(if $(MPICC_mpich),mpich)
MPI_PLUGINS := $(MPI_KINDS:%=$(OUT)/mpi/%/libhalotune-mpi.so)

# Exports of tuned machines. The database that ships is made of them; without any it is empty.
STARTER := $(sort $(wildcard db/starter/*.json))

# --- build -------------------------------------------------------------------------------------------------------------

# Put a file in another's place if they differ. Programs that use the old file keep it.
replace = { cmp -s $(1) $(2) || { cp -fp $(1) $(2).new && mv -f $(2).new $(2); }; }

.PHONY: all starter
all: $(OUT)/halotune build/starter.db $(MPI_PLUGINS)  ## build the program, build/halotune, the starter database, and the plug-ins for MPI
	$(Q)$(call replace,$<,build/halotune)
	$(Q)for kind in $(MPI_KINDS); do \
	  mkdir -p build/mpi/$$kind && $(call replace,$(OUT)/mpi/$$kind/libhalotune-mpi.so,build/mpi/$$kind/libhalotune-mpi.so) || exit 1; \
	done

starter: build/starter.db  ## the database that ships, from db/starter/*.json

# The public key that belongs to the signatures of db/starter/*.json. Without this file no signature is asked for.
RELEASE_KEY := $(wildcard db/starter/release.pub)

# The output of the import is shown only if it fails. If there is a release key, a document without its signature is
# refused. UNSIGNED=1 accepts such documents, for those that are new since the release.
build/starter.db: $(STARTER) $(RELEASE_KEY) db/schema.sql | $(OUT)/halotune
	@mkdir -p $(@D) && rm -f $@.new*
	$(if $(STARTER),,@echo '{"format": "halotune database", "version": 1, "tables": {}}' >$@.new.json)
	$(Q)$(OUT)/halotune db import $(RELEASE_KEY:%=--signed-by %) $(if $(and $(RELEASE_KEY),$(if $(UNSIGNED),,yes)),,--trust) --yes --shipped \
	  --db $@.new $(or $(STARTER),$@.new.json) >$@.log 2>&1 || { cat $@.log >&2; exit 1; }
	$(Q)mv -f $@.new $@ && rm -f $@.log $@.new.json

.PHONY: release-starter
release-starter: $(OUT)/halotune  ## sign db/starter/*.json with the private key KEY=FILE, and write its public key beside them
	$(Q)HALOTUNE=$(OUT)/halotune KEY='$(KEY)' sh db/starter/sign.sh $(STARTER)

.PHONY: library
library: $(SHARED) $(HERE)/libhalotune.a $(OUT)/halotune.pc $(OBJ)/libhalotune.a  ## build libhalotune, shared and static, in build/lib
	$(Q)mkdir -p build/lib build/install
	$(Q)for file in $(filter-out $(OBJ)/libhalotune.a,$^); do $(call replace,$$file,build/lib/$${file##*/}) || exit 1; done
	$(Q)$(call replace,$(OBJ)/libhalotune.a,build/install/libhalotune.a)
	$(Q)cd build/lib && for link in $(SONAME):$(notdir $(SHARED)) libhalotune.so:$(SONAME); do \
	  [ "$$(readlink $${link%:*})" = $${link#*:} ] || ln -sf $${link#*:} $${link%:*} || exit 1; \
	done

# Only base/files/data_folders.c knows the PREFIX. A new PREFIX changes the file data_dir, on which only data_folders.o depends.
PREFIX_OBJECTS := $(OBJ)/base/files/data_folders.o $(HERE)/base/files/data_folders.o
$(PREFIX_OBJECTS): $(OBJ)/data_dir
$(PREFIX_OBJECTS): private HALOTUNE_CPPFLAGS += -DHALOTUNE_DATA_DIR='"$(DATA_DIR)"'
$(OBJ)/data_dir: private FOLDER = $(DATA_DIR)
$(OBJ)/library_dir: private FOLDER = $(LIBDIR)
$(OBJ)/data_dir $(OBJ)/library_dir: always
	@mkdir -p $(@D)
	@echo '$(FOLDER)' | cmp -s - $@ || echo '$(FOLDER)' >$@

.PHONY: always
always:

$(OBJ)/%.o: %.c | cuda-headers
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $<")
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# tests/abi.txt lists the public symbols. tests/abi/ has what programs of each released version were compiled with.
$(OUT)/halotune.map: tests/abi.txt
	@mkdir -p $(@D)
	$(Q)awk 'BEGIN {print "HALOTUNE_$(ABI) {\n  global:"} {print "    " $$1 ";"} END {print "  local: *;\n};"}' $< >$@

$(SHARED): $(LIBRARY_OBJECTS) $(OUT)/halotune.map
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,--version-script,$(OUT)/halotune.map -Wl,--no-undefined-version,-z,defs,-z,relro,-z,now \
	  -o $@ $(LIBRARY_OBJECTS) $(SHARED_LIBRARIES)

$(HERE)/base/files/data_folders.o: base/files/data_folders.c | cuda-headers
	@mkdir -p $(@D)
	$(if $(V),,@echo "  CC    $< (build/lib)")
	$(Q)$(COMPILE) -DHALOTUNE_ROOT='"$(CURDIR)"' -MMD -MP -c -o $@ $<

# The static library is one object. Its other symbols are local, so that they cannot clash with symbols of a program.
$(OBJ)/libhalotune.a: $(LIBRARY_OBJECTS)
$(HERE)/libhalotune.a: $(HERE_OBJECTS)
$(OBJ)/libhalotune.a $(HERE)/libhalotune.a: tests/abi.txt
	$(Q)ld -r -o $(@:.a=.o) $(filter %.o,$^)
	$(Q)objcopy --keep-global-symbols=tests/abi.txt $(@:.a=.o)
	$(Q)rm -f $@ && ar rcs $@ $(@:.a=.o)

$(OUT)/halotune.pc: packaging/halotune.pc.in Makefile include/halotune.h $(OBJ)/data_dir $(OBJ)/library_dir
	@mkdir -p $(@D)
	$(Q)sed 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(LIBDIR:$(PREFIX)/%=$${prefix}/%)|; s|@VERSION@|$(VERSION)|; s|@LIBRARIES@|$(LIBRARIES) -pthread|' $< >$@

$(OBJ)/libhalotune-all.a: $(filter-out $(MAIN_OBJECT),$(OBJECTS))
	$(Q)rm -f $@ && ar rcs $@ $^

$(OUT)/halotune: $(MAIN_OBJECT) $(OBJ)/libhalotune-all.a
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(LINK) -o $@ $^ $(LIBRARIES)

# Tests run once, so that compiling them takes longer than what faster code saves. With sanitizers this is true of most
# files of the program, too: clang takes a third of the time with -O0.
UNOPTIMIZED := $(if $(DEBUG),,tests/unit/ $(if $(SANITIZE),reports/ tuner/))
$(UNOPTIMIZED:%=$(OBJ)/%%.o): private override CFLAGS += -O0
$(OBJ)/tuner/verify/%.o $(OBJ)/tuner/search/strategy/%.o: private override CFLAGS += $(if $(SANITIZE),$(if $(DEBUG),,-O1))

# The compilers of both MPIs run the compiler that these variables name.
$(OUT)/mpi/%/libhalotune-mpi.so: tuner/fleet/mpi/plugin.c tuner/fleet/mpi/plugin.h include/halotune.h
	@mkdir -p $(@D)
	$(if $(V),,@echo "  MPI   $@")
	$(Q)OMPI_CC='$(CC)' MPICH_CC='$(CC)' $(MPICC_$*) -D_GNU_SOURCE -I. $(CPPFLAGS) $(HALOTUNE_CFLAGS) $(CFLAGS) $(HALOTUNE_LDFLAGS) $(LDFLAGS) -shared -Wl,-z,relro,-z,now -o $@ $<

# LLVM's linker and gold link a test in less than half the time of the usual linker.
FAST_LINKER := $(if $(shell command -v ld.lld),-fuse-ld=lld,$(if $(shell command -v ld.gold),-fuse-ld=gold))
$(OUT)/tests/unit/%: $(OBJ)/tests/unit/%.o $(OBJ)/libhalotune-all.a
	@mkdir -p $(@D)
	$(Q)$(LINK) $(FAST_LINKER) -o $@ $^ -lcmocka $(LIBRARIES)

define newline


endef
# The driver of tests. It is linked with its own copy of each file of the program that it uses.
FAKE_CUDA_SOURCES := $(wildcard tests/fake_cuda/*.c base/*.c base/*/*.c tuner/emulate/*.c) gpu/architecture/arch.c gpu/architecture/occupancy.c \
  $(addprefix stencil/cuda/,cuda_tokens.c includes.c) $(addprefix gpu/compile/,cache_folder.c cache_folder_clean.c cache_folder_trim.c compile.c compile_pack.c cubin_cache.c nvrtc.c ptxas_report.c)
FAKE_CUDA_OBJECTS := $(FAKE_CUDA_SOURCES:%.c=$(OBJ)/%.o)

$(OUT)/libfakecuda.so: $(FAKE_CUDA_OBJECTS) tests/fake_cuda/exports.map
	@mkdir -p $(@D)
	$(if $(V),,@echo "  LINK  $@")
	$(Q)$(LINK) -shared -Wl,--version-script=tests/fake_cuda/exports.map $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs) -o $@ $(FAKE_CUDA_OBJECTS) $(LIBRARIES)

$(addprefix $(OUT)/tests/unit/,gpu/fake_cuda_test measure/backend_cuda_test gpu/nvml_test device/gpu_session_test device/gpu_fields_test device/gpu_parts_test library/lookup_kernel_test library/lookup_run_test library/lookup_box_test): | $(OUT)/libfakecuda.so

.PHONY: fake-cuda
fake-cuda: $(OUT)/libfakecuda.so  ## a driver for tests without a GPU, build/libfakecuda.so
	$(Q)$(call replace,$<,build/libfakecuda.so)

# Files that the assembler puts into the program (.incbin). The compiler's dependency files do not name them.
$(OBJ)/tuner/emulate/emulation_files.o: $(wildcard tuner/emulate/runtime/*) stencil/template/banks.h
$(OBJ)/stencil/generate/wrappers.o: templates/wrappers.cuh templates/wrappers_sm_90.cuh
$(OBJ)/stencil/template/template_common.o: templates/common.yml templates/common.cuh
$(OBJ)/db/store/schema.o: db/schema.sql db/schema_4.sql
$(OBJ)/reports/page/page.o: build/report/page.html

$(OBJ)/library/kernel/kernel_pack.o: library/kernel/copy_box.cu
$(OBJ)/tuner/device/gpu_check.o: tuner/device/check.cu tuner/device/fields.cu tuner/device/parts.cu
$(OBJ)/tuner/cli/selftest/selftest_wrappers.o: tuner/device/wrappers_check.cu
$(OBJ)/tuner/cli/new.o: $(wildcard templates/new/*)

# The report's page is put into the program, too. Without npm an empty page takes its place, and every build tries again.
# The file changes only if its content changes.
build/report/page.html: $(filter-out %.c %.h,$(wildcard reports/page/*)) package.json package-lock.json $(if $(shell test -s build/report/page.html || echo x),no-page)
	$(if $(V),,@echo "  PAGE  $@")
	$(Q)sh reports/page/build.sh $@

.PHONY: no-page
no-page:

-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)

.PHONY: cuda-headers
cuda-headers:
ifeq ($(CUDA_HEADER),)
	@echo >&2 "halotune: no cuda.h found: install NVIDIA's CUDA Toolkit, version 12 or 13, or point CUDA_HOME at it"; exit 1
endif

# The names of the commands, and the files that the program and sed write into an installation.
SPACE := $(subst ,, )
COMMANDS = $(shell sed -n 's/^extern const struct command command_\(.*\);/\1/p' tuner/cli/options/command.h)
# Pages of the manual that awk makes from the header and from docs/.
MANUAL_PAGES = share/man/man3/halotune.h.3 share/man/man5/halotune-stencil.5 share/man/man5/halotune-template.5
WRITTEN_FILES = $(MANUAL_PAGES) share/man/man1/halotune.1 $(patsubst %,share/man/man1/halotune-%.1,$(COMMANDS)) share/bash-completion/completions/halotune \
  share/zsh/site-functions/_halotune share/fish/vendor_completions.d/halotune.fish
CMAKE_FILES = $(addprefix $(LIBDIR)/cmake/halotune/halotuneConfig,.cmake Version.cmake)

# The relative path from the libraries to PREFIX: "..", or "../.." from lib/x86_64-linux-gnu. CMake finds the header by it.
TO_PREFIX = $(shell realpath -ms --relative-to='$(LIBDIR)' '$(PREFIX)')

.PHONY: install uninstall clean
install: all library  ## install program, library, header and data under PREFIX (and DESTDIR)
	install -D build/halotune $(DESTDIR)$(PREFIX)/bin/halotune
	install -D -m 644 build/lib/$(notdir $(SHARED)) $(DESTDIR)$(LIBDIR)/$(notdir $(SHARED))
	ln -sf $(notdir $(SHARED)) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libhalotune.so
	install -m 644 build/install/libhalotune.a $(DESTDIR)$(LIBDIR)/libhalotune.a
	install -D -m 644 build/lib/halotune.pc $(DESTDIR)$(LIBDIR)/pkgconfig/halotune.pc
	install -D -m 644 include/halotune.h $(DESTDIR)$(PREFIX)/include/halotune.h
	install -m 644 include/halotune.hpp $(DESTDIR)$(PREFIX)/include/halotune.hpp
	install -D -m 644 fortran/halotune.f90 $(DESTDIR)$(DATA_DIR)/fortran/halotune.f90
	install -d $(DESTDIR)$(DATA_DIR)/kernels/asymmetric $(DESTDIR)$(DATA_DIR)/templates
	install -m 644 kernels/*.yaml $(DESTDIR)$(DATA_DIR)/kernels
	install -m 644 kernels/asymmetric/*.yaml $(DESTDIR)$(DATA_DIR)/kernels/asymmetric
	install -m 644 templates/*.yaml templates/*.cu templates/*.cuh $(DESTDIR)$(DATA_DIR)/templates
	install -m 644 build/starter.db $(DESTDIR)$(DATA_DIR)/starter.db
	for kind in $(MPI_KINDS); do install -D -m 644 build/mpi/$$kind/libhalotune-mpi.so $(DESTDIR)$(LIBDIR)/halotune/$$kind/libhalotune-mpi.so || exit 1; done
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,$(dir $(WRITTEN_FILES))) $(addprefix $(DESTDIR),$(dir $(CMAKE_FILES)))
	awk -f packaging/manual/mdoc.awk -f packaging/manual/header.awk include/halotune.h >$(DESTDIR)$(PREFIX)/share/man/man3/halotune.h.3
	awk -f packaging/manual/mdoc.awk -f packaging/manual/markdown.awk -v name=halotune-stencil -v other=halotune-template \
	  -v what='files that describe stencils' docs/stencil-format.md >$(DESTDIR)$(PREFIX)/share/man/man5/halotune-stencil.5
	awk -f packaging/manual/mdoc.awk -f packaging/manual/markdown.awk -v name=halotune-template -v other=halotune-stencil \
	  -v what='files that kernels are made from' docs/templates.md >$(DESTDIR)$(PREFIX)/share/man/man5/halotune-template.5
	build/halotune manual >$(DESTDIR)$(PREFIX)/share/man/man1/halotune.1
	for name in $(COMMANDS); do build/halotune manual $$name >$(DESTDIR)$(PREFIX)/share/man/man1/halotune-$$name.1 || exit 1; done
	build/halotune completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/halotune
	build/halotune completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_halotune
	build/halotune completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/halotune.fish
	sed 's|@PRIVATE_LIBRARIES@|$(subst $(SPACE),;,$(strip $(LIBRARIES) -pthread -lm))|; s|@SONAME@|$(SONAME)|; s|@TO_PREFIX@|$(TO_PREFIX)|' packaging/halotuneConfig.cmake.in \
	  >$(DESTDIR)$(LIBDIR)/cmake/halotune/halotuneConfig.cmake
	sed 's|@VERSION@|$(VERSION)|' packaging/halotuneConfigVersion.cmake.in >$(DESTDIR)$(LIBDIR)/cmake/halotune/halotuneConfigVersion.cmake
	@# the dynamic linker finds the library at once; another PREFIX may lie beyond its folders
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

WHEEL_DIR ?= build/wheel
PYTHON ?= /usr/bin/python3
.PHONY: wheel
wheel: library  ## a Python wheel with the C library in it, in WHEEL_DIR (build/wheel); needs python3-pip, -setuptools and -wheel
	$(Q)rm -rf build/python && mkdir -p build/python $(WHEEL_DIR) && cp -r python/. build/python && cp build/lib/$(notdir $(SHARED)) build/python/halotune/$(SONAME)
	$(Q)$(PYTHON) -m pip wheel --quiet --no-index --no-deps --no-build-isolation --config-settings=--build-option=--plat-name=linux_$(shell uname -m) --wheel-dir $(WHEEL_DIR) build/python

uninstall:  ## remove what install put there, and nothing else
	rm -f $(DESTDIR)$(PREFIX)/bin/halotune $(DESTDIR)$(PREFIX)/include/halotune.h $(DESTDIR)$(PREFIX)/include/halotune.hpp $(DESTDIR)$(DATA_DIR)/starter.db
	rm -f $(addprefix $(DESTDIR)$(LIBDIR)/,$(notdir $(SHARED)) $(SONAME) libhalotune.so libhalotune.a pkgconfig/halotune.pc)
	rm -f $(addprefix $(DESTDIR)$(DATA_DIR)/,$(wildcard kernels/*.yaml kernels/asymmetric/*.yaml templates/*.yaml templates/*.cu templates/*.cuh fortran/*.f90))
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,$(WRITTEN_FILES)) $(addprefix $(DESTDIR),$(CMAKE_FILES))
	rmdir $(DESTDIR)$(LIBDIR)/cmake/halotune 2>/dev/null || true
	for kind in openmpi mpich; do rm -f $(DESTDIR)$(LIBDIR)/halotune/$$kind/libhalotune-mpi.so; rmdir $(DESTDIR)$(LIBDIR)/halotune/$$kind 2>/dev/null || true; done
	rmdir $(DESTDIR)$(LIBDIR)/halotune 2>/dev/null || true
	for folder in /fortran /kernels/asymmetric /kernels /templates ''; do rmdir $(DESTDIR)$(DATA_DIR)$$folder 2>/dev/null || true; done

clean:  ## remove everything that was built
	rm -rf build

# --- packages ----------------------------------------------------------------------------------------------------------

DIST := build/dist/halotune-$(VERSION).tar.gz
.PHONY: dist
dist: build/report/page.html  ## a tarball of this commit in build/dist that builds without a network; the same commit gives the same bytes
	$(Q)sh packaging/dist.sh $(DIST) $(VERSION) $<

.PHONY: deb
deb: dist  ## Debian packages of this commit, in build/deb; needs dpkg-dev, debhelper and dh-python
	$(Q)sh packaging/deb.sh $(DIST) build/deb

.PHONY: check-packages
check-packages: $(if $(filter source,$(FROM)),dist,deb)  ## docs/install.md in a fresh Debian root, and lintian; FROM=source builds there, SUITE=bookworm (as root; needs mmdebstrap and lintian)
	$(Q)SUITE='$(SUITE)' FROM='$(FROM)' CUDA_HOME='$(CUDA_HOME)' tests/tap.sh tests/packages.sh

# --- what the build and the checks need --------------------------------------------------------------------------------

# Each line has three parts: who needs it; how to look for it (command NAME, header NAME, folder NAME, python MODULE, or
# clang-runtime for libFuzzer); Debian's package. VERSION stands for clang's version.
define DEPENDENCIES
build command gcc            gcc
build command g++            g++
build header stdio.h         libc6-dev
build header yaml.h          libyaml-dev
build header jansson.h       libjansson-dev
build header xxhash.h        libxxhash-dev
build header sodium.h         libsodium-dev
build header sqlite3.h       libsqlite3-dev
check header cmocka.h        libcmocka-dev
check command clang          clang
check command clang-tidy     clang-tidy
check command clang-format-14 clang-format-14
check clang-runtime fuzzer   libclang-rt-VERSION-dev
check command cppcheck       cppcheck
check folder /usr/share/i18n/charmaps locales
check command jq             jq
check command perl           perl
check command sqlite3        sqlite3
check command node           nodejs
check command npm            npm
check command chromium       chromium
check python numpy           python3-numpy
check python pip             python3-pip
check python setuptools      python3-setuptools
check python wheel           python3-wheel
check python mypy            mypy
check command gfortran       gfortran
check command cmake          cmake
check command mandoc         mandoc
check command zsh            zsh
check command fish           fish
fleet command mpicc.openmpi  libopenmpi-dev
fleet command mpirun.openmpi openmpi-bin
fleet command mpicc.mpich    libmpich-dev
fleet command mpirun.mpich   mpich
fleet command slurmctld      slurmctld
fleet command slurmd         slurmd
fleet command srun           slurm-client
fleet command munged         munge
endef
export DEPENDENCIES

.PHONY: deps deps-build deps-fleet
deps:  ## install what the build and the checks need (Debian, Ubuntu; as root)
	$(Q)CC='$(CC)' sh tests/deps.sh build check

deps-build:  ## install what the build alone needs
	$(Q)CC='$(CC)' sh tests/deps.sh build

deps-fleet:  ## install what check-fleet needs: Open MPI, MPICH and Slurm
	$(Q)CC='$(CC)' sh tests/deps.sh build fleet

# --- run and check -----------------------------------------------------------------------------------------------------

.PHONY: demo
demo: deps-build  ## the main job in one command: a stencil tuned, on the GPU if there is one, and its winner taken from C
	$(Q)$(MAKE) --no-print-directory all library
	$(Q)CC='$(CC)' sh examples/demo.sh

# How tests are compiled with sanitizers. The objects hold line numbers, which reports name, and no other facts for a
# debugger.
SANITIZED := SANITIZE=1 WERROR=1 CFLAGS='-O1 -g1'

.PHONY: check asan tidy form hooks compile-commands tests unit cli golden docs report fuzz templates mutations variants faults selftest protocol tune-tests
check: deps  ## all tests that need no GPU, with samples of the long ones; STEP=cli runs one step, CASE=NAME one of its cases
	$(Q)MAKE='$(MAKE)' STEP='$(STEP)' CASE='$(CASE)' tests/check.sh

# With IS_SAMPLE=1 the tests that the sample leaves out are compiled, which shows clang's warnings, and not linked.
tests: $(OUT)/halotune $(filter-out $(if $(IS_SAMPLE),$(LEFT_TESTS)),$(UNIT_TESTS)) $(LEFT_TESTS:$(OUT)/%=$(OBJ)/%.o)

unit: $(OUT)/halotune $(TESTS_TO_RUN)  ## the unit tests; ROOMS="db gpu" for those of some folders
	$(Q)JOBS=$$(nproc) HALOTUNE_TEST_CACHE='$(CURDIR)/build/test-cache' $(SANITIZER_OPTIONS) tests/tap.sh $(TESTS_TO_RUN)

cli: golden  ## golden files of the command line, and the Makefile's own tests; SLOW=3 for a sample of the slow ones
	$(if $(CASE),,$(Q)HALOTUNE=$(OUT)/halotune tests/tap.sh tests/makefile.sh)

golden: $(OUT)/halotune  ## golden files of the command line
	$(Q)HALOTUNE=$(OUT)/halotune CASE='$(CASE)' SLICE=$(if $(CASE),1,$(or $(SLICE),1)) SLOW=$(if $(CASE),1,$(or $(SLOW),1)) tests/tap.sh tests/cli.sh

.PHONY: hostile
hostile: $(OUT)/halotune  ## files, caches and ends of a hostile peer: imported, merged, mutated, killed
	$(Q)JOBS=2 PYTHON='$(PYTHON)' SEED=$(SEED) SECONDS_LONG=$(SECONDS_LONG) HALOTUNE=$(OUT)/halotune tests/tap.sh tests/hostile/import.sh tests/hostile/signature.sh tests/hostile/database.sh tests/hostile/cache.sh tests/hostile/kill.sh tests/hostile/disk.sh tests/hostile/mutate.sh

# The seed is always printed. HOSTILE_SEED=NUMBER repeats a run.
HOSTILE_SECONDS ?= 3600
HOSTILE_SEED ?= $(shell date +%s)
.PHONY: hostile-long
hostile-long:  ## mutations and kills under ASan for HOSTILE_SECONDS=3600, with a fresh HOSTILE_SEED
	@echo "HOSTILE_SEED=$(HOSTILE_SEED)"
	$(Q)$(MAKE) --no-print-directory hostile $(SANITIZED) SEED=$(HOSTILE_SEED) SECONDS_LONG=$(HOSTILE_SECONDS)

.PHONY: install-tests
install-tests: all library  ## an installation: manual pages, completion in bash, zsh and fish, find_package of CMake, removal; the tarball of make dist
	$(Q)HALOTUNE=build/halotune CC='$(CC)' tests/tap.sh tests/install.sh tests/dist.sh

.PHONY: library-tests
library-tests: all library  ## libhalotune as its users see it: symbols, header, linking, installation
	$(Q)HALOTUNE=build/halotune CUDA_HOME=$(CUDA_HOME) CC='$(CC)' tests/tap.sh tests/library.sh

.PHONY: bindings-tests
bindings-tests: all library fake-cuda  ## the Python package, halotune.hpp and the Fortran module, on the fake driver
	$(Q)HALOTUNE=build/halotune CC='$(CC)' PYTHON='$(PYTHON)' tests/tap.sh tests/bindings.sh

.PHONY: bench-instead
bench-instead: all library  ## time loops in PyTorch, JAX and CuPy beside Halotune, on this GPU; PYTHON needs PyTorch and CuPy
	PYTHONPATH=python HALOTUNE_LIBRARY=build/lib/$(SONAME) HALOTUNE_PROGRAM=build/halotune $(PYTHON) bench/instead/instead.py $(ARGS)

.PHONY: examples
examples: all library  ## build the examples, and run them as far as this machine allows
	$(Q)HALOTUNE=build/halotune CUDA_HOME=$(CUDA_HOME) CC='$(CC)' tests/tap.sh tests/examples.sh

docs: all library fake-cuda  ## the examples in the documents
	$(Q)HALOTUNE=build/halotune CASE='$(CASE)' CC='$(CC)' PYTHON='$(PYTHON)' tests/tap.sh $(if $(filter docs/cookbook.md,$(CASE)),,tests/docs.sh) $(if $(filter-out docs/cookbook.md,$(CASE)),,tests/cookbook.sh) \
	  $(if $(filter-out README.md,$(CASE)),,tests/readme.sh) $(if $(CASE),,'$(PYTHON) tests/docs_words.py')

report: $(OUT)/halotune $(OUT)/tests/report/make_db  ## the HTML report in a browser without a window, its document, its limits; SPEED=1 also for the limits of time
	$(Q)HALOTUNE=$(OUT)/halotune MAKE_DB=$(OUT)/tests/report/make_db tests/tap.sh tests/report.sh

templates: $(OUT)/halotune  ## the templates compile, and no value or parameter of theirs is useless
	$(Q)HALOTUNE=$(OUT)/halotune CUDA_HOME=$(CUDA_HOME) ONLY='$(or $(CASE),$(ONLY))' SLICE=$(if $(CASE),1,$(SLICE)) tests/tap.sh tests/templates.sh

mutations: $(OUT)/halotune  ## defects put into templates, which verify must find
	$(Q)HALOTUNE=$(OUT)/halotune ONLY='$(or $(CASE),$(ONLY))' SLICE=$(if $(CASE),1,$(SLICE)) tests/tap.sh tests/mutations.sh

variants: $(OUT)/halotune  ## samples of all spaces, compiled and verified
	$(Q)HALOTUNE=$(OUT)/halotune FULL=$(FULL) STENCILS='$(or $(CASE),$(STENCILS))' tests/tap.sh tests/variants.sh

faults: all fake-cuda  ## the tuner on a GPU and on disks that fail on command, and after kills; FULL=1 for more errors and moments
	$(Q)JOBS=4 FULL=$(FULL) tests/tap.sh tests/faults_team.sh tests/faults.sh tests/faults_calls.sh tests/faults_killed.sh

selftest: all fake-cuda  ## the test that runs on a GPU, on the driver of tests; FULL=1 with each template
	$(Q)FULL=$(FULL) tests/tap.sh tests/selftest.sh

protocol: all fake-cuda  ## the tuner on a GPU whose best kernel is known, with noise; FULL=1 for 100 seeds of each kind
	$(Q)FULL=$(FULL) KINDS='$(or $(CASE),$(KINDS))' tests/tap.sh tests/protocol.sh

.PHONY: fleet
fleet: all library fake-cuda $(OUT)/tests/fleet/messages  ## teams of 2 to 5 ranks of Open MPI on emulated GPUs; skipped without mpirun.openmpi
	$(Q)MESSAGES=$(OUT)/tests/fleet/messages KINDS=openmpi CC='$(CC)' tests/tap.sh tests/fleet/mpi.sh

.PHONY: check-fleet
check-fleet: all library fake-cuda $(OUT)/tests/fleet/messages  ## many ranks on emulated GPUs: mpirun of Open MPI and MPICH, and Slurm on this host; make deps-fleet installs them
	$(Q)MESSAGES=$(OUT)/tests/fleet/messages CUDA_HOME=$(CUDA_HOME) CC='$(CC)' tests/tap.sh tests/fleet/mpi.sh tests/fleet/kills.sh tests/fleet/slurm.sh tests/heat3d.sh

.PHONY: check-gpu check-gpu-ranks sanitize-gpu gpu-checks check-solvers
check-gpu: all  ## the tests that need a GPU: variants of all stencils, each wrapper, a large field, defects; LARGE=0 for little memory, JOBS at a time on DEVICES='0 1'
	$(Q)LARGE=$(LARGE) JOBS=$(JOBS) DEVICES='$(DEVICES)' tests/tap.sh tests/check_gpu.sh

check-gpu-ranks: all library  ## two ranks of MPI on one GPU: a team, and 04_mpi_heat3d bit for bit; MPI=mpich, GRID=256,240,224
	$(Q)CUDA_HOME=$(CUDA_HOME) MPI='$(or $(MPI),openmpi)' GRID='$(GRID)' tests/gpu_ranks.sh

sanitize-gpu: all  ## compute-sanitizer over the best variants and samples, on this machine's GPU; TOOLS='racecheck memcheck initcheck synccheck', WINNERS=0 without them, JOBS and DEVICES
	$(Q)TOOLS='$(TOOLS)' JOBS=$(JOBS) DEVICES='$(DEVICES)' WINNERS=$(WINNERS) tests/tap.sh tests/sanitize.sh

gpu-checks: all  ## check-gpu and sanitize-gpu for MINUTES=9; each result is printed as soon as it is known, and the next call continues
	$(Q)MINUTES='$(MINUTES)' LARGE=$(LARGE) JOBS=$(JOBS) DEVICES='$(DEVICES)' WINNERS=$(WINNERS) TOOLS='$(TOOLS)' tests/gpu_checks.sh

check-solvers: all $(filter $(OUT)/tests/unit/solvers/%,$(UNIT_TESTS))  ## the solvers of examples/solvers on this machine's GPU: tuned for BUDGET=3s each, on grids SCALE=16 times as long, against exact solutions
	$(Q)BUDGET='$(BUDGET)' SCALE='$(SCALE)' TESTS='$(filter $(OUT)/tests/unit/solvers/%,$(UNIT_TESTS))' tests/tap.sh tests/solvers.sh

tune-tests: all fake-cuda $(OUT)/bench/near_gpu_bench $(OUT)/bench/search_bench $(OUT)/tests/unit/solvers/heat_solvers_test  ## tuning and running from the command line: results, going on, ending early, replays, several GPUs
	$(Q)NEAR=$(OUT)/bench/near_gpu_bench SEARCH=$(OUT)/bench/search_bench HEAT=$(OUT)/tests/unit/solvers/heat_solvers_test tests/tap.sh tests/tune.sh tests/filled.sh tests/roof.sh tests/record.sh tests/run.sh tests/bench.sh

.PHONY: check-full
check-full: check  ## check, the analyzer over all, all parameters and defects, and large samples of all spaces, faults and noise (more than an hour on two cores)
	$(Q)$(MAKE) --no-print-directory unit tidy templates mutations variants faults protocol selftest FULL=1
	$(Q)$(MAKE) --no-print-directory all DEBUG=1 && $(MAKE) --no-print-directory all
	$(Q)$(MAKE) --no-print-directory asan CC=clang
	$(Q)$(MAKE) --no-print-directory tsan
	$(Q)$(MAKE) --no-print-directory fuzz
	$(Q)$(MAKE) --no-print-directory hostile-long

# The files that several steps of the check use. They are made first, so that no two steps compile the same file.
.PHONY: check-build asan-build
check-build: all fake-cuda library $(patsubst %.c,$(OBJ)/%.o,$(wildcard bench/*.c)) $(LEFT_TESTS) $(OUT)/tests/report/make_db $(OUT)/bench/near_gpu_bench $(OUT)/bench/search_bench $(OUT)/tests/unit/solvers/heat_solvers_test
asan-build:
	$(Q)$(MAKE) --no-print-directory tests $(SANITIZED) IS_SAMPLE=1

asan:  ## the unit and command-line tests under ASan and UBSan; SLICE=3 for a sample
	$(Q)$(MAKE) --no-print-directory unit golden $(SANITIZED) IS_SAMPLE=$(SLICE)

# Only the tests of library/ run here. Other tests start programs of their own, or expect a process with one thread.
.PHONY: tsan
tsan:  ## the tests of lookups and kernels under ThreadSanitizer
	$(Q)$(MAKE) --no-print-directory unit ROOMS=library SANITIZE=thread WERROR=1 CFLAGS='-O1 -g1'

# The plug-in for MPI is checked where Open MPI's header is.
tidy: export MPI_FLAGS = $(if $(MPICC_openmpi),$(addprefix -isystem ,$(shell $(MPICC_openmpi) --showme:incdirs)))
tidy: export TIDY_FLAGS = $(HALOTUNE_CPPFLAGS) $(MPI_FLAGS) -DHALOTUNE_DATA_DIR='"$(DATA_DIR)"'
tidy:  ## form, clang-tidy and cppcheck; SLICE=3 for a third of the files
	$(Q)SLICE=$(SLICE) tests/tap.sh tests/tidy.sh

form:  ## the form of C files, which takes seconds: clang-format 14, the width of comments, the order of layers
	$(Q)tests/tidy.sh form

hooks:  ## install a hook of git that runs before each commit: form, and the unit tests of the folders that changed
	$(Q)tests/hooks.sh install

# Each C file with the flags with which this Makefile compiles it.
COMPILED_FILES = $(SOURCES) $(wildcard tests/fake_cuda/*.c tests/unit/*/*.c tests/fuzz/*.c tests/report/*.c tests/fleet/*.c bench/*.c tuner/emulate/runtime/*.c)
COMMAND_IN_JSON = $(subst ",\",$(subst \,\\,$(COMPILE) -DHALOTUNE_DATA_DIR='"$(DATA_DIR)"' -c))
ENTRIES = $(foreach file,$(COMPILED_FILES),{"directory": "$(CURDIR)", "file": "$(file)", "command": "$(COMMAND_IN_JSON) $(file)"})
compile-commands:  ## write compile_commands.json, for clangd and editors that use it
	@:$(file >compile_commands.json,[$(subst } {,}$(comma)$(newline){,$(ENTRIES))])

FUZZ_SECONDS ?= 60
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*_fuzz.c))
# COMPARISONS= saves a compilation, because it uses the objects of asan.
fuzz: COMPARISONS ?= 1
fuzz:  ## libFuzzer on every parser, FUZZ_SECONDS=60 each
	$(Q)$(MAKE) --no-print-directory CC=clang $(SANITIZED) COMPARISONS=$(COMPARISONS) $(FUZZ_TARGETS:%=fuzz-%)

# The fuzzed parsers are in these layers.
FUZZED_OBJECTS := $(filter $(OBJ)/base/% $(OBJ)/stencil/% $(OBJ)/gpu/% $(OBJ)/db/% $(OBJ)/library/%,$(OBJECTS))
fuzz-%: $(OBJ)/tests/fuzz/%.o $(FUZZED_OBJECTS)
	$(Q)$(LINK) -fsanitize=fuzzer -o $(OUT)/$* $^ $(LIBRARIES)
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz.sh $(OUT)/$*

$(OUT)/bench/%: $(OBJ)/bench/%.o $(OBJ)/libhalotune-all.a
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(LIBRARIES)

$(OUT)/tests/fleet/%: $(OBJ)/tests/fleet/%.o $(OBJ)/libhalotune-all.a
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(LIBRARIES)

$(OUT)/tests/report/%: $(OBJ)/tests/report/%.o $(OBJ)/libhalotune-all.a
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(LIBRARIES)

.PHONY: bench-compile
bench-compile: $(OUT)/bench/compile_bench $(OUT)/bench/source_bench all  ## kernels compiled a second, and how long each template takes
	$(Q)$<
	$(Q)mkdir -p $(OUT)/bench/sources
	$(Q)for t in $(BENCH_TEMPLATES); do build/halotune generate star7 --template $$t >$(OUT)/bench/sources/star7_$$t.cu || exit 1; done
	$(Q)$(OUT)/bench/source_bench 20 $(BENCH_TEMPLATES:%=$(OUT)/bench/sources/star7_%.cu)
# The templates that have a default variant for star7.
BENCH_TEMPLATES := direct tile zmarch scatter patch flat scatter_direct

.PHONY: bench-reference
bench-reference: $(OUT)/bench/reference_bench  ## points a second that the reference computes on one core, against its limit
	$(Q)$<
$(OUT)/bench/reference_bench: private LIBRARIES := -lcmocka $(LIBRARIES)

.PHONY: bench-lookup bench-launch
bench-lookup: $(OUT)/bench/lookup_bench  ## opening and looking up, against their limits
	$(Q)$<

bench-launch: $(OUT)/bench/launch_bench build/starter.db  ## what a launch costs beside cuLaunchKernel (needs a GPU)
	$(Q)$<

.PHONY: bench-near bench-near-gpu bench-similar
NEAR_OPTIONS = $(if $(DB),--db '$(DB)') $(if $(COUNT),--count $(COUNT)) $(if $(BUDGET),--budget $(BUDGET)) $(if $(DEVICES),--devices '$(DEVICES)')
bench-near: $(OUT)/bench/near_bench build/starter.db  ## answers for the problems of a database while their rows are hidden; DB=FILE
	$(Q)$< $(or $(DB),build/starter.db)

bench-near-gpu: $(OUT)/bench/near_gpu_bench all  ## answers for random grids against searches of them (needs a GPU); DB=FILE COUNT=200 BUDGET=10 DEVICES=0,1
	$(Q)$< $(NEAR_OPTIONS)

bench-similar: $(OUT)/bench/near_gpu_bench all  ## answers for stencils that the starter database does not hold, against searches of them (needs a GPU)
	$(Q)BENCH=$< bench/similar.sh $(NEAR_OPTIONS)

.PHONY: bench-answers
bench-answers: all build/starter.db  ## whether the answers for random problems compute the right numbers (needs a GPU and NumPy); DB=FILE COUNT=200 DEVICES=0,1
	$(Q)python3 bench/answers.py $(if $(DB),--db '$(DB)') $(if $(COUNT),--count $(COUNT)) $(if $(DEVICES),--devices '$(DEVICES)')

.PHONY: bench-search
bench-search: all $(OUT)/bench/search_bench  ## how fast strategies find the best of known spaces, into bench/results/search.md; SEEDS=30
	$(Q)BENCH=$(OUT)/bench/search_bench SEEDS=$(or $(SEEDS),30) bench/search.sh

.PHONY: bench-record
bench-record: all  ## the times of all variants of the spaces in bench/record.txt, into bench/results (needs a GPU); BUDGET=120s DEVICES='0 1' ROWS='star7 heat2d'
	$(Q)BUDGET='$(or $(BUDGET),120s)' DEVICES='$(DEVICES)' ROWS='$(ROWS)' bench/record.sh

.PHONY: bench-static-cost
bench-static-cost: all $(OUT)/bench/static_cost  ## how well numbers that are known before a compile rank variants, into bench/results/static-cost.md
	$(Q)BENCH=$(OUT)/bench/static_cost bench/static_cost.sh

$(OUT)/bench/static_cost: $(patsubst %.c,$(OBJ)/%.o,$(wildcard bench/experiments/static_cost/*.c)) $(OBJ)/libhalotune-all.a
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $^ $(LIBRARIES)

.PHONY: bench-fleet
bench-fleet: all $(OUT)/bench/fleet_bench  ## what teams of 2, 64 and 256 simulated GPUs reach, into bench/results/fleet.md
	$(Q)BENCH=$(OUT)/bench/fleet_bench bench/fleet.sh

.PHONY: bench-roof bench-sizes
bench-roof: all  ## shares of the roof that winners reach, into bench/results (needs a GPU); BUDGET=20s DEVICES='0 1'
	$(Q)BUDGET='$(BUDGET)' DEVICES='$(DEVICES)' DB='$(DB)' AGAIN='$(AGAIN)' bench/roof.sh

bench-sizes: all  ## the same for grids of many sizes
	$(Q)NAME=sizes BUDGET='$(BUDGET)' DEVICES='$(DEVICES)' DB='$(DB)' AGAIN='$(AGAIN)' bench/roof.sh

.PHONY: bench-merge
bench-merge: all  ## the databases of a fleet, made and merged: a table; FILES=256 WORK=build/merge
	$(Q)HALOTUNE=$(OUT)/halotune bench/merge.sh

.PHONY: bench-steps bench-wide
bench-steps: all  ## rates with several time steps in a launch, into bench/results (needs a GPU); BUDGET=10s
	$(Q)BUDGET='$(BUDGET)' bench/steps.sh

bench-wide: all  ## rates with several time steps in a launch, for stars and boxes of radius 1 to 4
	$(Q)BUDGET='$(BUDGET)' NAME=wide bench/steps.sh

EXPERIMENTS ?= fused_copies tensor_boxes
.PHONY: bench-experiments
bench-experiments: $(EXPERIMENTS:%=$(OUT)/bench/experiments/%)  ## measure what docs/kernels.md tells of experiments (needs nvcc, and a GPU of sm_90); EXPERIMENTS='fused_copies tensor_boxes'
	$(Q)for program in $^; do $$program || exit 1; done

$(EXPERIMENTS:%=$(OUT)/bench/experiments/%): $(OUT)/bench/experiments/%: $(wildcard bench/experiments/*/*.cu*) $(wildcard templates/wrappers*.cuh)
	@mkdir -p $(@D)
	$(Q)$(CUDA_HOME)/bin/nvcc -gencode arch=compute_90a,code=sm_90a -std=c++17 -O3 -cudart static -I. -o $@ bench/experiments/$*/$*.cu

.PHONY: bench-scaling
bench-scaling: all library  ## weak and strong scaling of examples/04_mpi_heat3d over this host's GPUs: a table (needs MPI and two GPUs); GPUS=2 TUNE=60s
	$(Q)GPUS='$(GPUS)' TUNE='$(TUNE)' CUDA_HOME=$(CUDA_HOME) bench/scaling.sh

.PHONY: bench-profile
bench-profile: all  ## which parts of the GPU are busy while winners run, by NVIDIA's profiler, into bench/results (needs a GPU, and ncu); DEVICES='0 1', NAME=steps, wide or sizes
	$(Q)DEVICES='$(DEVICES)' NAME='$(NAME)' bench/profile.sh

.PHONY: help
help:  ## print this list, and the variables below it
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | sort | awk -F '\t' '{printf "  make %-17s %s\n", $$1, $$2}'
	@echo && sed -n '/^$$/q; s/^#   /  /p' $(firstword $(MAKEFILE_LIST))
