// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: examples and exit codes of the manual
 *
 * Operands, options and texts of a page are the row of the table of commands.
 * A row here has what usage and help have no room for.
 */
#include <string.h>

#include "cmd/manual.h"

#define EXIT(code) (1u << (code))
/* What each command that asks the module can end with, and each that changes the fabric. */
#define LOOKS EXIT(CTL_NO_MODULE)
#define CHANGES (LOOKS | EXIT(CTL_DENIED) | EXIT(CTL_TIMEOUT))
#define REMOVES (CHANGES | EXIT(CTL_BUSY))

static const struct manual_example size_variables[] = {
	{ "HF_TOKEN",
	  "The token to ask with, for models that are private or gated" },
	{ "HF_TOKEN_PATH, HF_HOME",
	  "A file with the token, or the folder where it is called token; else it is\n"
	  "~/.cache/huggingface/token, where the Hub's own client keeps it. The file has to belong to\n"
	  "the user who runs gpuctl; gpuctl warns if others may read it" },
	{ "HF_ENDPOINT",
	  "Another Hub than https://huggingface.co. Without encryption only this machine is asked\n"
	  "(http://localhost)" },
	{ "HF_HUB_OFFLINE",
	  "1: nothing is asked, models come from the cache" },
	{ "XDG_CACHE_HOME",
	  "Where the cache is, in place of ~/.cache. A folder of another user is not taken, nor is\n"
	  "another user's HOME, as under sudo" },
	{ "SSL_CERT_FILE",
	  "Authorities to trust, in PEM, in place of those of the system" },
	{ "https_proxy, no_proxy",
	  "As curl(1) has them" },
	{ "GPUCTL_HUB_TIMEOUT",
	  "How long everything together may take, such as 15min (default 5min)" },
	{ NULL, NULL },
};

static const struct manual_section size_sections[] = {
	{ "THE HUGGING FACE HUB",
	  "hf:OWNER/NAME is a model of the Hub, hf:OWNER/NAME/FILE one file of it, such as one of several\n"
	  "GGUF files. @REVISION behind it is a branch, a tag or a commit; without it that is main.\n"
	  "What sizing reads is brought and nothing else: config files, the index, headers of weights. So\n"
	  "the numbers are those of the same folder on disk.\n\n"
	  "A program of its own, /usr/libexec/gpuctl/hub, asks by HTTPS. When gpuctl runs as root, the part\n"
	  "that speaks to the network runs as the user nobody. The program leaves a folder in\n"
	  "~/.cache/gpuctl/hub, where each file is as long as on the Hub but takes the room of its header.\n"
	  "The next run only asks which commit the revision is; if you name a commit that is in the\n"
	  "cache, nothing is asked. You may remove the cache at any time. The token is sent to the Hub, never\n"
	  "to a server that the Hub redirects to.",
	  NULL },
	{ "ENVIRONMENT",
	  "These variables are about the Hub:",
	  size_variables },
	{ NULL, NULL, NULL },
};

const struct manual manuals[] = {
	{ "list", LOOKS,
	  { { "gpuctl list", "All slots, then the compositions, then a summary" },
	    { "gpuctl list --free", "What a composition could have now" },
	    { "gpuctl list --pool", "And the GPUs of fabric managers, with who has them" },
	    { "gpuctl -j list | jq -r '.slots[] | select(.state == \"fault\") | .slot'",
	      "Names of the slots in fault" } },
	  "gpuctl-show(8) gpuctl-top(8)" },
	{ "show", LOOKS,
	  { { "gpuctl show 3-2", "Why a slot is in fault, and whether a GPU would fit" },
	    { "gpuctl show train70b", "The GPUs of a composition, its tenant and its lease" } },
	  "gpuctl-list(8) gpuctl-history(8)" },
	{ "doctor", 0,
	  { { "gpuctl doctor", "What this host lacks for hot-plug, and what to do about it" },
	    { "gpuctl -j doctor | jq -r '.findings[] | select(.parameter) | .parameter'",
	      "The kernel parameters that it asks for" },
	    { "gpuctl doctor --record /tmp/host", "A copy of what it reads, for somebody else" },
	    { "gpuctl doctor --sysfs /tmp/host --gpu h200-nvl",
	      "The same findings there, for another card" } },
	  "gpuctl-list(8)" },
	{ "topo", LOOKS,
	  { { "gpuctl topo", "The tree of switches" },
	    { "gpuctl topo --pairs", "Which GPUs reach each other's memory, and through what" },
	    { "gpuctl topo --svg fabric.svg", "A picture of it" } },
	  "gpuctl-compose(8)" },
	{ "scan", REMOVES,
	  { { "gpuctl scan", "Learn what sits in slots that nobody has looked into" },
	    { "gpuctl scan --all --keep", "Attach and read every GPU that no composition holds" } },
	  "gpuctl-list(8)" },
	{ "fabric", CHANGES | EXIT(CTL_NO_FIT) | EXIT(CTL_BUSY),
	  { { "gpuctl fabric", "GPUs of all fabric managers with the host that has each" },
	    { "gpuctl fabric bind h100:2", "Two H100 come to empty slots of this host" },
	    { "gpuctl fabric bind gpu7 --slot 3-2", "This one, to this slot" },
	    { "gpuctl -n fabric bind any:4", "Which ones that would be" },
	    { "gpuctl fabric unbind 3-2", "Give it back; its slot is off" } },
	  "gpuctl-attach(8) gpuctl-fabric(5)" },
	{ "attach", CHANGES | EXIT(CTL_NO_FIT) | EXIT(CTL_BUSY),
	  { { "gpuctl attach 3-2 3-3", "Both GPUs, or none" },
	    { "gpuctl -n attach 3-2", "What would be done" },
	    { "gpuctl attach 3-2 --timeout 90s --reason 'ticket 4711'",
	      "A patient attach that the history explains" },
	    { "gpuctl attach 3-2 --driver vfio-pci", "For a virtual machine" } },
	  "gpuctl-detach(8) gpuctl-fabric(5) gpuctl-hooks(5)" },
	{ "detach", REMOVES,
	  { { "gpuctl detach 3-2", "List who holds the GPU, or remove it" },
	    { "gpuctl detach 3-2 --wait 60s", "Announce it, and let agents let go for a minute" },
	    { "gpuctl detach --all --force", "Every GPU of every slot, before a shutdown" },
	    { "gpuctl detach 3-2 --signal TERM", "Ask the holders to end first" } },
	  "gpuctl-attach(8) gpuctl-fabric(5) gpuctl-hooks(5)" },
	{ "clear", CHANGES | EXIT(CTL_BUSY),
	  { { "gpuctl clear 3-2", "After the cause of a fault was removed" } },
	  "gpuctl-show(8)" },
	{ "locate", CHANGES,
	  { { "gpuctl locate 3-2", "Blink at the slot, for the technician in front of the rack" },
	    { "gpuctl locate --off 3-2", "When the card was found" } },
	  "gpuctl-show(8)" },
	{ "size", LOOKS | EXIT(CTL_NO_FIT) | EXIT(CTL_DENIED) | EXIT(CTL_TIMEOUT),
	  { { "gpuctl size llama-3.1-70b --context 8192 --batch 16",
	      "Memory of a model that is served, and the GPUs that hold it" },
	    { "gpuctl size ./Qwen2.5-7B --engine vllm --context 32K",
	      "A folder of Hugging Face; only headers are read" },
	    { "gpuctl size hf:Qwen/Qwen3-8B --engine vllm --gpu h100",
	      "A model of the Hub, without its weights" },
	    { "gpuctl size machines llama-3.1-8b --task train --tokens 1T --deadline 30d",
	      "Arrangements of GPUs that train it in a month" },
	    { "gpuctl size learn vllm.log llama-3.1-8b --engine vllm",
	      "Learn from what an engine logged here" } },
	  "gpuctl-compose(8) gpuctl-catalogue(5)", size_sections },
	{ "compose", REMOVES | EXIT(CTL_NO_FIT),
	  { { "gpuctl compose train70b --model llama-3.1-70b --task lora",
	      "As many GPUs as the workload needs" },
	    { "gpuctl compose four --gpu h100:4 --same-switch", "Four behind one switch" },
	    { "gpuctl compose night --gpus 4 --for 8h --tenant research",
	      "A lease, on a tenant's account" },
	    { "gpuctl -n compose big --memory 640G", "Only say which slots it would be" } },
	  "gpuctl-resize(8) gpuctl-release(8) gpuctl-tenants(5)" },
	{ "resize", REMOVES | EXIT(CTL_NO_FIT),
	  { { "gpuctl resize train70b --gpus +2", "Two more of the same kind" },
	    { "gpuctl resize train70b --remove 3-2 --gpus +1", "Replace one, all or nothing" },
	    { "gpuctl resize night --gpus -1 --for 4h",
	      "One less, and four more hours from now" } },
	  "gpuctl-compose(8) gpuctl-annotate(8)" },
	{ "annotate", LOOKS | EXIT(CTL_DENIED),
	  { { "gpuctl annotate night --for 4h", "Four more hours from now" },
	    { "gpuctl annotate night --no-lease", "For as long as it takes" } },
	  "gpuctl-compose(8) gpuctl-reap(8)" },
	{ "release", REMOVES,
	  { { "gpuctl release train70b", "Take all its GPUs back" },
	    { "gpuctl release train70b --keep", "Leave them attached, in the pool" },
	    { "gpuctl release train70b --wait 2min", "When nobody holds them any more" } },
	  "gpuctl-compose(8) gpuctl-reap(8)" },
	{ "plan", REMOVES | EXIT(CTL_NO_FIT),
	  { { "gpuctl plan solve rack.json", "Who has which GPUs when, its cost and its bound" },
	    { "gpuctl plan solve -j rack.json | jq .gap",
	      "How much another plan could save at most" },
	    { "gpuctl plan solve --costs from-stats rack.json",
	      "With what attaches and detaches took on this host" },
	    { "journalctl -o json -t gpufabric | gpuctl plan energy -",
	      "Energy of what this host's compositions had" },
	    { "gpuctl plan step -j demand.json demand/ | gpuctl plan apply -",
	      "Make the moves that are worth making now" },
	    { "gpuctl plan run demand.json demand/", "Do so every minute" } },
	  "gpuctl-plan(5) gpuctl-tenants(5)" },
	{ "reap", REMOVES,
	  { { "gpuctl -n reap", "What is over" },
	    { "gpuctl reap --wait 30s", "Take it back, as a timer does" } },
	  "gpuctl-release(8)" },
	{ "run", REMOVES | EXIT(CTL_NO_FIT),
	  { { "gpuctl run --model llama-3.1-70b --precision bf16 -- ./serve.sh",
	      "Compose, serve, and release on any exit" },
	    { "gpuctl run --gpus 2 --name test -- nvidia-smi", "A command that sees two GPUs" } },
	  "gpuctl-compose(8) gpuctl-reap(8)" },
	{ "save", LOOKS | EXIT(CTL_DENIED),
	  { { "gpuctl save", "Write the compositions down before a reboot" } },
	  "gpuctl-restore(8) gpuctl-saved(5)" },
	{ "restore", CHANGES | EXIT(CTL_BUSY) | EXIT(CTL_NO_FIT),
	  { { "gpuctl restore", "Make them again; GPUs that are attached stay as they are" },
	    { "gpuctl -n restore backup.json", "What a file would bring back" } },
	  "gpuctl-save(8) gpuctl-saved(5)" },
	{ "watch", LOOKS | EXIT(CTL_TIMEOUT),
	  { { "gpuctl watch", "Everything that happens" },
	    { "gpuctl watch until train70b active --timeout 5min", "Wait in a script" },
	    { "gpuctl -j watch --changes --kind slot-changed", "One JSON document a line" } },
	  "gpuctl-top(8) gpufabric(4)" },
	{ "top", LOOKS,
	  { { "gpuctl top", "A live screen; q ends it" },
	    { "gpuctl top --filter trouble --sort state", "Slots that want attention" },
	    { "gpuctl top | head", "Without a terminal: one snapshot" } },
	  "gpuctl-list(8) gpuctl-watch(8)" },
	{ "history", LOOKS,
	  { { "gpuctl history 3-2", "Who did what to a slot" },
	    { "gpuctl history --last 20", "The latest of all slots" } },
	  "gpuctl-show(8)" },
	{ "stats", LOOKS,
	  { { "gpuctl stats", "How long attaches and detaches take, by phase" } },
	  "gpuctl-metrics(8)" },
	{ "metrics", LOOKS,
	  { { "gpuctl metrics /var/lib/prometheus/node-exporter/gpufabric.prom",
	      "For Prometheus's node exporter" } },
	  "gpuctl-features(8) gpuctl-stats(8)" },
	{ "features", LOOKS,
	  { { "gpuctl features /etc/kubernetes/node-feature-discovery/features.d/gpufabric",
	      "Labels for Kubernetes' node feature discovery" } },
	  "gpuctl-metrics(8)" },
	{ "cdi", LOOKS,
	  { { "gpuctl cdi", "Describe compositions and GPUs for container runtimes" },
	    { "gpuctl cdi --remove train70b", "Before its GPUs are detached" },
	    { "podman run --device gpufabric.io/gpu=train70b IMAGE", "All its GPUs" } },
	  "gpuctl-nodes(8) podman-run(1)" },
	{ "nodes", LOOKS,
	  { { "gpuctl nodes", "Bring links below /dev/gpufabric and /dev/char up to date" },
	    { "gpuctl nodes --remove", "Remove them" } },
	  "gpuctl-cdi(8)" },
	{ "udev", 0,
	  { { "gpuctl udev /devices/virtual/gpufabric/slot3-2", "What a rule imports" } },
	  "udev(7)" },
	{ "tenants", LOOKS,
	  { { "gpuctl tenants", "Who holds how many GPUs, and of what guarantee and limit" } },
	  "gpuctl-tenants(5)" },
	{ "gpus", 0,
	  { { "gpuctl gpus --cards", "Products that a slot can take" },
	    { "gpuctl gpus h100", "All that is known of those called so" } },
	  "gpuctl-catalogue(5)" },
	{ "models", 0,
	  { { "gpuctl models llama", "Models called so" } },
	  "gpuctl-size(8) gpuctl-catalogue(5)" },
	{ "version", 0,
	  { { "gpuctl -j version", "Versions, for a bug report" } }, NULL },
	{ "help", 0,
	  { { "gpuctl help compose", "Usage and options of a command" } }, NULL },
	{ NULL, 0, { { NULL, NULL } }, NULL },
};

const struct manual *manual_of(const struct ctl_command *command)
{
	const struct manual *m;

	for (m = manuals; m->command; m++)
		if (!strcmp(m->command, command->name))
			return m;
	return NULL;
}
