# SPDX-License-Identifier: GPL-2.0-only
"""An authority and a certificate for this machine, by openssl."""

import os
import subprocess


def make_certificates(folder):
    """Paths of the authority, of the key, and of the certificate for it."""
    authority, key, signed, request, own, names = (os.path.join(folder, name) for name in (
        "ca.crt", "server.key", "server.crt", "server.csr", "ca.key", "names"))
    with open(names, "w", encoding="ascii") as file:
        file.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    new_key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    for words in (("req", "-x509", *new_key, "-keyout", own, "-out", authority, "-days", "3650", "-subj", "/CN=test authority"),
                  ("req", *new_key, "-keyout", key, "-out", request, "-subj", "/CN=localhost"),
                  ("x509", "-req", "-in", request, "-CA", authority, "-CAkey", own, "-CAcreateserial", "-days", "3650",
                   "-extfile", names, "-out", signed)):
        subprocess.run(["openssl", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return authority, key, signed
