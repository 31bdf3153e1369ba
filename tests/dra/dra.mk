# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the driver for Kubernetes for its tests: build/dra-test/gpufabric-dra, with the sanitizers,
# and the same messages for Python, from the same files. Run from the top.

BUILD      ?= build
out        := $(BUILD)/dra-test
CC         := gcc
CHECKS     ?= -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
protos     := $(wildcard dra/proto/*.proto)
messages   := $(protos:dra/proto/%.proto=$(out)/%.pb-c.c)
python     := $(protos:dra/proto/%.proto=$(out)/%_pb2.py)
packages   := libprotobuf-c libcurl json-c
cflags     := -std=gnu11 -g -Wall -Wextra -Werror -D_GNU_SOURCE $(CHECKS) \
	-DDRA_VERSION='"$(shell cat VERSION)"' -I. -I$(out) $(shell pkg-config --cflags $(packages))
objects    := $(patsubst %.c,$(out)/obj/%.o,$(wildcard dra/*.c)) $(messages:%.c=%.o)

all: $(out)/gpufabric-dra $(python)

python: $(python)

$(out)/gpufabric-dra: $(objects)
	@echo "  LD      $@"
	@$(CC) $(cflags) -o $@ $(objects) -lgrpc -lgpr $(shell pkg-config --libs $(packages)) -lpthread

$(out)/%.pb-c.c: dra/proto/%.proto
	@mkdir -p $(@D)
	@protoc-c -Idra/proto --c_out=$(@D) $<

$(out)/%_pb2.py: dra/proto/%.proto
	@mkdir -p $(@D)
	@protoc -Idra/proto --python_out=$(@D) $<

$(out)/obj/%.o: %.c tests/dra/dra.mk $(messages)
	@mkdir -p $(@D)
	@echo "  CC      $<"
	@$(CC) $(cflags) -MMD -MP -c -o $@ $<

$(out)/%.pb-c.o: $(out)/%.pb-c.c
	@$(CC) $(cflags) -c -o $@ $<

-include $(objects:.o=.d)
.SECONDARY: $(messages)
.DELETE_ON_ERROR:
.PHONY: all python
