-- SPDX-License-Identifier: GPL-2.0-only
--
-- job_submit.lua with a stand-in for what slurmctld gives it: tests/slurm/submit.lua SCRIPT FOLDER prints TAP.
-- FOLDER is for a slurm.conf, for tenants, and for a stand-in of gpuctl.

local script, folder = arg[1], arg[2]
local count, failed = 0, 0
local said, log = {}, {}
local NO_VAL, NO_VAL16 = 4294967294, 65534

local function ok(good, what, ...)
	count = count + 1
	failed = failed + (good and 0 or 1)
	print((good and "ok " or "not ok ") .. count .. " - " .. what)
	if not good then
		for _, detail in ipairs({ ... }) do
			print("#   " .. tostring(detail))
		end
	end
end

local function write(path, text)
	local file = assert(io.open(folder .. "/" .. path, "w"))

	file:write(text)
	file:close()
end

slurm = {
	SUCCESS = 0, ERROR = -1, JOB_SHARED_NONE = 0, NO_VAL = NO_VAL, NO_VAL16 = NO_VAL16,
	ESLURM_INVALID_LICENSES = 2048, ESLURM_INVALID_NODE_COUNT = 2006, ESLURM_ACCOUNTING_POLICY = 2050,
	log_user = function(fmt, ...) said[#said + 1] = fmt:format(...) end,
	log_info = function(fmt, ...) log[#log + 1] = fmt:format(...) end,
	log_error = function(fmt, ...) log[#log + 1] = "error: " .. fmt:format(...) end,
}

-- A request as Slurm has it: a number that nobody gave is NO_VAL, and an empty text is none.
local wide = { min_nodes = 1, max_nodes = 1, num_tasks = 1, het_job_offset = 1 }
local narrow = { ntasks_per_node = 1, ntasks_per_gpu = 1, ntasks_per_tres = 1, cpus_per_task = 1, sockets_per_node = 1, shared = 1 }

local function request(fields)
	local values = {}

	for key, value in pairs(fields) do
		values[key] = value
	end
	return setmetatable({}, {
		__index = function(_, key)
			if values[key] == nil then
				return wide[key] and NO_VAL or narrow[key] and NO_VAL16 or nil
			end
			return values[key]
		end,
		__newindex = function(_, key, value)
			if value == "" then
				value = nil
			end
			values[key] = value
		end,
	})
end

local partitions = { main = { name = "main", flag_default = 1, min_nodes = 1, nodes = "n[1-4],c[01-02]", max_share = 1 },
	cpu = { name = "cpu", flag_default = 0, min_nodes = 1, nodes = "c[01-02]", max_share = 1 },
	wide = { name = "wide", flag_default = 0, min_nodes = 2, nodes = "n[1-4]", max_share = 1 },
	whole = { name = "whole", flag_default = 0, min_nodes = 1, nodes = "n[1-4]", max_share = 0 } }

local function configure(licences, lines)
	write("slurm.conf", "# a comment\nClusterName=x\nlicenses=" .. licences .. " # those of the pool\n" .. lines)
end

local function submit(fields)
	local desc = request(fields)
	local code

	said, log = {}, {}
	code = slurm_job_submit(desc, partitions, 1000)
	return code, desc.licenses or "", table.concat(said, "\n"), desc
end

-- A job that is taken, with these licences.
local function takes(fields, licences, what, line)
	local code, has, text = submit(fields)

	ok(code == 0 and has == licences and (not line or text:find(line, 1, true)), what, code, has, licences, text, log[1])
end

-- A job that is refused, with this in the reason.
local function refused(fields, reason, what)
	local code, has, text = submit(fields)

	ok(code ~= 0 and text:find("gpufabric: ", 1, true) and text:find(reason, 1, true), what, code, has, text, log[1])
end

local function modified(fields, record, uid)
	local desc = request(fields)
	local code

	said, log = {}, {}
	record.job_state = record.job_state or 0
	code = slurm_job_modify(desc, request(record), partitions, uid or 1000)
	return code, desc.licenses, desc, log[1]
end

os.execute("mkdir -p '" .. folder .. "/tenants.d'")
local NODES = "NodeName=n[1-2] CPUs=4 \\\n  Gres=gpu:h100:4\nNodeName=DEFAULT Gres=gpu:h100:8,nic:1\nNodeName=n[3-4]\n" ..
	"NodeName=c[01-02] Gres=\"\"\n"
configure("gf_h100:16,matlab:3", NODES)
assert(dofile(script) == 0)

-- 1. One kind: each option alone.
takes({}, "", "a job without GPUs takes nothing")
takes({ licenses = "matlab:2" }, "matlab:2", "and keeps its own licences")
takes({ tres_per_node = "gres:gpu:h100:4" }, "gf_h100:4", "--gres=gpu:h100:4")
takes({ tres_per_node = "gres:gpu:4" }, "gf_h100:4", "--gres=gpu:4")
takes({ tres_per_node = "gres:gpu" }, "gf_h100:1", "--gres=gpu")
takes({ tres_per_node = "gres:gpu:h100" }, "gf_h100:1", "--gres=gpu:h100")
takes({ tres_per_node = "gres/gpu:h100:2" }, "gf_h100:2", "as later releases write it")
takes({ tres_per_node = "gres/gpu=2" }, "gf_h100:2", "or with an equals sign")
takes({ tres_per_node = "gres:nic:1" }, "", "other resources")
takes({ tres_per_node = "gres:gpu_mem:1" }, "", "of which one begins like a GPU")
takes({ tres_per_node = "gres:nic:1,gres:gpu:h100:2" }, "gf_h100:2", "both")
takes({ tres_per_node = "gres:gpu:h100:0" }, "", "none")
takes({ tres_per_node = "gres:gpu:h100:1,gres:gpu:h100:3" }, "gf_h100:3", "the last of two counts holds, as in Slurm")
takes({ tres_per_node = "gres:gpu:h100:3,gres:gpu:h100:0" }, "gf_h100:3", "but none is passed over")
refused({ tres_per_node = "gres:gpu:1K" }, "1024 h100, and the pool has 16", "a K is 1024")
for _, bad in ipairs({ "gres:gpu:", "gres:gpu::1", "gres:gpu:h100:", "gres:gpu:h100:x", "gres:gpu:h100:1:2", "gres:gpu:h100:-1" }) do
	refused({ tres_per_node = bad }, "gpu:KIND:COUNT", bad .. " is no request")
end
refused({ tres_per_node = "gres:gpu:a100:1" }, "no GPU is called a100 here: h100", "a kind that is nowhere")
refused({ tres_per_node = "gres:gpu:H100:1" }, "no GPU is called H100", "capitals are another kind")
refused({ tres_per_node = "gres:gpu:h100:9" }, "no node has more than 8 slots", "more than any node has slots")
refused({ tres_per_job = "gres:gpu:h100:17" }, "the pool has 16", "more than the pool has")

-- 2. Nodes.
takes({ tres_per_node = "gres:gpu:h100:2", min_nodes = 3, max_nodes = 3 }, "gf_h100:6", "-N3")
takes({ tres_per_node = "gres:gpu:h100:2", min_nodes = 3 }, "gf_h100:6", "at least three nodes are three")
refused({ tres_per_node = "gres:gpu:h100:2", min_nodes = 1, max_nodes = 3 }, "say one number (-N 1)", "-N1-3")
takes({ tres_per_job = "gres:gpu:h100:5", min_nodes = 1, max_nodes = 3 }, "gf_h100:5", "-N1-3 with a total")
takes({ tres_per_node = "gres:gpu:2", req_nodes = "n[1-3]" }, "gf_h100:6", "-w n[1-3]")
takes({ tres_per_node = "gres:gpu:2", req_nodes = "n1,n3", min_nodes = 1 }, "gf_h100:4", "-w n1,n3")
refused({ tres_per_node = "gres:gpu:2", req_nodes = "n[1-" }, "not a list of nodes", "-w that is no list")
refused({ tres_per_node = "gres:gpu:2", req_nodes = "n[1-99999999999]" }, "not a list of nodes", "-w of half the world")
refused({ tres_per_node = "gres:gpu:2", req_nodes = ("n[1-4000],"):rep(1000) }, "or is too long", "-w that would keep slurmctld busy")
refused({ tres_per_node = "gres:gpu:2", req_nodes = "n[" .. ("1-4000,"):rep(500) .. "1]" }, "or is too long", "also in brackets")
refused({ tres_per_node = "gres:gpu:2", req_nodes = "n" .. ("[1-2]"):rep(800) }, "or is too long", "or in many of them")
refused({ tres_per_node = "gres:gpu:a\1b:2" }, "no GPU is called a?b", "nothing of a terminal gets into the log")
takes({ tres_per_node = "gres:gpu:2", partition = "wide" }, "gf_h100:4", "a partition with at least two nodes")
takes({ tres_per_node = "gres:gpu:2", partition = "main,wide" }, "gf_h100:4", "also as one of several")
takes({ tres_per_node = "gres:gpu:1", num_tasks = 8, ntasks_per_node = 3 }, "gf_h100:3", "tasks and tasks per node",
	"no number of nodes: 3 nodes")
takes({ tres_per_node = "gres:gpu:1", num_tasks = 8 }, "gf_h100:1", "tasks alone", "no number of nodes: 1 node")
local _, _, _, desc = submit({ tres_per_node = "gres:gpu:1", num_tasks = 8 })
ok(desc.min_nodes == 1 and desc.max_nodes == 1, "the number of nodes is fixed", desc.min_nodes, desc.max_nodes)
_, _, _, desc = submit({ tres_per_job = "gres:gpu:6" })
ok(desc.min_nodes == NO_VAL and desc.max_nodes == NO_VAL, "but not for a total", desc.min_nodes)

-- 3. Tasks, sockets.
takes({ tres_per_task = "gres:gpu:h100:2", num_tasks = 3 }, "gf_h100:6", "--gpus-per-task with tasks")
takes({ tres_per_task = "gres:gpu:1", min_nodes = 3, max_nodes = 3 }, "gf_h100:3", "with nodes alone: a task on each")
takes({ tres_per_task = "gres:gpu:1", min_nodes = 3, max_nodes = 3, ntasks_per_node = 2 }, "gf_h100:6", "or more on each")
takes({ tres_per_task = "gres:gpu:1", tres_per_job = "gres:gpu:4" }, "gf_h100:4", "with a total")
refused({ tres_per_task = "gres:gpu:1" }, "number of tasks", "without any number")
refused({ tres_per_task = "gres:gpu:1", min_nodes = 1, max_nodes = 3 }, "number of tasks", "or with a range of nodes")
takes({ tres_per_socket = "gres:gpu:h100:2", sockets_per_node = 2 }, "gf_h100:4", "--gpus-per-socket")
takes({ tres_per_socket = "gres:gpu:1", sockets_per_node = 2, min_nodes = 2, max_nodes = 2 }, "gf_h100:4", "on two nodes")
refused({ tres_per_socket = "gres:gpu:1" }, "--sockets-per-node", "without a number of sockets")
_, _, _, desc = submit({ tres_per_socket = "gres:gpu:1", sockets_per_node = 2 })
ok(desc.tres_per_node == "gres:gpu:h100:2" and not desc.tres_per_socket, "it becomes GPUs of the node", desc.tres_per_node)
takes({ ntasks_per_gpu = 2, num_tasks = 8 }, "gf_h100:4", "--ntasks-per-gpu makes GPUs of tasks")
takes({ ntasks_per_gpu = 2, min_nodes = 2, max_nodes = 2 }, "gf_h100:2", "or of nodes")
takes({ ntasks_per_gpu = 2, tres_per_job = "gres:gpu:6" }, "gf_h100:6", "or tasks of GPUs")

-- 4. Licences that a user types.
takes({ tres_per_job = "gres:gpu:2", licenses = "gf_h100:1" }, "gf_h100:2", "too few", "follow from the GPUs")
takes({ tres_per_job = "gres:gpu:2", licenses = "matlab:1,gf_h100:9,abaqus" }, "matlab:1,abaqus,gf_h100:2", "too many, among others")
takes({ tres_per_job = "gres:gpu:2", licenses = "gf_h100" }, "gf_h100:2", "without a count")
takes({ licenses = "gf_h100:2" }, "", "without GPUs", "0")
takes({ licenses = "gf_l40s:1;matlab:1" }, "matlab:1", "of a kind that is not there, with a semicolon")
local _, _, text = submit({ tres_per_job = "gres:gpu:2", licenses = "gf_h100:2" })
ok(text == "", "the right number needs no word", text)

-- 5. Whole nodes.
refused({ shared = 0 }, "whole nodes", "--exclusive without GPUs has all slots")
refused({ shared = 0, tres_per_job = "gres:gpu:1" }, "whole nodes", "--exclusive with GPUs")
takes({ shared = 2, tres_per_job = "gres:gpu:1" }, "gf_h100:1", "--exclusive=user")
takes({ shared = 0, partition = "cpu" }, "", "nodes without slots")
takes({ shared = 0, req_nodes = "c01" }, "", "a node without slots")
takes({ shared = 0, exc_nodes = "n[1-4]" }, "", "no node with slots")
refused({ shared = 0, req_nodes = "c01,n1" }, "whole nodes", "one of them has")
refused({ shared = 0, req_nodes = "c01", min_nodes = 2, max_nodes = 2 }, "whole nodes", "the other one may have")
refused({ partition = "whole" }, "whole nodes", "a partition that gives whole nodes")

-- 6. Each combination, counted a second time by other rules.
local combinations = 0
for per = 1, 3 do
	for _, kind in ipairs({ "", "h100:" }) do
		for _, nodes in ipairs({ 0, 1, 2 }) do
			for _, tasks in ipairs({ 0, 1, 4 }) do
				for _, option in ipairs({ "tres_per_node", "tres_per_job", "tres_per_task", "tres_per_socket" }) do
					local fields = { [option] = "gres:gpu:" .. kind .. per, sockets_per_node = 2,
						min_nodes = nodes > 0 and nodes or nil, max_nodes = nodes > 0 and nodes or nil,
						num_tasks = tasks > 0 and tasks or nil }
					local factors = { tres_per_job = 1, tres_per_node = math.max(nodes, 1),
						tres_per_socket = 2 * math.max(nodes, 1), tres_per_task = tasks > 0 and tasks or nodes }
					local wanted = per * factors[option]
					local code, has, why = submit(fields)
					local right = wanted == 0 and code ~= 0 or code == 0 and has == "gf_h100:" .. wanted

					combinations = combinations + 1
					if not right then
						ok(false, ("%s=%s%d, %d nodes, %d tasks"):format(option, kind, per, nodes, tasks), has, wanted, why)
					end
				end
			end
		end
	end
end
ok(combinations == 216, combinations .. " combinations of options, nodes and tasks")

-- 7. Rubbish is refused or counted, and never taken as it is. An error of the script would let a job through.
local seed = 7
local function random(n)
	seed = (seed * 1103515245 + 12345) % 2147483648
	return math.floor(seed / 65536) % n + 1
end
local pieces = { "gres:", "gpu", ":", "h100", "2", ",", "=", "[", "]", "%", "\n", "(", "-", "99999999999999999999", "gres/", ";", "gf_",
	"\"", "$(id)", "" }
local taken, errors = 0, 0
for _ = 1, 600 do
	local fields = {}

	for _, field in ipairs({ "tres_per_node", "tres_per_job", "tres_per_task", "tres_per_socket", "licenses", "req_nodes" }) do
		local value = ""

		if random(2) == 1 then
			value = "gres:gpu:"
		end
		for _ = 1, random(6) do
			value = value .. pieces[random(#pieces)]
		end
		fields[field] = random(3) == 1 and value or nil
	end
	fields.min_nodes = random(2) == 1 and random(3) or nil
	fields.num_tasks = random(2) == 1 and random(9) or nil
	local code, has = submit(fields)

	taken = taken + (code == 0 and 1 or 0)
	for _, line in ipairs(log) do
		errors = errors + (line:find("^error: ") and 1 or 0)
	end
	if code == 0 and ((fields.tres_per_job or "") .. (fields.tres_per_node or "")):find("gres:gpu:h100:2", 1, true) and
		not has:find("gf_h100:", 1, true) then
		ok(false, "a job with GPUs and without licences", fields.tres_per_job, fields.tres_per_node, has)
	end
end
ok(taken > 0 and errors == 0, "600 requests of rubbish: no error of the script", taken, errors, log[1])

-- 8. A job that is changed.
local function changes(fields, record, licences, what, uid)
	local code, has, _, why = modified(fields, record, uid)

	ok(code == 0 and has == licences, what, code, has, licences, why)
end
local waiting = { tres_per_node = "gres:gpu:h100:2", licenses = "matlab:1,gf_h100:2", min_nodes = 1, max_nodes = 1, partition = "main" }
changes({ priority = 5 }, waiting, nil, "a change of something else")
changes({ tres_per_node = "gres:gpu:h100:3" }, waiting, "matlab:1,gf_h100:3", "more GPUs")
changes({ min_nodes = 2, max_nodes = 2 }, waiting, "matlab:1,gf_h100:4", "more nodes")
changes({ min_nodes = 2 }, waiting, "matlab:1,gf_h100:4", "at least two nodes")
changes({ licenses = "gf_h100:1" }, waiting, "gf_h100:2", "forged licences")
changes({ licenses = "" }, waiting, "gf_h100:2", "licences given back")
changes({ licenses = "abaqus:2" }, waiting, "abaqus:2,gf_h100:2", "other licences")
changes({ tres_per_node = "" }, waiting, "matlab:1,gf_h100:0", "no GPUs any more")
changes({ tres_per_node = "", tres_per_job = "gres:gpu:5" }, waiting, "matlab:1,gf_h100:5", "a total instead")
changes({ partition = "wide" }, waiting, "matlab:1,gf_h100:4", "a partition with at least two nodes")
changes({ num_tasks = 3 }, { tres_per_task = "gres:gpu:h100:2", licenses = "gf_h100:4", min_nodes = 1 }, "gf_h100:6", "more tasks")
changes({ tres_per_task = "gres:gpu:h100:1" }, { tres_per_task = "gres:gpu:h100:2", licenses = "gf_h100:4", min_nodes = 1 },
	"gf_h100:2", "fewer GPUs a task, whose number the licences tell")
local code, _, changed = modified({ min_nodes = 2 }, waiting)
ok(code == 0 and changed.max_nodes == 2, "both ends of the number of nodes move", changed.max_nodes)
ok(modified({ min_nodes = 1, max_nodes = 2 }, waiting) == slurm.ESLURM_INVALID_NODE_COUNT, "a range of nodes is refused")
ok(modified({ tres_per_node = "gres:gpu:a100:1" }, waiting) ~= 0, "a kind that is nowhere is refused")
ok(modified({ tres_per_node = "gres:gpu:h100:9" }, waiting) ~= 0, "more than a node has is refused")
ok(modified({ shared = 0 }, waiting) ~= 0, "whole nodes are refused")
ok(modified({ partition = "whole" }, waiting) ~= 0, "also by the partition")
for _, where in ipairs({ { req_nodes = "c01" }, { exc_nodes = "n[1-4]" }, { partition = "cpu" } }) do
	local _, _, _, whole = submit({ shared = 0, req_nodes = where.req_nodes, exc_nodes = where.exc_nodes, partition = where.partition,
		admin_comment = "the site's" })
	local record = { admin_comment = whole.admin_comment, min_nodes = 1, max_nodes = 1, partition = where.partition or "main" }

	ok(whole.admin_comment:find("^the site's; "), "a job that waits for whole nodes has a word for itself", whole.admin_comment)
	ok(modified({ req_nodes = "n1" }, record) ~= 0, "whole nodes do not come to have slots by their names")
	ok(modified({ exc_nodes = "" }, record) ~= 0 or where.partition, "nor as slots are not excluded any more")
	ok(modified({ partition = "main" }, record) ~= 0, "nor by the partition")
	ok(modified({ req_nodes = "c02" }, record) == 0, "others are possible")
	ok(modified({ account = "red", num_tasks = 2 }, record) == 0, "and what says nothing of nodes")
end
local ending = { tres_per_node = "gres:gpu:h100:2", licenses = "gf_h100:2", min_nodes = 1, max_nodes = 1, partition = "main", job_state = 0x8000 }
ok(modified({ tres_per_node = "gres:gpu:h100:3" }, ending) ~= 0, "while a job that is queued again gives its GPUs back, their number stays")
changes({ min_nodes = 1 }, ending, nil, "other changes are possible")
changes({ exc_nodes = "" }, { tres_per_node = "gres:gpu:h100:2", min_nodes = 1, max_nodes = 1, partition = "main" }, "gf_h100:2",
	"other nodes are left out: licences are counted anew")
local running = { tres_per_node = "gres:gpu:h100:2", licenses = "gf_h100:4", min_nodes = 2, max_nodes = 2, job_state = 1 }
changes({ licenses = "" }, running, "gf_h100:4", "a job that runs does not give licences back")
changes({ licenses = "gf_h100:1" }, running, "gf_h100:4", "nor fewer than it has")
changes({ licenses = "gf_h100:3" }, running, "gf_h100:3", "but root counts them anew", 0)
changes({ min_nodes = 1 }, running, nil, "it may leave nodes")
ok(modified({ licenses = "gf_h100:1" }, { job_state = 1 }) ~= 0, "one that runs without GPUs takes none")

-- 9. Several kinds.
configure("gf_h100:8,gf_l40s:4", "NodeName=n[1-4] Gres=gpu:h100:4,gpu:l40s:2\nNodeName=s1 Gres=gpu:v100:4\n")
takes({ tres_per_node = "gres:gpu:h100:2,gres:gpu:l40s:1", min_nodes = 2, max_nodes = 2 }, "gf_h100:4,gf_l40s:2", "two kinds of each node")
takes({ tres_per_job = "gres:gpu:l40s:3", tres_per_node = "gres:gpu:h100:1" }, "gf_h100:1,gf_l40s:3", "one of the job, one of nodes")
takes({ tres_per_node = "gres:gpu:v100:4" }, "", "GPUs that no pool has are none of ours")
refused({ tres_per_node = "gres:gpu:2" }, "h100 l40s v100", "untyped GPUs of three kinds")
refused({ ntasks_per_gpu = 1, num_tasks = 2 }, "say which GPUs", "also those that follow from tasks")
write("more.conf", "Licenses=gf_h100:2\nNodeName=n1 Gres=gpu:h100:2\n")
write("slurm.conf", "Include more.conf\n")
refused({ tres_per_job = "gres:gpu:3" }, "the pool has 2", "what is included counts")
write("more.conf", "Licenses=gf_h100:3\nNodeName=n1 Gres=gpu:h100:2\n")
takes({ tres_per_job = "gres:gpu:3" }, "gf_h100:3", "and is read again")
configure("matlab:2", "NodeName=n1 Gres=gpu:4\n")
takes({ tres_per_node = "gres:gpu:4" }, "", "a cluster without a pool")
takes({ shared = 0 }, "", "where whole nodes are nobody's business")

-- 10. Tenants.
configure("gf_h100:16", "NodeName=n[1-4] Gres=gpu:h100:8\n")
write("tenants.d/a.conf", "# shares\n[defaults]\nlimit = 6\n[red]\n[blue]\nlimit = 4\nguarantee = 1\n")
write("tenants.d/b.conf", "[green]\nguarantee = 2\n[uid-1001]\nlimit = 2\n")
assert(dofile(script) == 0)
takes({ account = "red", tres_per_job = "gres:gpu:6" }, "gf_h100:6", "as many as the limit")
refused({ account = "red", tres_per_job = "gres:gpu:7" }, "7 GPUs, and red may have 6", "more than the default limit")
refused({ account = "blue", tres_per_node = "gres:gpu:3", min_nodes = 2, max_nodes = 2 }, "blue may have 4", "more than its own")
takes({ account = "green", tres_per_job = "gres:gpu:16" }, "gf_h100:16", "a tenant without a limit; another file has other defaults")
refused({ account = "black", tres_per_job = "gres:gpu:1" }, "black is not a tenant", "an account that is no tenant")
takes({ account = "black" }, "", "which needs none without GPUs")
refused({ tres_per_job = "gres:gpu:1", user_id = 1000 }, "a job without an account is not a tenant", "no account at all")
takes({ tres_per_job = "gres:gpu:1", user_id = 1001 }, "gf_h100:1", "unless the user's number is one")
refused({ tres_per_job = "gres:gpu:3", user_id = 1001, account = "1a" }, "uid-1001 may have 2", "as where the account is no name of a tenant")
refused({ default_account = "blue", tres_per_job = "gres:gpu:5" }, "and blue may have 4", "the account that a user has by default")
takes({ account = "red", tres_per_job = "gres:gpu:4", het_job_offset = 0 }, "gf_h100:4", "a first component")
refused({ account = "red", tres_per_job = "gres:gpu:3", het_job_offset = 1 }, "7 GPUs", "a second one: they run together")
takes({ account = "red", het_job_offset = 0 }, "", "a first component without GPUs, of another job")
takes({ account = "red", tres_per_job = "gres:gpu:3", het_job_offset = 1 }, "gf_h100:3", "whose second one is counted alone")
ok(modified({ tres_per_job = "gres:gpu:5" }, { account = "blue", tres_per_job = "gres:gpu:1", licenses = "gf_h100:1" }) ==
	slurm.ESLURM_ACCOUNTING_POLICY, "a change beyond the limit")
ok(modified({ account = "blue" }, { account = "red", tres_per_job = "gres:gpu:5", licenses = "gf_h100:5" }) ==
	slurm.ESLURM_ACCOUNTING_POLICY, "a change to an account whose limit that is beyond")
os.remove(folder .. "/tenants.d/a.conf")
os.remove(folder .. "/tenants.d/b.conf")

-- 11. Models, with a stand-in for gpuctl that writes down how it was called.
write("gpuctl", "#!/bin/sh\necho \"$@\" >>" .. folder .. "/calls\ncat " .. folder .. "/answer\nexit $(cat " .. folder .. "/status)\n")
os.execute("chmod +x '" .. folder .. "/gpuctl'")
local function gpuctl_says(text, status)
	write("answer", text)
	write("status", tostring(status or 0))
	os.remove(folder .. "/calls")
end
local function calls()
	local file = io.open(folder .. "/calls")
	local all = file and file:read("*a") or ""

	return file and file:close() and all or ""
end
local ANSWER = [[{
  "model": "llama-3.1-70b",
  "p95_bytes": 171798691840,
  "fits": [
    { "gpu": "h100-sxm5-96", "hot_plug": false, "gpus": 9 },
    { "gpu": "h100-nvl-94", "hot_plug": true, "gpus": 2 },
    { "gpu": "h100-pcie-80", "hot_plug": true, "gpus": 3 },
    { "gpu": "l40s", "hot_plug": true, "gpus": 5 }
  ]
}
]]
configure("gf_l40s:8,gf_h100:8", "NodeName=n[1-4] Gres=gpu:h100:4,gpu:l40s:4\n")
assert(dofile(script) == 0)
gpuctl_says(ANSWER)
takes({ spank_job_env = { [0] = "GPUFABRIC_MODEL=llama-3.1-70b", "GPUFABRIC_TASK=infer" } }, "gf_h100:3", "a model takes the fewest GPUs",
	"llama-3.1-70b (infer) needs 160.0 GiB: 3 h100, counted as h100-pcie-80")
ok(calls() == "-j size llama-3.1-70b -a --task infer\n", "gpuctl is asked once, with the options", calls())
_, _, _, desc = submit({ spank_job_env = { "GPUFABRIC_MODEL=Llama-3.1-70b" } })
ok(desc.tres_per_node == "gres:gpu:h100:3" and desc.max_nodes == 1, "it runs on one node", desc.tres_per_node)
takes({ spank_job_env = { "SPANK_GPUFABRIC_MODEL=llama-3.1-70b", "GPUFABRIC_GPU=l40s" } }, "gf_l40s:5", "or GPUs of a kind")
_, _, _, desc = submit({ spank_job_env = { "GPUFABRIC_MODEL=llama-3.1-70b", "GPUFABRIC_GPU=l40s" } })
ok(desc.tres_per_job == "gres:gpu:l40s:5" and desc.min_nodes == NO_VAL, "on several nodes where no node has as many slots", desc.tres_per_job)
takes({ spank_job_env = { "GPUFABRIC_MODEL=llama-3.1-70b" }, min_nodes = 2, max_nodes = 2 }, "gf_h100:3", "or where the user spreads it")
refused({ spank_job_env = { "GPUFABRIC_MODEL=llama-3.1-70b", "GPUFABRIC_GPU=v100" } }, "does not fit", "not on GPUs that are not there")
refused({ spank_job_env = { "GPUFABRIC_MODEL=llama-3.1-70b" }, tres_per_job = "gres:gpu:h100:1" }, "say one of them", "a model and a number")
for _, bad in ipairs({ "$(touch /tmp/x)", "a;b", "a b", "../x", "/etc/passwd", "hf:a/b", "-j", "a'b", "a\nb", ("x"):rep(65), "`id`" }) do
	gpuctl_says(ANSWER)
	refused({ spank_job_env = { "GPUFABRIC_MODEL=" .. bad } }, "only names of the catalogue", ("the model %q is none"):format(bad))
	ok(calls() == "", "and nobody is asked")
end
refused({ spank_job_env = { "GPUFABRIC_MODEL=llama-3.1-70b", "GPUFABRIC_CONTEXT=8K;id" } }, "--gpufabric-context", "options are looked at, too")
gpuctl_says((ANSWER:gsub("llama%-3.1%-70b", "somewhere")))
refused({ spank_job_env = { "GPUFABRIC_MODEL=llama-3.1-70b" } }, "is not a model of the catalogue", "an answer about something else")
gpuctl_says("gpuctl: no model is called \"x\"; 'gpuctl models' lists all\n", 2)
refused({ spank_job_env = { "GPUFABRIC_MODEL=x" } }, "no model is called \"x\"", "a model that is not there: gpuctl's words")
gpuctl_says("rubbish", 0)
refused({ spank_job_env = { "GPUFABRIC_MODEL=x" } }, "not a model", "rubbish")
write("gpuctl", "#!/bin/sh\nexec sleep 1000\n")
refused({ spank_job_env = { "GPUFABRIC_MODEL=llama-3.1-70b" } }, "within 1 s", "gpuctl that does not answer is ended")
takes({ spank_job_env = { "GPUFABRIC_MODEL=/home/me/model", "GPUFABRIC_FITS=h100-pcie-80:4,l40s:7" } }, "gf_h100:4",
	"a folder was sized where the user is", "/home/me/model (infer) needs 4 h100")
refused({ spank_job_env = { "GPUFABRIC_MODEL=x", "GPUFABRIC_FITS=h100:many" } }, "not a list of KIND:COUNT", "that list is read, too")
refused({ spank_job_env = { "GPUFABRIC_FITS=h100:9,l40s:9" } }, "does not fit on what the pool has", "more than the pool has")

-- 12. Where nothing is known nothing is taken.
os.remove(folder .. "/slurm.conf")
os.remove(folder .. "/more.conf")
refused({ tres_per_job = "gres:gpu:1" }, "cannot be read", "without slurm.conf jobs are refused")
configure("gf_h100:8", "NodeName=n[1-4] Gres=gpu:h100:4\n")
ok(slurm_job_submit(setmetatable({}, { __index = function() error("broken") end }), partitions, 0) ~= 0 and
	said[#said]:find("the log of slurmctld says why", 1, true), "an error of the script refuses the job", said[#said])

print("1.." .. count)
os.exit(failed == 0 and 0 or 1)
