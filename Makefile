# Suanpan. `make run` serves, `make check` tests; both install what is missing. One library a folder, so that a
# layering mistake also fails at link time. Everything built goes below build/$(VARIANT).
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
.DEFAULT_GOAL := build

VARIANT ?= release
PORT ?= 8080
HOST ?= 127.0.0.1
DB ?= suanpan.db
B := build/$(VARIANT)

CC := $(if $(shell command -v ccache),ccache ,)gcc
AR := gcc-ar
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wformat=2 -Wundef -Wcast-qual -Wswitch-enum -Wnull-dereference -Wduplicated-cond -Wlogical-op -Werror
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -fPIE
# No result changes by these two: nobody reads errno of a root, and no floating-point trap is armed.
CFLAGS_release := -O2 -fno-math-errno -fno-trapping-math -g1 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
CFLAGS_asan := -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all
CFLAGS_tsan := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
CFLAGS_coverage := -O0 -g --coverage
LDFLAGS_asan := -fsanitize=address,undefined
LDFLAGS_tsan := -fsanitize=thread
LDFLAGS_coverage := --coverage
CFLAGS := -std=c17 -D_GNU_SOURCE -I. -I$(B)/gen $(WARN) $(HARDEN) $(CFLAGS_$(VARIANT))
LDFLAGS := -pie -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS_$(VARIANT))
LIBS := -lmicrohttpd -luv -ljansson -lsqlite3 -lcsv -lz -lm -lpthread

LAYERS := base planner db formats api server
src = $(sort $(wildcard $(1)/*.c $(1)/*/*.c))
obj = $(patsubst %.c,$(B)/%.o,$(1))
SRC_base := $(call src,base)
SRC_planner := $(call src,planner)
SRC_db := $(call src,db)
SRC_formats := $(call src,formats)
SRC_api := $(call src,api)
SRC_server := $(filter-out server/main.c,$(call src,server))

# What is compiled into the binary: symbol, folder, files.
EMBED_migrations := $(sort $(wildcard migrations/*.sql))
EMBED_seed := $(sort $(wildcard db/seed/*.csv))
EMBED_static := $(sort $(shell find static -type f 2>/dev/null))
EMBED_messages := $(sort $(wildcard api/messages/*.json))
EMBED_openapi := $(sort $(wildcard api/openapi.json))
EMBED_examples := $(sort $(wildcard examples/*.json))
EMBED_folder_migrations := migrations
EMBED_folder_seed := db/seed
EMBED_folder_static := static
EMBED_folder_messages := api/messages
EMBED_folder_openapi := api
EMBED_folder_examples := .
EMBEDS := migrations seed static messages openapi examples
EMBED_OBJS := $(foreach e,$(EMBEDS),$(B)/gen/embed_$(e).c.o $(B)/gen/embed_$(e).s.o)

LIBFILES := $(foreach l,server api formats db planner base,$(B)/lib$(l).a) $(B)/libembed.a

.PHONY: build
build: $(B)/suanpan

$(B)/suanpan: $(B)/server/main.o $(LIBFILES)
	$(CC) $(LDFLAGS) -o $@ $< $(LIBFILES) $(LIBS)

define library
$(B)/lib$(1).a: $(call obj,$(SRC_$(1)))
	@rm -f $$@
	@$(AR) rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call library,$(l))))

$(B)/libembed.a: $(EMBED_OBJS)
	@rm -f $@
	@$(AR) rcs $@ $^

define embed
$(B)/gen/embed_$(1).c $(B)/gen/embed_$(1).S &: $(EMBED_$(1)) base/embed.sh Makefile
	@mkdir -p $(B)/gen
	@base/embed.sh embed_$(1) $(EMBED_folder_$(1)) $(B)/gen/embed_$(1).c $(B)/gen/embed_$(1).S $(EMBED_$(1))
$(B)/gen/embed_$(1).c.o: $(B)/gen/embed_$(1).c
	@$(CC) -std=c17 -I. -fPIE -c -o $$@ $$<
$(B)/gen/embed_$(1).s.o: $(B)/gen/embed_$(1).S $(EMBED_$(1))
	@$(CC) -c -o $$@ $$<
endef
$(foreach e,$(EMBEDS),$(eval $(call embed,$(e))))

$(B)/%.o: %.c
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

# Tests: one Criterion binary a folder of tests/. tests/support is shared by all of them.
TEST_SUITES := $(filter-out support,$(patsubst tests/%/,%,$(sort $(dir $(wildcard tests/*/test_*.c)))))
TEST_CFLAGS := $(filter-out -Wmissing-prototypes -Wstrict-prototypes -Wnull-dereference -Wpedantic -Wconversion -Wsign-conversion -Wcast-qual,$(CFLAGS))
SRC_support := $(sort $(wildcard tests/support/*.c))
$(B)/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(CC) $(TEST_CFLAGS) -MMD -MP -c -o $@ $<
define suite
$(B)/tests/$(1)_suite: $(call obj,$(sort $(wildcard tests/$(1)/*.c))) $(call obj,$(SRC_support)) $(LIBFILES)
	$(CC) $(LDFLAGS) -o $$@ $$(filter %.o,$$^) $(LIBFILES) $(LIBS) -lcriterion
.PHONY: test-$(1)
test-$(1): $(B)/tests/$(1)_suite
	$$< -j2 --timeout 60 $(if $(FILTER),--filter '$(FILTER)')
endef
$(foreach s,$(TEST_SUITES),$(eval $(call suite,$(s))))
# The http suite drives the real binary; a suite may also be a script, tests/NAME/run.sh, that drives it.
$(B)/tests/http_suite: | $(B)/suanpan
export TEST_SERVER = $(CURDIR)/$(B)/suanpan
SCRIPT_SUITES := $(filter-out bench,$(patsubst tests/%/,%,$(sort $(dir $(wildcard tests/*/run.sh)))))

.PHONY: tests
tests: $(B)/suanpan $(B)/accuracy $(B)/fit $(foreach s,$(TEST_SUITES),$(B)/tests/$(s)_suite)

# Scores the planner, through the api's door, against published measurements.
$(B)/accuracy: $(B)/tests/accuracy/accuracy.o $(call obj,$(SRC_support)) $(LIBFILES)
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBFILES) $(LIBS) -lcriterion

# Fits the constants of physics to the same measurements, and says what a source left out would have got.
$(B)/fit: $(call obj,$(sort $(wildcard tests/fit/*.c)) $(SRC_support)) $(LIBFILES)
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBFILES) $(LIBS) -lcriterion

# npm packages of the tests, where there are any: exactly those of the lock file.
NODE_MODULES := $(patsubst %/package-lock.json,%/node_modules/.package-lock.json,$(wildcard tests/package-lock.json tests/*/package-lock.json))
%/node_modules/.package-lock.json: %/package-lock.json
	@echo "installing npm packages of $*"
	@cd $* && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# ---- what people type

.PHONY: deps deps-check run check check-asan check-tsan lint format coverage fuzz-smoke bench accuracy fit clean help

help:
	@echo 'make run            install what is missing, build, serve on $(HOST):$(PORT) (PORT=, HOST=, DB=)'
	@echo 'make check          install what the tests need, run all of them'
	@echo 'make test-SUITE     one suite of: $(TEST_SUITES) $(SCRIPT_SUITES) (FILTER=suite/name)'
	@echo 'make check-asan     unit and api suites under AddressSanitizer and UBSan; a leak fails'
	@echo 'make check-tsan     http suite against a server built with ThreadSanitizer'
	@echo 'make lint           the rules of the house; format: clang-format in place'
	@echo 'make coverage       line and branch coverage into build/coverage; fuzz-smoke: a minute of every fuzzer'
	@echo 'make bench          plans per second beside a static body, and the planner on its own; accuracy: against measurements'
	@echo "make fit            constants of physics against the measurements: ARGS='training|serving [--leave-out]'"
	@echo 'make build clean deps deps-check'

deps:
	@.ci/deps.sh build
deps-check:
	@.ci/deps.sh --check build test browser lint

run: deps
	@$(MAKE) --no-print-directory -s -j$$(nproc) build
	@exec env -u SUANPAN_SHARED -u SUANPAN_BUILD $(B)/suanpan serve --host '$(HOST)' --port '$(PORT)' --db '$(DB)'

check:
	@.ci/deps.sh build test browser
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests $(NODE_MODULES)
	@tests/check.sh $(VARIANT) $(TEST_SUITES) $(SCRIPT_SUITES)

check-asan:
	@.ci/deps.sh build test
	@mkdir -p build/canary/tests
	@$(CC) $(CFLAGS_asan) -o build/canary/tests/leak_suite tests/lint/leak_canary.c -lcriterion
	@! tests/check.sh canary leak >build/canary/said || { echo 'a leak does not turn a run red:'; cat build/canary/said; exit 1; }
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=asan $(patsubst %,build/asan/tests/%_suite,$(filter unit api,$(TEST_SUITES)))
	@tests/check.sh asan $(filter unit api,$(TEST_SUITES))

# The client side stays as it is; what is watched is the server, whose reports land in files.
check-tsan:
	@.ci/deps.sh build test
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=tsan build/tsan/suanpan
	@$(MAKE) --no-print-directory -s -j$$(nproc) tests
	@CHECK_SERVER=$(CURDIR)/build/tsan/suanpan tests/check.sh $(VARIANT) http

lint:
	@.ci/deps.sh build lint
	@tests/lint/selftest.sh
	@tests/lint.sh
	@$(MAKE) --no-print-directory -s -j$$(nproc) build
	@tests/lint/globals.sh $(B)/libplanner.a
	@tests/lint/circles.sh $(call obj,$(foreach l,$(LAYERS),$(SRC_$(l))) server/main.c)

format:
	@.ci/deps.sh format
	@clang-format -i $(foreach l,$(LAYERS),$(SRC_$(l)) $(wildcard $(l)/*.h $(l)/*/*.h)) $(wildcard server/main.c tests/*/*.c tests/*/*.h)

coverage:
	@.ci/deps.sh build test coverage
	@$(MAKE) --no-print-directory -s -j$$(nproc) VARIANT=coverage tests
	@find build/coverage -name '*.gcda' -delete
	@tests/check.sh coverage $(TEST_SUITES) || true # a failing test still covers what it covers; make check judges it
	@gcovr --root . --object-directory build/coverage --branches --exclude 'tests/' --exclude 'build/' --print-summary \
		--txt build/coverage/branches.txt --html-details build/coverage/index.html
	@cat build/coverage/branches.txt

# Every tests/fuzz/fuzz_NAME.c is one libFuzzer entry; crashes become files of tests/fuzz/corpus/NAME.
FUZZERS := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ_SECONDS ?= 60
FUZZ_SOURCES := server/guard.c $(SRC_api) $(SRC_formats) $(SRC_db) $(SRC_planner) $(SRC_base)
FUZZ_OBJS := $(patsubst %.c,build/fuzz/obj/%.o,$(FUZZ_SOURCES))
FUZZ_CFLAGS := -std=c17 -D_GNU_SOURCE -I. -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
build/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	@$(if $(shell command -v ccache),ccache) clang $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<
build/fuzz/%: tests/fuzz/fuzz_%.c tests/fuzz/fuzz_catalog.h $(FUZZ_OBJS) $(B)/libembed.a
	@clang $(FUZZ_CFLAGS) -fsanitize=fuzzer -o $@ $< $(FUZZ_OBJS) $(B)/libembed.a $(LIBS)
-include $(wildcard build/fuzz/obj/*/*.d build/fuzz/obj/*/*/*.d)
fuzz-smoke:
	@.ci/deps.sh build fuzz
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(FUZZERS:%=build/fuzz/%)
	@for f in $(FUZZERS); do mkdir -p build/fuzz/found/$$f tests/fuzz/corpus/$$f; \
		build/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
			-artifact_prefix=build/fuzz/$$f- build/fuzz/found/$$f tests/fuzz/corpus/$$f; done

$(B)/bench_%: $(B)/tests/bench/%.o $(call obj,tests/support/test_catalog.c tests/support/synthetic_catalog.c) $(LIBFILES)
	$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIBFILES) $(LIBS)
bench:
	@.ci/deps.sh build bench
	@$(MAKE) --no-print-directory -s -j$$(nproc) build $(B)/bench_micro $(B)/bench_static
	@tests/bench/run.sh $(B)

accuracy:
	@.ci/deps.sh build test
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(B)/accuracy
	@$(B)/accuracy --floors tests/accuracy/floors.json $(ARGS) tests/data/accuracy

fit:
	@.ci/deps.sh build test
	@$(MAKE) --no-print-directory -s -j$$(nproc) $(B)/fit
	@$(B)/fit $(or $(ARGS),training) tests/data/accuracy tests/fit/extra

clean:
	rm -rf build
