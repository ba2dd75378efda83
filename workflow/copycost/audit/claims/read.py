"""Reads a file of claims: structured ones, and plain sentences as far as they are understood."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from copycost.audit.claims.parse import KINDS, parse_claim
from copycost.audit.claims.prose import understand
from copycost.audit.claims.vocabulary import Claim, Unclear
from copycost.audit.dataset import Dataset
from copycost.audit.mapping import load_yaml
from copycost.errors import ConfigError


def read_claims(path: Path, dataset: Dataset) -> list[Claim]:
    """Return the claims about a dataset.

    A file holds a list of claims, alone or under ``claims:``, or one such list per dataset, by
    its name. A claim in words only is translated where its sentence is one that `prose` knows.

    Raises
    ------
    ConfigError
        If the file is no such list; a claim that is not in the vocabulary is listed by number,
        all of them at once.
    """
    problems: list[str] = []
    claims = []
    for number, said in enumerate(_items(load_yaml(path), dataset, path), 1):
        if isinstance(said, str):
            said = {"claim": said}
        if not isinstance(said, Mapping):
            problems.append(f"{path}: claim {number}: got {said!r}, must be a mapping")
            continue
        try:
            if any(kind in said for kind in KINDS):
                claims.append(parse_claim(said))
            else:
                claims.append(_from_words(said))
        except Unclear as error:
            problems.append(f"{path}: claim {number}: {error}")
        except (TypeError, ValueError) as error:
            problems.append(f"{path}: claim {number}: {error}; see docs/audit.md")
    if problems:
        raise ConfigError("\n".join(problems))
    return claims


def _items(content: Any, dataset: Dataset, path: Path) -> list[Any]:  # noqa: ANN401
    if isinstance(content, list):
        return content
    if isinstance(content, Mapping):
        if isinstance(content.get("claims"), list):
            return list(content["claims"])
        names = [dataset.name, *dataset.datasets]
        for name in names:
            if isinstance(content.get(name), list):
                return list(content[name])
        raise ConfigError(
            f"{path}: no claims about {names[0]}; found lists for {', '.join(map(str, content))}; "
            "give a list under `claims:` or under the dataset's name"
        )
    raise ConfigError(f"{path}: must hold a list of claims; see docs/audit.md")


def _from_words(said: Mapping[str, Any]) -> Claim:
    text = str(said.get("claim") or "")
    structured = understand(text)
    if structured is None:
        return Claim(
            text=text or "(no words)",
            statements=(),
            question=said.get("question"),
            dataset=said.get("dataset"),
            expected=said.get("holds"),
            problem="Its words are not understood; say it in the vocabulary of docs/audit.md.",
        )
    return parse_claim({**structured, **said})
