# SPDX-License-Identifier: GPL-2.0-only
"""
The traces that parts of the benchmark run on: TRACES is a folder with philly/*.csv (one file
of jobs) and helios/NAME/*.csv (demand, one file a tenant), packed with gzip or not. Without it
made.py makes some, which are too short for the bars.
"""
import glob
import gzip
import os
import shutil

import made


def unpack(paths, out):
    """Plain copies below out; their names."""
    os.makedirs(out, exist_ok=True)
    names = []
    for path in sorted(paths):
        name = os.path.join(out, os.path.basename(path))
        if path.endswith(".gz"):
            name = name[:-len(".gz")]
            with gzip.open(path) as packed, open(name, "wb") as plain:
                shutil.copyfileobj(packed, plain)
        else:
            shutil.copyfile(path, name)
        names.append(name)
    return names


def find(out):
    """Jobs and demand as lists of files, their pools, and the warm start of both."""
    top = os.environ.get("TRACES")
    if not top:
        made.make(out)
        return {"jobs": [out + "/jobs.csv"], "demand": sorted(glob.glob(out + "/demand/*.csv")),
                "job_pools": (320, 256), "demand_pools": (160, 128), "warm": "1d"}
    return {"jobs": unpack(glob.glob(top + "/philly/*.csv*"), out + "/jobs"),
            "demand": unpack(glob.glob(top + "/helios/*/*.csv*"), out + "/demand"),
            "job_pools": (768, 640, 576), "demand_pools": (856, 704), "warm": "7d"}
