# SPDX-License-Identifier: GPL-2.0-only
#
# gpufabric: kernel module, simulator and gpuctl. "make help" lists the targets.
#
# Nothing is built in the checkout: results are below build/. The modules are
# built by tests/vm/build in a copy, one for each kernel.

prefix      ?= /usr/local
bindir      ?= $(prefix)/bin
sbindir     ?= $(prefix)/sbin
libdir      ?= $(prefix)/lib
datadir     ?= $(prefix)/share
mandir      ?= $(datadir)/man
includedir  ?= $(prefix)/include
libexecdir  ?= $(prefix)/libexec
sysconfdir  ?= /etc
srcdir      ?= /usr/src
# udev and systemd read /usr/lib for packages and /etc for the rest; the hwdb
# is not looked for below /usr/local.
udevdir     ?= $(if $(filter /usr,$(prefix)),/usr/lib/udev,$(sysconfdir)/udev)
unitdir     ?= $(if $(filter /usr,$(prefix)),/usr/lib/systemd/system,$(sysconfdir)/systemd/system)
# Where zsh looks for functions of packages is Debian's own choice.
zshdir      ?= $(datadir)/zsh/$(if $(filter /usr,$(prefix)),vendor-completions,site-functions)
# Slurm looks for plugins in one directory, wherever the rest is.
slurmdir    ?= /usr/lib/$(shell $(CC) -print-multiarch)/slurm-wlm
loaddir     ?= $(if $(filter /usr,$(prefix)),/usr/lib/modules-load.d,$(sysconfdir)/modules-load.d)

VERSION     := $(shell cat VERSION)
KERNEL      ?= host
KERNELS     ?= $(if $(filter-out host,$(KERNEL)),$(KERNEL),6.1 6.12)
export KERNELS
PYTHON      ?= /usr/bin/python3

ifeq ($(origin CC),default)
CC          := gcc
endif
CFLAGS      ?= -O2 -g
WERROR      ?= -Werror
PKG_CONFIG  ?= pkg-config
PACKAGES    := libnl-3.0 libnl-genl-3.0 libudev libsystemd json-c

BUILD       := build
OBJ         := $(BUILD)/obj

# What is linked with libcurl or ncurses is apart from gpuctl.
programs    := ctl/screen/% ctl/hub/% ctl/probe/% ctl/driver/% ctl/redfish/% ctl/liqid/% ctl/web/%
# What a card is, module and tool tell alike.
ctl-sources := $(filter-out %_test.c $(programs),$(wildcard ctl/*.c ctl/*/*.c ctl/*/*/*.c))
ctl-objects := $(ctl-sources:%.c=$(OBJ)/%.o)
ctl-cflags   = -std=gnu11 -Wall -Wextra $(WERROR) -D_GNU_SOURCE \
	-DGPUCTL_VERSION='"$(VERSION)"' \
	-DGPUCTL_DATA_DIR='"$(datadir)/gpuctl"' -DGPUCTL_CONFIG_DIR='"$(sysconfdir)/gpuctl"' \
	-DGPUCTL_LIBEXEC_DIR='"$(libexecdir)/gpuctl"' -DGPUCTL_PROGRAM='"$(bindir)/gpuctl"' \
	-I. -Iuapi -Ictl \
	$(shell $(PKG_CONFIG) --cflags $(PACKAGES)) $(CPPFLAGS) $(CFLAGS)
ctl-libs     = $(shell $(PKG_CONFIG) --libs $(PACKAGES)) -lm -ldl

# gpuctl once more, with a screen.
screen-objects := $(patsubst %.c,$(OBJ)/%.o,$(wildcard ctl/screen/*.c)) $(filter-out $(OBJ)/ctl/main.o,$(ctl-objects))
screen-libs  = $(ctl-libs) $(shell $(PKG_CONFIG) --libs ncursesw)

# The programs that speak HTTP, apart because of what they are linked with: one reads the
# Hugging Face Hub, one what servers and NVML say of load, the others speak to fabric managers, one
# kind each.
hub-objects := $(patsubst %.c,$(OBJ)/%.o,$(wildcard ctl/hub/*.c ctl/web/*.c))
probe-objects := $(patsubst %.c,$(OBJ)/%.o,$(wildcard ctl/probe/*.c ctl/web/*.c)) \
	$(addprefix $(OBJ)/ctl/base/,fault.o text.o)
driver-objects := $(patsubst %.c,$(OBJ)/%.o,$(wildcard ctl/driver/*.c ctl/web/*.c)) \
	$(addprefix $(OBJ)/ctl/base/,conf.o conf_dir.o fault.o jread.o text.o trust.o) $(OBJ)/ctl/managers/conf.o
redfish-objects := $(patsubst %.c,$(OBJ)/%.o,$(wildcard ctl/redfish/*.c)) $(driver-objects)
liqid-objects := $(patsubst %.c,$(OBJ)/%.o,$(wildcard ctl/liqid/*.c)) $(driver-objects)
web-libs     = $(shell $(PKG_CONFIG) --libs json-c libcurl) -lm

# The fabric manager, a program of its own: of the tool it has base/ alone. The agent of its driver
# "sim" is another one, for hosts.
fm-objects  := $(patsubst %.c,$(OBJ)/%.o,$(filter-out fm/sim_%,$(wildcard fm/*.c))) \
	$(addprefix $(OBJ)/ctl/base/,conf.o fault.o program.o replace.o text.o)
fm-libs      = $(shell $(PKG_CONFIG) --libs libmicrohttpd gnutls json-c libsystemd libcrypt) -lpthread -lm
agent-objects := $(patsubst %.c,$(OBJ)/%.o,$(wildcard fm/sim_*.c)) $(OBJ)/fm/agent.o $(OBJ)/fm/channel.o \
	$(addprefix $(OBJ)/ctl/base/,fault.o text.o)

# What Slurm calls on a node and on the controller, and the plugin in its programs: all of them call
# gpuctl, and have base/ of the tool. The plugin is a shared object.
slurm-parts := $(addprefix $(OBJ)/,slurm/node.o ctl/base/fault.o ctl/base/program.o ctl/base/text.o)
slurm-objects := $(patsubst %.c,$(OBJ)/%.o,$(filter-out slurm/spank.c slurm/step.c slurm/options.c,$(wildcard slurm/*.c)))
spank-objects := $(patsubst %,$(OBJ)/shared/%.o,slurm/spank slurm/step slurm/options slurm/node \
	ctl/base/fault ctl/base/program ctl/base/text)
slurm-programs := $(addprefix $(BUILD)/slurm/,prolog epilog reap)

# The driver for Kubernetes, apart from all else: gRPC's licence goes with version 3 of the GPL and
# not with version 2 alone, so it has nothing of the tool and starts it as a program.
dra-messages := $(patsubst dra/proto/%.proto,$(BUILD)/dra/%.pb-c.c,$(wildcard dra/proto/*.proto))
dra-objects := $(patsubst %.c,$(BUILD)/dra/obj/%.o,$(wildcard dra/*.c)) $(dra-messages:%.c=%.o)
dra-cflags   = -std=gnu11 -Wall -Wextra $(WERROR) -D_GNU_SOURCE -DDRA_VERSION='"$(VERSION)"' \
	-I. -I$(BUILD)/dra $(shell $(PKG_CONFIG) --cflags libprotobuf-c libcurl json-c) $(CPPFLAGS) $(CFLAGS)
# Of gRPC what is called itself, not what a static library would need; to ask pkg-config for it takes
# a second, for each file.
dra-libs     = -lgrpc -lgpr $(shell $(PKG_CONFIG) --libs libprotobuf-c libcurl json-c) -lpthread

.DELETE_ON_ERROR:
.SUFFIXES:
SHELL       := /bin/bash

all: gpuctl gpufabric-fm modules ## Build gpuctl, the fabric manager, and the modules for KERNEL (host, 6.1, 6.12)

demo: deps ## Compose GPUs for three models in a virtual machine, and release them
	@tests/demo

demo-rack: deps ## Two hosts and a fabric manager with one pool of GPUs, in virtual machines
	@tests/demo-rack

bench: deps gpuctl ## Attach, rollback, events, many slots: ratios between two ways of doing each
	@tests/bench/run

# What sizes models without the rest of the tool; linked with the real files.
size-objects := $(filter $(OBJ)/ctl/size/% $(OBJ)/ctl/catalogue/%,$(ctl-objects)) \
	$(addprefix $(OBJ)/ctl/base/,conf.o conf_dir.o fault.o text.o units.o)
DATA        ?= tests/data/sizing/measured.csv

$(BUILD)/size-%: $(OBJ)/tests/bench/size_%.o $(OBJ)/tests/bench/size_rows.o \
		$(OBJ)/tests/bench/size_regress.o $(OBJ)/tests/bench/size_widths.o \
		$(OBJ)/tests/bench/size_times.o $(size-objects) $(OBJ)/flags
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(ctl-libs)

bench-size: $(BUILD)/size-bench $(BUILD)/size-speed ## Estimates and rules of thumb against measured rows, DATA=FILE.csv
	@$(BUILD)/size-speed $(DATA) ctl/catalogue
	@$(BUILD)/size-bench $(DATA) ctl/catalogue

bench-terms: $(BUILD)/size-terms ## Estimates against what engines print of their memory, term by term, DATA=FILE.csv
	@$(BUILD)/size-terms $(DATA) ctl/catalogue

bench-models: $(BUILD)/size-models ## Models of DATA=FOLDER against their published counts, bytes and caches
	@$(BUILD)/size-models $(DATA) ctl/catalogue

bench-size-rate: $(BUILD)/size-rate ## Estimates a second, and how long headers of model files take
	@$(BUILD)/size-rate ctl/catalogue $(BUILD)

fit: $(BUILD)/size-fit $(BUILD)/size-speed ## Fit the engine profiles to DATA=FILE.csv, TERMS=FILE.csv; prints held-out errors
	@$(BUILD)/size-fit $(DATA) ctl/catalogue $(TERMS)
	@$(BUILD)/size-speed $(DATA) ctl/catalogue fit

# Its loops over tables of costs are worth it: a fifth of the time.
$(OBJ)/ctl/plan/%.o: CFLAGS += -O3

# The planner's part of the tool, timed from within.
$(BUILD)/plan-%: $(OBJ)/tests/bench/plan_%.o $(filter-out $(OBJ)/ctl/main.o,$(ctl-objects)) $(OBJ)/flags
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(ctl-libs)

bench-plan: deps gpuctl $(BUILD)/plan-time $(BUILD)/plan-forecast ## Plans against an exact solver, at scale, on traces; PARTS="replay" TRACES=FOLDER
	@tests/bench/plan/run $(PARTS)

day: deps ## A recorded day of demand by plan run on the simulator, against plan replay: MINUTES=1440 SPEED=60 (0: as fast as it goes) SEED=
	@tests/vm/long day $(or $(MINUTES),1440) $(or $(SPEED),60)

help: ## This list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  KERNEL=6.1|6.12|host (one kernel only)  prefix=/usr/local  DESTDIR=  CC=  CFLAGS=  WERROR="

deps: ## Install the Debian packages that are missing (tests/deps/packages)
	@tests/deps/install

# --- the tool --------------------------------------------------------------

gpuctl: $(BUILD)/gpuctl $(BUILD)/screen $(BUILD)/hub $(BUILD)/probe $(BUILD)/fabric-redfish $(BUILD)/fabric-liqid ## Build the tool: build/gpuctl, and programs for it

# Objects depend on how they are compiled as well as on what.
$(OBJ)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ',,$(CC) $(ctl-cflags) $(ctl-libs))' >$@.$$$$ && \
		{ cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@; }

$(BUILD)/gpuctl: $(ctl-objects) $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(ctl-objects) $(ctl-libs)

$(BUILD)/screen: $(screen-objects) $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(screen-objects) $(screen-libs)

$(OBJ)/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	@echo "  CC      $<"
	@$(CC) $(ctl-cflags) -MMD -MP -c -o $@ $<

$(BUILD)/hub: $(hub-objects) $(size-objects) $(OBJ)/ctl/base/replace.o $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(web-libs)

$(BUILD)/probe: $(probe-objects) $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(web-libs) -ldl

$(OBJ)/fm/page.o: fm/page.html
$(OBJ)/ctl/publish/manifest.o: ctl/publish/install.yaml

gpufabric-fm: $(BUILD)/gpufabric-fm $(BUILD)/sim-agent ## Build the fabric manager: build/gpufabric-fm, and the agent for simulators

$(BUILD)/gpufabric-fm: $(fm-objects) $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(fm-libs)

$(BUILD)/sim-agent: $(agent-objects) $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/fabric-redfish: $(redfish-objects) $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(web-libs)

$(BUILD)/fabric-liqid: $(liqid-objects) $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(web-libs)

slurm: $(slurm-programs) $(BUILD)/slurm/spank_gpufabric.so $(BUILD)/slurm/gpufabric.conf $(BUILD)/slurm/epilog-slurmctld ## Build what Slurm calls: build/slurm/ (needs libslurm-dev)

$(BUILD)/slurm/%: $(OBJ)/slurm/%.o $(addprefix $(OBJ)/slurm/,job.o gres.o over_time.o) $(slurm-parts) $(OBJ)/flags
	@mkdir -p $(@D)
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) -lslurm

$(BUILD)/slurm/gpufabric.conf: slurm/gpufabric.conf $(OBJ)/flags
	@mkdir -p $(@D)
	@sed 's#@programs@#$(libexecdir)/gpuctl/slurm#' $< >$@

$(BUILD)/slurm/epilog-slurmctld: slurm/epilog-slurmctld.sh $(OBJ)/flags
	@mkdir -p $(@D)
	@sed 's#@sbin@#$(sbindir)#' $< >$@

# Slurm's programs have functions of their own by whatever names.
$(OBJ)/shared/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	@echo "  CC      $< (shared)"
	@$(CC) $(ctl-cflags) -fPIC -fvisibility=hidden -MMD -MP -c -o $@ $<

# What it uses of Slurm is in the program that loads it.
$(BUILD)/slurm/spank_gpufabric.so: $(spank-objects) $(OBJ)/flags
	@mkdir -p $(@D)
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,--as-needed -o $@ $(filter %.o,$^) $(shell $(PKG_CONFIG) --libs json-c)

-include $(slurm-objects:.o=.d) $(spank-objects:.o=.d)

dra: $(BUILD)/gpufabric-dra ## Build the driver for Kubernetes: build/gpufabric-dra

$(BUILD)/dra/%.pb-c.c: dra/proto/%.proto
	@mkdir -p $(@D)
	@protoc-c -Idra/proto --c_out=$(@D) $<

$(BUILD)/dra/obj/%.o: %.c Makefile $(dra-messages)
	@mkdir -p $(@D)
	@echo "  CC      $<"
	@$(CC) $(dra-cflags) -MMD -MP -c -o $@ $<

$(BUILD)/dra/%.o: $(BUILD)/dra/%.c
	@$(CC) $(dra-cflags) -c -o $@ $<

$(BUILD)/gpufabric-dra: $(dra-objects)
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(dra-objects) $(dra-libs)

.SECONDARY: $(dra-messages)
$(BUILD)/bench/dra_empty: tests/bench/dra_empty.c $(BUILD)/dra/obj/dra/rpc.o $(BUILD)/dra/obj/dra/text.o
	@mkdir -p $(@D)
	@$(CC) $(dra-cflags) $(LDFLAGS) -o $@ $^ -lgrpc -lgpr -lpthread

storm-dra: deps ## Pods over a pool of eight GPUs while the driver for Kubernetes is killed: PODS=100 KILLS=10 SEED=
	@$(MAKE) -s -f tests/dra/dra.mk BUILD=$(BUILD)
	@tests/dra/storm.py $(or $(PODS),100) $(or $(KILLS),10) $(or $(SEED),1)

check-kubernetes: gpuctl dra ## The driver in a real cluster, of programs in the root file system KUBE: PODS=100 KILLS=10 CASES=
	@$(MAKE) -s -f tests/dra/dra.mk BUILD=$(BUILD) python
	@tests/dra/cluster $(KUBE) $(CASES) -p $(or $(PODS),100) -k $(or $(KILLS),10)

bench-dra: deps dra $(BUILD)/bench/dra_empty ## Memory and wake-ups of the idle driver for Kubernetes beside an empty gRPC server, SECONDS=60
	@$(MAKE) -s -f tests/dra/dra.mk BUILD=$(BUILD) python
	@tests/bench/dra.py $(or $(SECONDS),60)

-include $(dra-objects:.o=.d)
-include $(ctl-objects:.o=.d) $(screen-objects:.o=.d) $(hub-objects:.o=.d) $(probe-objects:.o=.d) $(redfish-objects:.o=.d) $(liqid-objects:.o=.d) $(fm-objects:.o=.d) $(agent-objects:.o=.d)

# Of another time than the module, by what tests/vm/skew/NAME.h changes in the files that say
# or send it; for the case skew.
skew-parts  := op/submit cmd/version module/nl module/nl_skew session/session

$(BUILD)/skew/%: tests/vm/skew/%.h $(ctl-objects) $(OBJ)/flags
	@mkdir -p $@.d
	@for part in $(skew-parts); do \
		$(CC) $(ctl-cflags) -include uapi/linux/gpufabric.h -include $< \
			-c -o $@.d/$${part#*/}.o ctl/$$part.c || exit; \
	done
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(patsubst %,$@.d/%.o,$(notdir $(skew-parts))) \
		$(filter-out $(skew-parts:%=$(OBJ)/ctl/%.o),$(ctl-objects)) $(ctl-libs)

# Keeps Slurm's licences true, on the machine of slurmctld; scontrol and gpuctl are programs to it.
sync-objects := $(addprefix $(OBJ)/,slurm/sync.o slurm/away.o ctl/base/fault.o ctl/base/program.o ctl/base/text.o)

slurm: $(BUILD)/gpufabric-slurm-sync

$(BUILD)/gpufabric-slurm-sync: $(sync-objects) $(OBJ)/flags
	@echo "  LD      $@"
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o,$^) $(shell $(PKG_CONFIG) --libs json-c libsystemd) -lm

# --- the modules -----------------------------------------------------------

modules: ## Build the modules for KERNEL: build/KERNEL/src/kmod/*.ko
	@tests/vm/build -k $(KERNEL)

kernels: ## Fetch Debian's 6.1 and 6.12 into the cache (nothing is installed)
	@tests/vm/kernel get

kernels-update: ## The same, replacing them when there are newer ones
	@tests/vm/kernel update

gen: ## Generate again what follows from the netlink spec and the catalogue
	@tests/gen

# --- tests -----------------------------------------------------------------

check: deps ## The tests that every change has to pass; ends with "N passed, N failed", figures in build/check.json
	@tests/check

check-long: deps ## The rest: all cases on every kernel and on the debug kernel; takes hours
	@tests/check -l

check-busy: deps ## Each case five times beside four busy loops, SLICE=1/6: does any depend on the machine's speed?
	@tests/busy $(or $(SLICE),1/6)

cache-clean: ## Remove kernels, disks and the like from ~/.cache/gpufabric
	@tests/cache-clean

check-unit: deps ## Pure logic and parsers, lint, generated files up to date
	@tests/check lint unit

check-vm: deps ## The modules on Debian's 6.1 and 6.12 in virtual machines
	@tests/check vm

check-debug: deps ## The same on a kernel with KASAN, lockdep and kmemleak; builds it first
	@tests/check debug

check-system: deps ## On a Debian 12 with systemd: packages, reboots, scopes; makes its disks first
	@tests/check system

check-rack: deps ## Two hosts and a fabric manager: virtual machines that take GPUs from each other
	@tests/check rack

check-packages: deps ## Build the Debian packages, look at them with lintian
	@tests/check packages

check-dkms: deps ## Real DKMS builds and installs, below build/
	@tests/check dkms

mutants: deps ## How many of 60 small mistakes in the module the tests notice; takes long
	@tests/mutants/run

check-matrix: deps ## Debian 6.1, 6.12 and the newest in backports, and clang; takes long
	@tests/matrix/run

check-fresh: deps ## The README's commands in a minimal Debian 12 made for it
	@tests/fresh/run

fuzz: deps ## Random input for every parser of the tool, FUZZ_SECONDS=600 in total
	@tests/fuzz/run

fuzz-netlink: deps ## Odd messages for the module on the kernel with KASAN, MESSAGES=1000000, SEED=
	@tests/vm/long fuzz -s $(or $(SEED),$(shell date +%s)) -n $(or $(MESSAGES),1000000)

storm: deps ## 64 clients, surprises, reloads: OPERATIONS=10000 RELOADS=100 CYCLES=10000
	@tests/vm/long storms $(or $(OPERATIONS),10000) $(or $(RELOADS),100) $(or $(CYCLES),10000)

# Runs programs in the hosts of a rack; without libraries it starts sooner there.
$(BUILD)/far: tests/rack/far.c
	@mkdir -p $(@D)
	@$(CC) $(CFLAGS) -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -static $(LDFLAGS) -o $@ $<

# gpuctl's code for pools without its module, whose requests it times.
$(BUILD)/rack-mover: $(OBJ)/tests/rack/mover.o $(filter-out $(OBJ)/ctl/main.o,$(ctl-objects)) $(OBJ)/flags
	@$(CC) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -Wl,--wrap=manager_ask -o $@ $(filter %.o,$^) $(ctl-libs)

storm-rack: deps gpuctl gpufabric-fm $(BUILD)/rack-mover ## GPUs move between 4 hosts; clients, hosts and manager are killed: MOVES=1000 SEED= LIMIT=3600
	@$(MAKE) -s -f tests/fm/fm.mk BUILD=$(BUILD) $(BUILD)/fm-test/sim-agent
	@tests/storm-rack $(or $(MOVES),1000) $(or $(SEED),1) $(or $(LIMIT),3600)

bench-manager: deps gpufabric-fm gpuctl ## A fabric manager of 16, 1,024 and 4,096 ports: binds, unbinds, and what is read
	@$(MAKE) -s -f tests/fm/fm.mk BUILD=$(BUILD) $(BUILD)/fm-test/sim-agent
	@folder=$$(mktemp -d) && { python3 tests/bench/manager.py "$$folder"; status=$$?; rm -rf "$$folder"; exit $$status; }

storm-slurm: deps ## Jobs of Slurm are cancelled, its daemons killed: JOBS=500 CANCELS=100 KILLS=20 SEED= PAIRS=50 LIMIT=14400
	@tests/system/long slurm-storm $(or $(JOBS),500) $(or $(CANCELS),100) $(or $(KILLS),20) $(or $(SEED),1) $(or $(PAIRS),50)

storm-jobs: deps slurm ## The same without a virtual machine, with a stand-in for gpuctl: JOBS=500 CANCELS=100 KILLS=20 SEED=
	@tests/slurm/storm.py $(or $(JOBS),500) $(or $(CANCELS),100) $(or $(KILLS),20) $(or $(SEED),1)

storm-links: deps ## Links that blink and buses that are reset, GPUs in use: BLINKS=1000 RESETS=200 SEED=
	@tests/vm/long links $(or $(BLINKS),1000) $(or $(RESETS),200) $(or $(SEED),1)

feasibility: deps ## Verdicts on TOPOLOGIES=1000 random switches against the kernel, SEED=
	@tests/vm/long feasibility $(or $(TOPOLOGIES),1000) $(or $(SEED),1)

coverage: deps ## Lines of the modules and of gpuctl that the tests run (builds a kernel first)
	@tests/coverage

lint: deps ## checkpatch, sparse, W=1, gcc and clang, shellcheck, cppcheck
	@tests/check lint

# --- installing ------------------------------------------------------------

# What is installed where, one FROM:TO:MODE for each file; uninstall reads it too.
to = $(foreach f,$(wildcard $(1)),$(f):$(2)/$(notdir $(f)):$(or $(3),644))
install-map = $(BUILD)/gpuctl:$(bindir)/gpuctl:755 \
	$(BUILD)/screen:$(libexecdir)/gpuctl/screen:755 \
	$(BUILD)/hub:$(libexecdir)/gpuctl/hub:755 \
	$(BUILD)/probe:$(libexecdir)/gpuctl/probe:755 \
	$(BUILD)/fabric-redfish:$(libexecdir)/gpuctl/fabric-redfish:755 \
	$(BUILD)/fabric-liqid:$(libexecdir)/gpuctl/fabric-liqid:755 \
	$(call to,ctl/catalogue/gpus.d/*.conf,$(datadir)/gpuctl/gpus.d) \
	$(call to,ctl/catalogue/models.d/*.conf,$(datadir)/gpuctl/models.d) \
	$(call to,ctl/catalogue/nodes.d/*.conf,$(datadir)/gpuctl/nodes.d) \
	$(call to,ctl/size/engines/*.conf,$(datadir)/gpuctl/engines.d) \
	$(call to,ctl/hooks/*,$(datadir)/gpuctl/hooks,755) \
	$(call to,ctl/man/*.4,$(mandir)/man4) \
	$(call to,ctl/man/*.5,$(mandir)/man5) \
	$(call to,ctl/man/*.8,$(mandir)/man8) \
	$(call to,ctl/completion/gpuctl,$(datadir)/bash-completion/completions) \
	$(call to,ctl/completion/_gpuctl,$(zshdir)) \
	$(call to,udev/*.rules,$(udevdir)/rules.d) \
	$(call to,udev/*.hwdb,$(udevdir)/hwdb.d) \
	$(call to,udev/*.service udev/*.timer udev/*.path udev/*.socket udev/*.target udev/*.slice,$(unitdir))

install: gpuctl install-files ## Install gpuctl and its files (DESTDIR, prefix)

install-files:
	@for entry in $(install-map); do \
		IFS=: read -r from to mode <<<"$$entry" && \
		install -D -m "$$mode" "$$from" "$(DESTDIR)$$to" || exit 1; \
	done
	@sed -i 's#@datadir@#$(datadir)#' $(patsubst ctl/hooks/%,"$(DESTDIR)$(datadir)/gpuctl/hooks/%",$(wildcard ctl/hooks/*))

uninstall: ## Remove what install, install-fm, install-slurm, install-dra, install-boot and install-dev put there; configuration stays
	@for entry in $(install-map) $(fm-map) $(slurm-map) $(dra-map); do \
		IFS=: read -r from to mode <<<"$$entry" && rm -f "$(DESTDIR)$$to" || exit 1; \
	done
	@rm -f "$(DESTDIR)$(loaddir)/gpufabric.conf" "$(DESTDIR)$(includedir)/linux/gpufabric.h" \
		"$(DESTDIR)$(datadir)/gpufabric/gpufabric.yaml"

# The fabric manager is a package of its own. A configuration that is there stays.
fm-map = $(BUILD)/gpufabric-fm:$(sbindir)/gpufabric-fm:755 \
	$(BUILD)/sim-agent:$(libexecdir)/gpufabric-fm/sim-agent:755 \
	$(call to,fm/man/*.8,$(mandir)/man8) \
	$(call to,fm/*.service,$(unitdir))

install-fm: gpufabric-fm ## Install the fabric manager and its files (DESTDIR, prefix)
	@for entry in $(fm-map); do \
		IFS=: read -r from to mode <<<"$$entry" && \
		install -D -m "$$mode" "$$from" "$(DESTDIR)$$to" || exit 1; \
	done
	@[ -e "$(DESTDIR)$(sysconfdir)/gpufabric-fm/fm.conf" ] || \
		install -D -m 644 fm/etc/fm.conf "$(DESTDIR)$(sysconfdir)/gpufabric-fm/fm.conf"

# What Slurm calls is a package of its own, too, since it belongs to one release of Slurm.
slurm-map = $(foreach program,$(slurm-programs),$(program):$(libexecdir)/gpuctl/slurm/$(notdir $(program)):755) \
	$(BUILD)/slurm/spank_gpufabric.so:$(slurmdir)/spank_gpufabric.so:644 \
	$(BUILD)/slurm/epilog-slurmctld:$(libexecdir)/gpuctl/slurm/epilog-slurmctld:755 \
	$(BUILD)/slurm/gpufabric.conf:$(unitdir)/slurmd.service.d/gpufabric.conf:644 \
	$(call to,slurm/man/*.8,$(mandir)/man8)

install-slurm: slurm ## Install Prolog, Epilog and the plugin for Slurm (DESTDIR, prefix)
	@for entry in $(slurm-map); do \
		IFS=: read -r from to mode <<<"$$entry" && \
		install -D -m "$$mode" "$$from" "$(DESTDIR)$$to" || exit 1; \
	done

# So is the driver for Kubernetes.
dra-map = $(BUILD)/gpufabric-dra:$(sbindir)/gpufabric-dra:755 \
	$(call to,dra/man/*.8,$(mandir)/man8)

install-dra: dra ## Install the driver for Kubernetes (DESTDIR, prefix)
	@for entry in $(dra-map); do \
		IFS=: read -r from to mode <<<"$$entry" && \
		install -D -m "$$mode" "$$from" "$(DESTDIR)$$to" || exit 1; \
	done

install-boot: ## Have the module gpufabric loaded at boot
	install -D -m 644 udev/gpufabric.modules-load "$(DESTDIR)$(loaddir)/gpufabric.conf"

install-dev: ## Install the netlink header and its YAML specification
	install -D -m 644 uapi/linux/gpufabric.h "$(DESTDIR)$(includedir)/linux/gpufabric.h"
	install -D -m 644 uapi/netlink/specs/gpufabric.yaml "$(DESTDIR)$(datadir)/gpufabric/gpufabric.yaml"

# What the machine of slurmctld has of that package: Slurm asks the script about each job.
slurm-map += slurm/job_submit.lua:$(datadir)/gpuctl/slurm/job_submit.lua:644 \
	$(BUILD)/gpufabric-slurm-sync:$(sbindir)/gpufabric-slurm-sync:755 \
	$(call to,slurm/*.service,$(unitdir))

# Each DKMS package has the shape of the checkout, less what it does not need.
# The module's own version is in its dkms.conf, which DKMS reads as it stands.
dkms-sources: ## Sources of both DKMS packages below DESTDIR/usr/src
	@for package in gpufabric gpufabric-sim; do \
		dir="$(DESTDIR)$(srcdir)/$$package-$(VERSION)"; \
		rm -rf "$$dir" && mkdir -p "$$dir/kmod" && \
		if [ $$package = gpufabric ]; then \
			cp -r dkms.conf VERSION COPYING uapi "$$dir/" && \
			tar -C kmod --exclude=./sim -cf - . | tar -C "$$dir/kmod" -xf -; \
		else \
			cp kmod/sim/dkms.conf "$$dir/" && cp VERSION COPYING "$$dir/" && \
			cp -r kmod/sim kmod/compat "$$dir/kmod/"; \
		fi || exit 1; \
	done

deb: deps ## Build Debian packages: build/deb/*.deb
	@debian/build

dkms-install: dkms-sources ## Build and install gpufabric for the running kernel by DKMS
	dkms install gpufabric/$(VERSION)

clean: ## Remove what was built; the cache stays
	rm -rf $(OBJ) $(BUILD)/gpuctl $(BUILD)/screen $(BUILD)/hub $(BUILD)/probe $(BUILD)/fabric-redfish $(BUILD)/fabric-liqid $(BUILD)/gpufabric-fm $(BUILD)/sim-agent $(BUILD)/slurm $(BUILD)/gpufabric-slurm-sync $(BUILD)/gpufabric-dra $(BUILD)/fm-test $(BUILD)/dra $(BUILD)/dra-test $(BUILD)/initramfs $(BUILD)/out $(BUILD)/results \
		$(BUILD)/unit $(BUILD)/fuzz $(BUILD)/check.json $(BUILD)/dkms $(KERNELS:%=$(BUILD)/%) $(BUILD)/host \
		$(BUILD)/deb $(BUILD)/debug-* $(BUILD)/gcov-* $(BUILD)/coverage $(BUILD)/coverage.json $(BUILD)/ynl \
		$(BUILD)/mutants $(BUILD)/failpoint $(BUILD)/netlink-fuzz $(BUILD)/terminal $(BUILD)/matrix $(BUILD)/newest

distclean: ## Remove build/ altogether
	rm -rf $(BUILD)

FORCE:
.PHONY: all day demo demo-rack help deps gpuctl gpufabric-fm dra install-fm slurm install-slurm install-dra modules kernels kernels-update gen check check-long check-busy cache-clean check-unit check-vm check-debug \
	check-system check-rack check-packages check-dkms check-matrix check-fresh mutants fuzz fuzz-netlink storm storm-links storm-rack storm-dra storm-slurm storm-jobs check-kubernetes feasibility coverage lint bench bench-size bench-plan \
	bench-manager bench-models bench-terms bench-size-rate bench-dra fit install uninstall install-files install-boot install-dev deb dkms-sources dkms-install \
	clean distclean FORCE
