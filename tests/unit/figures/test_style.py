from copycost.figures.looks import in_order, looks

TWELVE = ("two_copy", "one_copy", "zero_copy", *(f"further_{place}" for place in range(9)))


def test_the_three_primitives_keep_their_colour_and_marker() -> None:
    found = looks(("zero_copy", "two_copy", "one_copy"))
    assert {name: (look.colour, look.marker) for name, look in found.items()} == {
        "two_copy": ("#0072B2", "o"),
        "one_copy": ("#E69F00", "s"),
        "zero_copy": ("#009E73", "^"),
    }


def test_further_implementations_take_nothing_from_the_known_ones() -> None:
    assert looks(TWELVE)["two_copy"] == looks(("two_copy",))["two_copy"]


def test_twelve_implementations_differ_in_marker_and_in_colour_with_line() -> None:
    found = looks(TWELVE).values()
    assert len({look.marker for look in found}) == 12
    assert len({(look.colour, look.line) for look in found}) == 12


def test_looks_do_not_depend_on_the_order_of_the_names() -> None:
    assert looks(TWELVE) == looks(reversed(TWELVE))


def test_order_is_the_known_implementations_first_then_by_name() -> None:
    assert in_order({"splice", "zero_copy", "sendfile", "two_copy"}) == (
        "two_copy",
        "zero_copy",
        "sendfile",
        "splice",
    )
