"""The errors that lsp-harness raises on purpose.

    HarnessError
    ├── ConfigError                the settings are not valid
    │   └── ApiKeyMissing          the key of a service is missing
    ├── UsageError                 the caller asked for something that is not possible
    │   └── ExtraMissing           a package is missing that only some commands need
    ├── DocumentError              the document cannot be used
    │   ├── DocumentNotOpen        the client has not opened it
    │   │   └── DocumentOutOfSync  a change of it could not be applied
    │   ├── BinaryDocument         it is not a text
    │   └── StaleDocument          it has changed since the request
    ├── ModelError                 a model file is not valid
    │   ├── UnknownModel           the catalogue has no such model
    │   ├── ModelMissing           the file has not been downloaded
    │   └── PullFailed             no source served the right bytes
    ├── LibraryError               there is no library of llama.cpp that can be used
    ├── EngineError                the engine failed
    │   ├── EngineUnavailable      it cannot be started or reached
    │   │   └── EngineStuck        it gives no sign of life
    │   ├── EngineBusy             its queue is full
    │   └── EngineRefused          it says that the request is wrong
    ├── FileError                  a file or folder cannot be read or written
    │   └── FileMissing            it does not exist
    ├── StoreError                 a database cannot be used, for example without permission
    │   ├── StoreDamaged           the file is not a valid database any more
    │   └── StoreTimeout           a query took longer than its time limit
    ├── IndexIncomplete            the index cannot answer for the whole folder yet
    ├── NoAnswer                   no candidate passed its checks
    └── RequestSuperseded          a newer request replaced this one

Messages are one sentence for a person and say what to do. Users never see a traceback.
"""


class HarnessError(Exception):
    """Base class of all errors of lsp-harness.

    `exit_code` is the exit status of a command that fails with the error.
    """

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


class ExtraMissing(UsageError): ...


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


class LibraryError(HarnessError):
    exit_code = 3


class EngineError(HarnessError):
    exit_code = 4


class EngineUnavailable(EngineError): ...


class EngineStuck(EngineUnavailable): ...


class EngineBusy(EngineError): ...


class EngineFailed(EngineError):
    """The server failed while it worked on a request. The same request may succeed."""


class EngineRefused(EngineError): ...


class ToolsRefused(EngineRefused):
    """The server does not take the tools or the answer schema of a request."""


class FileError(HarnessError):
    exit_code = 8


class FileMissing(FileError): ...


class StoreError(HarnessError):
    exit_code = 7


class StoreDamaged(StoreError): ...


class StoreTimeout(StoreError): ...


class IndexIncomplete(HarnessError):
    """The index does not know the whole folder as it is, so its answer would be a guess.

    Args:
        message: The reason in words.
        is_temporary: Whether it passes by itself.
    """

    def __init__(self, message: str, *, is_temporary: bool = True) -> None:
        super().__init__(message)
        self.is_temporary = is_temporary


class NoAnswer(HarnessError):
    exit_code = 5


class RequestSuperseded(HarnessError):
    exit_code = 6
