"""What can go wrong, and whose fault it is.

    HarnessError
    ├── ConfigError           the settings say something impossible
    │   └── ApiKeyMissing        … or lack the key of a service
    ├── UsageError            the caller asked for something that makes no sense
    ├── DocumentError         the caller named a text we cannot work on
    │   ├── DocumentNotOpen           … because the client never opened it
    │   │   └── DocumentOutOfSync     … or a change of it could not be understood
    │   ├── BinaryDocument           … because it is binary
    │   └── StaleDocument             … because it has changed since
    ├── ModelError            a model file is not what it must be
    │   ├── UnknownModel
    │   ├── ModelMissing      … it was never pulled
    │   └── PullFailed        … no source served the right bytes
    ├── EngineError           the model process did not do its part
    │   ├── EngineUnavailable … it cannot be started or reached
    │   │   └── EngineStuck   … because it gives no sign of life
    │   ├── EngineBusy        … its queue is full
    │   └── EngineRefused     … it says the request is wrong
    ├── FileError           a file or folder cannot be read or written
    │   └── FileMissing       … because there is none
    ├── StoreError            a database cannot be used: no place, no permission
    │   ├── StoreDamaged      … because it is none any more
    │   └── StoreTimeout         … within the time a question has
    ├── NoAnswer              every candidate failed its checks
    └── RequestSuperseded            newer work replaced this

Messages are one sentence for a person and name what to do. No traceback reaches a user.
"""


class HarnessError(Exception):
    """Base of everything the harness raises on purpose."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConfigError(HarnessError):
    exit_code = 2


class ApiKeyMissing(ConfigError):
    exit_code = 1


class UsageError(HarnessError):
    exit_code = 2


class DocumentError(HarnessError): ...


class DocumentNotOpen(DocumentError): ...


class DocumentOutOfSync(DocumentNotOpen): ...


class BinaryDocument(DocumentError): ...


class StaleDocument(DocumentError): ...


class ModelError(HarnessError):
    exit_code = 3


class UnknownModel(ModelError): ...


class ModelMissing(ModelError): ...


class PullFailed(ModelError): ...


class EngineError(HarnessError):
    exit_code = 4


class EngineUnavailable(EngineError): ...


class EngineStuck(EngineUnavailable): ...


class EngineBusy(EngineError): ...


class EngineRefused(EngineError): ...


class FileError(HarnessError):
    exit_code = 8


class FileMissing(FileError): ...


class StoreError(HarnessError):
    exit_code = 7


class StoreDamaged(StoreError): ...


class StoreTimeout(StoreError): ...


class NoAnswer(HarnessError):
    exit_code = 5


class RequestSuperseded(HarnessError):
    exit_code = 6
