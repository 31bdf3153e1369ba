-- SPDX-License-Identifier: GPL-2.0-only
--
-- job_submit.lua: each job that asks Slurm for GPUs of the pool takes as many licences gf_KIND, or
-- is refused with the reason. The gres of a node are its slots, a constant; the licences are the
-- GPUs of the whole pool. The number of licences has to be known when the job is submitted, so a
-- number of nodes that Slurm would choose is fixed, and a range of nodes is refused.
--
-- Kinds, slots and nodes are read from slurm.conf: that of SLURM_CONF, else next to this file or in
-- /etc/slurm. Limits are those of gpuctl-tenants(5), where a tenant is an account. slurmctld waits
-- while this runs. It starts gpuctl size for a model of the catalogue, for one second at most, and
-- cat for the files of tenants, every five seconds at most. Lua 5.1 and later.
--
-- A site with a job_submit.lua of its own has dofile() read this one, and calls
-- gpufabric.submit() and gpufabric.modify() in its functions.

gpufabric = {}

local LICENCE = "gf_"
local NO_VAL, NO_VAL16, INFINITE16 = 4294967294, 65534, 65535
local WHOLE = "gpufabric:whole-nodes" -- in AdminComment, which is no user's to change
local WORD = "^%w[%w._+-]*$"
local WORD_MAX = 64
local RANGE_MAX, TYPED_MAX = 65536, 4096
local SIZE_LIMIT = tonumber(os.getenv("GPUFABRIC_SIZE_LIMIT") or 1) -- seconds

local gpuctl = os.getenv("GPUCTL") or "gpuctl"
local beside = (os.getenv("SLURM_CONF") or debug.getinfo(1, "S").source):match("^@?(.*)/[^/]*$") or "."
local folder -- of slurm.conf
local tenants_folder = os.getenv("GPUCTL_CONFIG_DIR") or "/etc/gpuctl"

-- A reason to refuse, for the user, with what Slurm's own message is to be.
local function refuse(code, fmt, ...)
	error({ code = code, text = fmt:format(...) }, 0)
end

-- What a number of Slurm says, nil for nothing.
local function known(value)
	return value ~= NO_VAL and value ~= NO_VAL + 1 and value or nil
end

local function known16(value)
	return value ~= NO_VAL16 and value ~= INFINITE16 and known(value) or nil
end

local function filled(text) return text ~= "" and text or nil end

-- The kinds of a table of counts, sorted: messages and licences are the same each time.
local function kinds_of(...)
	local seen, list = {}, {}
	for _, counts in ipairs({ ... }) do
		for kind in pairs(counts) do
			if not seen[kind] then
				seen[kind] = true
				list[#list + 1] = kind
			end
		end
	end
	table.sort(list)
	return list
end

-- "n[1-3,07],m" as a set of names and their number; nil where it is no such list, or one of more than @most.
local function hosts(text, most)
	local set, n, made, depth, first, fine = {}, 0, 0, 0, 1, true
	local function expand(item)
		local before, ranges, after = item:match("^([^%[%]]*)%[([%d,%-]+)%](.*)$")
		if not before then
			made = made + 1
			n = n + (set[item] and 0 or 1)
			set[item] = true
			return item ~= "" and not item:find("[%[%]]") and made <= most
		end
		for range in ranges:gmatch("[^,]+") do
			local low, high = range:match("^(%d+)%-(%d+)$")
			low = low or range:match("^%d+$")
			high = high or low
			if not low or tonumber(high) - tonumber(low) >= most then
				return false
			end
			for i = tonumber(low), tonumber(high) do
				if not expand(before .. ("%0" .. #low .. "d"):format(i) .. after) then
					return false
				end
			end
		end
		return true
	end
	-- Commas within brackets part no names.
	for at, sign in (text .. ","):gmatch("()([%[%],])") do
		depth = depth + (sign == "[" and 1 or sign == "]" and -1 or 0)
		if sign == "," and depth == 0 then
			fine = fine and expand(text:sub(first, at - 1))
			first = at + 1
		end
	end
	if fine and depth == 0 then
		return set, n
	end
end

-- Those that a user has typed. slurmctld waits, so it is no long list; nil for none.
local function typed_hosts(option, text)
	local set, n
	if filled(text) then
		set, n = hosts(text:sub(1, TYPED_MAX), TYPED_MAX)
		if not set or #text > TYPED_MAX then
			refuse(slurm.ESLURM_INVALID_NODE_COUNT, "%s is not a list of nodes, or is too long", option)
		end
	end
	return set, n
end

-- --- slurm.conf -------------------------------------------------------------

local function read_file(path)
	local file = io.open(path)
	local text = file and file:read("*a")
	return file and file:close() and text
end

-- The lines of slurm.conf and of what it includes, as tables of keys in lower case.
local function conf_lines(text, list, depth)
	text = text:gsub("\\\r?\n", " ")
	for line in text:gmatch("[^\r\n]+") do
		local pairs_of = {}
		local include
		line = (" " .. line):gsub("([^\\])#.*", "%1")
		include = line:match("^%s*[Ii][Nn][Cc][Ll][Uu][Dd][Ee]%s+(%S+)")
		if include then
			include = include:sub(1, 1) == "/" and include or folder .. "/" .. include
			if depth < 8 then
				conf_lines(read_file(include) or "", list, depth + 1)
			end
		end
		for key, value in line:gmatch("([%w_]+)%s*=%s*(%S+)") do
			pairs_of[key:lower()] = value:gsub('^"(.*)"$', "%1")
		end
		list[#list + 1] = pairs_of
	end
	return list
end

-- "gpu:h100:4(S:0-1)" or "gpu:h100:4": a kind, "" for none, and a count; nil for other resources.
local function gres_item(item)
	local words = {}
	item = item:gsub("%s", ""):gsub("%(.*", ""):gsub("^gres[:/]", "")
	for word in (item .. ":"):gmatch("([^:=]*)[:=]") do
		words[#words + 1] = word
	end
	if words[1] ~= "gpu" then
		return nil
	end

	local digits, suffix = (words[#words]):match("^(%d+)([kKmM]?)$")
	local count = digits and #digits < 10 and tonumber(digits) * ({ [""] = 1, k = 1024, m = 1048576 })[suffix:lower()]
	if #words == 1 or #words == 2 and words[2] ~= "" then
		return count and "" or words[2] or "", count or 1
	elseif #words == 3 and words[2] ~= "" and count then
		return words[2], count
	end
	refuse(slurm.ERROR, "%s: GPUs are asked for as gpu:KIND:COUNT", item)
end

-- A list of resources as counts by kind. Of a kind that is named twice the last count holds, as in Slurm.
local function gpus_of(text)
	local counts = {}
	for item in (text or ""):gmatch("[^,]+") do
		local kind, count = gres_item(item)
		if kind and count > 0 then
			counts[kind] = count
		end
	end
	return counts
end

-- Licences as a list of names with counts, in their order.
local function licences_of(text)
	local list = {}
	for item in (text or ""):gmatch("[^,;]+") do
		local name, count = item:match("^%s*([^:]+):?(%d*)%s*$")
		list[#list + 1] = { text = item, name = name or item, count = tonumber(count) or 1 }
	end
	return list
end

local conf, conf_text

--[[
The configuration: pool[KIND] is the number of licences, order lists the kinds, slots[KIND] is what the
largest node takes, other[KIND] are kinds that no pool has, nodes[NAME] are nodes with slots.
]]
local function configuration()
	local text, lines, found, fallback
	for _, place in ipairs({ beside, "/etc/slurm" }) do
		folder = place
		text = read_file(place .. "/slurm.conf")
		if text then
			break
		end
	end
	if not text then
		refuse(slurm.ERROR, "%s/slurm.conf cannot be read", folder)
	end
	if conf and text == conf_text and not text:lower():find("include", 1, true) then
		return conf
	end
	lines = conf_lines(text, {}, 0)
	found = { pool = {}, order = {}, slots = {}, other = {}, nodes = {} }
	for _, line in ipairs(lines) do
		for _, licence in ipairs(licences_of(line.licenses)) do
			local kind = licence.name:match("^" .. LICENCE .. "([^@]+)$")
			if kind and not found.pool[kind] then
				found.order[#found.order + 1] = kind
			end
			if kind then
				found.pool[kind] = licence.count
			end
		end
	end
	for _, line in ipairs(lines) do
		local gres = line.gres
		if line.nodename and line.nodename:upper() == "DEFAULT" then
			fallback = gres or fallback
		elseif line.nodename then
			for kind, count in pairs(gpus_of(gres or fallback)) do
				if found.pool[kind] then
					found.slots[kind] = math.max(found.slots[kind] or 0, count)
					for name in pairs(hosts(line.nodename, RANGE_MAX) or {}) do
						found.nodes[name] = true
					end
				else
					found.other[kind] = true
				end
			end
		end
	end
	conf, conf_text = found, text
	return conf
end

-- --- tenants ----------------------------------------------------------------

local tenants, tenants_at

-- The limits of tenants.d by name; false for a tenant without one. Empty where none is described.
local function limits()
	local found, defaults, section = {}, false, nil
	local pipe
	if tenants and os.time() - tenants_at < 5 then
		return tenants
	end
	-- Nothing of a job is in it. [] begins a file, for which [defaults] of another one say nothing.
	pipe = io.popen("for f in '" .. tenants_folder .. "'/tenants.d/*.conf; do echo '[]'; cat \"$f\"; echo; done 2>/dev/null")
	for line in pipe:lines() do
		local name = line:match("^%s*%[%s*([%w_.-]*)%s*%]")
		local limit = line:match("^%s*limit%s*=%s*(%d+)")
		if name then
			section = name
			if name == "" then
				defaults = false
			elseif name ~= "defaults" then
				found[name] = defaults
			end
		elseif limit and section == "defaults" then
			defaults = tonumber(limit)
		elseif limit and section then
			found[section] = tonumber(limit)
		end
	end
	pipe:close()
	tenants, tenants_at = found, os.time()
	return found
end

local het_account, het_gpus

-- A job that is larger than its tenant's limit would be requeued for ever.
local function check_tenant(job, licences)
	local of, gpus = limits(), 0
	local tenant = job.account or ""
	local limit
	-- As the Prolog calls it.
	if #tenant > 63 or not tenant:match("^%a[%w_.-]*$") then
		tenant = ("uid-%d"):format(job.user_id or 0)
	end
	limit = of[tenant]
	for _, count in pairs(licences) do
		gpus = gpus + count
	end
	-- The first component of a heterogeneous job, or a job of its own: what came before is another's.
	if (known(job.het_offset) or 0) == 0 then het_account = nil end
	if gpus == 0 or not next(of) then return end
	if limit == nil then
		refuse(slurm.ESLURM_ACCOUNTING_POLICY, "%s is not a tenant of the pool: give --account",
			job.account and "account " .. job.account or "a job without an account")
	end
	-- Components of a heterogeneous job come one after the other, and run together.
	if known(job.het_offset) and job.het_offset > 0 and het_account == tenant then
		gpus = gpus + het_gpus
	end
	het_account, het_gpus = tenant, gpus
	if limit and gpus > limit then
		refuse(slurm.ESLURM_ACCOUNTING_POLICY, "%d GPUs, and %s may have %d", gpus, tenant, limit)
	end
end

-- --- how many ---------------------------------------------------------------

-- Untyped GPUs are of the only kind that there is.
local function name_kinds(counts, kinds)
	local named = {}
	for kind, count in pairs(counts) do
		if kind == "" then
			if #kinds.order > 1 or #kinds.order == 1 and next(kinds.other) then
				refuse(slurm.ERROR, "say which GPUs: gpu:KIND:COUNT, where KIND is one of: %s",
					table.concat(kinds_of(kinds.pool, kinds.other), " "))
			end
			kind = kinds.order[1] or kind
		elseif not kinds.pool[kind] and not kinds.other[kind] then
			refuse(slurm.ERROR, "no GPU is called %s here: %s", kind,
				table.concat(kinds_of(kinds.pool, kinds.other), " "))
		end
		if kinds.pool[kind] then
			named[kind] = (named[kind] or 0) + count
		end
	end
	return named
end

-- The number of nodes that gres of each node are multiplied by. What Slurm would choose is fixed.
local function nodes_of(job)
	local least, most = known(job.min_nodes), known(job.max_nodes)
	local _, listed = typed_hosts("--nodelist", job.req_nodes)
	if most == 0 then
		most = nil
	end
	if least and most and most > least then
		refuse(slurm.ESLURM_INVALID_NODE_COUNT,
			"%d to %d nodes: say one number (-N %d), GPUs of each node are counted now; or ask for a total with --gpus",
			least, most, least)
	end
	if not least and known(job.num_tasks) and (known16(job.ntasks_per_node) or 0) > 0 then
		least = math.ceil(job.num_tasks / job.ntasks_per_node)
	end
	return math.max(least or 1, listed or 0, job.part_min or 1, 1)
end

local function tasks_of(job, kind)
	local least, most = known(job.min_nodes), known(job.max_nodes)
	if known(job.num_tasks) then
		return math.max(job.num_tasks, 1)
	end
	-- As Slurm itself takes it.
	if least and least == most then
		if known16(job.ntasks_per_gpu) then
			return least * job.ntasks_per_gpu
		elseif known16(job.ntasks_per_node) then
			return least * job.ntasks_per_node
		elseif not known16(job.cpus_per_task) then
			return least
		end
	end
	-- A job that waits does not tell its tasks, but its licences do.
	if job.was_per_task and (job.was_per_task[kind] or 0) > 0 and (job.was_licences[kind] or 0) > 0 and
		job.was_licences[kind] % job.was_per_task[kind] == 0 then
		return job.was_licences[kind] / job.was_per_task[kind]
	end
	refuse(slurm.ERROR, "say the number of tasks (-n COUNT): GPUs of each task are counted now")
end

-- Gres that a rewritten job has: "gres:" or, in later releases of Slurm, "gres/".
-- With what is no GPU in the text that it replaces.
local function gres_text(job, counts, text)
	local items = {}
	for item in (text or ""):gmatch("[^,]+") do
		items[#items + 1] = not gres_item(item) and item or nil
	end
	for _, kind in ipairs(kinds_of(counts)) do
		items[#items + 1] = ("%sgpu:%s:%d"):format(job.prefix, kind, counts[kind])
	end
	return table.concat(items, ",")
end

--[[
The licences of a job by kind, and what is to be changed in it so that this is what it gets. Of a kind that
several options name Slurm gives no more than the widest says: of the job, of nodes, of tasks, of sockets.
]]
local function count_gpus(job, kinds)
	local per_job = name_kinds(gpus_of(job.per_job), kinds)
	local per_node = name_kinds(gpus_of(job.per_node), kinds)
	local per_task = name_kinds(gpus_of(job.per_task), kinds)
	local per_socket = name_kinds(gpus_of(job.per_socket), kinds)
	local licences, change = {}, {}
	local fix_nodes = false
	-- Slurm makes GPUs of tasks where nothing else asks for them.
	if #kinds_of(per_job, per_node, per_task, per_socket) == 0 and #kinds.order > 0 and
		(known16(job.ntasks_per_gpu) or 0) > 0 and not filled(job.per_node) and not filled(job.per_job) then
		local n = math.floor(tasks_of(job, "") / job.ntasks_per_gpu)
		per_job = name_kinds({ [""] = n }, kinds)
		change.tres_per_job = gres_text(job, per_job)
	end
	for _, kind in ipairs(kinds_of(per_job, per_node, per_task, per_socket)) do
		if per_job[kind] then
			licences[kind] = per_job[kind]
		elseif per_node[kind] then
			licences[kind] = per_node[kind] * nodes_of(job)
			fix_nodes = true
		elseif per_task[kind] then
			licences[kind] = per_task[kind] * tasks_of(job, kind)
		else
			local sockets = known16(job.sockets_per_node)
			if not sockets then
				refuse(slurm.ERROR, "say --sockets-per-node: GPUs of each socket are counted now")
			end
			per_node[kind] = per_socket[kind] * sockets
			licences[kind] = per_node[kind] * nodes_of(job)
			fix_nodes = true
		end
	end
	-- Slots belong to no socket, so it is GPUs of the node that such a job gets.
	if next(per_socket) and fix_nodes then
		change.tres_per_node = gres_text(job, per_node, job.per_node)
		change.tres_per_socket = gres_text(job, {}, job.per_socket)
	end
	if fix_nodes then
		change.nodes = nodes_of(job)
	end
	for _, kind in ipairs(kinds_of(licences)) do
		if licences[kind] > kinds.pool[kind] then
			refuse(slurm.ESLURM_INVALID_LICENSES, "%d %s, and the pool has %d", licences[kind], kind, kinds.pool[kind])
		elseif (per_node[kind] or 0) > (kinds.slots[kind] or 0) then
			refuse(slurm.ERROR, "%d %s on a node, and no node has more than %d slots for them", per_node[kind], kind,
				kinds.slots[kind] or 0)
		end
	end
	return licences, change
end

-- A whole node has all its slots as gres, whatever the job asks for, and their number is not known now.
local function check_whole_nodes(job, kinds)
	if not job.whole or not next(kinds.nodes) then
		return
	end
	local required, n = typed_hosts("--nodelist", job.req_nodes)
	local excluded = typed_hosts("--exclude", job.exc_nodes) or {}
	local partition = job.part_nodes and hosts(job.part_nodes, RANGE_MAX)
	local may = false
	if required and n == nodes_of(job) then
		for name in pairs(required) do
			may = may or kinds.nodes[name]
		end
	else
		for name in pairs(kinds.nodes) do
			may = may or ((not partition or partition[name]) and not excluded[name])
		end
	end
	if may then
		refuse(slurm.ERROR, "whole nodes (--exclusive) would take all slots of a node: leave it out, or exclude nodes with slots (-x)")
	end
end

-- The user's own licences, and ours. Those of the pool are nobody's to type.
local function licence_text(text, licences)
	local list, forged = {}, {}
	for _, licence in ipairs(licences_of(text)) do
		if licence.name:sub(1, #LICENCE) == LICENCE then
			forged[licence.name:sub(#LICENCE + 1)] = (forged[licence.name:sub(#LICENCE + 1)] or 0) + licence.count
		else
			list[#list + 1] = licence.text
		end
	end
	for _, kind in ipairs(kinds_of(licences)) do
		list[#list + 1] = ("%s%s:%d"):format(LICENCE, kind, licences[kind])
	end
	return table.concat(list, ","), forged
end

-- --- models -----------------------------------------------------------------

local OPTIONS = { "task", "engine", "precision", "quant", "context", "batch" }

-- GPUFABRIC_NAME=VALUE of the SPANK plugin, by name in lower case.
local function plugin_options(desc)
	local found = {}
	for _, item in pairs(desc.spank_job_env or {}) do
		local name, value = item:match("^[%w_]-GPUFABRIC_([%u_]+)=(.*)$")
		if name and value ~= "" then
			found[name:lower()] = value
		end
	end
	return found
end

-- Letters, digits and a few signs: nothing that a shell or gpuctl could read as anything else.
local function word(name, value)
	if #value > WORD_MAX or not value:match(WORD) then
		refuse(slurm.ERROR, "--gpufabric-%s: %s", name, name == "model" and
			"only names of the catalogue (gpuctl models) are sized here" or
			"letters, digits, and . _ + - make such a value")
	end
	return value
end

-- What gpuctl prints, and its exit status.
local function run_size(arguments)
	local command = ("cd / && timeout -s KILL %d %s -j size %s 2>&1; printf '\\nexit=%%d\\n' $?"):format(SIZE_LIMIT,
		gpuctl, arguments)
	local pipe, text, status
	pipe = io.popen(command)
	text = pipe:read("*a")
	pipe:close()
	text, status = text:match("^(.*)\nexit=(%d+)\n$")
	return text or "", tonumber(status or 1)
end

--[[
Counts of a kind that hold the model. The pool's kind is a word such as h100, of which the catalogue may have
several: the one that needs most is enough for all that fit a slot.
]]
local function fits_of(list, kind)
	local most, as
	for _, slots_only in ipairs({ true, false }) do
		for _, fit in ipairs(list) do
			if (fit.gpu == kind or fit.gpu:sub(1, #kind + 1) == kind .. "-") and (fit.hot_plug or not slots_only) and
				fit.count > (most or 0) then
				most, as = fit.count, fit.gpu
			end
		end
		if most then
			break
		end
	end
	return most, as
end

-- "h100-pcie-80:3,l40s:4", as the plugin counted on the submitting host.
local function counted_there(text)
	local list = {}
	for item in text:gmatch("[^,]+") do
		local gpu, count = item:match("^([%w._-]+):(%d+)$")
		if not gpu or tonumber(count) == 0 then
			refuse(slurm.ERROR, "the plugin of the submitting host says %s, which is not a list of KIND:COUNT", text:sub(1, 80))
		end
		list[#list + 1] = { gpu = gpu, count = tonumber(count), hot_plug = true }
	end
	return list
end

local function counted_here(options)
	local arguments = { "'" .. word("model", options.model) .. "' -a" }
	local list, text, status = {}, nil, nil
	for _, option in ipairs(OPTIONS) do
		if options[option] then
			arguments[#arguments + 1] = ("--%s '%s'"):format(option, word(option, options[option]))
		end
	end
	text, status = run_size(table.concat(arguments, " "))
	if status == 137 or status == 124 then
		refuse(slurm.ERROR, "%s could not be sized within %d s: say --gres=gpu:KIND:COUNT", options.model, SIZE_LIMIT)
	elseif status ~= 0 then
		refuse(slurm.ERROR, "%s", (text:gsub("^gpuctl: ", ""):gsub("%s+$", ""):gsub("\n.*", "")))
	end
	if (text:match('"model": "([^"]*)"') or ""):lower() ~= options.model:lower() then
		refuse(slurm.ERROR, "%s is not a model of the catalogue (gpuctl models)", options.model)
	end
	for fit in (text:match('"fits": (%b[])') or ""):gmatch("%b{}") do
		local count = tonumber(fit:match('"gpus": (%d+)'))
		if count and count > 0 then
			list[#list + 1] = { gpu = fit:match('"gpu": "([^"]*)"') or "", count = count,
				hot_plug = fit:match('"hot_plug": (%a+)') == "true" }
		end
	end
	return list, tonumber(text:match('"p95_bytes": (%d+)') or 0)
end

-- A model instead of a number of GPUs: asks for them in the job. Returns the line that says how.
local function size_model(desc, job, kinds)
	local options = plugin_options(desc)
	local best, list, bytes, line
	if not options.model and not options.fits then return end
	if #kinds_of(gpus_of(job.per_job), gpus_of(job.per_node), gpus_of(job.per_task), gpus_of(job.per_socket)) > 0 then
		refuse(slurm.ERROR, "a model and a number of GPUs: say one of them")
	end
	if options.fits then
		list = counted_there(options.fits)
	else
		list, bytes = counted_here(options)
	end
	for _, kind in ipairs(kinds.order) do
		local count, as = fits_of(list, kind)
		if count and (not options.gpu or (options.gpu .. "-"):sub(1, #kind + 1) == kind .. "-") and count <= kinds.pool[kind] and
			(not best or count < best.count) then
			best = { kind = kind, count = count, as = as }
		end
	end
	if not best then
		refuse(slurm.ERROR, "%s does not fit on what the pool has%s", options.model or "the model",
			options.gpu and " of " .. options.gpu:gsub("[^%w._-]", "?") or "")
	end
	-- On one node if one is large enough, and as the user spreads it else.
	if best.count <= (kinds.slots[best.kind] or 0) and (known(job.min_nodes) or 1) <= 1 then
		job.per_node = gres_text(job, { [best.kind] = best.count }, job.per_node)
		desc.tres_per_node = job.per_node
	else
		job.per_job = gres_text(job, { [best.kind] = best.count }, job.per_job)
		desc.tres_per_job = job.per_job
	end
	line = ("%s (%s) needs "):format(options.model or "the model", options.task or "infer")
	if bytes and bytes > 0 then
		line = line .. ("%.1f GiB: "):format(bytes / 1073741824)
	end
	return line .. ("%d %s%s"):format(best.count, best.kind, best.as ~= best.kind and ", counted as " .. best.as or "")
end

-- --- what Slurm calls -------------------------------------------------------

-- Which word precedes gres in this release.
local function gres_prefix(desc)
	local all = table.concat({ desc.tres_per_node or "", desc.tres_per_job or "", desc.tres_per_task or "" })
	return all:find("gres/", 1, true) and "gres/" or "gres:"
end

-- The least number of nodes that the job's partitions give, their nodes, and whether they give whole ones.
local function partitions_of(names, list)
	local least, nodes, whole = 1, nil, false
	for name, part in pairs(list or {}) do
		local asked = not filled(names) and part.flag_default == 1
		for item in (names or ""):gmatch("[^,]+") do
			asked = asked or item == name
		end
		if asked then
			least = math.max(least, known(part.min_nodes) or 1)
			whole = whole or part.max_share == 0
			if filled(part.nodes) then
				nodes = (nodes and nodes .. "," or "") .. part.nodes
			end
		end
	end
	return least, nodes, whole
end

local function asks_whole_nodes(desc)
	return desc.shared == (slurm.JOB_SHARED_NONE or 0)
end

local function job_of(desc, part_list)
	local job = {
		per_node = desc.tres_per_node, per_job = desc.tres_per_job, per_task = desc.tres_per_task,
		per_socket = desc.tres_per_socket, min_nodes = desc.min_nodes, max_nodes = desc.max_nodes,
		num_tasks = desc.num_tasks, ntasks_per_node = desc.ntasks_per_node, ntasks_per_gpu = desc.ntasks_per_gpu,
		cpus_per_task = desc.cpus_per_task, sockets_per_node = desc.sockets_per_node, req_nodes = desc.req_nodes,
		exc_nodes = desc.exc_nodes, account = filled(desc.account) or filled(desc.default_account),
		user_id = desc.user_id, het_offset = desc.het_job_offset, prefix = gres_prefix(desc),
	}
	local whole
	job.most_nodes = known(job.max_nodes)
	job.part_min, job.part_nodes, whole = partitions_of(desc.partition, part_list)
	job.whole = whole or asks_whole_nodes(desc)
	return job
end

-- Writes what count_gpus() found into the request.
local function apply(desc, job, change)
	for _, field in ipairs({ "tres_per_node", "tres_per_socket", "tres_per_job" }) do
		if change[field] then
			desc[field] = change[field]
		end
	end
	if change.nodes and (known(job.min_nodes) ~= change.nodes or job.most_nodes ~= change.nodes) then
		desc.min_nodes, desc.max_nodes = change.nodes, change.nodes
		return true
	end
end

local function submit(desc, part_list)
	local kinds = configuration()
	local job = job_of(desc, part_list)
	local line = size_model(desc, job, kinds)
	local licences, change = count_gpus(job, kinds)
	local asked, text, forged
	check_whole_nodes(job, kinds)
	check_tenant(job, licences)
	-- What Slurm says of a job that waits has not whether it is to have whole nodes.
	if asks_whole_nodes(desc) then
		desc.admin_comment = (filled(desc.admin_comment) and desc.admin_comment .. "; " or "") .. WHOLE
	end
	text, forged = licence_text(desc.licenses, licences)
	if line then
		slurm.log_user("%s", "gpufabric: " .. line)
	end
	asked = known(job.min_nodes)
	if apply(desc, job, change) and asked ~= change.nodes and (change.nodes > 1 or (known(job.num_tasks) or 1) > 1) then
		slurm.log_user("%s", ("gpufabric: GPUs of each node, and no number of nodes: %d node%s"):format(change.nodes,
			change.nodes == 1 and "" or "s"))
	end
	for _, kind in ipairs(kinds_of(forged)) do
		if forged[kind] ~= licences[kind] then
			slurm.log_user("%s", ("gpufabric: licences %s%s follow from the GPUs that a job asks for: %d"):format(LICENCE, kind,
				licences[kind] or 0))
		end
	end
	if text ~= (desc.licenses or "") then
		desc.licenses = text
	end
end

-- One field of a job that is changed: what is new, else what it has.
local function text_either(new, old)
	if new == nil then
		return old
	end
	return filled(new)
end

local function changes_nodes(desc)
	return desc.req_nodes or desc.exc_nodes or known(desc.min_nodes) or known(desc.max_nodes) or desc.partition or
		asks_whole_nodes(desc)
end

local function changes_gpus(desc)
	return desc.tres_per_node or desc.tres_per_job or desc.tres_per_task or desc.tres_per_socket or desc.licenses or
		known(desc.num_tasks) or filled(desc.account) or changes_nodes(desc)
end

local function modify(desc, record, part_list, uid)
	local kinds, job, licences, change, text
	local whole
	if not changes_gpus(desc) then
		return
	end
	-- A job that runs has its GPUs. Root may count them anew; others can neither give licences back nor take more.
	if (record.job_state or 0) % 256 ~= 0 then
		if uid ~= 0 and desc.licenses and (record.licenses or ""):find(LICENCE, 1, true) then
			desc.licenses = record.licenses
		elseif uid ~= 0 and desc.licenses and desc.licenses:find(LICENCE, 1, true) then
			refuse(slurm.ESLURM_INVALID_LICENSES, "licences of the pool are not taken by a job that runs")
		end
		return
	end
	kinds = configuration()
	job = {
		per_node = text_either(desc.tres_per_node, record.tres_per_node),
		per_job = text_either(desc.tres_per_job, record.tres_per_job),
		per_task = text_either(desc.tres_per_task, record.tres_per_task),
		per_socket = text_either(desc.tres_per_socket, record.tres_per_socket),
		min_nodes = known(desc.min_nodes) or known(record.min_nodes), max_nodes = known(desc.max_nodes) or known(record.max_nodes),
		num_tasks = desc.num_tasks, ntasks_per_node = desc.ntasks_per_node, ntasks_per_gpu = desc.ntasks_per_gpu,
		cpus_per_task = 1, sockets_per_node = desc.sockets_per_node, req_nodes = desc.req_nodes,
		exc_nodes = desc.exc_nodes, account = filled(desc.account) or filled(record.account), user_id = record.user_id,
		prefix = gres_prefix(desc),
		was_per_task = name_kinds(gpus_of(record.tres_per_task), kinds), was_licences = {},
	}
	for _, licence in ipairs(licences_of(record.licenses)) do
		if licence.name:sub(1, #LICENCE) == LICENCE then
			job.was_licences[licence.name:sub(#LICENCE + 1)] = licence.count
		end
	end
	job.most_nodes = job.max_nodes
	-- A number of nodes alone moves both ends.
	if known(desc.min_nodes) and not known(desc.max_nodes) then
		job.max_nodes = desc.min_nodes
	end
	job.part_min, job.part_nodes, whole = partitions_of(filled(desc.partition) or record.partition, part_list)
	job.whole = whole or asks_whole_nodes(desc) or (record.admin_comment or ""):find(WHOLE, 1, true)
	licences, change = count_gpus(job, kinds)
	if changes_nodes(desc) then
		check_whole_nodes(job, kinds)
	end
	check_tenant(job, licences)
	apply(desc, job, change)
	-- Licences of a job that is queued again go back when its Epilogs have ended: as many as are noted then.
	for _, kind in ipairs(math.floor((record.job_state or 0) / 0x8000) % 2 == 1 and kinds_of(licences, job.was_licences) or {}) do
		if (licences[kind] or 0) ~= (job.was_licences[kind] or 0) then
			refuse(slurm.ERROR, "the job still gives its GPUs back: change it when that is over")
		end
	end
	-- Slurm lets no script empty this field; none of each is the same.
	for kind in pairs(job.was_licences) do
		licences[kind] = licences[kind] or 0
	end
	text = licence_text(text_either(desc.licenses, record.licenses) or "", licences)
	if text ~= (desc.licenses or record.licenses or "") then
		desc.licenses = text
	end
end

-- An error in a script lets Slurm take the job as it is, without licences: refuse it here.
local function guarded(what, fn, ...)
	local arguments = { ... }
	local fine, fault = pcall(function()
		-- Not unpack(), which has another name in other versions.
		return fn(arguments[1], arguments[2], arguments[3], arguments[4])
	end)

	if fine then
		return slurm.SUCCESS
	elseif type(fault) ~= "table" then
		slurm.log_error("%s", "gpufabric: " .. what .. ": " .. tostring(fault))
		fault = { code = slurm.ERROR, text = "the request could not be read; the log of slurmctld says why" }
	end
	fault.text = fault.text:gsub("%c", "?")
	slurm.log_info("%s", "gpufabric: " .. what .. " refused: " .. fault.text)
	return fault.code or slurm.ERROR, fault.text
end

function gpufabric.submit(desc, part_list, _)
	local code, text = guarded("job", submit, desc, part_list)
	if text then
		slurm.log_user("%s", "gpufabric: " .. text)
	end
	return code
end

-- Slurm has no way for a message here: the log of slurmctld has the reason.
function gpufabric.modify(desc, record, part_list, uid)
	return (guarded("change of a job", modify, desc, record, part_list, uid))
end

slurm_job_submit, slurm_job_modify = gpufabric.submit, gpufabric.modify

return slurm.SUCCESS
