from copycost.config.checkout import ROOT
from tools.document_implementations import implementations_page


def test_the_page_on_implementations_is_what_their_sources_say() -> None:
    page = (ROOT / "docs/implementations.md").read_text(encoding="utf-8")
    assert page == implementations_page()
