# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the fuzz targets with clang's libFuzzer and the sanitizers:
# build/fuzz/NAME for each tests/fuzz/NAME.c. Run from the top by tests/fuzz/run.
#
# A target names what it is linked with in its first lines:
#   // sources: ctl/base/text.c kmod/check.c      ("tool": gpuctl but its main)
#   // packages: json-c                          (for pkg-config; may be missing)

BUILD      ?= build
out        := $(BUILD)/fuzz
targets    := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
tool       := $(filter-out ctl/main.c %_test.c ctl/screen/% ctl/hub/% ctl/probe/% ctl/driver/% ctl/redfish/% ctl/liqid/% ctl/web/%,$(wildcard ctl/*.c ctl/*/*.c ctl/*/*/*.c))
packages   := gnutls json-c libcrypt libnl-3.0 libnl-genl-3.0 libudev libsystemd
CC         := clang
checks     := address,undefined
OPTIMISE   := -O1
cflags     := -std=gnu11 $(OPTIMISE) -g -Wall -Wextra -Werror -D_GNU_SOURCE -fno-omit-frame-pointer \
	-fsanitize=fuzzer-no-link,$(checks) -fno-sanitize-recover=all \
	-DGPUCTL_VERSION='"$(shell cat VERSION)"' \
	-I. -Iuapi -Ictl -Itests/fuzz $(shell pkg-config --cflags $(packages))

directive   = $(shell sed -n '1,20s/^[/* ]*$(2): //p' tests/fuzz/$(1).c)

all: $(targets:%=$(out)/%)

define target-rules
sources-$(1) := tests/fuzz/$(1).c $(patsubst tool,$(tool),$(call directive,$(1),sources))
packages-$(1) := $(call directive,$(1),packages)
$(out)/$(1): $$(sources-$(1):%.c=$(out)/obj/%.o)
	@echo "  LD      $$@"
	@$(CC) -fsanitize=fuzzer,$(checks) -o $$@ $$^ \
		$$(if $$(packages-$(1)),$$$$(pkg-config --libs $$(packages-$(1)))) -lm
depends += $$(sources-$(1):%.c=$(out)/obj/%.d)
endef
$(foreach target,$(targets),$(eval $(call target-rules,$(target))))

$(out)/obj/%.o: %.c tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	@echo "  CC      $<"
	@$(CC) $(cflags) -MMD -MP -c -o $@ $<

-include $(sort $(depends))
.DELETE_ON_ERROR:
.PHONY: all
