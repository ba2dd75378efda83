"""Foreign tables, read right or refused in one clear sentence."""

import math
from pathlib import Path

import pytest
from analysed import inputs_of
from synthetic import Run
from unit.compare.audit.made import write_cells

from copycost.compare.audit.dataset import Dataset
from copycost.compare.audit.mapping import FileMapping, read_mapping
from copycost.compare.audit.reader import read_dataset
from copycost.errors import ConfigError, DataError

HEADER = "impl,size,threads,throughput_gbps\n"


def read(text: str | bytes, folder: Path, mapping: str | None = None) -> Dataset:
    path = folder / "table.csv"
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text, encoding="utf-8")
    said = FileMapping()
    if mapping is not None:
        (folder / "map.yaml").write_text(mapping, encoding="utf-8")
        said = read_mapping(folder / "map.yaml")
    return read_dataset(path, said)


@pytest.mark.parametrize(
    ("header", "quantity", "factor"),
    [
        ("throughput_gbps", "throughput", 1e9),
        ("Throughput [Mbit/s]", "throughput", 1e6),
        ("Bandwidth (GB/s)", "throughput", 8e9),
        ("avg latency (ns)", "latency", 1e-9),
        ("p99_us", "latency_p99", 1e-6),
        ("cycles/byte", "cycles_per_byte", 1),
        ("L3 misses", "llc_misses", 1),
        ("task-clock (ms)", "cpu_time", 1e-3),
    ],
)
def test_column_names_are_guessed(
    header: str, quantity: str, factor: float, tmp_path: Path
) -> None:
    found = read(f"Algorithm;Msg Size;Threads;{header}\nA1;64KiB;2;12.5\n", tmp_path)
    assert list(found.steps) == [quantity]
    assert found.table[quantity][0] == pytest.approx(12.5 * factor)
    assert found.table["msg_bytes"][0] == 65536
    assert found.table["implementation"][0] == "two_copy"


TWO = f"{HEADER}A2,4096,1,9.5\nA3,4096,1,8.5\n"
COMMAS = "impl;size;threads;gbps;cycles\nA1;4096;1;10,25;1.234.567\nA2;4096;1;9,5;1.111.222\n"
THOUSANDS = 'impl,size,threads,gbps,cycles\nA1,4096,1,10.25,"1,234,567"\nA2,4096,1,9.5,"2,345"\n'


@pytest.mark.parametrize(
    ("text", "column", "values"),
    [
        *((TWO.replace(",", sign), "throughput", [9.5e9, 8.5e9]) for sign in ",;\t| "),
        (COMMAS, "throughput", [10.25e9, 9.5e9]),
        (COMMAS, "cycles", [1234567, 1111222]),
        (THOUSANDS, "cycles", [1234567, 2345]),
        (f"{HEADER}A1,4096,1,10.5\nA1,4096,1,10.7\n", "rep", [1, 2]),
        (f"{HEADER}A1,4096,1,10.5\nA1,4096,1,10.5\n", "rep", [1]),
        (f"\ufeff# measured on a Tuesday\n\n{HEADER}A1,4096,1,10.5\n", "throughput", [10.5e9]),
        (f"{HEADER}A1,4096,1,10.5\n".encode("utf-16"), "throughput", [10.5e9]),
        ("impl,bytes,threads,gbps\nA1,4096,1,10.5\n", "msg_bytes", [4096]),
        ("impl,size,threads,bytes_sent,seconds\nA1,64,1,1000000,2\n", "throughput", [4e6]),
        ("host,impl,size,threads,gbps\nmy pc,A1,64,1,1\nServer/2,A1,64,1,2\n", "dataset",
         ["my-pc", "Server-2"]),
    ],
)  # fmt: skip
def test_a_table_is_read_as_it_is_meant(
    text: str | bytes, column: str, values: list[object], tmp_path: Path
) -> None:
    assert list(read(text, tmp_path).table[column]) == values


@pytest.mark.parametrize("gap", ["", "<not supported>", "n/a", "NaN", "-", "null"])
def test_words_for_a_gap_are_gaps(gap: str, tmp_path: Path) -> None:
    found = read(f"impl,size,threads,gbps,LLC\nA1,4096,1,9.5,{gap}\n", tmp_path)
    assert math.isnan(found.table["llc_misses"][0])
    assert not found.has("llc_misses")


def test_a_mapping_decides(tmp_path: Path) -> None:
    mapping = """
        columns:
          wie: implementation
          gross: {is: size, unit: KiB}
          schnell: {is: throughput, unit: MB/s}
          threads: ignore
        implementations: {alt: two_copy}
        constants: {threads: 4, duration: 10}
    """
    found = read("wie,gross,schnell,threads\nalt,64,100,99\n", tmp_path, mapping)
    row = found.table.iloc[0]
    assert (row["implementation"], row["msg_bytes"], row["n_threads"]) == ("two_copy", 65536, 4)
    assert (row["throughput"], row["duration"]) == (8e8, 10)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("A1,4096,1,10.5\nA2,4096,1,9.5\n", "not the names of columns"),
        (HEADER, "has no rows below its header"),
        ("impl,size,gbps,GBPS\nA1,4096,1,2\n", "a column name occurs twice ('gbps')"),
        (f"{HEADER}A1,4096,1,10,5\n", "decimal commas"),
        (f"{HEADER}A1,4096,1\n", "line 2: 3 fields, expected 4"),
        (f"{HEADER}A1,4096,1,fast\n", "'fast' is no throughput"),
        (f"{HEADER}A1,4096,1.5,1.5\n", "threads is 1.5"),
        (f"{HEADER}A1,4096,1,1e308\n", "line 2: '1e308' is no throughput"),
        (f"{HEADER}A1,4096,1,{'7' * 5000}\n", "is no throughput that anybody measures"),
        ("size,threads,gbps\n4096,1,2\n", "no column tells the implementation"),
        ("impl,size,threads\nA1,4096,1\n", "no column holds anything that was measured"),
        (f"{HEADER}A1,4096,1,{'x' * 200_000}\n", "line 2: has 200,010 characters"),
        (b"PK\x03\x04rest", "is binary"),
        (b"abc\x00\x01def,ghi\n", "is binary"),
        ("x" * 20_000_001, "has 20 MB"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_in_one_sentence(
    text: str | bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as refused:
        read(text, tmp_path)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "table.csv" in str(refused.value)


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ("columns: {throughput_gbps: speediness}", "'speediness' is no quantity"),
        ("columns: {absent: cycles}", "the mapping names 'absent'"),
        ("columns: {throughput_gbps: {is: throughput, unit: parsec}}", "'parsec' is no unit"),
        ("columns: {impl: [a]}", "columns.impl: got ['a']"),
        ("decimal: [a]", "decimal: got ['a']"),
        ("host: &it {cpu: *it}", "an anchor or alias"),
    ],
)
def test_a_wrong_mapping_is_refused(mapping: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"map\.yaml|table\.csv") as refused:
        read(f"{HEADER}A1,4096,1,10.5\n", tmp_path, mapping)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("column", "value"), [("rep", "9" * 30), ("throughput_bits_per_s", "1e200")]
)
def test_a_number_beyond_bounds_in_a_table_of_copycost_is_refused(
    column: str, value: str, tmp_path: Path
) -> None:
    path = write_cells(inputs_of(Run(counters=False)).cells, tmp_path)
    header, first, *rest = path.read_text(encoding="utf-8").splitlines()
    cells = first.split(",")
    cells[header.split(",").index(column)] = value
    path.write_text("\n".join([header, ",".join(cells), *rest]), encoding="utf-8")
    with pytest.raises(DataError, match=r"cells\.csv"):
        read_dataset(path, FileMapping())
