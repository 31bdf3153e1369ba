# SPDX-License-Identifier: GPL-2.0-only
"""What tests of the programs that speak to fabric managers have in common: TAP, a configuration, requests."""

import json
import os
import subprocess
import sys
import threading

import manager as fm

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("GPUFABRIC_BUILD", os.path.join(TOP, "build"))
GPUCTL = os.environ.get("GPUCTL", os.path.join(BUILD, "gpuctl"))


class Report:
    count = failed = 0
    lock = threading.Lock()

    @classmethod
    def ok(cls, good, what, *details):
        with cls.lock:
            cls.count += 1
            cls.failed += not good
            print(f"{'' if good else 'not '}ok {cls.count} - {what}")
            for detail in () if good else details:
                print("#  ", repr(detail))
            sys.stdout.flush()

    @classmethod
    def same(cls, value, wanted, what, *details):
        cls.ok(value == wanted, what, value, wanted, *details)


class Bench:
    """One manager, a file for it, and the program of its driver; @keys are those of the file."""

    def __init__(self, work, manager, driver, keys, certified=True):
        self.work, self.manager, self.certified = work, manager, certified
        self.program = os.path.join(os.path.dirname(GPUCTL), f"fabric-{driver}")
        self.keys = {"driver": driver, "url": manager.url, "host": "hosta", "ca": manager.authority, "timeout": "20s", **keys}
        self.config = os.path.join(work, "config")
        self.folder = os.path.join(self.config, "fabric.d")
        os.makedirs(self.folder)
        self.file = os.path.join(self.folder, "rack1.conf")
        self.certificate, self.key = self.manager.clients["hosta"]
        self.conf()

    def conf(self, mode=0o600, certified=None, **changes):
        """A configuration with these keys changed; None leaves one out."""
        keys = dict(self.keys)
        if self.certified if certified is None else certified:
            keys.update(certificate=self.certificate, key=self.key)
        keys.update(changes)
        with open(self.file, "w", encoding="utf-8") as file:
            for key, value in keys.items():
                if value is not None and key != "blocks":
                    file.write(f"{key} = {value}\n")
            file.write(keys.get("blocks", ""))
        os.chmod(self.file, mode)

    def credentials(self, password=fm.PASSWORD, mode=0o600):
        path = os.path.join(self.work, "login")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"user = hosta\npassword = {password}\n")
        os.chmod(path, mode)
        return path

    def start(self, verb, *gpus):
        request = {"verb": verb, "file": self.file}
        if gpus:
            request["gpus"] = [{"gpu": gpu.partition("@")[0], **({"port": gpu.partition("@")[2]} if "@" in gpu else {})}
                               for gpu in gpus]
        program = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        program.stdin.write(json.dumps(request))
        program.stdin.close()
        program.stdin = None
        return program

    @staticmethod
    def end(program):
        out, err = program.communicate()
        try:
            answer = json.loads(out)
        except ValueError:
            answer = {"exit": -1, "error": out + err}
        answer["status"] = program.returncode
        return answer

    def ask(self, verb, *gpus):
        return self.end(self.start(verb, *gpus))

    def gpuctl(self, *words, **changes):
        env = {"PATH": os.environ["PATH"], "GPUCTL_CONFIG_DIR": self.config,
               "GPUCTL_DATA_DIR": os.path.join(TOP, "ctl/catalogue"), **changes}
        return subprocess.run([GPUCTL, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def owners(self):
        return self.manager.owners()
