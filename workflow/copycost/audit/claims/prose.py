"""Plain sentences that say what the vocabulary can: translated into it, never guessed at."""

import re
from collections.abc import Callable
from typing import Any

from copycost.audit.quantities import find_quantity

_NAME = r"([A-Za-z_][\w-]*)"
_NUMBER = r"(\d+(?:\.\d+)?)"

Structured = dict[str, Any]


def understand(sentence: str) -> Structured | None:
    """Return a sentence in the vocabulary, None where it is none of the known forms."""
    text = " ".join(sentence.split()).rstrip(".")
    for pattern, build in _FORMS:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if match is not None:
            built = build(match)
            if built is not None:
                return built
    return None


def _size(number: str, unit: str) -> int | str:
    return int(number) if unit.lower() in ("b", "bytes") else f"{number}{unit}"


def _metric(words: str) -> str | None:
    return find_quantity(words)


def _scope(match: re.Match[str]) -> Structured:
    """Return sizes and threads where the form has named groups of them."""
    groups = match.groupdict()
    scope: Structured = {}
    if groups.get("size"):
        scope["sizes"] = _size(groups["size"], groups["unit"])
    if groups.get("threads"):
        scope["threads"] = int(groups["threads"])
    return scope


def _with(metric: str | None, match: re.Match[str], **kind: Any) -> Structured | None:  # noqa: ANN401
    if metric is None:
        return None
    return {name: {"metric": metric, **part} for name, part in kind.items()} | _scope(match)


_AT = r"(?: at every size| in every cell| at all sizes)?"
_PLACE = (
    r"(?:,? at (?P<size>\d+)\s*(?P<unit>B|bytes|KiB|MiB))?"
    r"(?:,? (?:at|with) (?P<threads>\d+) threads?)?"
)


def _more(match: re.Match[str]) -> Structured | None:
    name, word, metric, other = match["a"], match["word"].lower(), match["metric"], match["b"]
    part: Structured = {"implementation": name, "with": other, "is": word}
    if match["percent"]:
        part["percent"] = _plain(match["percent"])
    if match["start"]:
        part["from_size"] = _size(match["start"], match["start_unit"])
        if match["below"]:
            part["below"] = match["below"].lower()
    return _with(_metric(metric), match, compare=part)


def _never(match: re.Match[str]) -> Structured | None:
    part = {"implementation": match["a"], "with": match["b"], "is": f"not {match['word'].lower()}"}
    return _with(_metric(match["metric"]), match, compare=part)


def _rank(match: re.Match[str]) -> Structured | None:
    part = {"implementation": match["a"], "is": match["word"].lower()}
    built = _with(_metric(match["metric"]), match, rank=part)
    if built is not None and match.groupdict().get("threads2"):
        built["threads"] = int(match["threads2"])
        built["sizes"] = _size(match["size2"], match["unit2"])
    return built


def _falls(match: re.Match[str]) -> Structured | None:
    part = {
        "from": {"implementation": match["a"]},
        "to": {"implementation": match["b"]},
        "is": match["word"].lower().rstrip("s") + "s",
        "percent": _plain(match["percent"]),
    }
    return _with(_metric(match["metric"]), match, change=part)


def _grows(match: re.Match[str]) -> Structured | None:
    metric = _metric(match["metric"])
    if metric is None:
        return None
    parts = [
        {
            "metric": metric,
            "from": {"threads": int(match["t1"])},
            "to": {"threads": int(match["t2"])},
            "is": "grows",
            "factor": _plain(factor),
            "implementations": name,
        }
        for factor, name in re.findall(rf"{_NUMBER} ?x for {_NAME}", match["list"])
    ]
    return {"change": parts} | _scope(match)


def _zero(match: re.Match[str]) -> Structured | None:
    return _with(_metric(match["metric"]), match, value={"is": "zero"})


def _collapses(match: re.Match[str]) -> Structured | None:
    metric = _metric(match["metric"])
    if metric is None:
        return None
    most = int(match["many"])
    fewer = most // 2
    if fewer < 1:
        return None
    part = {
        "metric": metric,
        "from": {"threads": fewer},
        "to": {"threads": most},
        "is": "collapses",
    }
    return {"change": part, "sizes": _size(match["size"], match["unit"])}


def _measurements(match: re.Match[str]) -> Structured | None:
    metrics: list[str] = []
    for words in re.split(r",\s*|\s+and\s+", match["list"]):
        text = words.strip()
        if text.lower() in ("cache-miss", "cache miss", "cache-misses", "cache misses"):
            metrics += ["l1d_misses", "llc_misses"]
            continue
        found = _metric(text) or _metric(f"{text}s") or _metric(f"{text}es")
        if found is None:
            return None
        metrics.append(found)
    return {"measurements": {"metrics": metrics}}


def _plain(number: str) -> float | int:
    return float(number) if "." in number else int(number)


_FORMS: tuple[tuple[str, Callable[[re.Match[str]], Structured | None]], ...] = (
    (
        rf"(?P<a>[\w-]+) has (?:(?P<percent>[\d.]+) ?% )?(?P<word>more|less|higher|lower|fewer) "
        rf"(?P<metric>[\w -]+?) than (?P<b>[\w-]+)"
        rf"(?: from (?P<start>\d+) ?(?P<start_unit>B|bytes|KiB|MiB) (?:up|on)"
        rf"(?: and (?P<below>more|less) below)?)?{_AT}{_PLACE}",
        _more,
    ),
    (
        rf"(?P<a>[\w-]+) never has (?P<word>more|less) (?P<metric>[\w -]+?) than (?P<b>[\w-]+)"
        rf"{_AT}{_PLACE}",
        _never,
    ),
    (
        rf"(?P<a>[\w-]+) has the (?P<word>highest|lowest|best|worst) (?P<metric>[\w -]+?)"
        rf"(?: of (?:the (?:two|three|four)|all))?{_AT}"
        rf"(?: at (?P<threads2>\d+) threads? and (?P<size2>\d+) ?(?P<unit2>B|bytes|KiB|MiB))?"
        rf"{_PLACE}",
        _rank,
    ),
    (
        r"(?P<metric>[\w -]+?)(?: at (?P<size>\d+) ?(?P<unit>B|bytes|KiB|MiB))? "
        r"(?P<word>falls?|grows?|rises?|drops?) by (?P<percent>[\d.]+) ?% "
        r"from (?P<a>[\w-]+) to (?P<b>[\w-]+)(?:,? (?:at|with) (?P<threads>\d+) threads?)?",
        _falls,
    ),
    (
        rf"(?:at (?P<size>\d+) ?(?P<unit>B|bytes|KiB|MiB), )?from (?P<t1>\d+) to (?P<t2>\d+) "
        rf"threads,? (?P<metric>[\w -]+?) grows? (?P<list>{_NUMBER} ?x for .+)",
        _grows,
    ),
    (r"(?P<metric>[\w -]+?) (?:is|are) (?:0|zero) (?:in every cell|everywhere|throughout)", _zero),
    (
        r"(?P<metric>[\w -]+?) at (?P<size>\d+) ?(?P<unit>B|bytes|KiB|MiB) collapses at "
        r"(?P<many>\d+) threads(?: for every implementation)?",
        _collapses,
    ),
    (r"the (?P<list>[\w ,-]+?) columns? (?:is|are) (?:a )?measurements?", _measurements),
)
