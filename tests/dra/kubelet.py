# SPDX-License-Identifier: GPL-2.0-only
"""The kubelet's side: it finds the driver by its socket for registration, and asks it."""

import os

import grpc
import plugin_pb2
import registration_pb2

SERVICES = {version: f"/k8s.io.kubelet.pkg.apis.dra.{version}.DRAPlugin/" for version in ("v1", "v1beta1")}
REGISTRATION = "/pluginregistration.Registration/"
# The kubelet waits for sockets that appear; a call waits for the driver to listen.
PATIENCE = 120 * int(os.environ.get("PATIENCE", "1"))


def call(path, method, request, answer, timeout=PATIENCE):
    # A pool of connections of its own, as another kubelet would have.
    with grpc.insecure_channel(f"unix://{path}", options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        function = channel.unary_unary(method, request_serializer=lambda message: message.SerializeToString(),
                                       response_deserializer=answer.FromString)
        return function(request, timeout=timeout, wait_for_ready=True)


def for_container(result, request=""):
    """Container devices of a container that names the claim, or a request of it; alternatives of a request have no names here."""
    return [name for device in result.devices if not request or not device.request_names or request in device.request_names
            for name in device.cdi_device_ids]


class Kubelet:
    """One kubelet; nothing is kept but where the driver is."""

    def __init__(self, registry, name="gpufabric.io"):
        self.socket = os.path.join(registry, f"{name}-reg.sock")
        self.endpoint = None

    def register(self, good=True, error=""):
        info = call(self.socket, REGISTRATION + "GetInfo", registration_pb2.InfoRequest(), registration_pb2.PluginInfo)
        self.endpoint = info.endpoint
        call(self.socket, REGISTRATION + "NotifyRegistrationStatus",
             registration_pb2.RegistrationStatus(plugin_registered=good, error=error),
             registration_pb2.RegistrationStatusResponse)
        return info

    def ask(self, method, claims, answer, version, timeout):
        request = plugin_pb2.ClaimsRequest()
        for claim in claims:
            meta = claim["metadata"]
            request.claims.add(namespace=meta["namespace"], name=meta["name"], uid=meta["uid"])
        response = call(self.endpoint, SERVICES[version] + method, request, answer, timeout)
        return {entry.uid: entry.result for entry in response.claims}

    def prepare(self, *claims, version="v1", timeout=PATIENCE):
        return self.ask("NodePrepareResources", claims, plugin_pb2.PrepareResponse, version, timeout)

    def unprepare(self, *claims, version="v1", timeout=PATIENCE):
        return self.ask("NodeUnprepareResources", claims, plugin_pb2.UnprepareResponse, version, timeout)
