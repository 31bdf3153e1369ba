# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the fabric manager for its tests: build/fm-test/gpufabric-fm, with the sanitizers and
# with the places where a test lets it die (fm/failpoint.h), build/fm-test/sim-agent, the agent
# with a stand-in for the simulator (slots.c), slow-answers.so, slow-end.so and
# failing-disk.so. Run from the top.

BUILD      ?= build
out        := $(BUILD)/fm-test
CC         := gcc
CHECKS     ?= -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
packages   := libmicrohttpd gnutls json-c libsystemd libcrypt
cflags     := -std=gnu11 -g -Wall -Wextra -Werror -D_GNU_SOURCE $(CHECKS) -DFM_FAILPOINTS \
	-DGPUCTL_VERSION='"$(shell cat VERSION)"' -I. -Iuapi -Ictl $(shell pkg-config --cflags $(packages))
sources    := $(filter-out fm/sim_%,$(wildcard fm/*.c)) \
	$(addprefix ctl/base/,conf.c fault.c program.c replace.c text.c)
objects    := $(sources:%.c=$(out)/obj/%.o)
agent      := fm/sim_agent.c fm/sim_command.c fm/agent.c fm/channel.c tests/fm/slots.c ctl/base/fault.c ctl/base/text.c
agent-objects := $(agent:%.c=$(out)/obj/%.o)

all: $(out)/gpufabric-fm $(out)/sim-agent $(out)/slow-answers.so $(out)/slow-end.so $(out)/failing-disk.so

$(out)/gpufabric-fm: $(objects)
	@echo "  LD      $@"
	@$(CC) $(cflags) -o $@ $(objects) $(shell pkg-config --libs $(packages)) -lpthread -lm

$(out)/sim-agent: $(agent-objects)
	@echo "  LD      $@"
	@$(CC) $(cflags) -o $@ $(agent-objects)

$(out)/slow-answers.so: tests/fm/slow_answers.c
$(out)/slow-end.so: tests/fm/slow_end.c
$(out)/failing-disk.so: tests/fm/failing_disk.c
$(out)/%.so: tests/fm/fm.mk
	@mkdir -p $(@D)
	@echo "  LD      $@"
	@$(CC) -std=gnu11 -g -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -fPIC -shared -o $@ $(filter %.c,$^)

$(out)/obj/%.o: %.c tests/fm/fm.mk
	@mkdir -p $(@D)
	@echo "  CC      $<"
	@$(CC) $(cflags) -MMD -MP -c -o $@ $<

$(out)/obj/fm/page.o: fm/page.html

-include $(sort $(objects:.o=.d) $(agent-objects:.o=.d))
.DELETE_ON_ERROR:
.PHONY: all
