import json
import subprocess

import pypandoc
from hypothesis import given, settings
from hypothesis import strategies as st

from copycost.wording.markdown import code, escape, pipe_table, quoted


def read(markdown: str, form: str) -> str:
    command = [pypandoc.get_pandoc_path(), "--from=markdown", f"--to={form}", "--wrap=none"]
    done = subprocess.run(command, input=markdown, capture_output=True, text=True, check=True)
    return done.stdout.strip()


_TEXTS = st.text(alphabet=st.sampled_from("ab 1_*`[]{}<>#|@$^~\\&.:;!?'\"()-+=/"), max_size=30)


@settings(max_examples=5, deadline=None)  # of many texts each, since Pandoc takes time to start
@given(st.lists(_TEXTS, min_size=20, max_size=60))
def test_escaped_text_is_read_back_as_it_was(texts: list[str]) -> None:
    paragraphs = read("\n\n".join(f"start {escape(text)} end" for text in texts), "plain")
    assert paragraphs.split("\n\n") == [" ".join(f"start {text} end".split()) for text in texts]


def test_code_and_attributes_cannot_be_broken_out_of() -> None:
    assert code("a`b` c") == "`ab c`"
    assert quoted('say "x" in `code`') == "\"say 'x' in code\""


def test_table_has_its_id_class_and_alignment() -> None:
    text = pipe_table(["a", ">b"], [["1", "2"]], "A caption with `code`.", "tbl-x", ["grouped"])
    (block,) = json.loads(read(text, "json"))["blocks"]
    assert block["t"] == "Table"
    attributes, _, specs, *_ = block["c"]
    assert attributes == ["tbl-x", ["grouped"], []]
    assert [spec[0]["t"] for spec in specs] == ["AlignLeft", "AlignRight"]
