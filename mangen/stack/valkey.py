"""The embedded Valkey: broker and results on a private socket, written to disk as it goes."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess

from mangen import errors
from mangen.stack import binaries, place, servers


class Valkey:
    """One server of one home. What it holds may be lost: the ledger rings again."""

    name = "valkey"
    stop_signal: int = signal.SIGTERM

    def __init__(self, home: place.Place) -> None:
        self._home = home
        self._folder = home.root / "valkey"
        self._program = binaries.valkey()
        self._socket = home.sockets / "valkey.sock"
        self.url = f"redis+socket://{self._socket}"

    def start(self) -> subprocess.Popen[bytes]:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._home.make_sockets(place.postgres_user())
        except OSError as error:
            raise errors.ServiceError(f"can't make {self._folder}: {error.strerror}") from error
        return servers.start_alone(
            self._home,
            self.name,
            [
                self._program, "--port", "0", "--unixsocket", self._socket,
                "--unixsocketperm", "700", "--dir", self._folder, "--save", "",
                "--appendonly", "yes", "--appendfsync", "everysec",
                "--maxmemory-policy", "noeviction", "--daemonize", "no",
            ],
            stop_signal=self.stop_signal,
        )  # fmt: skip

    def ready(self) -> bool:
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(2)
            probe.connect(str(self._socket))
            probe.sendall(b"PING\r\n")
            return probe.recv(7).startswith(b"+PONG")
        return False

    def reachable(self) -> bool:
        return self._socket.is_socket()

    def repair(self) -> bool:
        """Set data aside that it can't load; the pass publishes again what is open."""
        if not self._folder.exists():
            return False
        self._folder.rename(servers.unused_name(self._folder))
        return True
