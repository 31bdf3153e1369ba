# SPDX-License-Identifier: GPL-2.0-only
"""
Fields, types and limits of resource.k8s.io and coordination.k8s.io, as the published API has them,
written down as a table. wrong() says what is wrong with an object, None for nothing.
"""

import re

LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"


def text(pattern=".*", most=253):
    def judge(value):
        if not isinstance(value, str):
            return "is no text"
        if len(value) > most:
            return f"has more than {most} characters"
        return None if re.fullmatch(pattern, value, re.S) else f"is not of the form {pattern}"
    return judge


def whole(least, most):
    def judge(value):
        good = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        return None if good else f"is no whole number from {least} to {most}"
    return judge


def anything(_value):
    return None


def flag(value):
    return None if isinstance(value, bool) else "is neither true nor false"


def array(judge, most, least=0):
    def judge_all(value):
        if not isinstance(value, list) or not least <= len(value) <= most:
            return f"is no list of {least} to {most}"
        return next((f"[{i}]: {why}" for i, one in enumerate(value) if (why := judge(one))), None)
    return judge_all


def mapping(name, judge, most):
    def judge_all(value):
        if not isinstance(value, dict) or len(value) > most:
            return f"is no map of at most {most}"
        return next((f"{key}: {why}" for key, one in value.items() if (why := name(key) or judge(one))), None)
    return judge_all


def fields(table, **needed):
    """An object with these fields and no others; those in needed have to be there."""
    def judge(value):
        if not isinstance(value, dict):
            return "is no object"
        for name in needed:
            if name not in value:
                return f"{name}: is missing"
        for name, one in value.items():
            which = needed.get(name) or table.get(name)
            if not which:
                return f"{name}: is no field"
            why = which(one)
            if why:
                return f"{name}: {why}"
        return None
    return judge


def one_of(judge, names):
    def judge_one(value):
        why = judge(value)
        count = sum(name in value for name in names) if isinstance(value, dict) else 0
        return why or (None if count == 1 else f"has {count} of {', '.join(names)}")
    return judge_one


META = fields({"name": text(SUBDOMAIN), "namespace": text(LABEL, 63), "generateName": text(most=253), "uid": text(most=64),
               "resourceVersion": text(r"\d+"), "generation": whole(0, 2**63 - 1), "creationTimestamp": anything,
               "labels": mapping(text(most=317), text(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", 63), 64),
               "annotations": mapping(text(most=317), text(most=262144), 64), "managedFields": anything,
               "ownerReferences": array(fields({"controller": flag, "blockOwnerDeletion": flag}, apiVersion=text(),
                                               kind=text(), name=text(), uid=text(most=64)), 16)})
TIME = text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z")
# A domain and a C identifier of 32 letters at most, or that alone.
QUALIFIED = text(rf"({SUBDOMAIN}/)?[A-Za-z_][A-Za-z0-9_]{{0,31}}", 96)
QUANTITY = text(r"\d+(\.\d+)?(Ki|Mi|Gi|Ti|Pi|Ei|m|k|M|G|T|P|E)?", 32)
VERSION = text(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", 64)
# A domain, and a name of 63 letters at most.
LABEL_KEY = rf"({SUBDOMAIN}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?"
ATTRIBUTE = one_of(fields({"int": whole(-2**63, 2**63 - 1), "bool": flag, "string": text(most=64), "version": VERSION}),
                   ("int", "bool", "string", "version"))
TAINT = fields({"value": text(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?", 63), "timeAdded": TIME},
               key=text(LABEL_KEY, 317),
               effect=text("NoSchedule|NoExecute|None"))
COUNTERS = fields({}, name=text(LABEL, 63), counters=mapping(text(LABEL, 63), fields({}, value=QUANTITY), 32))
CONSUMES = fields({}, counterSet=text(LABEL, 63), counters=mapping(text(LABEL, 63), fields({}, value=QUANTITY), 32))
TERM = fields({"matchExpressions": array(fields({"values": array(text(), 64)}, key=text(LABEL_KEY, 317),
                                                operator=text("In|NotIn|Exists|DoesNotExist|Gt|Lt")), 64),
               "matchFields": anything})
SELECTOR = fields({}, nodeSelectorTerms=array(TERM, 1, 1))
BASIC = {"attributes": mapping(QUALIFIED, ATTRIBUTE, 32),
         "capacity": mapping(QUALIFIED, fields({"requestPolicy": anything}, value=QUANTITY), 32),
         "taints": array(TAINT, 16), "consumesCounters": array(CONSUMES, 2), "nodeName": text(SUBDOMAIN),
         "nodeSelector": SELECTOR, "allNodes": flag, "bindsToNode": flag,
         "bindingConditions": array(text(), 4), "bindingFailureConditions": array(text(), 4)}
DEVICE = {"v1": fields(BASIC, name=text(LABEL, 63)), "v1beta2": fields(BASIC, name=text(LABEL, 63)),
          "v1beta1": fields({}, name=text(LABEL, 63), basic=fields(BASIC))}
POOL_NAME = text(rf"{SUBDOMAIN}(/{SUBDOMAIN})*", 253)


def slice_spec(version):
    def judge(spec):
        body = fields({"nodeName": text(SUBDOMAIN), "nodeSelector": SELECTOR, "allNodes": flag,
                       "perDeviceNodeSelection": flag, "devices": array(DEVICE[version], 128),
                       "sharedCounters": array(COUNTERS, 8)},
                      driver=text(SUBDOMAIN, 63), pool=fields({}, name=POOL_NAME, generation=whole(0, 2**63 - 1),
                                                              resourceSliceCount=whole(1, 10**6)))
        why = one_of(body, ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"))(spec)
        if why:
            return why
        names = [one["name"] for one in spec.get("devices", ())]
        for one in spec.get("devices", ()):
            inner = one.get("basic", one)
            if len(inner.get("attributes", ())) + len(inner.get("capacity", ())) > 32:
                return f"devices: {one['name']} has more than 32 attributes and capacities"
        if spec.get("devices") and any("taints" in one.get("basic", one) for one in spec["devices"]) and len(names) > 64:
            return "devices: more than 64 where there are taints"
        return "devices: a name twice" if len(set(names)) != len(names) else None
    return judge


RESULT = fields({"adminAccess": flag, "shareID": text(most=64), "tolerations": anything, "consumedCapacity": anything,
                 "bindingConditions": anything, "bindingFailureConditions": anything},
                request=text(rf"{LABEL}(/{LABEL})?", 127), driver=text(SUBDOMAIN, 63), pool=POOL_NAME,
                device=text(LABEL, 63))
OPAQUE = fields({}, driver=text(SUBDOMAIN, 63), parameters=anything)
CONFIG = fields({"requests": array(text(), 32), "opaque": OPAQUE}, source=text("FromClass|FromClaim"))
CEL = fields({}, cel=fields({}, expression=text(most=10240)))
EXACT = fields({"selectors": array(CEL, 32), "allocationMode": text("ExactCount|All"), "count": whole(1, 2**31),
                "adminAccess": flag, "tolerations": array(anything, 16), "capacity": anything},
               deviceClassName=text(SUBDOMAIN))
REQUEST = one_of(fields({"exactly": EXACT, "firstAvailable": array(anything, 8)}, name=text(LABEL, 63)),
                 ("exactly", "firstAvailable"))
CONSTRAINT = fields({"requests": array(text(), 32), "matchAttribute": QUALIFIED, "distinctAttribute": QUALIFIED})
CLAIM_SPEC = fields({"devices": fields({"requests": array(REQUEST, 32), "constraints": array(CONSTRAINT, 32),
                                        "config": array(fields({"requests": array(text(), 32), "opaque": OPAQUE}), 32)})})
ALLOCATION = fields({"nodeSelector": SELECTOR, "allocationTimestamp": TIME,
                     "devices": fields({"results": array(RESULT, 32), "config": array(CONFIG, 64)})})


def canonical(quantity):
    """A quantity as the API server writes it, whoever wrote it in another way."""
    number, suffix = re.fullmatch(r"(\d+)([A-Za-z]*)", quantity).groups()
    value, binary = int(number), ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
    decimal = ["", "k", "M", "G", "T", "P", "E"]
    suffixes, step = (binary, 1024) if suffix.endswith("i") else (decimal, 1000)
    value *= step ** suffixes.index(suffix)
    if value < 1024:
        suffixes, step = decimal, 1000
    at = 0
    while value and value % step == 0 and at < 6:
        value, at = value // step, at + 1
    return f"{value}{suffixes[at]}"


LEASE = fields({"holderIdentity": text(), "leaseDurationSeconds": whole(1, 10**6), "acquireTime": TIME, "renewTime": TIME,
                "leaseTransitions": whole(0, 2**31 - 1), "strategy": text(), "preferredHolder": text()})


def kind(**needed):
    return fields({"apiVersion": text(), "kind": text()}, **needed)


KINDS = {("resource.k8s.io", "ResourceClaim"): lambda _: fields({"apiVersion": text(), "kind": text(), "status": fields(
             {"allocation": ALLOCATION, "reservedFor": array(anything, 256), "devices": array(anything, 32)})},
             metadata=META, spec=CLAIM_SPEC),
         ("resource.k8s.io", "ResourceSlice"): lambda version: kind(metadata=META, spec=slice_spec(version)),
         ("resource.k8s.io", "ResourceClaimTemplate"): lambda _: kind(metadata=META, spec=fields(
             {"metadata": META}, spec=CLAIM_SPEC)),
         ("resource.k8s.io", "DeviceClass"): lambda _: kind(metadata=META, spec=fields(
             {"selectors": array(CEL, 32), "config": array(fields({"opaque": OPAQUE}), 32),
              "extendedResourceName": text()})),
         ("coordination.k8s.io", "Lease"): lambda _: kind(metadata=META, spec=LEASE)}


def wrong(item):
    group, _, version = item.get("apiVersion", "").rpartition("/")
    judge = KINDS.get((group, item.get("kind")))
    if not judge:
        return None if group not in ("resource.k8s.io", "coordination.k8s.io") else f"no kind {item.get('kind')}"
    why = judge(version)(item)
    return f"{item['kind']}: {why}" if why else None
