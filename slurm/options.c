// SPDX-License-Identifier: GPL-2.0-only
/* Options of a workload: how they are called here, in gpuctl, and for the controller. */
#include <string.h>

#include <json-c/json.h>

#include "base/text.h"
#include "slurm/options.h"

#define VALUE_MAX 4096

const struct workload_name workload_names[WORKLOAD_OPTIONS] = {
	[WORKLOAD_MODEL] = { "gpufabric-model", "--model", "GPUFABRIC_MODEL", "MODEL",
			     "get GPUs for this model: a name of the catalogue, a folder, hf:OWNER/NAME" },
	[WORKLOAD_TASK] = { "gpufabric-task", "--task", "GPUFABRIC_TASK", "TASK",
			    "what it is for: infer (default), train, lora or qlora" },
	[WORKLOAD_ENGINE] = { "gpufabric-engine", "--engine", "GPUFABRIC_ENGINE", "NAME",
			      "engine that runs the model, such as vllm" },
	[WORKLOAD_PRECISION] = { "gpufabric-precision", "--precision", "GPUFABRIC_PRECISION",
				 "FORMAT", "format of the weights, such as bf16 or fp8" },
	[WORKLOAD_QUANT] = { "gpufabric-quant", "--quant", "GPUFABRIC_QUANT", "FORMAT",
			     "format of quantized weights, such as awq" },
	[WORKLOAD_CONTEXT] = { "gpufabric-context", "--context", "GPUFABRIC_CONTEXT", "TOKENS",
			       "length of a sequence in tokens" },
	[WORKLOAD_BATCH] = { "gpufabric-batch", "--batch", "GPUFABRIC_BATCH", "COUNT",
			     "sequences at a time" },
	[WORKLOAD_GPU] = { "gpufabric-gpu", "--gpu", "GPUFABRIC_GPU", "KIND",
			   "this kind of GPU and no other" },
};

bool workload_value_valid(const char *value)
{
	size_t i;

	for (i = 0; value[i]; i++)
		if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
			return false;
	/* gpuctl would take it for an option. */
	return i && i < VALUE_MAX && *value != '-';
}

bool workload_is_local(const char *model)
{
	return strchr(model, '/') || !strncmp(model, "hf:", 3) || *model == '.';
}

void workload_args(const char *const values[WORKLOAD_OPTIONS], const char *argv[WORKLOAD_ARGS_MAX])
{
	size_t n = 0, i;

	argv[n++] = "-j";
	argv[n++] = "size";
	for (i = 0; i < WORKLOAD_OPTIONS; i++)
		if (values[i]) {
			argv[n++] = workload_names[i].size;
			argv[n++] = values[i];
		}
	argv[n] = NULL;
}

char *workload_counts(const char *json)
{
	struct json_object *root = json_tokener_parse(json), *fits, *fit, *gpu, *count;
	struct text text = { 0 };
	size_t i, n = 0;

	if (root && json_object_object_get_ex(root, "fits", &fits) &&
	    json_object_is_type(fits, json_type_array))
		n = json_object_array_length(fits);
	for (i = 0; i < n; i++) {
		fit = json_object_array_get_idx(fits, i);
		if (!json_object_object_get_ex(fit, "gpu", &gpu) ||
		    !json_object_object_get_ex(fit, "gpus", &count) ||
		    json_object_get_int(count) < 1)
			continue;
		text_add(&text, "%s%s:%d", text.len ? "," : "", json_object_get_string(gpu),
			 json_object_get_int(count));
	}
	json_object_put(root);
	return text.text;
}
