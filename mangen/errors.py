"""Every error a user of mangen may see: each names the thing, the place and the mend."""

from __future__ import annotations


class MangenError(Exception):
    """Something went wrong in mangen."""

    #: process exit code of a command that ends by this error
    exit_code = 1

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip().split("\n", 1)[0])


class UsageError(MangenError):
    """The command or call is wrong."""

    exit_code = 2


class SettingsError(UsageError):
    """A setting is wrong."""


class TextError(UsageError):
    """The text can't be used."""


class ModelError(UsageError):
    """A model, or the registry that names it, can't be used: work waits until that is mended."""


class UnknownProject(UsageError):
    """There is no such project."""


class ServiceError(MangenError):
    """A service (Postgres, broker) can't be reached or started."""

    exit_code = 3


class AlreadyRunning(MangenError):
    """Another process already does this here."""

    exit_code = 4


class LedgerError(MangenError):
    """The ledger refused a transition."""


class FenceLost(LedgerError):
    """The attempt is no longer this owner's: its work must be thrown away."""


class Stopped(FenceLost):
    """The job was cancelled while it ran: its work must be thrown away."""


class StorageError(MangenError):
    """An artifact can't be read or written."""


class StorageUnwritable(StorageError):
    """The artifact store takes no files: work waits until it is mended."""


class StorageFull(StorageUnwritable):
    """The artifact store has no room."""


class EngineError(MangenError):
    """An engine could not make its product."""

    #: permanent: the same request fails again; transient: another try may pass
    permanent = True


class EngineUnavailable(EngineError):
    """An engine can't answer just now."""

    permanent = False


class EngineMissing(EngineUnavailable):
    """What an engine runs with isn't on this machine: work waits until it is, or goes elsewhere."""


class VoiceError(EngineError):
    """A line can't be spoken."""


class VoiceUnavailable(VoiceError):
    """A voice service can't answer just now."""

    permanent = False
