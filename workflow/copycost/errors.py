"""The errors that copycost raises on purpose.

A message names, in this order: where, what was found, what was expected, what to do.
"""


class CopycostError(Exception):
    """Something that a user can understand and act upon; shown as one sentence, no traceback."""


def in_words(error: Exception) -> str:
    """Return what an error says, with its kind where its words were not made for users."""
    if isinstance(error, CopycostError):
        return str(error)
    return f"{type(error).__name__}: {error}"


class ConfigError(CopycostError):
    """The configuration asks for something that cannot be; the message lists every problem."""


class ParseError(CopycostError):
    """Text written by another program does not have the documented form."""


class HostError(CopycostError):
    """The host lacks a tool, a right or a resource."""


class TookTooLong(HostError):
    """Something did not end in time, as on a busy host; another try may end."""


class WithRemedy(HostError):
    """What a measurement needs is not there, and something helps.

    Attributes
    ----------
    reason, remedy : str
        What is missing or was refused, and what helps.
    """

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy


class Unavailable(WithRemedy):
    """It is never to be had on a host as that is: so what needs it is skipped."""


class AttemptFailed(WithRemedy):
    """It was not to be had this time, and may be the next: so what needs it has failed."""


class DataError(CopycostError):
    """Records or tables contradict their definition, or each other."""


class CannotStart(HostError):
    """A program could not be executed.

    Attributes
    ----------
    path
        Of the program, or of the wrapper that was to run it.
    """

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: cannot be started: {why}")
        self.path = path
        self.why = why


class MeasurementStopped(CopycostError):
    """The measurement was called off from outside: it leaves no record, and nothing else."""
