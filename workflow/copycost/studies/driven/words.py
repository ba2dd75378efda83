"""Words that the command, the progress and the figures of driven studies share."""


def streams(n_streams: int) -> str:
    """Return ``1 stream`` or ``2 streams``."""
    return f"{n_streams} stream{'' if n_streams == 1 else 's'}"
