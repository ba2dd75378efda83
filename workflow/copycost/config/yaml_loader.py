"""The text of a configuration to plain values: YAML, or a sentence that names the line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from copycost.errors import ConfigError

# Far more than anybody writes: the defaults with all their comments have 18 KB, and 3 levels.
MAX_BYTES = 256 << 10
_MAX_DEPTH = 20


class _Loader(yaml.CSafeLoader):
    """Reads YAML as the class it is derived from, and refuses a key that stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a section; of a key that stands twice, the first would silently be lost."""
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or not key.tag.endswith(":str"):
                raise _error(key, "a key that is no name; keys are words such as msg_bytes")
            if key.value in seen:
                raise _error(key, f"{key.value} stands there twice; join the two")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _error(where: Any, problem: str) -> yaml.MarkedYAMLError:  # noqa: ANN401 - event or node
    return yaml.constructor.ConstructorError(None, None, problem, where.start_mark)


def parse_yaml(text: str, where: str) -> Any:  # noqa: ANN401 - any node of a YAML file
    """Return the values in a text; a message about it begins with `where`, such as the file's name.

    What expands to more than was written, anchors and many levels, is refused: the text may come
    from elsewhere.

    Raises ConfigError if it is no YAML; the message names the line, where that is known.
    """
    if len(text) > MAX_BYTES:
        raise _too_large(where)
    try:
        _refuse_structure(text)
        return yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise ConfigError(f"{where}: line {line}: not YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        raise ConfigError(f"{where}: not YAML: {str(error).splitlines()[0]}") from error


def _too_large(where: str) -> ConfigError:
    return ConfigError(f"{where}: too large, must be at most {MAX_BYTES >> 10} KiB of text")


def _refuse_structure(text: str) -> None:
    depth = 0
    event: Any
    for event in yaml.parse(text, yaml.CSafeLoader):
        if getattr(event, "anchor", None) is not None:
            raise _error(event, f"an anchor or alias, {event.anchor}; write out what is meant")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise _error(event, f"more than {_MAX_DEPTH} levels; sections have 3 at most")


def line_of(path: Path, keys: Sequence[str | int]) -> int:
    """Return the line of a YAML file in which a value, or the last of its sections, is stated."""
    node = yaml.compose(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    line = 1
    for key in keys:
        if isinstance(node, yaml.SequenceNode) and isinstance(key, int):
            node = node.value[key]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            found = [pair for pair in node.value if pair[0].value == key]
            if not found:
                break
            line, node = found[-1][0].start_mark.line + 1, found[-1][1]
    return line


def read_yaml(path: str | Path) -> Any:  # noqa: ANN401 - any node of a YAML file
    """Return the values in a file; ConfigError if it cannot be read, or is no YAML."""
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise _too_large(str(path))
        return parse_yaml(Path(path).read_text(encoding="utf-8"), str(path))
    except FileNotFoundError as error:
        here = Path.cwd()
        raise ConfigError(
            f"{path}: not found in {here}; run in the folder that holds it"
        ) from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); name a text file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text; write it anew with a text editor") from error


def read_sections(path: str | Path) -> dict[str, Any]:
    """Return the sections that a file holds.

    Raises ConfigError if it cannot be read, or holds something else.
    """
    content = read_yaml(path)
    if not isinstance(content, dict):
        found = {type(None): "nothing", list: "a list"}.get(type(content), "a single value")
        raise ConfigError(
            f"{path}: got {found}, must consist of sections such as streams and measure"
        )
    return content
