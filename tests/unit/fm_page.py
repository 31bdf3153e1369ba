#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/fm/fm.mk
"""
The fabric manager's page in a browser. PICTURES=FOLDER leaves pictures of it there.
"""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from browser import Browser
from rig import FABRIC, Client, Guest, Manager, Report, wait_for

PORTS = ("dn0", "dn1", "dn2", "dn3")
GPUS = tuple(f"gpu{number}" for number in range(6))
SERIAL = "1320223012345"


class Rack(Manager):
    """Two hosts, six GPUs, an administrator and a reader with passwords."""

    def __init__(self, work):
        self.guests = {name: Guest(work, name, PORTS) for name in ("hosta", "hostb")}
        super().__init__(work, {name: (one.path, PORTS) for name, one in self.guests.items()}, GPUS,
                         "client_certificates = optional\nconnections_per_address = 200")
        self.command("init")
        for user, role in (("admin", "Administrator"), ("reader", "ReadOnly")):
            self.command("passwd", user, "--role", role, stdin="correct horse\n")
        self.start().ready()
        self.listen = f"127.0.0.1:{self.port}"
        self.write()
        self.a, self.admin = self.client("hosta"), self.client(user="admin", password="correct horse")

    def write(self, **changes):
        super().write(**changes)
        path = os.path.join(self.folder, "fm.conf")
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"(\[gpu\.gpu0\]\n)", rf"\1serial = {SERIAL}\nmodel = H100 <b>NVL</b>\n", file.read())
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        for guest in self.guests.values():
            guest.close()


def served(rack):
    """What the page is, without a browser."""
    status, page, headers = Client(rack).get("/")
    Report.same((status, headers["Content-Type"], headers["Cache-Control"]), (200, "text/html;charset=utf-8", "no-store"), "it is there for all")
    policy = headers["Content-Security-Policy"]
    Report.ok(policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy and "*" not in policy
              and "frame-ancestors 'none'" in policy and "'none'; style-src 'sha256-" not in policy, "under a strict policy", policy)
    text = page.decode()
    Report.same(re.findall(r"""\son\w+\s*=|https?://|src\s*=|@import|javascript:|innerHTML|eval\(|style\s*=\s*["']""", text), [], "it needs nothing from elsewhere")
    Report.ok(rack.port and "correct" not in text and "hosta" not in text, "and has no data in it")
    Report.same((headers.get("X-Account"), rack.a.get("/")[2]["X-Account"]), (None, "hosta"), "who has a certificate need not sign in")
    Report.same((Client(rack).ask("POST", "/", "{}")[0], Client(rack).get("/index.html")[0]), (401, 401), "it is for reading, and the only one")
    Report.ok(Client(rack).get(FABRIC)[2]["WWW-Authenticate"] and not Client(rack).get(FABRIC, X_Requested_With="gpufabric-fm")[2].get("WWW-Authenticate"),
              "a page asks for the password itself")


def foreign(rack):
    """A page of another site has a browser send a change with the certificate of who looks at it."""
    zone = f"{FABRIC}/Zones/hosta"
    own = f"https://127.0.0.1:{rack.port}"
    body = {"Links": {"Endpoints": [{"@odata.id": f"{FABRIC}/Endpoints/hosta"}]}}
    tag = rack.a.zone("hosta")[1]
    Report.same([rack.a.ask("PATCH", zone, body, If_Match=tag, Origin=origin)[0] for origin in ("https://evil.example", "null", own + "1", own)],
                [403, 403, 403, 200], "another site's page changes nothing")
    Report.same(rack.a.get(zone, Origin="https://evil.example")[2].get("Access-Control-Allow-Origin"), None, "and reads nothing")


def sign_in(browser, password="correct horse"):
    browser.shows("Sign in", "#login")
    browser.type("#user", "reader")
    browser.type("#password", password)
    browser.click("#enter")


def row(browser, name):
    return browser.text(f'#gpus tr[data-gpu="{name}"]').replace("\n", " ").replace("\t", " ").split()


def quiet(browser, what, network=False):
    """Nothing on the console, but for what the browser itself says of answers and connections that were expected to fail."""
    lines = [line for line in browser.logs() if not (network and line["source"] == "network")]
    browser.messages.clear()
    Report.same(lines, [], f"nothing on the console: {what}")


def looks(browser, rack):
    """The pool, as people and their software see it."""
    text = browser.shows("live", "#live") and browser.text()
    Report.ok(all(name in text for name in ("hosta", "hostb", *PORTS, *GPUS)), "hosts, slots and GPUs are shown", text)
    Report.same([browser.text(f"#{name}") for name in ("all", "free", "bound", "bad")], ["6", "5", "1", "0"], "and counted")
    Report.same(row(browser, "gpu0"), ["gpu0", "H100", "<b>NVL</b>", "…" + SERIAL[-8:], "hosta", "dn0", "bound"], "words are words, and no HTML")
    Report.same(row(browser, "gpu1"), ["gpu1", "10de:2331", "–", "free"], "a free one")
    Report.same([browser.run("return document.querySelectorAll(arguments[0]).length", path) for path in
                 ("table", "table caption, table[aria-labelledby]", 'thead th[scope="col"]', '#gpus tbody th[scope="row"]', "[style], [onclick], script[src], img")],
                [3, 3, 10, 6, 0], "tables have names, heads and row heads")
    Report.same(browser.role("#gpus"), ("table", "All GPUs"), "as software for the blind is told")
    Report.same(browser.run("return [location.href, document.cookie, localStorage.length, sessionStorage.length]"),
                [f"https://127.0.0.1:{rack.port}/", "", 0, 0], "the session is in no address, cookie or storage")


def pictures(browser):
    """In light and dark, wide and narrow: nothing sticks out, and letters differ enough from what is behind them."""
    contrast = """
        const parse = text => text.match(/[\\d.]+/g).map(Number);
        const light = c => c.slice(0, 3).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
            .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
        const back = e => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; }
            return [255, 255, 255]; };
        let worst = [99, ""];
        for (const e of document.querySelectorAll("body *")) {
            if (!e.checkVisibility() || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
            const a = light(parse(getComputedStyle(e).color)), b = light(back(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (ratio < worst[0]) worst = [ratio, e.textContent];
        }
        return worst;"""
    for width, name in ((1200, "wide"), (360, "narrow")):
        for dark in (False, True):
            browser.size(width, 900)
            browser.dark(dark)
            what = f"{name}, {'dark' if dark else 'light'}"
            Report.ok(browser.run("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"), f"{what}: nothing sticks out")
            worst = browser.run(contrast)
            Report.ok(worst[0] >= 4.5, f"{what}: can be read", worst)
            if os.environ.get("PICTURES"):
                browser.picture(os.path.join(os.environ["PICTURES"], f"{name}-{'dark' if dark else 'light'}.png"))
    browser.size(1200, 900)
    browser.dark(False)


def changes(browser, rack):
    """By other clients, while the page is open."""
    browser.run("window.mark = 1")
    rack.admin.set("hostb", ["gpu3", "gpu4"])
    browser.shows("hostb", '#gpus tr[data-gpu="gpu4"]')
    Report.same(row(browser, "gpu4")[-3:], ["hostb", "dn1", "bound"], "a GPU that is bound appears")
    Report.ok("gpu4" in browser.shows("gpu4", '[data-host="hostb"] tr[data-slot="dn1"]'), "at its slot")
    rack.guests["hostb"].pull("gpu3")
    browser.shows("slot is off", '#gpus tr[data-gpu="gpu3"]')
    rack.admin.set("hostb", ["gpu4"])
    browser.shows("free", '#gpus tr[data-gpu="gpu3"]')
    browser.shows("empty", '[data-host="hostb"] tr[data-slot="dn0"]')
    rack.guests["hosta"].close()
    browser.shows("silent", '[data-host="hosta"]')
    browser.shows("host is silent", '#gpus tr[data-gpu="gpu0"]')
    wait_for(lambda: rack.command("evict", "hosta").returncode == 0, "evict")
    browser.shows("off", '[data-host="hosta"] caption')
    browser.shows("free", '#gpus tr[data-gpu="gpu0"]')
    Report.same(browser.run("return window.mark"), 1, "removals, hosts that are silent and off as well, without a reload")
    Report.same(browser.text("#note"), "", "and nothing is wrong")


def restarts(browser, rack):
    """The manager ends, and starts again: the page says both."""
    rack.stop()
    browser.shows("connection lost", "#live")
    Report.ok("tries again" in browser.shows("was lost", "#note"), "a manager that ends: it says so")
    Report.ok("gpu2" in browser.text("#gpus"), "what was seen last stays")
    if os.environ.get("PICTURES"):
        browser.picture(os.path.join(os.environ["PICTURES"], "lost.png"))
    rack.start()
    browser.shows("sign in once more", "#note")
    Report.same((browser.text("#pool"), browser.run("return document.querySelectorAll('tbody tr').length")), ("", 0),
                "started again it does not know the session: nothing is shown without one")
    quiet(browser, "a manager that was away", network=True)
    sign_in(browser)
    browser.shows("live", "#live")
    Report.same((browser.text("#note"), row(browser, "gpu2")[-3:]), ("", ["hostb", "dn0", "bound"]), "after a login it goes on")
    wait_for(lambda: rack.command("evict", "hosta").returncode == 0, "evict")
    browser.shows("free", '#gpus tr[data-gpu="gpu4"]')
    rack.admin.set("hostb", [])
    browser.shows("free", '#gpus tr[data-gpu="gpu2"]')
    Report.ok(True, "with what changes from then on")


def cuts(browser, rack):
    """The stream alone ends, as by a proxy: the page comes back without a login."""
    browser.run("""window.seen = [];
        new MutationObserver(() => window.seen.push(document.getElementById("live").textContent))
            .observe(document.getElementById("live"), { childList: true, characterData: true, subtree: true });""")
    for link in rack.admin.get("/redfish/v1/EventService/Subscriptions")[1]["Members"]:
        rack.admin.ask("DELETE", link["@odata.id"])
    wait_for(lambda: browser.run("return window.seen").count("live") > 0, "it is live again")
    Report.same(browser.run("return window.seen")[0], "connection lost", "a connection that is cut is said, and comes back without a login")
    rack.admin.set("hostb", ["gpu2"])
    browser.shows("hostb", '#gpus tr[data-gpu="gpu2"]')
    browser.shows("live", "#live")
    Report.same(browser.text("#note"), "", "and is forgotten")


def main():
    with tempfile.TemporaryDirectory() as work:
        rack = Rack(work)
        browser = None
        try:
            served(rack)
            foreign(rack)
            rack.admin.set("hosta", ["gpu0"])
            browser = Browser(os.path.join(work, "browser"))
            browser.size(1200, 900)
            browser.open(f"https://127.0.0.1:{rack.port}/")
            browser.shows("Sign in", "#login")
            Report.ok(browser.text("#pool") == "" and browser.run("return document.activeElement.id") == "user", "it asks who is there")
            if os.environ.get("PICTURES"):
                browser.picture(os.path.join(os.environ["PICTURES"], "login.png"))
            quiet(browser, "the page")
            sign_in(browser, "wrong horse")
            Report.same((browser.shows("wrong", "#wrong"), browser.text("#pool")), ("User or password is wrong.", ""), "a wrong password is said")
            Report.same(browser.run("return document.getElementById('password').value"), "", "and forgotten")
            quiet(browser, "a wrong password", network=True)
            sign_in(browser)
            looks(browser, rack)
            pictures(browser)
            changes(browser, rack)
            quiet(browser, "the pool and its changes")
            cuts(browser, rack)
            quiet(browser, "a stream that was cut", network=True)
            restarts(browser, rack)
            sessions = "/redfish/v1/SessionService/Sessions"
            Report.same(rack.admin.get(sessions)[1]["Members@odata.count"], 1, "one session")
            browser.click("#leave")
            browser.shows("Sign in", "#login")
            wait_for(lambda: rack.admin.get(sessions)[1]["Members@odata.count"] == 0, "no session")
            Report.same(browser.text("#pool"), "", "who signs out leaves none, and nothing to be seen")
            quiet(browser, "the end")
            # What the browser shows before a page is opened is a part of it.
            browser.requests = [url for url in browser.requests if not url.startswith("chrome:")]
            strange = {url for url in browser.requests if not url.startswith((f"https://127.0.0.1:{rack.port}/", "data:"))}
            Report.ok(not strange and len(browser.requests) > 20, "nobody but the manager was asked", strange)
            Report.same([url for url in browser.requests if "horse" in url or "?" in url], [], "and no secret is in an address")
            Report.same(rack.stop(), 0, "the manager ends cleanly")
        finally:
            if browser:
                browser.close()
            rack.close()
            if Report.failed:
                print("# " + "\n# ".join(rack.lines[-40:]))
    sys.exit(Report.end())


if __name__ == "__main__":
    main()
