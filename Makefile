# A thin front to cmake and ctest; CMakePresets.json has the settings.
# Variables: JOBS (parallel compilers), TESTS (parallel tests, which wait more than they compute),
# PREFIX and DESTDIR (install), CMAKE_ARGS (more words for cmake's configuration), APPS_ARGS (for tests/apps/run_apps.py),
# ACCURACY_MINUTES (time for `make accuracy`, all it needs if not given), ACCURACY_ARGS (for tools/accuracy/accuracy.py).

BUILD      := build
JOBS       ?= $(shell nproc)
TESTS      ?= 3
PREFIX     ?= /usr/local
CMAKE_ARGS ?=
comma      := ,
# Without those words ccache keeps nothing that uses precompiled headers.
CCACHE     := $(if $(shell command -v ccache),-DCMAKE_C_COMPILER_LAUNCHER=ccache \
                '-DCMAKE_CXX_COMPILER_LAUNCHER=env;CCACHE_SLOPPINESS=pch_defines$(comma)time_macros;ccache')

# What `make demo` runs.
DEMO_PROGRAMS := mandel elastic life mergesort
DEMO_TARGETS  := foretrace $(foreach mpi,openmpi mpich, \
                   foretrace-measure-$(mpi) $(foreach p,$(DEMO_PROGRAMS),$(p)_$(mpi)))

# What `make papers` runs, besides the tool, its capture library and its MPI library.
PAPERS_PROGRAMS := mandel randmat half life thresh outer elastic invperc product sor gauss norm winnow vecdiff \
                   mergesort cholesky taskfarm
PAPERS_TARGETS  := foretrace foretrace-openmpi live-openmpi foretrace-measure-openmpi \
                   $(foreach p,$(PAPERS_PROGRAMS),$(p)_openmpi)

.PHONY: build machines accuracy help deps configure demo papers test test-all test-apps check check-all quick bench format format-check lint install uninstall clean

build: configure
	cmake --build $(BUILD) -j $(JOBS)

help:
	@echo 'make            builds into $(BUILD)/'
	@echo 'make demo       installs what is missing, builds, predicts and checks; result: demo/index.html'
	@echo 'make papers     installs what is missing, builds, makes the papers'"'"' figures anew; result: papers/papers.html'
	@echo 'make test       installs what is missing, builds, runs the tests that guard every change'
	@echo 'make test-all   the same, all tests: before a release'
	@echo 'make check      as test, but installs nothing; check-all as test-all'
	@echo 'make quick      those of them that start no ranks'
	@echo 'make test-apps  installs real MPI programs, runs them with and without Foretrace; takes long'
	@echo 'make accuracy   runs 30 programs really and predicted, and writes docs/accuracy.md; on a quiet machine'
	@echo 'make bench      builds and runs the benchmarks'
	@echo 'make machines   makes the models of other people'"'"'s measurements anew (FORETRACE_DATA)'
	@echo 'make format     formats the C++ sources; format-check only looks'
	@echo 'make lint       clang-tidy over src/'
	@echo 'make install    installs into PREFIX ($(PREFIX)), below DESTDIR if set'
	@echo 'make uninstall  removes what was installed last; DESTDIR as then'
	@echo 'make deps       installs the Debian packages that are missing'

deps:
	@tools/install-dependencies

configure:
	cmake --preset release $(CCACHE) -DFORETRACE_LIVE_WITH_TOOL=ON $(CMAKE_ARGS)

# Of other people's measurements; FORETRACE_DATA says where they are.
machines: build
	tools/import-machines

# Each step is a make of its own, so that `make -j` keeps their order.
demo:
	@tools/install-dependencies --no-tests
	@$(MAKE) --no-print-directory configure CMAKE_ARGS='$(CMAKE_ARGS) -DFORETRACE_TESTS=OFF -DFORETRACE_LIVE_WITH_TOOL=OFF'
	@tools/demo --build $(BUILD) --announce $(JOBS) $(DEMO_TARGETS)
	cmake --build $(BUILD) -j $(JOBS) --target $(DEMO_TARGETS)
	tools/demo --build $(BUILD)

# Goes on where it was stopped; PAPERS_ARGS='--only 5' makes a part.
papers:
	@tools/install-dependencies --no-tests
	@$(MAKE) --no-print-directory configure
	cmake --build $(BUILD) -j $(JOBS) --target $(PAPERS_TARGETS)
	tools/papers/make_papers --build $(BUILD) -o papers $(PAPERS_ARGS)

test test-all:
	@$(MAKE) --no-print-directory deps
	@$(MAKE) --no-print-directory $(@:test%=check%)

# The sources of much of Foretrace are the same for each MPI, and so are the tests: what repeats
# under another MPI, or at more sizes, has the label `release`. A test that fails is tried once more,
# and the output says so: what else runs on the machine may have taken its cores away.
CTEST := ctest --test-dir $(BUILD) --output-on-failure --no-tests=error --repeat until-pass:2

check check-all:
	@$(MAKE) --no-print-directory build CMAKE_ARGS='$(CMAKE_ARGS) -DFORETRACE_TESTS=ON'
	$(CTEST) -j $(TESTS) $(if $(filter check,$@),-LE release)

# Other people's programs, by Debian's packages.
test-apps:
	@$(MAKE) --no-print-directory deps
	@tools/install-dependencies $$(tests/apps/run_apps.py --list-packages)
	@$(MAKE) --no-print-directory build
	tests/apps/run_apps.py $(BUILD) $(APPS_ARGS)

# Predictions beside real runs. It goes on where it was interrupted; ACCURACY_MINUTES ends it earlier.
accuracy:
	@$(MAKE) --no-print-directory deps
	@tools/install-dependencies $$(tests/apps/run_apps.py --list-packages)
	@$(MAKE) --no-print-directory build
	tools/accuracy/accuracy.py $(BUILD) --docs docs/accuracy.md --minutes $(or $(ACCURACY_MINUTES),0) $(ACCURACY_ARGS)

# What needs neither an MPI's ranks nor ours.
quick:
	@$(MAKE) --no-print-directory build CMAKE_ARGS='$(CMAKE_ARGS) -DFORETRACE_TESTS=ON'
	$(CTEST) -j $(JOBS) -LE 'mpi|live|release'

bench:
	@$(MAKE) --no-print-directory build CMAKE_ARGS='$(CMAKE_ARGS) -DFORETRACE_BENCH=ON'
	$(BUILD)/bench/bench_replay
	bench/capture/run_calls.py $(BUILD)
	bench/capture/run_waits.py $(BUILD)
	bench/measure/compare_loops.py $(BUILD)

FORMATTED = git ls-files -z --cached --others --exclude-standard -- \
            $(foreach d,src tests programs bench include,'$(d)/*.cpp' '$(d)/*.hpp')

format:
	$(FORMATTED) | xargs -0 clang-format -i

format-check:
	$(FORMATTED) | xargs -0 clang-format --dry-run -Werror

# clang-tidy needs the generated sources that the build makes.
lint: build
	tools/lint-database $(BUILD)
	git ls-files -z -- 'src/*.cpp' | xargs -0 -n 1 -P $(JOBS) clang-tidy -p $(BUILD)/lint --quiet

# Without the tests, which nobody installs.
install:
	@$(MAKE) --no-print-directory configure CMAKE_ARGS='$(CMAKE_ARGS) -DFORETRACE_TESTS=OFF'
	cmake --build $(BUILD) -j $(JOBS)
	DESTDIR='$(DESTDIR)' cmake --install $(BUILD) --prefix '$(PREFIX)'

uninstall:
	DESTDIR='$(DESTDIR)' cmake --build $(BUILD) --target uninstall

clean:
	cmake --build $(BUILD) --target clean
