import pytest
from configured import configured

from copycost.config.config import Config
from copycost.config.simulated import Simulated
from copycost.errors import Unavailable
from copycost.report.write import CHAPTERS as OF_THE_REPORT
from copycost.snakefile import chapters

NONE = dict.fromkeys(OF_THE_REPORT, False)


def config_with(**enabled: bool | str) -> Config:
    return configured(**{study: {"enabled": value} for study, value in enabled.items()})


def names(config: Config) -> list[str]:
    return [chapter.name for chapter in chapters.enabled_chapters(config)]


def test_the_report_has_a_chapter_for_what_the_configuration_enables() -> None:
    assert names(config_with(**NONE)) == []
    assert names(config_with(**NONE | {"datagrams": True})) == ["datagrams"]
    assert names(config_with(**dict.fromkeys(NONE, True))) == list(OF_THE_REPORT)
    auto = config_with(**NONE | {"simulated": "auto"})
    assert names(auto) == ["simulated"]
    assert chapters.enabled_chapters(auto, without=("simulated",)) == []


def test_what_is_left_to_us_is_decided_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chapters.why_not_simulated(config_with(simulated=False)) is None

    def refuse(section: Simulated) -> None:
        raise Unavailable(f"{section.enabled} it is", "change that")

    monkeypatch.setattr(chapters, "require_wanted", refuse)
    assert chapters.why_not_simulated(config_with(simulated="auto")) == "auto it is (change that)"
