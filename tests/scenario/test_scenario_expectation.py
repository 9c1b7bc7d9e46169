import pytest
from hypothesis import given
from hypothesis import strategies as st

from mptcplab.scenario.expectation import ExpectationError, evaluate, parse
from mptcplab.scenario.quantity import parse_quantity
from mptcplab.scenario.units import UnitError

FIGURES = {
    ("mptcp", "goodput"): 138.0,
    ("tcp-wifi", "goodput"): 44.0,
    ("tcp-eth", "goodput"): 94.0,
    ("mptcp", "share.wifi"): 0.3,
    ("mptcp", "share.eth"): 0.7,
    ("mptcp", "recovery_s"): 1.5,
    ("mptcp", "goodput.tcp-on-wifi"): 5.0,
}


def held(text: str) -> bool | None:
    return evaluate(parse(text), lambda variant, metric: FIGURES.get((variant, metric)))


@pytest.mark.parametrize(
    "text",
    [
        "mptcp.goodput >= 0.95 * (tcp-wifi.goodput + tcp-eth.goodput)",
        "mptcp.goodput == tcp-wifi.goodput + tcp-eth.goodput",
        "mptcp.goodput >= 138 Mbit/s",
        "mptcp.goodput < 0.2 Gbit/s",
        "mptcp.recovery_s <= 1500 ms",
        "mptcp.recovery_s < 1 min",
        "mptcp.share.wifi >= 30 %",
        "|mptcp.share.wifi - mptcp.share.eth| <= 41 %",
        "abs(mptcp.share.wifi - mptcp.share.eth) > 0.39",
        "mptcp.goodput > 100 and mptcp.recovery_s < 2 s and mptcp.share.eth < 1",
        "2 + 3 * 4 == 14",
        "10 - 2 - 3 == 5",
        "12 / 2 / 3 == 2",
        "-2 * -3 == 6",
        "mptcp.goodput.tcp-on-wifi == 5",
        "500 kB == 500000",
    ],
)
def test_what_holds(text: str) -> None:
    assert held(text) is True


@pytest.mark.parametrize(
    "text",
    ["mptcp.goodput > 138", "tcp-eth.goodput < tcp-wifi.goodput", "1 > 2 and mptcp.none > 1"],
)
def test_what_does_not_hold(text: str) -> None:
    assert held(text) is False


@pytest.mark.parametrize(
    "text",
    ["mptcp.none > 1", "mptcp.none > 1 and 2 > 1", "1 / 0 > 1", "-mptcp.none < |mptcp.none|"],
)
def test_what_cannot_be_decided(text: str) -> None:
    assert held(text) is None


def test_names_are_found_on_both_sides() -> None:
    finding = parse("|a.x - 2 * b.y| < (c-d.z.w + 1) and -a.x > 1")
    assert [(name.variant, name.metric) for name in finding.names()] == [
        ("a", "x"),
        ("b", "y"),
        ("c-d", "z.w"),
        ("a", "x"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a number or variant.metric at the end"),
        ("mptcp.goodput", "expected >=, <=, >, < or == at the end"),
        ("mptcp.goodput > 1 2", "expected the end or `and` before 2"),
        ("mptcp.goodput > 1 < 2", 'expected the end or `and` before "<"'),
        ("(a.b > 1", 'expected ) before ">"'),
        ("|a.b > 1", 'expected | before ">"'),
        ("abs a.b > 1", "abs needs parentheses: abs(a - b)"),
        ("a.b >= ", "expected a number or variant.metric at the end"),
        ("a.b >= 3 parsec", '"3 parsec": is no figure: write it like "146 Mbit/s", "15 s", "20 %"'),
        ("goodput > 1", '"goodput" names no metric: write variant.metric, such as goodput.goodput'),
        ("a.b => 1", 'cannot be read from "=> 1": did you mean >=?'),
        ("a.b ! 1", 'cannot be read from "! 1"'),
    ],
)
def test_mistakes_are_named(text: str, message: str) -> None:
    with pytest.raises(ExpectationError) as caught:
        parse(text)
    assert str(caught.value).startswith(message)


def test_nesting_has_an_end() -> None:
    with pytest.raises(ExpectationError, match="longer than 150"):
        parse("(" * 5000 + "a.b > 1")
    assert held("(" * 60 + "1" + ")" * 60 + " > 0") is True


@given(st.text(alphabet="ab.-+*/()|<>= 19%kMbit/s and", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        finding = parse(text)
    except ExpectationError:
        return
    assert evaluate(finding, lambda *_: 1.0) in (True, False, None)


@pytest.mark.parametrize(
    ("value", "figure", "unit"),
    [
        ("146 Mbit/s", 146.0, "Mbit/s"),
        ("500 kbit/s", 0.5, "Mbit/s"),
        ("15 s", 15.0, "s"),
        ("250 ms", 0.25, "s"),
        ("20 %", 0.2, ""),
        (0.9, 0.9, ""),
        ("5 MB", 5e6, "B"),
    ],
)
def test_figures_of_documents(value: object, figure: float, unit: str) -> None:
    quantity = parse_quantity(value)
    assert (quantity.value, quantity.unit) == (figure, unit)


def test_figures_without_sense_are_refused() -> None:
    for value in (True, None, "fast", [1]):
        with pytest.raises(UnitError):
            parse_quantity(value)
