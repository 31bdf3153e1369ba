# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the unit tests with the sanitizers: build/unit/NAME for each
# tests/unit/NAME.c. Run from the top by tests/unit/run.
#
# A test names what it is linked with in its first lines:
#   // sources: ctl/base/text.c ctl/base/units.c
# All of gpuctl is without the programs that are linked with libcurl or ncurses.
#   // packages: json-c          (for pkg-config; may be missing)

BUILD      ?= build
out        := $(BUILD)/unit
tests      := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
CC         := gcc
# What the tests are built with: tests/coverage has another idea.
CHECKS     ?= -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
cflags     := -std=gnu11 -g -Wall -Wextra -Werror -D_GNU_SOURCE $(CHECKS) \
	-DGPUCTL_VERSION='"$(shell cat VERSION)"' \
	-I. -Iuapi -Ictl -Itests/unit -Itests/unit/include

directive   = $(shell sed -n '1,20s/^[/* ]*$(2): //p' tests/unit/$(1).c)

all: $(tests:%=$(out)/%)

whole       = $(if $(filter ctl/cmd/commands.c,$(1)),$(filter-out ctl/screen/% ctl/hub/% ctl/probe/% ctl/driver/% ctl/redfish/% ctl/liqid/% ctl/web/%,$(1)),$(1))

define test-rules
sources-$(1) := tests/unit/$(1).c $$(call whole,$(call directive,$(1),sources))
packages-$(1) := $(call directive,$(1),packages)
objects-$(1) := $$(sources-$(1):%.c=$(out)/obj/%.o)
$$(objects-$(1)): cflags += $$(if $$(packages-$(1)),$$(shell pkg-config --cflags $$(packages-$(1))))
$(out)/$(1): $$(objects-$(1))
	@echo "  LD      $$@"
	@$$(CC) $$(cflags) -o $$@ $$(objects-$(1)) \
		$$(if $$(packages-$(1)),$$$$(pkg-config --libs $$(packages-$(1)))) -lm
depends += $$(objects-$(1):.o=.d)
endef
$(foreach test,$(tests),$(eval $(call test-rules,$(test))))

$(out)/obj/%.o: %.c tests/unit/unit.mk
	@mkdir -p $(@D)
	@echo "  CC      $<"
	@$(CC) $(cflags) -MMD -MP -c -o $@ $<

-include $(sort $(depends))
.DELETE_ON_ERROR:
.PHONY: all
