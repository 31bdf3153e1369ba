#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s gpuctl
"""
The program that asks servers and NVML how busy GPUs are: metrics of a page, what it says of servers
that are dead or lie, that it asks this host alone, and a library that stands in for NVIDIA's.
"""

import http.server
import os
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(TOP, "tests")]
# pylint: disable=wrong-import-position
from tap import Report

PROBE = os.path.join(os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build")), "probe")

PAGE = """# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="a\\"b"} 3.0
vllm:num_requests_waiting{engine="1",model_name="c,d"} 5 1700000000000
vllm:num_requests_waiting_total{engine="0"} 1000
not a line of any kind }{
plain 2.5e1
empty{} 7
gone NaN
most +Inf
broken{a="b} 3
worse{a="b"} three
"""

STANDIN = r"""
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct get { unsigned int version, n; void *before, *after;
	     struct { unsigned int id; int result; double value; const char *names[3]; } metrics[512]; };
static int open_now;
int nvmlInit_v2(void) { open_now = 1; return getenv("NVML_DEAD") ? 9 : 0; }
int nvmlShutdown(void) { open_now = 0; return !write(2, "closed\n", 7); }
const char *nvmlErrorString(int result) { return result == 9 ? "Driver Not Loaded" : "Invalid Argument"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *address, void **device)
{ *device = (void *)(long)(strtol(strrchr(address, ':') + 1, 0, 16)); return *device ? 0 : 2; }
int nvmlDeviceGetUtilizationRates(void *device, unsigned int *rates)
{ rates[0] = (unsigned int)(long)device * 10; rates[1] = 1; return open_now ? 0 : 1; }
#ifndef OLD
int nvmlGpmQueryDeviceSupport(void *device, unsigned int *support)
{ support[1] = device != (void *)7; return support[0] != 1; }
int nvmlGpmSampleAlloc(void **sample) { *sample = calloc(1, 16); return 0; }
int nvmlGpmSampleFree(void *sample) { free(sample); return 0; }
int nvmlGpmSampleGet(void *device, void *sample) { *(long *)sample = (long)device; return 0; }
int nvmlGpmMetricsGet(struct get *get)
{ get->metrics[0].value = *(long *)get->before * 5 + get->metrics[0].id;
  return get->version != 1 || get->n != 1 || *(long *)get->after != *(long *)get->before; }
#endif
"""


class Pages(http.server.BaseHTTPRequestHandler):
    """A server's metrics, and pages that are wrong."""

    def do_GET(self):  # pylint: disable=invalid-name
        if self.path == "/metrics":
            self.answer(200, PAGE.encode())
        elif self.path == "/long":
            self.answer(200, b"x 1\n" * (3 << 20))
        elif self.path == "/bytes":
            self.answer(200, b"plain \xff\x00\x01 1\nfine 4\n")
        elif self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "/metrics")
            self.end_headers()
        else:
            self.answer(404, b"plain 1\n")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def address_string(self):
        return "here"

    def log_message(self, *_):
        pass


class UnixServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """The same at a socket."""
    daemon_threads = True


def probe(*words, **env):
    done = subprocess.run([PROBE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          env={"PATH": os.environ["PATH"], **env})
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def said(want, what, *words, **env):
    found = probe(*words, **env)
    Report.ok(found[:2] == (0, want), what, found)


def refused(part, what, *words, code=1, **env):
    found = probe(*words, **env)
    Report.ok(found[0] == code and part in found[1] and "\n" not in found[1], what, found)


def pages(base, folder):
    def ask(metric, how="sum", page="/metrics"):
        return ("prometheus", how, base + page, metric)

    said("8", "a metric of several engines adds up", *ask("vllm:num_requests_waiting"))
    said("4", "or is a mean", *ask("vllm:num_requests_waiting", "mean"))
    said("5", "a label chooses", *ask('vllm:num_requests_waiting{engine="1"}'))
    said("3", "also one with a quote in it", *ask('vllm:num_requests_waiting{ model_name = "a\\"b" , engine="0" }'))
    said("25", "a metric without labels", *ask("plain"))
    said("7", "and one with none", *ask("empty"))
    said("nan", "what is no number is passed on, and judged by who asked", *ask("gone"))
    said("inf", "so is what has no end", *ask("most"))
    refused("the page has no such metric", "a name is a whole name", *ask("vllm:num_requests"))
    refused("no such metric", "no line has such a label", *ask('plain{a="b"}'))
    refused("line 11 of the page is no metric", "a quote that does not end", *ask("broken"))
    refused("line 12 of the page is no metric", "a word is no number", *ask("worse"))
    refused("write METRIC", "a metric that is none", *ask('plain{a="b'))
    refused("status 404", "a page that is not there", *ask("plain", page="/none"))
    refused("status 302", "nobody is followed elsewhere", *ask("plain", page="/away"))
    refused("more than 8 MiB", "a page without end", *ask("plain", page="/long"))
    said("4", "bytes that are no text", *ask("fine", page="/bytes"))
    refused("is not on this host", "another host is not asked", "prometheus", "sum", "http://192.0.2.1/metrics", "plain")
    refused("", "nor by another scheme", "prometheus", "sum", "file:///etc/passwd", "plain")
    refused("usage", "words that are wrong", "prometheus", "count", base, "plain", code=2)

    path = os.path.join(folder, "socket")
    os.chmod(folder, 0o755)
    server = UnixServer(path, Pages)
    os.chmod(path, 0o666)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    said("25", "a server at a socket", "prometheus", "sum", f"unix:{path}:/metrics", "plain")
    refused("write unix:", "a socket without a page", "prometheus", "sum", f"unix:{path}", "plain")
    server.shutdown()
    server.server_close()
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        refused("", "nobody answers", "prometheus", "sum", f"http://127.0.0.1:{closed.getsockname()[1]}/", "plain")


def nvml(folder):
    source = os.path.join(folder, "nvml.c")
    with open(source, "w", encoding="utf-8") as file:
        file.write(STANDIN)
    old = os.path.join(folder, "old")
    os.mkdir(old)
    for where, more in ((folder, ()), (old, ("-DOLD",))):
        subprocess.run(["gcc", "-shared", "-fPIC", *more, "-o", os.path.join(where, "libnvidia-ml.so.1"), source], check=True)
    refused("libnvidia-ml.so.1", "a host without the library", "nvml", "util", "0000:01", LD_LIBRARY_PATH="/nowhere")
    env = {"LD_LIBRARY_PATH": folder}
    said("15", "utilization is the mean of the GPUs", "nvml", "util", "0000:01", "0000:02", **env)
    found = probe("nvml", "sm", "0000:02", "0000:04", **env)
    Report.ok(found == (0, "17", "closed"), "so is what GPM says of multiprocessors; the library is closed", found)
    refused("write nvml util", "a GPU without GPM", "nvml", "sm", "0000:07", **env)
    refused("Invalid Argument", "a GPU that is not there", "nvml", "util", "0000:00", **env)
    said("10", "utilization by a library without GPM", "nvml", "util", "0000:01", LD_LIBRARY_PATH=old)
    refused("too old: write nvml util", "which has nothing to say of multiprocessors", "nvml", "sm", "0000:01", LD_LIBRARY_PATH=old)
    refused("Driver Not Loaded", "a driver that is not there", "nvml", "util", "0000:01", NVML_DEAD="y", **env)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        pages(f"http://127.0.0.1:{server.server_address[1]}", folder)
        nvml(folder)
    server.shutdown()
    return Report.end()


if __name__ == "__main__":
    sys.exit(main())
