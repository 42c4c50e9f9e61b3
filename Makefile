# Suanpan. `make run` serves, `make check` tests; both install what is missing. One library a folder, so that a
# layering mistake also fails at link time. Everything built goes below build/$(VARIANT).
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VARIANT ?= release
PORT ?= 8080
DB ?= suanpan.db
B := build/$(VARIANT)

CC := $(if $(shell command -v ccache),ccache ,)gcc
AR := gcc-ar
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wformat=2 -Wundef -Wcast-qual -Wswitch-enum -Wnull-dereference -Wduplicated-cond -Wlogical-op -Werror
HARDEN := -fstack-protector-strong -fstack-clash-protection -fcf-protection=full -fPIE
CFLAGS_release := -O2 -g1 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
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
EMBED_folder_examples := examples
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
$(B)/gen/embed_$(1).c $(B)/gen/embed_$(1).S &: $(EMBED_$(1)) base/embed.sh
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
TEST_SUITES := $(patsubst tests/%/,%,$(sort $(dir $(wildcard tests/*/test_*.c))))
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

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: clean
clean:
	rm -rf build
