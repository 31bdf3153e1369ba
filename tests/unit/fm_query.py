#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
# before: make -s -f tests/fm/fm.mk -j$(nproc)
"""
Query parameters of the fabric manager: what $expand puts into an answer is what a client gets by asking for each resource, and no
more; $select, $skip and $top leave out what they should; pages lead to each other; what is not understood is refused.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fm"))
# pylint: disable=wrong-import-position
from rig import FABRIC, Guest, Manager, Report, message

ROOT = "/redfish/v1"
BLOCKS = ROOT + "/CompositionService/ResourceBlocks"
PORTS = ("dn0", "dn1", "dn2", "dn3")
GPUS = [f"gpu{i}" for i in range(300)]
STAYS = {"@odata.id", "@odata.type", "@odata.etag"}


def links_of(value, inside=False):
    """All links of a document with what stands in their place: whether below Links, path, value."""
    if isinstance(value, list):
        for one in value:
            yield from links_of(one, inside)
    elif isinstance(value, dict):
        for key, one in value.items():
            for item in one if isinstance(one, list) else [one]:
                if isinstance(item, dict) and "@odata.id" in item:
                    yield inside or key == "Links", item["@odata.id"], item
                else:
                    yield from links_of({"": item}, inside or key == "Links")


def expanded(client, path, kind, levels):
    """What the answer has to be, made of single requests."""
    document = client.get(path)[1]

    def fill(value, inside):
        if isinstance(value, list):
            return [fill(one, inside) for one in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"@odata.id"}:
            wanted = kind in "*~" if inside else kind in "*."
            return (client.get(value["@odata.id"])[1] if levels == 1 else expanded(client, value["@odata.id"], kind, levels - 1)) \
                if wanted else value
        return {key: fill(one, inside or key == "Links") for key, one in value.items()}

    return {key: fill(value, key == "Links") for key, value in document.items()}


def expand(rack):
    for path in (ROOT, ROOT + "/Systems", ROOT + "/Systems/hosta", FABRIC, FABRIC + "/Zones/hosta", FABRIC + "/Switches/hosta/Ports", FABRIC + "/Endpoints/gpu0",
                 BLOCKS + "/gpu0", ROOT + "/AccountService", ROOT + "/Registries", ROOT + "/TaskService"):
        plain = rack.get(path)
        for kind in "*.~":
            status, document, headers = rack.get(f"{path}?$expand={kind}")
            Report.ok(status == 200 and document == expanded(rack, path, kind, 1), f"{path} with $expand={kind}", status, document)
            Report.same((headers["ETag"], document["@odata.etag"]), (plain[2]["ETag"],) * 2, "has the tag of the resource itself")
    for path, kind in ((FABRIC + "/Zones", "*"), (FABRIC + "/Zones", "~"), (FABRIC + "/Switches", ".")):
        document = rack.get(f"{path}?$expand={kind}($levels=3)")[1]
        Report.same(document, expanded(rack, path, kind, 3), f"{path}, three levels of {kind}")
    status, document, _ = rack.get(f"{BLOCKS}?$expand=*($levels=4)")
    Report.ok(status == 507 and "too large" in message(document), "what is too large is refused", status, document)
    status, document, headers = rack.get(f"{FABRIC}/Zones/hosta?$expand=~")
    tag = headers["ETag"]
    Report.same(rack.get(f"{FABRIC}/Zones/hosta?$expand=~", If_None_Match=tag)[0], 200, "If-None-Match is not for what is expanded")
    status = rack.ask("PATCH", f"{FABRIC}/Zones/hosta", {"Links": {"Endpoints": [{"@odata.id": f"{FABRIC}/Endpoints/hosta"}]}}, If_Match=tag)[0]
    Report.same(status, 200, "the tag is good for If-Match")
    Report.same(rack.ask("HEAD", f"{FABRIC}/Endpoints?$expand=.")[0], 200, "HEAD")


def pages(rack):
    path, names, count = f"{FABRIC}/Endpoints?$expand=.($levels=1)&$select=Id", [], 0
    while path:
        status, document, _ = rack.get(path)
        assert status == 200, document
        count += 1
        Report.ok(len(document["Members"]) <= 256 and document["Members@odata.count"] == 302, "a page is bounded", len(document["Members"]))
        names += [one["Id"] for one in document["Members"]]
        Report.ok(all(set(one) == {"Id"} | STAYS for one in document["Members"]), "a page has what is selected")
        path = document.get("Members@odata.nextLink")
    Report.same((count, names), (2, ["hosta", "hostb", *GPUS]), "pages have all members, once")
    plain = rack.get(FABRIC + "/Endpoints")[1]
    Report.ok("Members@odata.nextLink" not in plain and len(plain["Members"]) == 302, "links alone are one page")

    def members(query):
        document = rack.get(f"{FABRIC}/Endpoints?{query}")[1]
        return [one["@odata.id"].rsplit("/", 1)[-1] for one in document["Members"]], document["Members@odata.count"], \
            document.get("Members@odata.nextLink")

    Report.same(members("$skip=2&$top=2"), (["gpu0", "gpu1"], 302, None), "$skip and $top")
    Report.same(members("$skip=301"), (["gpu299"], 302, None), "the last one")
    Report.same(members("$skip=999"), ([], 302, None), "behind it")
    shown, _, link = members("$expand=.&$skip=10&$top=260")
    Report.same((shown, link), (GPUS[8:264], f"{FABRIC}/Endpoints?$expand=.($levels=1)&$skip=266&$top=4"), "with a page's end between them")
    Report.same(members(link.partition("?")[2])[0], GPUS[264:268], "and the rest on the next")


def select(rack):
    def keys(path):
        return rack.get(path)[1]

    gpu = rack.get(FABRIC + "/Endpoints/gpu0")[1]
    document = keys(FABRIC + "/Endpoints/gpu0?$select=Id,Status/State,Nothing,ConnectedEntities/EntityType")
    Report.same(document, {**{key: gpu[key] for key in STAYS}, "Id": "gpu0", "Status": {"State": gpu["Status"]["State"]},
                           "ConnectedEntities": [{"EntityType": "Processor"}]}, "$select leaves what is named, and what must stay")
    document = keys(FABRIC + "/Zones?$select=Id")
    Report.same(set(document), STAYS | {"Members@odata.count"}, "a collection has no Id")
    document = keys(FABRIC + "/Zones?$select=Members")
    Report.same(set(document), STAYS | {"Members", "Members@odata.count"}, "and what is said of a member goes with it")
    document = keys(FABRIC + "/Zones?$select=Links/Endpoints&$expand=.")
    Report.same([set(one) for one in document["Members"]], [STAYS | {"Links"}] * 2, "with $expand it is about what was expanded")
    document = keys(f"{BLOCKS}/gpu0?$select=Model,ProcessorType&$expand=.")
    Report.same([set(document), [set(one) for one in document["Processors"]]], [STAYS | {"Processors"}, [STAYS | {"ProcessorType"}]], "at any depth")


def refusals(rack):
    for query, wanted in (("$expand", "QueryParameterValueError"), ("$expand=", "QueryParameterValueError"), ("$expand=Members", "QueryParameterValueError"),
                          ("$expand=.($levels=0)", "QueryParameterValueError"), ("$expand=.($levels=7)", "QueryParameterValueError"),
                          ("$expand=.($levels=1", "QueryParameterValueError"), ("$expand=.($levels=1)x", "QueryParameterValueError"),
                          ("$select=", "QueryParameterValueError"), ("$select=a,,b", "QueryParameterValueError"), ("$select=a//b", "QueryParameterValueError"),
                          ("$select=" + ",".join(["Id"] * 33), "QueryParameterValueError"), ("$select=a%26b", "QueryParameterValueError"),
                          ("$top=0", "QueryParameterValueError"), ("$top=-1", "QueryParameterValueError"), ("$skip=x", "QueryParameterValueError"),
                          ("$skip=99999999999999999999", "QueryParameterValueError"),
                          ("$expand=.&$expand=.", "QueryCombinationInvalid"), ("$select=Id&$select=Id", "QueryCombinationInvalid")):
        status, document, _ = rack.get(f"{FABRIC}/Zones?{query}")
        Report.same((status, document["error"]["code"].rsplit(".", 1)[-1]), (400, wanted), f"a query: {query[:40]}")
    for query in ("$filter=Id%20eq%20'a'", "$count", "$"):
        Report.same(rack.get(f"{FABRIC}/Zones?{query}")[0], 501, f"a query that nobody knows: {query}")
    Report.same([rack.get(f"{FABRIC}/Zones?{query}")[0] for query in ("only", "x=$expand", "expand=.")], [200] * 3, "others are left alone")
    for path in (f"{FABRIC}/Zones/hosta?$top=1", ROOT + "/$metadata?$expand=.", "/metrics?$expand=.", "/?$select=a"):
        status, document, _ = rack.get(path)
        Report.same((status, document["error"]["code"].rsplit(".", 1)[-1]), (400, "QueryNotSupportedOnResource"), f"not for {path}")
    status, document, _ = rack.ask("PATCH", f"{FABRIC}/Zones/hosta?$expand=.", {})
    Report.same((status, document["error"]["code"].rsplit(".", 1)[-1]), (400, "QueryNotSupportedOnOperation"), "nor for PATCH")
    Report.same(rack.get(ROOT + "/EventService/SSE?$expand=.")[0], 404, "nor for what listens")
    Report.same(rack.get(f"{FABRIC}/Zones/nobody?$expand=.")[0], 404, "nothing there")


def rights(manager, admin):
    """Nobody sees more in an answer than by asking for each part of it."""
    nobody = manager.client()
    Report.same([nobody.get(ROOT + query)[0] for query in ("", "?$select=Id", "?$expand=.", "?$expand=*($levels=6)")], [200, 200, 401, 401],
                "without an account there is nothing to expand")
    accounts = f"{ROOT}/AccountService?$expand=.($levels=2)"
    Report.same([one["UserName"] for one in admin.get(accounts)[1]["Accounts"]["Members"]], ["admin"], "an administrator sees accounts")
    Report.same(manager.client("hosta").get(accounts)[1]["Accounts"]["Members"], [], "a host does not")


def main():
    with tempfile.TemporaryDirectory() as work:
        guests = {name: Guest(work, name, PORTS) for name in ("hosta", "hostb")}
        manager = Manager(work, {name: (one.path, PORTS) for name, one in guests.items()}, GPUS, extra="client_certificates = optional")
        manager.command("init", "--user", "admin")
        manager.command("passwd", "admin", stdin="correct horse\n")
        manager.start().ready()
        admin = manager.client(pem=os.path.join(manager.folder, "users/admin.pem"))
        for part in (expand, pages, select, refusals):
            admin.set("hosta", ["gpu0", "gpu1"])
            part(admin)
        rights(manager, admin)
        features = admin.get(ROOT)[1]["ProtocolFeaturesSupported"]
        Report.same(features["ExpandQuery"], {"Levels": True, "ExpandAll": True, "Links": True, "NoLinks": True, "MaxLevels": 6}, "the service says what it can do")
        Report.same((features["SelectQuery"], features["TopSkipQuery"], features["FilterQuery"]), (True, True, False), "all of it")
        manager.stop()
        for guest in guests.values():
            guest.close()
    print(f"1..{Report.count}")
    sys.exit(1 if Report.failed else 0)


if __name__ == "__main__":
    main()
