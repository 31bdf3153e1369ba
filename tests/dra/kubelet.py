# SPDX-License-Identifier: GPL-2.0-only
"""The kubelet's side: it finds the driver by its socket for registration, and asks it."""

import os
import threading

import grpc
import health_pb2
import plugin_pb2
import registration_pb2
from tap import Report

SERVICES = {version: f"/k8s.io.kubelet.pkg.apis.dra.{version}.DRAPlugin/" for version in ("v1", "v1beta1")}
HEALTH = {version: f"/{version}.DRAResourceHealth/NodeWatchResources" for version in ("v1", "v1alpha1")}
REGISTRATION = "/pluginregistration.Registration/"
# The kubelet waits for sockets that appear; a call waits for the driver to listen.
PATIENCE = 120 * int(os.environ.get("PATIENCE", "1"))


def call(path, method, request, answer, timeout=PATIENCE):
    # A pool of connections of its own, as another kubelet would have.
    with grpc.insecure_channel(f"unix://{path}", options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        function = channel.unary_unary(method, request_serializer=lambda message: message.SerializeToString(),
                                       response_deserializer=answer.FromString)
        return function(request, timeout=timeout, wait_for_ready=True)


class Health:
    """The kubelet's watch of devices: their health as the last list has it, and the number of lists."""

    def __init__(self, path, version):
        self.devices, self.lists, self.ended = {}, 0, None
        self.changed = threading.Condition()
        self.channel = grpc.insecure_channel(f"unix://{path}", options=[("grpc.use_local_subchannel_pool", 1)])
        watch = self.channel.unary_stream(HEALTH[version], request_serializer=lambda message: message.SerializeToString(),
                                          response_deserializer=health_pb2.WatchResponse.FromString)
        self.stream = watch(health_pb2.WatchRequest(), wait_for_ready=True)
        self.thread = threading.Thread(target=self.follow, daemon=True)
        self.thread.start()

    def follow(self):
        try:
            for message in self.stream:
                with self.changed:
                    self.devices = {(one.device.pool_name, one.device.device_name): (health_pb2.Status.Name(one.health), one.message)
                                    for one in message.devices}
                    self.lists += 1
                    self.changed.notify_all()
        except grpc.RpcError as error:
            with self.changed:
                self.ended = error.code()
                self.changed.notify_all()

    def until(self, good, what):
        with self.changed:
            while not good():
                if not self.changed.wait(PATIENCE):
                    return Report.ok(False, what, "it was waited for too long", self.devices, self.ended)
        return Report.ok(True, what)

    def bad(self):
        """Devices that are not healthy."""
        return {name: health for name, health in self.devices.items() if health != ("HEALTHY", "")}

    def close(self):
        self.stream.cancel()
        self.thread.join()
        self.channel.close()


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

    def health(self, version="v1"):
        return Health(self.endpoint, version)

    def patiently(self, ask, claims, patient):
        """As the kubelet does, again while it is under way, unless a test is about that answer."""
        while True:
            answer = ask(claims)
            if not patient or not any("the kubelet asks again" in result.error for result in answer.values()):
                return answer

    def prepare(self, *claims, version="v1", timeout=PATIENCE, patient=True):
        return self.patiently(lambda some: self.ask("NodePrepareResources", some, plugin_pb2.PrepareResponse, version, timeout), claims, patient)

    def unprepare(self, *claims, version="v1", timeout=PATIENCE, patient=True):
        return self.patiently(lambda some: self.ask("NodeUnprepareResources", some, plugin_pb2.UnprepareResponse, version, timeout), claims, patient)
