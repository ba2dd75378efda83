"""Shares in percent, as every text, table and figure writes them."""

NBSP = "\u00a0"
"""Stands between a number and its unit, where a line must not break."""


def format_percent(share: float) -> str:
    """Return a share (1 = all) in percent, without rounding a rest away.

    0.9996 is ``over 99.9 %`` and 0.0002 ``under 0.1 %``: only all is 100 % and only nothing is 0 %.
    """
    value = share * 100.0
    if value != 0.0 and abs(value) < 0.1:
        return f"under 0.1{NBSP}%"
    if 99.9 < value < 100.0:
        return f"over 99.9{NBSP}%"
    if abs(value) < 10.0 or 99.0 < value < 100.0:
        text = f"{value:.1f}"
        return f"{text.removesuffix('.0')}{NBSP}%"
    return f"{value:.0f}{NBSP}%"
