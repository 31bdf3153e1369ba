# SPDX-License-Identifier: GPL-2.0-only
"""A headless Chromium, spoken to by the WebDriver protocol."""

import base64
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
PATIENCE = 100
# Nothing but this machine has a name or is connected to.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-default-apps",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]


def driver_start(environment):
    """The driver and its port. It chooses one that is free for IPv6, and ends if somebody has the same of IPv4."""
    for _ in range(100):
        driver = subprocess.Popen(["chromedriver", "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, env=environment, start_new_session=True)
        words = ""
        for line in driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return driver, found[1]
            words += line
        driver.wait()
        if "port not available" not in words:
            break
    raise RuntimeError(f"chromedriver ended with status {driver.returncode}: {words}")


class Browser:
    """One window, with a profile of its own below @folder; certificates of nobody known are taken."""

    def __init__(self, folder, *flags):
        self.folder, self.messages, self.requests = folder, [], []
        os.makedirs(folder, exist_ok=True)
        environment = {**os.environ, "HOME": folder, "TMPDIR": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder}
        self.driver, port = driver_start(environment)
        self.base = f"http://127.0.0.1:{port}/session"
        options = {"binary": "/usr/bin/chromium", "args": [*FLAGS, *flags, f"--user-data-dir={folder}/profile"]}
        wanted = {"browserName": "chrome", "acceptInsecureCerts": True, "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        self.base += "/" + self.ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]

    def ask(self, method, path, body=None):
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"][:400]) from error

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *words):
        """What a function body in JavaScript returns."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(words)})

    def find(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def type(self, selector, text):
        """As keys that are pressed."""
        element = self.find(selector)
        self.ask("POST", f"/element/{element}/clear")
        self.ask("POST", f"/element/{element}/value", {"text": text})

    def click(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/click")

    def text(self, selector="body"):
        """What is seen of an element; "" for one that is not there."""
        return self.run("const e = document.querySelector(arguments[0]); return e && e.checkVisibility() ? e.innerText : ''", selector)

    def shows(self, words, selector="body"):
        """Waits until it does; the text."""
        end = time.monotonic() + PATIENCE
        while True:
            text = self.text(selector)
            if words in text:
                return text
            if time.monotonic() > end:
                raise TimeoutError(f"{words!r} is not in {selector}: {text!r}")
            time.sleep(0.05)

    def role(self, selector):
        """As what, and under which name, assistive software is told of an element."""
        element = self.find(selector)
        return tuple(self.ask("GET", f"/element/{element}/computed{what}") for what in ("role", "label"))

    def logs(self):
        """Takes up what came since the last time: lines of the console, and addresses that were asked for."""
        # The page that a browser begins with is none of ours: it complains of a slow machine.
        self.messages += [line for line in self.ask("POST", "/se/log", {"type": "browser"}) if not line["message"].startswith("chrome://")]
        for line in self.ask("POST", "/se/log", {"type": "performance"}):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        return self.messages

    def devtools(self, command, **words):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": words})

    def size(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def dark(self, dark=True):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def close(self):
        try:
            self.ask("DELETE", "")
        except (OSError, RuntimeError):
            pass
        # What it has started is in its group.
        os.killpg(self.driver.pid, signal.SIGKILL)
        self.driver.wait()
        self.driver.stdout.close()
